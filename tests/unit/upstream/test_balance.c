/* link: -Wl,--wrap=malloc */
#include "unit/upstream/balance_row.h"

#include <pthread.h>
#include "unit/memory.h"

/* Which are taken, one after the other, each given back at once. */
static void assert_sequence(const char *expected)
{
    for (size_t i = 0; expected[i]; i++) {
        int server = take(START_MS);

        if (server != expected[i] - 'a')
            fail_msg("take %zu was %c", i, 'a' + server);
        give(server, BALANCE_SUCCESS, START_MS);
    }
}

/* --- Round robin ---------------------------------------------------------- */

TEST(round_robin_is_smooth)
{
    static const struct {
        unsigned weights[5];
        const char *sequence;
    } cases[] = {
        {{1}, "aaa"},
        {{1, 1, 1}, "abcabcabc"},
        {{5, 1, 1}, "aabacaaaabacaa"}, /* as nginx does */
        {{2, 1}, "abaaba"},
        {{4, 2, 1}, "abacabaabacaba"},
        {{1000, 1000}, "abab"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        row_set(cases[i].weights);
        row_open(BALANCE_ROUND_ROBIN);
        assert_sequence(cases[i].sequence);
        close_row(NULL);
    }
}

TEST(workers_begin_at_different_servers)
{
    bool begun[3] = {false};

    ROW(1, 1, 1);
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct balance *balance = balance_create(&row.options, row.servers,
                                                 row.shared, row.count, seed);
        int first;

        assert_non_null(balance);
        first = balance_take(balance, 0, 0, START_MS);
        assert_in_range(first, 0, 2);
        begun[first] = true;
        balance_destroy(balance);
    }
    assert_true(begun[0] && begun[1] && begun[2]);
}

TEST(a_cycle_of_many_takes_each_by_its_weight)
{
    unsigned weights[BALANCE_SERVERS_MAX + 1] = {0};
    unsigned counts[BALANCE_SERVERS_MAX];
    unsigned sum = 0;

    for (unsigned i = 0; i < BALANCE_SERVERS_MAX; i++)
        sum += weights[i] = 1 + i * i % 17;
    row_set(weights);
    row_open(BALANCE_ROUND_ROBIN);
    for (int cycle = 0; cycle < 2; cycle++) {
        count_takes(sum, counts, START_MS);
        for (size_t i = 0; i < row.count; i++)
            assert_int_equal(counts[i], weights[i]);
    }
}

/* --- Fewest active -------------------------------------------------------- */

TEST(the_one_with_fewest_active_is_taken)
{
    ROW(1, 1, 1);
    row_open(BALANCE_LEAST_CONN);
    set_active(0, 3);
    set_active(1, 2);
    set_active(2, 4);
    assert_int_equal(take(START_MS), 1); /* now 3 3 4: the first two ... */
    assert_int_equal(take(START_MS), 0); /* ... in turn */
    assert_int_equal(take(START_MS), 1);
    assert_int_equal(atomic_load(&row.shared[0].active), 4);
    assert_int_equal(atomic_load(&row.shared[1].active), 4);
}

TEST(a_heavier_one_may_have_more_active)
{
    ROW(3, 1);
    row_open(BALANCE_LEAST_CONN);
    for (int i = 0; i < 400; i++)
        assert_in_range(take(START_MS), 0, 1);
    assert_int_equal(atomic_load(&row.shared[0].active), 300);
    assert_int_equal(atomic_load(&row.shared[1].active), 100);
}

TEST(idle_ones_take_turns_by_weight)
{
    ROW(2, 1, 1);
    row_open(BALANCE_LEAST_CONN);
    assert_sequence("abcaabca");
}

TEST(counts_of_active_ones_may_be_as_large_as_can_be)
{
    ROW(1000, 999);
    row_open(BALANCE_LEAST_CONN);
    set_active(0, UINT32_MAX - 1);
    set_active(1, UINT32_MAX - 1);
    assert_int_equal(take(START_MS), 0);
}

