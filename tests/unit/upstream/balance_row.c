#include "unit/upstream/balance_row.h"

struct row row;

void row_set(const unsigned *weights)
{
    row = (struct row){.options = {.fails_max = 3,
                                   .fail_window_ms = 10000,
                                   .eject_ms = 1000,
                                   .eject_max_ms = 8000,
                                   .rise = 2,
                                   .fall = 3}};
    draw_seed = 1;
    while (weights[row.count] != 0) {
        row.servers[row.count] = (struct balance_server){
            .weight = weights[row.count], .name_hash = draw_bits()};
        row.count++;
    }
}

void row_open(enum balance_policy policy)
{
    row.options.policy = policy;
    row.balance = balance_create(&row.options, row.servers, row.shared,
                                 row.count, 0);
    assert_non_null(row.balance);
}

int close_row(void **state)
{
    (void)state;
    balance_destroy(row.balance);
    row.balance = NULL;
    return 0;
}

int take(uint64_t now_ms)
{
    return balance_take(row.balance, 0, 0, now_ms);
}

bool give(int server, enum balance_result result, uint64_t now_ms)
{
    return balance_give(row.balance, server, result, now_ms);
}

void count_takes(unsigned times, unsigned *counts_out, uint64_t now_ms)
{
    memset(counts_out, 0, row.count * sizeof(*counts_out));
    for (unsigned i = 0; i < times; i++) {
        int server = balance_take(row.balance, draw_bits(), 0, now_ms);

        assert_in_range(server, 0, row.count - 1);
        counts_out[server]++;
        assert_false(give(server, BALANCE_SUCCESS, now_ms));
    }
}

void set_active(size_t server, uint32_t active)
{
    atomic_store(&row.shared[server].active, active);
}

void assert_shares(unsigned times)
{
    unsigned counts[BALANCE_SERVERS_MAX];
    unsigned sum = 0;

    for (size_t i = 0; i < row.count; i++)
        sum += row.servers[i].weight;
    count_takes(times, counts, START_MS);
    for (size_t i = 0; i < row.count; i++) {
        unsigned share = times / sum * row.servers[i].weight;

        assert_in_range(counts[i], share - share / 20, share + share / 20);
    }
}
