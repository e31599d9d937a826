/* link: -Wl,--wrap=malloc */
#include "base/heap.h"

#include "base/list.h"
#include "suite.h"
#include "unit/memory.h"

enum { NODES = 200 };

struct owner {
    int number;
    struct heap_node node;
};

static struct heap heap;
static struct owner owners[NODES];

static int set_up(void **state)
{
    (void)state;
    heap_init(&heap);
    for (int i = 0; i < NODES; i++)
        owners[i] = (struct owner){.number = i};
    return heap_reserve(&heap, NODES);
}

static int tear_down(void **state)
{
    (void)state;
    heap_fini(&heap);
    return 0;
}

static void put(int number, uint64_t key, uint64_t tie)
{
    heap_put(&heap, &owners[number].node, key, tie);
}

/* The owner's number, -1: nobody. */
static int take(void)
{
    struct heap_node *node = heap_take(&heap);

    return node ? OWNER_OF(node, struct owner, node)->number : -1;
}

/* What the header promises. */
static void assert_invariant(void)
{
    for (uint32_t i = 0; i < heap.count; i++) {
        const struct heap_item *item = &heap.items[i];
        const struct heap_item *parent = &heap.items[i > 0 ? (i - 1) / 2 : 0];

        assert_int_equal(item->node->index, i + 1);
        assert_true(parent->key < item->key ||
                    (parent->key == item->key && parent->tie <= item->tie));
    }
}

TEST(an_empty_heap_has_no_first)
{
    assert_null(heap_first(&heap));
    assert_null(heap_take(&heap));
}

TEST(the_smallest_key_leaves_first)
{
    static const uint64_t keys[] = {5, 3, 8, 1, 9, 2, UINT64_MAX, 0};
    static const int order[] = {7, 3, 5, 1, 0, 2, 4, 6, -1};

    for (int i = 0; i < 8; i++)
        put(i, keys[i], 0);
    for (int i = 0; i < 9; i++)
        assert_int_equal(take(), order[i]);
}

TEST(first_is_what_take_takes)
{
    put(0, 7, 1);
    put(1, 6, 2);
    assert_ptr_equal(heap_first(&heap)->node, &owners[1].node);
    assert_int_equal(heap_first(&heap)->key, 6);
    assert_int_equal(heap_first(&heap)->tie, 2);
    assert_int_equal(take(), 1);
}

TEST(equal_keys_leave_in_the_order_of_arrival)
{
    for (int i = 0; i < NODES; i++)
        put(i, 42, (uint64_t)i);
    for (int i = 0; i < NODES; i++)
        assert_int_equal(take(), i);
}

TEST(a_node_knows_whether_it_is_inside)
{
    assert_false(heap_has(&owners[0].node));
    put(0, 1, 0);
    put(1, 2, 0);
    assert_true(heap_has(&owners[0].node));
    heap_take(&heap);
    assert_false(heap_has(&owners[0].node));
    assert_true(heap_has(&owners[1].node));
    heap_drop(&heap, &owners[1].node);
    assert_false(heap_has(&owners[1].node));
}

TEST(dropping_a_node_that_is_outside_does_nothing)
{
    put(0, 1, 0);
    heap_drop(&heap, &owners[1].node);
    assert_int_equal(heap.count, 1);
    assert_int_equal(take(), 0);
    heap_drop(&heap, &owners[0].node);
    assert_int_equal(heap.count, 0);
}

/* Whoever is dropped, the others leave in order. */
TEST(a_node_may_leave_from_the_middle)
{
    for (int dropped = 0; dropped < 31; dropped++) {
        for (int i = 0; i < 31; i++)
            put(i, (uint64_t)(i * 17 % 31), 0);
        heap_drop(&heap, &owners[dropped].node);
        assert_invariant();
        for (uint64_t key = 0; key < 31; key++) {
            int number = (int)(key * 11 % 31); /* 11 * 17 = 1 modulo 31 */

            if (number != dropped)
                assert_int_equal(take(), number);
        }
        assert_int_equal(take(), -1);
    }
}

/*             0
 *       10          1         The last, 4, fills the hole of 13 and must
 *    11    12     2   3       rise above 11 and 10.
 *  13 14 15 16   4
 */
