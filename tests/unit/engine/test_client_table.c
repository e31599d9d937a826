#include "engine/client_table.h"

#include "suite.h"

enum { FEW = 64, MANY = 4096 };

static struct client_table table;

static int set_up(void **state)
{
    (void)state;
    client_table_init(&table);
    return client_table_reserve(&table, FEW);
}

static int tear_down(void **state)
{
    (void)state;
    client_table_fini(&table);
    return 0;
}

/* Names as addresses make them: alike but for some bits. */
static uint64_t name_of(uint64_t number)
{
    return number << 32 | 0xff;
}

static void add(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct client_entry *entry = client_table_add(&table, name_of(i));

        assert_true(entry->client == name_of(i));
        assert_true(list_is_empty(&entry->list));
        assert_int_equal(entry->places, 0);
        entry->had = i; /* to know it again */
    }
}

static void expect(uint64_t from, uint64_t to, bool is_there)
{
    for (uint64_t i = from; i < to; i++) {
        struct client_entry *entry = client_table_find(&table, name_of(i));

        assert_int_equal(entry != NULL, is_there);
        assert_true(!is_there || entry->had == i);
    }
}

TEST(there_is_room_for_as_many_as_were_promised)
{
    assert_false(client_table_is_full(&table));
    add(0, FEW);
    assert_true(client_table_is_full(&table));
    expect(0, FEW, true);
    expect(FEW, 2 * FEW, false);
}

TEST(who_is_there_stays_when_room_is_made)
{
    add(0, FEW);
    assert_int_equal(client_table_reserve(&table, MANY), 0);
    expect(0, FEW, true);
    add(FEW, MANY);
    assert_true(client_table_is_full(&table));
    expect(0, MANY, true);
    assert_int_equal(client_table_reserve(&table, FEW),
                     0); /* less is no less */
    expect(0, MANY, true);
}

TEST(who_goes_makes_room_for_another)
{
    add(0, FEW);
    for (uint64_t i = 0; i < FEW; i += 2) {
        client_table_remove(&table, client_table_find(&table, name_of(i)));
        assert_null(client_table_find(&table, name_of(i)));
    }
    for (uint64_t i = 1; i < FEW; i += 2)
        expect(i, i + 1, true);
    add(FEW, FEW + FEW / 2);
    assert_true(client_table_is_full(&table));
    expect(FEW, FEW + FEW / 2, true);
}

TEST(what_is_taken_is_not_to_be_found)
{
    struct client_entry *entry = client_table_take(&table);

    client_entry_init(entry, name_of(1));
    assert_null(client_table_find(&table, name_of(1)));
    add(1, FEW);
    assert_true(client_table_is_full(&table));
    assert_ptr_not_equal(client_table_find(&table, name_of(1)), entry);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
