#include "observe/counter.h"

#include <pthread.h>

#include "suite.h"

TEST(zeroed_memory_is_a_counter_at_nothing)
{
    struct counter counter = {0};

    assert_int_equal(counter_read(&counter), 0);
}

TEST(what_is_added_adds_up)
{
    struct counter counter = {0};

    for (unsigned i = 1; i <= 100; i++)
        counter_add(&counter, i);
    assert_int_equal(counter_read(&counter), 5050);
    counter_set(&counter, 7);
    assert_int_equal(counter_read(&counter), 7);
}

TEST(raising_keeps_the_greatest)
{
    struct counter counter = {0};

    counter_raise(&counter, 5);
    counter_raise(&counter, 3);
    assert_int_equal(counter_read(&counter), 5);
    counter_raise(&counter, UINT64_MAX);
    counter_raise(&counter, 6);
    assert_true(counter_read(&counter) == UINT64_MAX);
}

/* --- Two threads ---------------------------------------------------------- */

/* Both halves are always alike: half a store would show. */
enum { ROUNDS = 100000 };
static const uint64_t both_halves = UINT64_C(0x100000001);

static void *count(void *context)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        counter_add(context, both_halves);
    return NULL;
}

TEST(a_reader_sees_whole_numbers_that_never_shrink)
{
    static struct counter counter;
    uint64_t last = 0;
    unsigned torn = 0;
    unsigned shrunk = 0;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, count, &counter), 0);
    while (last < ROUNDS * both_halves) {
        uint64_t now = counter_read(&counter);

        torn += now >> 32 != (now & 0xffffffff);
        shrunk += now < last;
        last = now;
    }
    pthread_join(thread, NULL);
    assert_int_equal(torn, 0);
    assert_int_equal(shrunk, 0);
    assert_true(last == ROUNDS * both_halves);
}