TEST(the_filler_of_a_hole_may_rise)
{
    static const uint64_t keys[] = {0, 10, 1, 11, 12, 2, 3, 13, 14, 15, 16, 4};

    for (int i = 0; i < 12; i++)
        put(i, keys[i], 0);
    heap_drop(&heap, &owners[7].node); /* 13, below 11 */
    assert_invariant();
    assert_int_equal(take(), 0);
    assert_int_equal(take(), 2);
    assert_int_equal(take(), 5);
    assert_int_equal(take(), 6);
    assert_int_equal(take(), 11);
}

/* Whoever it is, and wherever it goes; it keeps its tie. */
TEST(a_node_may_have_another_key)
{
    for (int moved = 0; moved < 31; moved++) {
        for (uint64_t key = 0; key < 64; key += 3) {
            for (int i = 0; i < 31; i++)
                put(i, (uint64_t)(2 * (i * 17 % 31)), (uint64_t)i);
            heap_rekey(&heap, &owners[moved].node, key);
            assert_int_equal(heap_key(&heap, &owners[moved].node), key);
            assert_int_equal(heap.items[owners[moved].node.index - 1].tie,
                             moved);
            assert_invariant();
            while (heap_first(&heap))
                (void)take();
        }
    }
}

TEST(room_is_kept_when_there_is_no_more_memory)
{
    put(0, 1, 0);
    assert_int_equal(heap_reserve(&heap, 1), 0);
    assert_int_equal(heap.capacity, NODES);
    allocations_left = 0;
    assert_int_equal(heap_reserve(&heap, NODES + 1), -ENOMEM);
    allocations_left = -1;
    assert_int_equal(heap.capacity, NODES);
    assert_int_equal(heap_reserve(&heap, SIZE_MAX), -ENOMEM);
    assert_int_equal(heap_reserve(&heap, 2 * NODES), 0);
    assert_int_equal(heap.capacity, 2 * NODES);
    assert_int_equal(take(), 0);
}

/* --- Seeded run against a naive model ----------------------------------- */

static uint64_t seed;

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
static unsigned draw(unsigned below)
{
    uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ (x >> 31)) % below);
}

static struct {
    bool is_inside;
    uint64_t key;
    uint64_t tie;
} model[NODES];

/* Who must leave next, -1: nobody. */
static int model_first(void)
{
    int first = -1;

    for (int i = 0; i < NODES; i++)
        if (model[i].is_inside &&
            (first < 0 || model[i].key < model[first].key ||
             (model[i].key == model[first].key &&
              model[i].tie < model[first].tie)))
            first = i;
    return first;
}

/* How many must leave before somebody with that key and tie. */
static size_t model_count_before(uint64_t key, uint64_t tie)
{
    size_t count = 0;

    for (int i = 0; i < NODES; i++)
        count += model[i].is_inside &&
                 (model[i].key < key ||
                  (model[i].key == key && model[i].tie < tie));
    return count;
}

TEST(a_random_run_agrees_with_a_naive_model)
{
    uint64_t arrivals = 0;

    seed = 1964;
    for (int step = 0; step < 20000; step++) {
        int number = (int)draw(NODES);
        /* Long stretches of mostly coming and of mostly going. */
        bool is_growing = step / 500 % 2 == 0;
        uint64_t key = (uint64_t)step % 51;

        if (draw(4) == 0) {
            number = model_first();
            assert_int_equal(take(), number);
            if (number >= 0)
                model[number].is_inside = false;
        } else if (!model[number].is_inside && is_growing) {
            model[number].is_inside = true;
            model[number].key = draw(50); /* many are equal */
            model[number].tie = arrivals++;
            put(number, model[number].key, model[number].tie);
        } else if (!is_growing) {
            heap_drop(&heap, &owners[number].node);
            model[number].is_inside = false;
        } else {
            model[number].key = draw(50);
            heap_rekey(&heap, &owners[number].node, model[number].key);
        }
        assert_invariant();
        assert_int_equal(heap_count_before(&heap, key, arrivals / 2),
                         model_count_before(key, arrivals / 2));
        for (int i = 0; i < NODES; i++)
            assert_int_equal(heap_has(&owners[i].node), model[i].is_inside);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
