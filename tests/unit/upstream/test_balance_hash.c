#include "unit/upstream/balance_row.h"

enum { KEYS = 20000 };

/* Where each key leads when nobody has anything to do. */
static void find_homes(uint64_t tried, int homes[KEYS])
{
    for (uint64_t key = 0; key < KEYS; key++) {
        homes[key] = balance_take(row.balance, key * key, tried, START_MS);
        assert_in_range(homes[key], 0, row.count - 1);
        give(homes[key], BALANCE_SUCCESS, START_MS);
    }
}

TEST(a_key_stays_with_its_server)
{
    static int homes[KEYS], again[KEYS];

    ROW(1, 2, 3);
    row_open(BALANCE_HASH);
    find_homes(0, homes);
    find_homes(0, again);
    assert_memory_equal(homes, again, sizeof(homes));
}

TEST(keys_are_spread_by_weight)
{
    ROW(5, 3, 2);
    row_open(BALANCE_HASH);
    assert_shares(40000);
}

TEST(only_the_keys_of_a_server_that_goes_move)
{
    static int before[KEYS], after[KEYS];
    unsigned moved[4] = {0};

    ROW(1, 1, 1, 1);
    row_open(BALANCE_HASH);
    find_homes(0, before);
    find_homes(1 << 2, after);
    for (size_t i = 0; i < KEYS; i++) {
        if (before[i] != 2)
            assert_int_equal(after[i], before[i]);
        else
            moved[after[i]]++;
    }
    /* And they are shared out among the rest. */
    assert_int_equal(moved[2], 0);
    for (size_t i = 0; i < 4; i++)
        if (i != 2)
            assert_in_range(moved[i], KEYS / 12 * 9 / 10, KEYS / 12 * 11 / 10);
}

TEST(a_server_that_comes_takes_only_its_share)
{
    static int before[KEYS], after[KEYS];
    unsigned moved = 0;

    ROW(1, 1, 1, 1);
    row.count = 3;
    row_open(BALANCE_HASH);
    find_homes(0, before);
    close_row(NULL);
    row.count = 4;
    row_open(BALANCE_HASH);
    find_homes(0, after);
    for (size_t i = 0; i < KEYS; i++) {
        if (after[i] == before[i])
            continue;
        assert_int_equal(after[i], 3);
        moved++;
    }
    assert_in_range(moved, KEYS / 4 * 9 / 10, KEYS / 4 * 11 / 10);
}

TEST(a_servers_keys_go_by_its_name_not_its_place)
{
    static int before[KEYS], after[KEYS];
    struct balance_server first;

    ROW(1, 1);
    row_open(BALANCE_HASH);
    find_homes(0, before);
    close_row(NULL);
    first = row.servers[0];
    row.servers[0] = row.servers[1];
    row.servers[1] = first;
    row_open(BALANCE_HASH);
    find_homes(0, after);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(after[i], 1 - before[i]);
}

TEST(a_key_that_everybody_wants_is_spread)
{
    unsigned sum = 0;

    ROW(1, 1, 2);
    row_open(BALANCE_HASH);
    for (unsigned total = 1; total <= 4000; total++) {
        int server = balance_take(row.balance, 7, 0, START_MS);
        unsigned weight = row.servers[server].weight;

        /* Its own, too, at most 1.25 of its share, rounded up. */
        assert_in_range(atomic_load(&row.shared[server].active), 1,
                        (5 * total * weight + 15) / 16);
    }
    for (size_t i = 0; i < 3; i++)
        sum += atomic_load(&row.shared[i].active);
    assert_int_equal(sum, 4000);
}

TEST(the_overflow_of_a_key_has_a_home_too)
{
    int home, second;

    ROW(1, 1, 1, 1);
    row_open(BALANCE_HASH);
    home = balance_take(row.balance, 7, 0, START_MS);
    second = balance_take(row.balance, 7, UINT64_C(1) << home, START_MS);
    set_active((size_t)home, 1000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(balance_take(row.balance, 7, 0, START_MS), second);
}

TEST(bounds_hold_for_the_largest_counts)
{
    unsigned weights[BALANCE_SERVERS_MAX + 1] = {0};

    for (size_t i = 0; i < BALANCE_SERVERS_MAX; i++)
        weights[i] = BALANCE_WEIGHT_MAX;
    row_set(weights);
    row_open(BALANCE_HASH);
    for (size_t i = 0; i < BALANCE_SERVERS_MAX; i++)
        set_active(i, i == 6 ? 4000000000 : 3000000000);
    for (uint64_t key = 0; key < 1000; key++) {
        int server = balance_take(row.balance, key, 0, START_MS);

        /* 4.0e9 is more than 1.25 times 3.0e9 and a little. */
        assert_int_not_equal(server, 6);
        give(server, BALANCE_SUCCESS, START_MS);
    }
}

SUITE(.each_end = close_row);
