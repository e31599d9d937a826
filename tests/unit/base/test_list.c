#include "base/list.h"

#include "suite.h"

enum { NODES = 40, LISTS = 3 };

struct owner {
    int number;
    struct list node;
};

static struct list list;
static struct owner owners[NODES];

static int set_up(void **state)
{
    (void)state;
    list_init(&list);
    for (int i = 0; i < NODES; i++) {
        owners[i].number = i;
        list_init(&owners[i].node);
    }
    return 0;
}

/* That head leads to the owners of numbers, forwards and backwards. */
static void assert_holds(const struct list *head, const int *numbers, int count)
{
    struct list *node = head->next;

    for (int i = 0; i < count; i++, node = node->next)
        assert_int_equal(OWNER_OF(node, struct owner, node)->number,
                         numbers[i]);
    assert_ptr_equal(node, head);
    for (int i = count; i > 0; i--) {
        node = node->prev;
        assert_int_equal(OWNER_OF(node, struct owner, node)->number,
                         numbers[i - 1]);
    }
    assert_ptr_equal(node->prev, head);
    assert_int_equal(list_is_empty(head), count == 0);
}

TEST(a_new_list_is_empty)
{
    assert_true(list_is_empty(&list));
}

TEST(put_first_stands_before_the_others)
{
    for (int i = 0; i < 3; i++)
        list_put_first(&list, &owners[i].node);
    assert_holds(&list, (const int[]){2, 1, 0}, 3);
}

TEST(put_last_stands_behind_the_others)
{
    for (int i = 0; i < 3; i++)
        list_put_last(&list, &owners[i].node);
    assert_holds(&list, (const int[]){0, 1, 2}, 3);
}

TEST(put_before_stands_before_that_node)
{
    list_put_last(&list, &owners[0].node);
    list_put_last(&list, &owners[1].node);
    list_put_before(&owners[1].node, &owners[2].node);
    assert_holds(&list, (const int[]){0, 2, 1}, 3);
}

TEST(a_node_may_leave_from_anywhere)
{
    for (int i = 0; i < 5; i++)
        list_put_last(&list, &owners[i].node);
    list_drop(&owners[2].node);
    assert_holds(&list, (const int[]){0, 1, 3, 4}, 4);
    list_drop(&owners[0].node);
    assert_holds(&list, (const int[]){1, 3, 4}, 3);
    list_drop(&owners[4].node);
    assert_holds(&list, (const int[]){1, 3}, 2);
}

TEST(a_node_may_be_dropped_twice)
{
    list_put_last(&list, &owners[0].node);
    list_put_last(&list, &owners[1].node);
    list_drop(&owners[0].node);
    list_drop(&owners[0].node);
    assert_true(list_is_empty(&owners[0].node));
    assert_false(list_is_empty(&owners[1].node));
    assert_holds(&list, (const int[]){1}, 1);
}

/* --- Seeded run against a naive model ----------------------------------- */

static uint64_t seed;

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
static int draw(int below)
{
    uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int)((x ^ (x >> 31)) % (unsigned)below);
}

struct row {
    int numbers[NODES];
    int count;
};

static void row_insert(struct row *row, int at, int number)
{
    memmove(&row->numbers[at + 1], &row->numbers[at],
            (size_t)(row->count - at) * sizeof(row->numbers[0]));
    row->numbers[at] = number;
    row->count++;
}

static int row_find(const struct row *row, int number)
{
    for (int i = 0; i < row->count; i++)
        if (row->numbers[i] == number)
            return i;
    return -1;
}

static void row_remove(struct row *row, int number)
{
    int at = row_find(row, number);

    if (at < 0)
        return;
    row->count--;
    memmove(&row->numbers[at], &row->numbers[at + 1],
            (size_t)(row->count - at) * sizeof(row->numbers[0]));
}

/* Puts an owner that is in no list somewhere into one. */
static void put_somewhere(struct list *head, struct row *row, int number)
{
    struct list *node = &owners[number].node;
    int at = draw(row->count + 2);

    if (at > row->count) {
        list_put_first(head, node);
        row_insert(row, 0, number);
    } else if (at == row->count) {
        list_put_last(head, node);
        row_insert(row, at, number);
    } else {
        list_put_before(&owners[row->numbers[at]].node, node);
        row_insert(row, at, number);
    }
}

TEST(a_random_run_agrees_with_a_naive_model)
{
    struct list heads[LISTS];
    struct row rows[LISTS] = {{{0}, 0}};

    seed = 1956;
    for (int i = 0; i < LISTS; i++)
        list_init(&heads[i]);
    for (int step = 0; step < 20000; step++) {
        int number = draw(NODES);
        int to = draw(LISTS + 1); /* the last: nowhere */

        list_drop(&owners[number].node);
        for (int i = 0; i < LISTS; i++)
            row_remove(&rows[i], number);
        if (to < LISTS)
            put_somewhere(&heads[to], &rows[to], number);
        assert_int_equal(list_is_empty(&owners[number].node), to == LISTS);
        for (int i = 0; i < LISTS; i++)
            assert_holds(&heads[i], rows[i].numbers, rows[i].count);
    }
}

SUITE(.each_begin = set_up);
