/*
 * balance - which of several servers gets the next request, and which are
 * left out for a while.
 *
 *   round-robin   smooth weighted: each server's current += weight; the
 *                 largest is taken, minus the sum (nginx's; no bursts).
 *   least-conn    smallest active / weight; among equals in turn.
 *   random        two drawn by weight, then the smaller active / weight
 *                 (Mitzenmacher, "The power of two choices", 2001).
 *   hash          rendezvous hashing by weight, with bounded loads (Mirrokni,
 *                 Thorup, Zadimoghaddam, SODA 2018): a server with more than
 *                 1.25 times its fair share of active requests is passed
 *                 over.
 *
 * A server is chosen only if it is neither down nor ejected, is below
 * conns_max, and was not tried for this request yet; a backup only if no other
 * is left. When every server that is not down is ejected, all of these count as
 * up: a try is better than none (panic).
 *
 *       fails_max failures         eject time is over
 *   UP -----------------------> EJECTED ---------------> SLOW ----> UP
 *    |                                                    ^
 *    +---------------> DOWN ------------------------------+
 *       fall probes          rise probes
 *
 * Passive health: fails_max failures within fail_window_ms eject a server for
 * eject_ms, twice as long each time in a row, up to eject_max_ms, with up to a
 * quarter more by chance. A success after that ends the row. Independently,
 * active probes (upstream_probe.h) turn a server up after rise successes and
 * down after fall failures. A server that comes back gets its load slowly: over
 * slow_start_ms its weight rises from a tenth to the whole.
 *
 * Workers share only hints (struct balance_server_shared). Each is a relaxed
 * atomic; no code needs two of them to be consistent. conns_max is kept by
 * compare-and-swap.
 *
 * Thread: a balance is one worker's; its shared part is all workers'.
 * Owns:   nothing but itself.
 */
#ifndef UPSTREAM_BALANCE_H
#define UPSTREAM_BALANCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum { BALANCE_SERVERS_MAX = 64, BALANCE_WEIGHT_MAX = 1000 };

enum balance_policy {
    BALANCE_ROUND_ROBIN,
    BALANCE_LEAST_CONN,
    BALANCE_RANDOM,
    BALANCE_HASH
};

struct balance_options {
    enum balance_policy policy;
    unsigned fails_max; /* 0: failures eject nobody */
    uint64_t fail_window_ms;
    uint64_t eject_ms; /* this and the next: at least 1, if fails_max > 0 */
    uint64_t eject_max_ms;
    uint64_t slow_start_ms; /* 0: full weight at once */
    unsigned rise, fall;    /* probes in a row; 0 means 1 */
};

/* A server, as configured. */
struct balance_server {
    unsigned weight;    /* 1 to BALANCE_WEIGHT_MAX */
    unsigned conns_max; /* exchanges under way, all workers'; 0: no limit */
    bool is_backup;
    uint64_t name_hash; /* hash of its configured name: survives restarts */
};

/* Zeroed at first, which means that the server is up. */
struct balance_server_shared {
    _Atomic uint32_t active; /* exchanges under way */
    _Atomic uint32_t fails;  /* failures in the present window */
    _Atomic uint64_t window_ends_ms;
    _Atomic uint64_t ejected_until_ms; /* in the past: not ejected */
    _Atomic uint64_t risen_at_ms;      /* when probes last turned it up */
    _Atomic uint32_t ejections;        /* consecutive ejections */
    _Atomic uint32_t probes;           /* consecutive results against is_down */
    _Atomic bool is_down;              /* the probes' verdict */
};

struct balance; /* opaque */

/* servers and shared, count of each (1 to BALANCE_SERVERS_MAX), are borrowed.
 * seed, different for each worker, seeds chance and says where round robin
 * begins. NULL: no memory. */
MUST_USE struct balance *balance_create(const struct balance_options *options,
                                        const struct balance_server *servers,
                                        struct balance_server_shared *shared,
                                        size_t count, uint64_t seed);
void balance_destroy(struct balance *balance);

/* Chooses a server and counts it as active. Returns -1 if all that are left are
 * down or at their limit. BALANCE_HASH goes by hash. Each bit of tried excludes
 * the server of that number. */
int balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
                 uint64_t now_ms);

enum balance_result {
    BALANCE_NEITHER, /* given up because of the client */
    BALANCE_SUCCESS,
    BALANCE_FAILURE
};

/* Ends a request that balance_take() has counted. True: this failure has
 * ejected the server. */
bool balance_give(struct balance *balance, int server,
                  enum balance_result result, uint64_t now_ms);

/* Notes a probe's result, from one thread at a time. True: the server changed
 * to down, or to up, which also ends an ejection. */
bool balance_note_probe(struct balance *balance, int server, bool is_well,
                        uint64_t now_ms);

enum balance_state { BALANCE_UP, BALANCE_SLOW, BALANCE_EJECTED, BALANCE_DOWN };

enum balance_state balance_state_of(const struct balance *balance, int server,
                                    uint64_t now_ms);

/* Returns the seconds, at least 1, until a server may be asked again
 * (Retry-After). */
unsigned balance_retry_after_s(const struct balance *balance, uint64_t now_ms);

#endif
