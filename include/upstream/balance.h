/*
 * balance - which of several servers gets the next request, and which are
 * left out for a while.
 *
 *   round-robin   smooth weighted: of each, current += weight; the largest is
 *                 taken, and pays the sum (nginx's; no bursts to the heavy).
 *   least-conn    fewest active / weight; equals in turn.
 *   random        of two drawn by weight the one with fewer active / weight
 *                 (Mitzenmacher, "The power of two choices", 2001).
 *   hash          rendezvous hashing by weight, with bounded loads (Mirrokni,
 *                 Thorup, Zadimoghaddam, SODA 2018): a server with more than
 *                 1.25 times its fair share of active requests is passed
 *                 over.
 *
 * Only a server that is neither down nor ejected, below conns_max, and not
 * tried already for this request is chosen; backups when no other is left. When
 * all servers that no probe has found down are ejected, they count as up:
 * better a try than none (panic).
 *
 *       fails_max failures           its time is over
 *   UP -----------------------> EJECTED ---------------> SLOW ----> UP
 *    |                                                    ^
 *    +---------------> DOWN ------------------------------+
 *       fall probes          rise probes
 *
 * Passive health: fails_max failures within fail_window_ms eject a server for
 * eject_ms, twice as long each time in a row, up to eject_max_ms, with up to a
 * quarter more by chance. A success after that ends the row. Active probes
 * (upstream_probe.h) say up or down besides: rise successes, fall failures. A
 * server that comes back is let in slowly: over slow_start_ms its weight rises
 * from a tenth to all of it.
 *
 * What workers share (struct balance_server_shared) is only hints: counts of
 * active ones, failures, until when. Each is a relaxed atomic; nobody needs two
 * that fit together. conns_max is kept by compare-and-swap.
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
    uint64_t eject_ms; /* at least 1, and the next, unless fails_max is 0 */
    uint64_t eject_max_ms;
    uint64_t slow_start_ms; /* 0: none */
    unsigned rise, fall;    /* of probes, in a row; 0 is as 1 */
};

/* A server, as configured. */
struct balance_server {
    unsigned weight;    /* 1 to BALANCE_WEIGHT_MAX */
    unsigned conns_max; /* active ones, of all workers; 0: any number */
    bool is_backup;
    uint64_t name_hash; /* of what it is called: the same after a restart */
};

/* Is all zero at first, which says that the server is up. */
struct balance_server_shared {
    _Atomic uint32_t active; /* exchanges under way */
    _Atomic uint32_t fails;  /* in the window */
    _Atomic uint64_t window_ends_ms;
    _Atomic uint64_t ejected_until_ms; /* in the past: it is not */
    _Atomic uint64_t risen_at_ms;      /* when probes found it well again */
    _Atomic uint32_t ejections;        /* in a row */
    _Atomic uint32_t probes;           /* in a row that deny is_down */
    _Atomic bool is_down;              /* as probes say */
};

struct balance; /* opaque */

/* servers and shared (as many) are borrowed. seed: of chance, and of where
 * round robin begins; each worker has its own. count is 1 to
 * BALANCE_SERVERS_MAX. NULL: no memory. */
MUST_USE struct balance *balance_create(const struct balance_options *options,
                                        const struct balance_server *servers,
                                        struct balance_server_shared *shared,
                                        size_t count, uint64_t seed);
void balance_destroy(struct balance *balance);

/* The next server, now counted as active; -1: all that are left are down or at
 * their limit. hash: of what BALANCE_HASH goes by. tried: a bit each of
 * those that are not asked again. */
int balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
                 uint64_t now_ms);

enum balance_result {
    BALANCE_NEITHER, /* given up for reasons of the client's */
    BALANCE_SUCCESS,
    BALANCE_FAILURE
};

/* The request is over, and the server has one less. True: this failure has
 * ejected it. */
bool balance_give(struct balance *balance, int server,
                  enum balance_result result, uint64_t now_ms);

/* What a probe found; one thread's at a time. True: that has turned it up,
 * which ends an ejection too, or down. */
bool balance_note_probe(struct balance *balance, int server, bool is_well,
                        uint64_t now_ms);

enum balance_state { BALANCE_UP, BALANCE_SLOW, BALANCE_EJECTED, BALANCE_DOWN };

enum balance_state balance_state_of(const struct balance *balance, int server,
                                    uint64_t now_ms);

/* The seconds until somebody may be asked again (Retry-After), 1 at least. */
unsigned balance_retry_after_s(const struct balance *balance, uint64_t now_ms);

#endif