/* --- Random of two -------------------------------------------------------- */
TEST(random_draws_idle_ones_by_weight)
{
    ROW(1, 1, 1, 1);
    row_open(BALANCE_RANDOM);
    assert_shares(40000);
    close_row(NULL);
    ROW(6, 3, 1);
    row_open(BALANCE_RANDOM);
    assert_shares(40000);
}

TEST(of_two_drawn_the_less_busy_is_taken)
{
    unsigned counts[3];

    ROW(1, 1, 1);
    row_open(BALANCE_RANDOM);
    set_active(0, 9);
    set_active(1, 5);
    count_takes(30000, counts, START_MS);
    assert_int_equal(counts[0], 0); /* never with itself */
    assert_in_range(counts[1], 9500, 10500);
    assert_in_range(counts[2], 19000, 21000);
}

TEST(two_choices_keep_the_fullest_low)
{
    unsigned weights[BALANCE_SERVERS_MAX + 1] = {0};
    uint32_t fullest = 0;

    for (size_t i = 0; i < BALANCE_SERVERS_MAX; i++)
        weights[i] = 1;
    row_set(weights);
    row_open(BALANCE_RANDOM);
    for (int i = 0; i < 100 * BALANCE_SERVERS_MAX; i++)
        assert_in_range(take(START_MS), 0, BALANCE_SERVERS_MAX - 1);
    for (size_t i = 0; i < row.count; i++)
        if (atomic_load(&row.shared[i].active) > fullest)
            fullest = atomic_load(&row.shared[i].active);
    /* 100 each, and ln ln 64 / ln 2 + O(1) more; one choice leads to 125. */
    assert_in_range(fullest, 100, 105);
}

/* --- Who may be chosen ---------------------------------------------------- */

static const enum balance_policy policies[] = {
    BALANCE_ROUND_ROBIN, BALANCE_LEAST_CONN, BALANCE_RANDOM, BALANCE_HASH};

TEST(whoever_was_tried_is_not_taken_again)
{
    for (size_t p = 0; p < sizeof(policies) / sizeof(*policies); p++) {
        ROW(1, 7, 3, 1, 2);
        row_open(policies[p]);
        for (int i = 0; i < 100; i++) {
            uint64_t tried = 0;

            for (size_t n = 0; n < row.count; n++) {
                int server = balance_take(row.balance, draw_bits(), tried,
                                          START_MS);

                assert_in_range(server, 0, row.count - 1);
                assert_int_equal(tried & UINT64_C(1) << server, 0);
                tried |= UINT64_C(1) << server;
            }
            assert_int_equal(balance_take(row.balance, 0, tried, START_MS), -1);
            for (int n = 0; n < (int)row.count; n++)
                give(n, BALANCE_NEITHER, START_MS);
        }
        close_row(NULL);
    }
}

TEST(backups_are_taken_when_none_else_is_left)
{
    for (size_t p = 0; p < sizeof(policies) / sizeof(*policies); p++) {
        unsigned counts[4];
        int backup;

        ROW(1, 1, 1, 1);
        row.servers[0].is_backup = true;
        row.servers[3].is_backup = true;
        row_open(policies[p]);
        count_takes(100, counts, START_MS);
        assert_int_equal(counts[0] + counts[3], 0);
        assert_int_equal(balance_take(row.balance, 0, 1 << 1, START_MS), 2);
        give(2, BALANCE_NEITHER, START_MS);
        backup = balance_take(row.balance, 0, 1 << 1 | 1 << 2, START_MS);
        assert_true(backup == 0 || backup == 3);
        give(backup, BALANCE_NEITHER, START_MS);
        atomic_store(&row.shared[1].is_down, true);
        atomic_store(&row.shared[2].ejected_until_ms, START_MS + 1);
        count_takes(100, counts, START_MS);
        assert_int_equal(counts[0] + counts[3], 100);
        assert_true(counts[0] > 0 && counts[3] > 0);
        count_takes(100, counts, START_MS + 1);
        assert_int_equal(counts[2], 100);
        close_row(NULL);
    }
}

