#include "files/dictionary_shelf.h"

#include <stdlib.h>

#include "suite.h"

static struct dictionary_shelf shelf;
static struct dictionary *added[4096];
static size_t added_count;

static int begin(void **state)
{
    (void)state;
    shelf = (struct dictionary_shelf){.versions = 3};
    added_count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    dictionary_shelf_fini(&shelf);
    return 0;
}

SUITE(.each_begin = begin, .each_end = end);

static struct dictionary *make(uint64_t rule, int64_t modified_ns,
                               uint64_t bytes)
{
    struct dictionary *item = calloc(1, sizeof(*item));

    assert_non_null(item);
    atomic_init(&item->refs, 1);
    item->rule = rule;
    item->modified_ns = modified_ns;
    item->bytes = bytes;
    memcpy(item->hash, &added_count, sizeof(added_count));
    added[added_count++] = item;
    return item;
}

static size_t let_go(void)
{
    struct dictionary *item;
    size_t count = 0;

    for (; (item = dictionary_shelf_take_gone(&shelf)); count++)
        dictionary_release(item);
    return count;
}

static struct dictionary *add(uint64_t rule, int64_t modified_ns,
                              uint64_t bytes)
{
    struct dictionary *item = make(rule, modified_ns, bytes);

    dictionary_shelf_add(&shelf, item, true);
    return item;
}

static bool has(uint64_t rule, size_t number)
{
    uint8_t hash[DICTIONARY_HASH_BYTES] = {0};

    memcpy(hash, &number, sizeof(number));
    return dictionary_shelf_find(&shelf, rule, hash);
}

TEST(of_each_rule_the_newest_stay)
{
    for (int i = 0; i < 4; i++)
        add(1, 10 + i, 1);
    add(2, 1, 1);
    assert_int_equal(let_go(), 0);
    add(1, 20, 1);
    assert_int_equal(let_go(), 1);
    assert_false(has(1, 0));
    assert_true(has(1, 1));
    assert_true(has(2, 4));
    assert_false(has(2, 1));
}

TEST(of_the_same_time_the_last_stays)
{
    struct dictionary *old;

    for (int i = 0; i < 4; i++)
        add(1, 5, 1);
    old = make(1, 4, 1);
    assert_false(dictionary_shelf_wants(&shelf, old));
    dictionary_release(old);
    assert_true(dictionary_shelf_wants(&shelf, add(1, 5, 1)) == false);
    assert_int_equal(let_go(), 1);
    assert_false(has(1, 0));
}

TEST(there_is_a_most_of_all_and_of_their_bytes)
{
    for (int i = 0; i < DICTIONARY_SHELF_MAX; i++)
        add((uint64_t)i, i, 1);
    assert_int_equal(let_go(), 0);
    add(1000, 1, 1);
    assert_int_equal(let_go(), 1);
    assert_int_equal(shelf.count, DICTIONARY_SHELF_MAX);
    add(1001, 1000, DICTIONARY_SHELF_BYTES_MAX);
    assert_int_equal(let_go(), DICTIONARY_SHELF_MAX);
    assert_int_equal(shelf.count, 1);
}

TEST(what_is_damaged_goes)
{
    struct dictionary *item = add(1, 1, 1);

    add(1, 2, 1);
    atomic_store(&item->is_damaged, true);
    dictionary_shelf_sort_out(&shelf);
    assert_int_equal(let_go(), 1);
    assert_int_equal(shelf.count, 1);
    assert_true(has(1, 1));
}

/* By a model: of all that ever came, those whose rule has fewer than four that
 * are newer, or as new and later. */
TEST(it_is_what_a_naive_model_says)
{
    static struct {
        uint64_t rule;
        int64_t time;
    } model[2000];
    uint32_t seed = 5;

    for (size_t i = 0; i < 2000; i++) {
        struct dictionary *item;

        seed = seed * 1664525 + 1013904223;
        model[i].rule = (seed >> 16) % 5;
        model[i].time = (int64_t)((seed >> 20) % 200);
        item = make(model[i].rule, model[i].time, 1);
        if (dictionary_shelf_wants(&shelf, item))
            dictionary_shelf_add(&shelf, item, true);
        else
            dictionary_release(item);
        let_go();
        for (size_t k = i > 300 ? i - 300 : 0; k <= i; k++) {
            unsigned newer = 0;

            for (size_t m = 0; m <= i; m++)
                newer += model[m].rule == model[k].rule &&
                         (model[m].time > model[k].time ||
                          (model[m].time == model[k].time && m > k));
            assert_int_equal(has(model[k].rule, k), newer < 4);
        }
    }
}
