/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "backend/evict.h"

#include <stdlib.h>

#include "evict_cache.h"

/* --- No memory ---------------------------------------------------------- */

static bool has_memory = true;
static size_t largest; /* what calloc was asked for */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    return has_memory ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (count * size > largest)
        largest = count * size;
    return has_memory ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size)
{
    return has_memory ? __real_realloc(memory, size) : NULL;
}

/* Asks for ids of 100 bytes each, in turn. */
static void cache_request_all(const char *letters)
{
    for (; *letters; letters++)
        cache_request(*letters, 100);
}

/* Which of the letters are inside. */
static const char *cache_letters(void)
{
    static char letters[27];
    size_t count = 0;

    for (char c = 'a'; c <= 'z'; c++)
        if (cache.inside[(int)c])
            letters[count++] = c;
    letters[count] = '\0';
    return letters;
}

/* --- By hand: every policy ---------------------------------------------- */

static void what_fits_stays(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 3);
        cache_request_all("abcabcbacab");
        assert_string_equal(cache_letters(), "abc");
        assert_int_equal(evict_bytes(cache.evict), 300);
        assert_int_equal(evict_entries(cache.evict), 3);
        cache_close();
    }
}

static void an_entry_larger_than_the_cache_leaves_and_nobody_else(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 10);
        cache_request_all("abc");
        cache_request('x', 301);
        assert_int_equal(cache.victim_count, 1);
        assert_int_equal(cache.victims[0], 'x');
        assert_string_equal(cache_letters(), "abc");
        cache_close();
    }
}

static void an_entry_as_large_as_the_cache_may_have_it_all(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 10);
        cache_request('x', 300);
        assert_string_equal(cache_letters(), "x");
        cache_close();
    }
}

static void one_entry_at_most_is_the_newest(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 1);
        cache_request_all("abcde");
        assert_string_equal(cache_letters(), "e");
        cache_close();
    }
}

static void entries_without_bytes_count_as_entries(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 1, 3);
        for (int id = 'a'; id <= 'j'; id++)
            cache_request(id, 0);
        assert_int_equal(evict_entries(cache.evict), 3);
        cache_close();
    }
}

static void removing_makes_room(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 3);
        cache_request_all("abc");
        cache_remove('b');
        assert_int_equal(evict_bytes(cache.evict), 200);
        cache_request_all("d");
        assert_string_equal(cache_letters(), "acd");
        cache_close();
    }
}

static void a_newcomer_may_be_used_or_removed_before_there_is_room(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 3);
        cache_request_all("abc");
        cache_insert('d', 100);
        evict_hit(cache.evict, &cache.nodes['d']);
        cache_remove('d');
        cache_take_victims();
        assert_string_equal(cache_letters(), "abc");
        cache_request_all("efghijkl");
        assert_int_equal(evict_entries(cache.evict), 3);
        cache_request('z', 300); /* all must go, or it */
        assert_int_equal(evict_bytes(cache.evict), 300);
        cache_close();
    }
}

static void victims_may_wait_for_several_newcomers(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, 300, 3);
        for (int id = 'a'; id <= 'h'; id++)
            cache_insert(id, 100);
        cache_insert('x', 1000);
        cache_insert('y', 100);
        cache_take_victims();
        assert_true(evict_bytes(cache.evict) <= 300);
        assert_false(cache.inside['x']);
        cache_request_all("abc");
        assert_int_equal(evict_entries(cache.evict), 3);
        cache_close();
    }
}

static void limits_may_be_as_high_as_they_come(void **state)
{
    (void)state;
    largest = 0;
    for (int policy = 0; policy < POLICIES; policy++) {
        cache_open((enum evict_policy)policy, UINT64_MAX, SIZE_MAX);
        cache_request_all("abcdea");
        assert_string_equal(cache_letters(), "abcde");
        cache_close();
    }
    assert_in_range(largest, 0, (4 << 20) + 4096); /* s3fifo's ghosts */
}

static void no_memory_is_told(void **state)
{
    struct evict *evict;

    (void)state;
    for (int policy = 0; policy < POLICIES; policy++) {
        has_memory = false;
        evict = evict_create((enum evict_policy)policy, 300, 3);
        has_memory = true;
        assert_null(evict);
    }
    evict_destroy(NULL);
}

static void gdsf_refuses_an_entry_that_finds_no_memory(void **state)
{
    bool is_inside;

    (void)state;
    cache_open(EVICT_GDSF, 300, 3);
    has_memory = false;
    is_inside = evict_insert(cache.evict, &cache.nodes[0]);
    has_memory = true;
    assert_false(is_inside);
    assert_int_equal(evict_entries(cache.evict), 0);
    cache_request_all("abcd");
    assert_int_equal(evict_entries(cache.evict), 3);
    cache_close();
}

/* --- By hand: one policy ------------------------------------------------ */

static void lru_keeps_what_was_used_last(void **state)
{
    (void)state;
    cache_open(EVICT_LRU, 300, 3);
    cache_request_all("abcad");
    assert_string_equal(cache_letters(), "acd");
    cache_close();
}

static void gdsf_lets_the_large_go_first(void **state)
{
    (void)state;
    cache_open(EVICT_GDSF, 500, 10);
    cache_request('a', 50);
    cache_request('x', 400);
    cache_request_all("bc");
    assert_string_equal(cache_letters(), "abc");
    cache_close();
}

static void gdsf_weighs_uses_against_bytes(void **state)
{
    (void)state;
    cache_open(EVICT_GDSF, 500, 10);
    cache_request('a', 100);
    for (int i = 0; i < 5; i++)
        cache_request('x', 400); /* 5 / 400 is more than 1 / 100 */
    cache_request_all("b");
    assert_string_equal(cache_letters(), "bx");
    cache_close();
}