TEST(backups_alone_are_as_others)
{
    ROW(2, 1);
    row.servers[0].is_backup = true;
    row.servers[1].is_backup = true;
    row_open(BALANCE_ROUND_ROBIN);
    assert_sequence("abaaba");
}

TEST(nobody_is_given_more_than_its_limit)
{
    for (size_t p = 0; p < sizeof(policies) / sizeof(*policies); p++) {
        ROW(1, 9, 1);
        row.servers[0].conns_max = 2;
        row.servers[1].conns_max = 3;
        row.servers[2].conns_max = 1;
        row.servers[2].is_backup = true;
        row_open(policies[p]);
        for (int i = 0; i < 5; i++)
            assert_in_range(balance_take(row.balance, draw_bits(), 0, START_MS),
                            0, 1);
        assert_int_equal(take(START_MS), 2);
        assert_int_equal(take(START_MS), -1);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(atomic_load(&row.shared[i].active),
                             row.servers[i].conns_max);
        give(1, BALANCE_NEITHER, START_MS);
        assert_int_equal(take(START_MS), 1);
        close_row(NULL);
    }
}

TEST(without_memory_there_is_no_balance)
{
    struct balance *balance;

    ROW(1);
    allocations_left = 0;
    balance = balance_create(&row.options, row.servers, row.shared, 1, 0);
    allocations_left = -1;
    assert_null(balance);
    balance_destroy(NULL);
}

/* --- Many workers --------------------------------------------------------- */

enum { THREADS = 4, TAKES_EACH = 20000, HELD_MAX = 8 };

struct taker {
    pthread_t thread;
    struct balance *balance;
    _Atomic uint32_t *held; /* by all, of each server */
    uint64_t random;
    unsigned refused;
    unsigned over; /* times that a limit was seen broken */
};

static void *take_and_give(void *context)
{
    struct taker *taker = context;
    int held[HELD_MAX];
    unsigned count = 0;

    for (unsigned i = 0; i < TAKES_EACH || count > 0; i++) {
        int server = -1;

        taker->random = taker->random * 6364136223846793005u + 1;
        if (count < HELD_MAX && i < TAKES_EACH)
            server = balance_take(taker->balance, taker->random, 0, START_MS);
        if (server != -1) {
            /* Counted after taking and before giving: never more than are. */
            uint32_t now_held = atomic_fetch_add(&taker->held[server], 1) + 1;

            taker->over += now_held > row.servers[server].conns_max;
            held[count++] = server;
            continue;
        }
        taker->refused += i < TAKES_EACH && count < HELD_MAX;
        if (count > 0) {
            atomic_fetch_sub(&taker->held[held[--count]], 1);
            balance_give(taker->balance, held[count],
                         taker->random >> 62 ? BALANCE_SUCCESS
                                             : BALANCE_FAILURE,
                         START_MS + i);
        }
    }
    return NULL;
}

TEST(limits_hold_among_many_workers)
{
    for (size_t p = 0; p < sizeof(policies) / sizeof(*policies); p++) {
        static _Atomic uint32_t held[3];
        struct taker takers[THREADS];
        unsigned refused = 0;

        ROW(1, 2, 3);
        row.options.policy = policies[p];
        for (unsigned i = 0; i < 3; i++)
            row.servers[i].conns_max = 1 + i;
        for (uint64_t i = 0; i < THREADS; i++) {
            takers[i] = (struct taker){
                .balance = balance_create(&row.options, row.servers, row.shared,
                                          row.count, i),
                .held = held,
                .random = i};
            assert_non_null(takers[i].balance);
        }
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&takers[i].thread, NULL,
                                            take_and_give, &takers[i]),
                             0);
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(takers[i].thread, NULL);
            assert_int_equal(takers[i].over, 0);
            refused += takers[i].refused;
            balance_destroy(takers[i].balance);
        }
        for (size_t i = 0; i < row.count; i++)
            assert_int_equal(atomic_load(&row.shared[i].active), 0);
        /* The limits were in the way at all. */
        assert_true(refused > 0);
    }
}

SUITE(.each_end = close_row);
