/*
 * balance - which of several servers gets the next request, and which are
 * left out for a while.
 *
 *   round-robin   smooth weighted: each server's credit grows by its weight;
 *                 the server with most credit is taken, and pays the sum of
 *                 all weights (nginx's way; no bursts).
 *   least-conn    the server with the fewest active requests per weight;
 *                 equal servers take turns.
 *   random        two servers are drawn by weight; the one with fewer active
 *                 requests per weight is taken (Mitzenmacher, "The power of
 *                 two choices", 2001).
 *   hash          rendezvous hashing by weight, with bounded loads (Mirrokni,
 *                 Thorup, Zadimoghaddam, SODA 2018): a server with more than
 *                 1.25 times its fair share of active requests is passed
 *                 over.
 *
 * A server is chosen only if it is neither down nor ejected, is below
 * conns_max, and was not tried for this request yet. A backup is chosen only if
 * no other server is left. When all servers are down or ejected, the ejected
 * servers count as up: a try is better than none (panic).
 *
 *       fails_max failures         eject time is over
 *   UP -----------------------> EJECTED ---------------> SLOW ----> UP
 *    |                                                    ^
 *    +---------------> DOWN ------------------------------+
 *       fall probes          rise probes
 *
 * Passive health: fails_max failures within fail_window_ms eject a server for
 * eject_ms. Each further ejection in a row lasts twice as long as the one
 * before, up to eject_max_ms; a random part, up to a quarter, is added. A
 * success after an ejection ends the row. Independently, active probes
 * (upstream_probe.h) turn a server up after `rise` successes and down after
 * `fall` failures. A server that comes back gets its load slowly: over
 * slow_start_ms its weight rises from a tenth to the whole.
 *
 * Workers share only hints (struct balance_server_shared). Each hint is a
 * relaxed atomic; no code needs two hints to be consistent. conns_max is kept
 * by compare-and-swap.
 *
 * Thread: a balance belongs to one worker; all workers use its shared part.
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
    unsigned fails_max; /* so many failures eject a server; 0: none does */
    uint64_t fail_window_ms;
    /* eject_ms and eject_max_ms: at least 1, if fails_max > 0 */
    uint64_t eject_ms;
    uint64_t eject_max_ms;
    uint64_t slow_start_ms; /* 0: full weight at once */
    /* After so many probes in a row a server counts as up (`rise`) or as down
     * (`fall`); 0 means 1. */
    unsigned rise, fall;
};

/* A server, as configured. */
struct balance_server {
    unsigned weight; /* 1 to BALANCE_WEIGHT_MAX */
    /* Most exchanges at a time, of all workers together; 0: no limit. */
    unsigned conns_max;
    bool is_backup;
    uint64_t name_hash; /* hash of the configured name */
};

/* The caller zeroes the struct before the first use. A zeroed server is up. */
struct balance_server_shared {
    _Atomic uint32_t active; /* exchanges under way */
    _Atomic uint32_t fails;  /* failures in the present window */
    _Atomic uint64_t window_ends_ms;
    _Atomic uint64_t ejected_until_ms; /* ejected before this time */
    _Atomic uint64_t risen_at_ms; /* when it last changed from down to up */
    _Atomic uint32_t ejections;   /* consecutive ejections */
    /* Consecutive probes whose results contradict is_down. */
    _Atomic uint32_t probes;
    _Atomic bool is_down; /* probes found the server down */
};

struct balance; /* opaque */

/* Creates a balance for `count` servers (1 to BALANCE_SERVERS_MAX). The arrays
 * `servers` and `shared` have `count` elements each and are borrowed. `seed`
 * seeds random numbers and says where round robin begins, so each worker passes
 * a seed of its own. Returns NULL if there is no memory. */
MUST_USE struct balance *balance_create(const struct balance_options *options,
                                        const struct balance_server *servers,
                                        struct balance_server_shared *shared,
                                        size_t count, uint64_t seed);
void balance_destroy(struct balance *balance);

/* Chooses a server, and counts one more active request at this server. If bit n
 * of `tried` is set, server n is not chosen. Only BALANCE_HASH uses `hash`.
 * Returns the server's number, or -1 if each server is excluded, down or at its
 * limit. */
int balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
                 uint64_t now_ms);

enum balance_result {
    BALANCE_NEITHER, /* the result says nothing about the server */
    BALANCE_SUCCESS,
    BALANCE_FAILURE
};

/* Ends a request that balance_take() has counted. Returns true if the result is
 * a failure that ejects the server. */
bool balance_give(struct balance *balance, int server,
                  enum balance_result result, uint64_t now_ms);

/* Notes a probe's result. Only one thread at a time may call this function.
 * Returns true if the server changed to down or to up; the change to up also
 * ends an ejection. */
bool balance_note_probe(struct balance *balance, int server, bool is_well,
                        uint64_t now_ms);

enum balance_state { BALANCE_UP, BALANCE_SLOW, BALANCE_EJECTED, BALANCE_DOWN };

enum balance_state balance_state_of(const struct balance *balance, int server,
                                    uint64_t now_ms);

/* Returns the seconds, at least 1, until a server may be asked again
 * (Retry-After). */
unsigned balance_retry_after_s(const struct balance *balance, uint64_t now_ms);

#endif