/* Evicting the large one would not do: the newcomer would be the next. */
static void gdsf_evicts_nobody_for_a_newcomer_that_cannot_stay(void **state)
{
    (void)state;
    cache_open(EVICT_GDSF, 1000, 10);
    cache_request('x', 500);
    cache_request_all("abcde");
    cache_request('y', 900);
    assert_int_equal(cache.victim_count, 1);
    assert_int_equal(cache.victims[0], 'y');
    assert_string_equal(cache_letters(), "abcdex");
    cache_close();
}

static void gdsf_forgets_old_fame(void **state)
{
    (void)state;
    cache_open(EVICT_GDSF, 300, 3);
    cache_request_all("aaaa");
    for (int id = 1000; id < 1030; id++) {
        cache_request(id, 100);
        cache_request(id, 100);
    }
    assert_string_equal(cache_letters(), "");
    cache_close();
}

static void sieve_spares_what_was_used_and_leaves_it_in_place(void **state)
{
    (void)state;
    cache_open(EVICT_SIEVE, 300, 3);
    cache_request_all("abcad"); /* a is spared, b goes, the hand is at c */
    assert_string_equal(cache_letters(), "acd");
    cache_request_all("e"); /* c goes */
    assert_string_equal(cache_letters(), "ade");
    cache_request_all("f"); /* d goes: a is behind the hand */
    assert_string_equal(cache_letters(), "aef");
    cache_close();
}

static void sieve_goes_on_when_its_hand_is_taken_away(void **state)
{
    (void)state;
    cache_open(EVICT_SIEVE, 400, 4);
    cache_request_all("abcdae"); /* a is spared, b goes, the hand is at c */
    cache_remove('c');
    cache_request_all("fg"); /* room for f; d goes, the next */
    assert_string_equal(cache_letters(), "aefg");
    cache_close();
}

static void sieve_begins_anew_when_the_newest_is_taken_away(void **state)
{
    (void)state;
    cache_open(EVICT_SIEVE, 200, 2);
    cache_request_all("abac"); /* a is spared, b goes; c comes after the hand */
    cache_remove('c');
    cache_remove('a');
    cache_request_all("defed");
    assert_string_equal(cache_letters(), "de");
    cache_close();
}

static void s3fifo_lets_a_scan_pass(void **state)
{
    (void)state;
    cache_open(EVICT_S3FIFO, 1000, 100);
    cache_request_all("aaabbbccc");
    for (int id = 1000; id < 1100; id++)
        cache_request(id, 100);
    assert_string_equal(cache_letters(), "abc");
    cache_close();
}

static void s3fifo_takes_a_ghost_into_main(void **state)
{
    (void)state;
    cache_open(EVICT_S3FIFO, 1000, 100);
    cache_request_all("abcdefghijk"); /* a goes */
    assert_string_equal(cache_letters(), "bcdefghijk");
    cache_request_all("a");
    for (int id = 1000; id < 1100; id++)
        cache_request(id, 100);
    assert_string_equal(cache_letters(), "a");
    cache_close();
}

static void s3fifo_forgets_a_ghost_in_time(void **state)
{
    (void)state;
    cache_open(EVICT_S3FIFO, 1000, 100);
    cache_request_all("abcdefghijk"); /* a goes */
    for (int id = 1000; id < 1009; id++)
        cache_request(id, 100); /* nine more: the queue is nine long */
    cache_request_all("a");
    for (int id = 1100; id < 1200; id++)
        cache_request(id, 100);
    assert_string_equal(cache_letters(), "");
    cache_close();
}

static void s3fifo_works_with_the_smallest_ghost_table(void **state)
{
    (void)state;
    cache_open(EVICT_S3FIFO, 1000000, 3);
    for (int i = 0; i < 1000; i++)
        cache_request(i * 7 % 100, 1);
    assert_int_equal(evict_entries(cache.evict), 3);
    cache_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays),
        cmocka_unit_test(an_entry_larger_than_the_cache_leaves_and_nobody_else),
        cmocka_unit_test(an_entry_as_large_as_the_cache_may_have_it_all),
        cmocka_unit_test(one_entry_at_most_is_the_newest),
        cmocka_unit_test(entries_without_bytes_count_as_entries),
        cmocka_unit_test(removing_makes_room),
        cmocka_unit_test(
            a_newcomer_may_be_used_or_removed_before_there_is_room),
        cmocka_unit_test(victims_may_wait_for_several_newcomers),
        cmocka_unit_test(limits_may_be_as_high_as_they_come),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(gdsf_refuses_an_entry_that_finds_no_memory),
        cmocka_unit_test(lru_keeps_what_was_used_last),
        cmocka_unit_test(gdsf_lets_the_large_go_first),
        cmocka_unit_test(gdsf_weighs_uses_against_bytes),
        cmocka_unit_test(gdsf_evicts_nobody_for_a_newcomer_that_cannot_stay),
        cmocka_unit_test(gdsf_forgets_old_fame),
        cmocka_unit_test(sieve_spares_what_was_used_and_leaves_it_in_place),
        cmocka_unit_test(sieve_goes_on_when_its_hand_is_taken_away),
        cmocka_unit_test(sieve_begins_anew_when_the_newest_is_taken_away),
        cmocka_unit_test(s3fifo_lets_a_scan_pass),
        cmocka_unit_test(s3fifo_takes_a_ghost_into_main),
        cmocka_unit_test(s3fifo_forgets_a_ghost_in_time),
        cmocka_unit_test(s3fifo_works_with_the_smallest_ghost_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
