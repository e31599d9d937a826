/*
 * order - one link, simulated byte by byte of its clock, and the orders that
 * replies could leave in: sprintd's own (engine/sched.c, the real thing) and
 * candidates that were not taken.
 *
 * Time is counted in bytes that the link could have carried.
 *
 * Thread: one.
 * Owns:   nothing; main() owns the replies.
 */
#ifndef BENCH_ORDER_H
#define BENCH_ORDER_H

#include "engine/sched.h"

enum {
    ORDER_QUANTUM = 1500,
    ORDER_CLIENTS_MAX = 200000,
    ORDER_WAITING_MAX = 65536
};

struct reply {
    struct sched_item item;
    uint32_t client;
    bool is_loop;    /* its client asks for the same again when it has it */
    uint64_t arrive; /* on the clock */
    uint64_t size;   /* on the wire */
    uint64_t left;
    uint64_t done;    /* on the clock; 0: not yet */
    unsigned urgency; /* of a page's file: 0 first; else 0 */
    double tag;       /* of candidates */
    double excess;    /* the same */
};

struct order {
    const char *name;
    void (*begin)(size_t clients);
    void (*arrive)(struct reply *reply);
    struct reply *(*pick)(void); /* NULL: none waits; it is put back by sent */
    void (*sent)(struct reply *reply, uint64_t bytes);
    void (*idle)(uint64_t bytes); /* the link was, for so long; may be NULL */
};

/* What the link carries, in bytes a second. */
extern uint64_t order_rate;

/* The first of sprintd's own is what others are compared with; the first of the
 * candidates is fair sharing among clients. */
extern const struct order order_own[];
extern const size_t order_own_count;
extern const struct order order_candidates[];
extern const size_t order_candidate_count;

#endif
