/*
 * balance_row - a balance before a row of servers, for its tests.
 */
#ifndef UNIT_BALANCE_ROW_H
#define UNIT_BALANCE_ROW_H

#include "upstream/balance.h"

#include "suite.h"
#include "unit/draw.h"

#define START_MS UINT64_C(1000000)

struct row {
    struct balance_options options;
    struct balance_server servers[BALANCE_SERVERS_MAX];
    struct balance_server_shared shared[BALANCE_SERVERS_MAX];
    size_t count;
    struct balance *balance;
};

extern struct row row;

/* Servers of these weights, 0 at the end, called by their place. */
void row_set(const unsigned *weights);

#define ROW(...) row_set((const unsigned[]){__VA_ARGS__, 0})

void row_open(enum balance_policy policy);
int close_row(void **state);
int take(uint64_t now_ms);
bool give(int server, enum balance_result result, uint64_t now_ms);

/* Takes and gives back times times; how often each was taken. */
void count_takes(unsigned times, unsigned *counts_out, uint64_t now_ms);

/* That many requests are with a server. */
void set_active(size_t server, uint32_t active);

/* Fails unless each gets its share by weight of that many takes, 5 % more or
 * less. */
void assert_shares(unsigned times);

#endif
