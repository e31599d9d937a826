#include "handler/stream_seats.h"

#include "suite.h"

enum { MAX = 8, SHARE = MAX / 4, MANY = 4 * MAX };

static struct stream_seats seats;
static struct stream_seat all[MANY];
static struct stream_seat *leaver;

static int set_up(void **state)
{
    (void)state;
    return stream_seats_init(&seats, MAX);
}

static int tear_down(void **state)
{
    (void)state;
    stream_seats_fini(&seats);
    return 0;
}

static bool take(size_t i, uint8_t host)
{
    struct address address = {.family = ADDRESS_IPV4,
                              .octets = {192, 0, 2, host}};

    return stream_seats_take(&seats, &all[i], &address, &leaver);
}

static void leave(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        stream_seats_leave(&seats, &all[i]);
}

TEST(who_is_alone_may_have_all)
{
    for (size_t i = 0; i < MAX; i++)
        assert_true(take(i, 1));
    assert_false(take(MAX, 1));
    leave(0, 1);
    assert_true(take(0, 1));
    leave(0, MAX);
}

TEST(beside_others_nobody_gets_more_than_a_share)
{
    assert_true(take(0, 1));
    for (size_t i = 1; i <= SHARE; i++)
        assert_true(take(i, 2));
    assert_false(take(SHARE + 1, 2));
    assert_true(take(SHARE + 1, 1));
    leave(0, SHARE + 2);
}

TEST(a_loan_is_given_back_to_who_has_less_than_a_share)
{
    for (size_t i = 0; i < MAX; i++)
        assert_true(take(i, 1));
    for (size_t i = 0; i < SHARE; i++) {
        assert_true(take(MAX + i, 2));
        assert_ptr_equal(leaver, &all[MAX - 1 - i]); /* the last that came */
        assert_true(leaver->gives_way);
    }
    assert_false(take(MAX + SHARE, 2));
    assert_false(take(MAX + SHARE, 1));
    assert_null(leaver);
    leave(0, MAX + SHARE);
}

/* Whoever does not read its end stays for a while. */
TEST(those_that_give_way_are_not_too_many)
{
    size_t count = MAX;

    for (size_t i = 0; i < MAX; i++)
        assert_true(take(i, 1));
    for (uint8_t host = 2; count < MANY && take(count, host); host++)
        count++;
    assert_int_equal(count, MAX + SHARE);
    stream_seats_leave(&seats, &all[MAX - 1]);
    assert_true(take(MAX - 1, 100));
    leave(0, count);
}

TEST(shares_that_are_full_give_way_to_nobody)
{
    for (size_t i = 0; i < MAX; i++)
        assert_true(take(i, (uint8_t)(1 + i / SHARE)));
    assert_false(take(MAX, 99));
    leave(0, MAX);
}

TEST(without_seats_nobody_gets_one)
{
    struct stream_seats none;
    struct address address = {.family = ADDRESS_UNIX};

    assert_int_equal(stream_seats_init(&none, 0), 0);
    assert_false(stream_seats_take(&none, &all[0], &address, &leaver));
    stream_seats_fini(&none);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
