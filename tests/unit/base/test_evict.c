/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "base/evict.h"

#include "unit/base/evict_cache.h"
#include "unit/memory.h"

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

/* What follows is done with a cache of each policy. */
#define EACH_POLICY(bytes_max, entries_max)                              \
    for (int policy = 0;                                                 \
         policy < POLICIES &&                                            \
         (cache_open((enum evict_policy)policy, bytes_max, entries_max), \
          true);                                                         \
         cache_close(), policy++)

/* --- By hand: every policy ---------------------------------------------- */

TEST(what_fits_stays)
{
    EACH_POLICY(300, 3)
    {
        cache_request_all("abcabcbacab");
        assert_string_equal(cache_letters(), "abc");
        assert_int_equal(evict_bytes(cache.evict), 300);
        assert_int_equal(evict_entries(cache.evict), 3);
    }
}

TEST(an_entry_larger_than_the_cache_leaves_and_nobody_else)
{
    EACH_POLICY(300, 10)
    {
        cache_request_all("abc");
        cache_request('x', 301);
        assert_int_equal(cache.victim_count, 1);
        assert_int_equal(cache.victims[0], 'x');
        assert_string_equal(cache_letters(), "abc");
    }
}

TEST(an_entry_that_counts_for_too_many_leaves_and_nobody_else)
{
    EACH_POLICY(3000, 3)
    {
        cache_request_all("abc");
        cache.nodes['x'].others = 3;
        cache_request('x', 400);
        assert_int_equal(cache.victim_count, 1);
        assert_int_equal(cache.victims[0], 'x');
        assert_string_equal(cache_letters(), "abc");
    }
}

TEST(an_entry_that_counts_for_all_may_have_it_all)
{
    EACH_POLICY(3000, 3)
    {
        cache.nodes['x'].others = 2;
        cache_request('x', 300);
        assert_string_equal(cache_letters(), "x");
    }
}

TEST(an_entry_as_large_as_the_cache_may_have_it_all)
{
    EACH_POLICY(300, 10)
    {
        cache_request('x', 300);
        assert_string_equal(cache_letters(), "x");
    }
}

TEST(one_entry_at_most_is_the_newest)
{
    EACH_POLICY(300, 1)
    {
        cache_request_all("abcde");
        assert_string_equal(cache_letters(), "e");
    }
}

TEST(entries_without_bytes_count_as_entries)
{
    EACH_POLICY(1, 3)
    {
        for (int id = 'a'; id <= 'j'; id++)
            cache_request(id, 0);
        assert_int_equal(evict_entries(cache.evict), 3);
    }
}

TEST(removing_makes_room)
{
    EACH_POLICY(300, 3)
    {
        cache_request_all("abc");
        cache_remove('b');
        assert_int_equal(evict_bytes(cache.evict), 200);
        cache_request_all("d");
        assert_string_equal(cache_letters(), "acd");
    }
}

TEST(a_newcomer_may_be_used_or_removed_before_there_is_room)
{
    EACH_POLICY(300, 3)
    {
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
    }
}

TEST(victims_may_wait_for_several_newcomers)
{
    EACH_POLICY(300, 3)
    {
        for (int id = 'a'; id <= 'h'; id++)
            cache_insert(id, 100);
        cache_insert('x', 1000);
        cache_insert('y', 100);
        cache_take_victims();
        assert_true(evict_bytes(cache.evict) <= 300);
        assert_false(cache.inside['x']);
        cache_request_all("abc");
        assert_int_equal(evict_entries(cache.evict), 3);
    }
}

TEST(limits_may_be_as_high_as_they_come)
{
    EACH_POLICY(UINT64_MAX, SIZE_MAX)
    {
        cache_request_all("abcdea");
        assert_string_equal(cache_letters(), "abcde");
    }
}

TEST(no_memory_is_told)
{
    struct evict *evict;

    for (int policy = 0; policy < POLICIES; policy++) {
        allocations_left = 0;
        evict = evict_create((enum evict_policy)policy, 300, 3);
        allocations_left = -1;
        assert_null(evict);
    }
    evict_destroy(NULL);
}

TEST(gdsf_refuses_an_entry_that_finds_no_memory)
{
    bool is_inside;

    cache_open(EVICT_GDSF, 300, 3);
    allocations_left = 0;
    is_inside = evict_insert(cache.evict, &cache.nodes[0]);
    allocations_left = -1;
    assert_false(is_inside);
    assert_int_equal(evict_entries(cache.evict), 0);
    cache_request_all("abcd");
    assert_int_equal(evict_entries(cache.evict), 3);
    cache_close();
}

/* --- By hand: one policy ------------------------------------------------ */

TEST(lru_keeps_what_was_used_last)
{
    cache_open(EVICT_LRU, 300, 3);
    cache_request_all("abcad");
    assert_string_equal(cache_letters(), "acd");
    cache_close();
}

TEST(gdsf_lets_the_large_go_first)
{
    cache_open(EVICT_GDSF, 500, 10);
    cache_request('a', 50);
    cache_request('x', 400);
    cache_request_all("bc");
    assert_string_equal(cache_letters(), "abc");
    cache_close();
}

TEST(gdsf_weighs_uses_against_bytes)
{
    cache_open(EVICT_GDSF, 500, 10);
    cache_request('a', 100);
    for (int i = 0; i < 5; i++)
        cache_request('x', 400); /* 5 / 400 is more than 1 / 100 */
    cache_request_all("b");
    assert_string_equal(cache_letters(), "bx");
    cache_close();
}

/* Evicting the large one would not do: the newcomer would be the next. */
TEST(gdsf_evicts_nobody_for_a_newcomer_that_cannot_stay)
{
    cache_open(EVICT_GDSF, 1000, 10);
    cache_request('x', 500);
    cache_request_all("abcde");
    cache_request('y', 900);
    assert_int_equal(cache.victim_count, 1);
    assert_int_equal(cache.victims[0], 'y');
    assert_string_equal(cache_letters(), "abcdex");
    cache_close();
}

TEST(gdsf_forgets_old_fame)
{
    cache_open(EVICT_GDSF, 300, 3);
    cache_request_all("aaaa");
    for (int id = 1000; id < 1030; id++) {
        cache_request(id, 100);
        cache_request(id, 100);
    }
    assert_string_equal(cache_letters(), "");
    cache_close();
}

TEST(sieve_spares_what_was_used_and_leaves_it_in_place)
{
    cache_open(EVICT_SIEVE, 300, 3);
    cache_request_all("abcad"); /* a is spared, b goes, the hand is at c */
    assert_string_equal(cache_letters(), "acd");
    cache_request_all("e"); /* c goes */
    assert_string_equal(cache_letters(), "ade");
    cache_request_all("f"); /* d goes: a is behind the hand */
    assert_string_equal(cache_letters(), "aef");
    cache_close();
}

TEST(sieve_goes_on_when_its_hand_is_taken_away)
{
    cache_open(EVICT_SIEVE, 400, 4);
    cache_request_all("abcdae"); /* a is spared, b goes, the hand is at c */
    cache_remove('c');
    cache_request_all("fg"); /* room for f; d goes, the next */
    assert_string_equal(cache_letters(), "aefg");
    cache_close();
}

TEST(sieve_begins_anew_when_the_newest_is_taken_away)
{
    cache_open(EVICT_SIEVE, 200, 2);
    cache_request_all("abac"); /* a is spared, b goes; c comes after the hand */
    cache_remove('c');
    cache_remove('a');
    cache_request_all("defed");
    assert_string_equal(cache_letters(), "de");
    cache_close();
}
