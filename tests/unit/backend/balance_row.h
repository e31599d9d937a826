/*
 * balance_row - a balance before a row of servers, for its tests.
 */
#ifndef UNIT_BACKEND_BALANCE_ROW_H
#define UNIT_BACKEND_BALANCE_ROW_H

#include "backend/balance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../draw.h"

#define START_MS UINT64_C(1000000)

struct row {
    struct balance_options options;
    struct balance_server servers[BALANCE_SERVERS_MAX];
    struct balance_server_shared shared[BALANCE_SERVERS_MAX];
    size_t count;
    struct balance *balance;
};

static struct row row;

/* Servers of these weights, 0 at the end, called by their place. */
static void row_set(const unsigned *weights)
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

#define ROW(...) row_set((const unsigned[]){__VA_ARGS__, 0})

static void row_open(enum balance_policy policy)
{
    row.options.policy = policy;
    row.balance = balance_create(&row.options, row.servers, row.shared,
                                 row.count, 0);
    assert_non_null(row.balance);
}

static int close_row(void **state)
{
    (void)state;
    balance_destroy(row.balance);
    row.balance = NULL;
    return 0;
}

static inline int take(uint64_t now_ms)
{
    return balance_take(row.balance, 0, 0, now_ms);
}

static inline bool give(int server, enum balance_result result, uint64_t now_ms)
{
    return balance_give(row.balance, server, result, now_ms);
}

/* Takes and gives back times times; how often each was taken. */
static inline void count_takes(unsigned times, unsigned *counts_out,
                               uint64_t now_ms)
{
    memset(counts_out, 0, row.count * sizeof(*counts_out));
    for (unsigned i = 0; i < times; i++) {
        int server = balance_take(row.balance, draw_bits(), 0, now_ms);

        assert_in_range(server, 0, row.count - 1);
        counts_out[server]++;
        assert_false(give(server, BALANCE_SUCCESS, now_ms));
    }
}

#endif
