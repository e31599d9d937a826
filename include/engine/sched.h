/*
 * sched - decides which connection may send next: the one whose response has
 *         the smallest key.
 *
 *   srpt  fewest bytes left first (Schrage, "A proof of the optimality of the
 *         shortest remaining processing time discipline", 1968), with a bound
 *         on how much may pass a response.
 *   fsp   in the order of finishing under fair sharing; see fair_share.h.
 *   fifo  in the order of arrival, each to its end as far as its client takes
 *         it.
 *   fair  round robin, one quantum at a time.
 *
 * The order knows nothing of sockets: the caller takes an item, sends at most a
 * quantum of it, and puts it back if something remains.
 *
 * The bound of srpt. Let A be the bytes of all responses that have arrived so
 * far, and K the bound. The key of a response that arrived at A = a and has b
 * bytes left is
 *
 *     key = K * b + a        (K = 0, no bound: key = b)
 *
 * Claim: a response of b bytes is passed by less than (K + 1) * b bytes of
 * responses that came later. Proof: let r be the response, with at most b bytes
 * left, that arrived at a. Of all responses that pass r let q, of x bytes, be
 * the one that arrived last. Passing means K * x + a' < K * b + a for q's
 * arrival a' >= a + b, hence a' - a < K * (b - x): all responses that came
 * after r and before q have fewer than K * (b - x) - b bytes. With the x bytes
 * of q itself, and x < b, these are fewer than K * b + b. While r is served,
 * its b shrinks, which only lowers its key further. So r waits for the bytes
 * that were there when r came, and for less than (K + 1) * b bytes more. Its
 * wait is in proportion to its own size, as under fair sharing, and not
 * endless.
 *
 * Levels. When a client waits for several small things, its level
 * (client_level.h) is added to the b of each, but no more than 8 b. The a of
 * every key counts 9 times then, and the bound is the same for K >= 9. Proof:
 * as a level makes no key smaller, passing means at most K * x + 9 a' < K * 9 b
 * + 9 a, hence a' - a < K * (b - x / 9). With the x bytes of q these are fewer
 * than K * b + b bytes in all, as long as x < b (which is so within a client)
 * or K >= 9. (Otherwise they are fewer than 9 b.)
 *
 * Excess. When a client is far ahead of its share, its excess (client_share.h)
 * is added, too. The bound above does not hold for the responses of such a
 * client: only the bound in time, which client_share.h proves, keeps them from
 * starvation.
 *
 * A response of unknown length (a stream) is ordered by the bytes that were
 * sent of it: least attained service first (Rai, Urvoy-Keller, Biersack,
 * "Analysis of LAS scheduling for job size distributions with high variance",
 * SIGMETRICS 2003).
 *
 * Connections and streams. An item stands for a connection, not for a response:
 * its bytes are those of the connection's candidate (engine/protocol.h). The
 * candidate has the smallest key of all that the connection could send now.
 * HTTP/1 has one candidate, its pipeline. A protocol with streams keeps them in
 * a heap by the same key, and puts its item back with another number of bytes
 * when another stream has become the smallest. (A client of HTTP/2 may say in
 * which order its streams are sent. Then the stream that is sent need not be
 * the smallest. In this case the item's bytes are those that the smallest
 * stream would have left by now, had it been sent instead; for the last files
 * of a page they are fewer. See src/engine/h2/h2_bid.c.)
 *
 * Claim: of all candidates of all connections, the one with the smallest key is
 *        sent first.
 * Proof: the top of the heap has the smallest of the smallest keys of all
 * connections, which is the smallest of all keys. So a connection gains nothing
 * by opening more streams: each stream waits as if it were a connection of its
 * own. Nor does a connection gain by calling a stream urgent: this orders its
 * own streams and changes no key. When a socket takes no more, one item is
 * removed, however many streams wait behind it.
 *
 * Invariant: an item is queued exactly while its connection has something to
 *            send, its socket takes more, and no one else is sending it; its
 *            key is that of its candidate.
 * Thread:    one per worker, used by that worker only; no locks.
 * Owns:      the queue, never the items; they live inside their connection.
 */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/client_share.h"

enum sched_policy {
    SCHED_POLICY_SRPT,
    SCHED_POLICY_FSP,
    SCHED_POLICY_FIFO,
    SCHED_POLICY_FAIR
};

struct sched {
    struct heap heap;
    enum sched_policy policy;
    uint64_t bound;         /* K of srpt; 0: no bound */
    uint64_t clock;         /* counts arrivals, and turns of the policy fair */
    uint64_t bytes_arrived; /* A, or 9 A if clients have shares */
    /* Bytes of all items that wait; a stream counts as 0. */
    uint64_t bytes_waiting;
    uint64_t bytes_sent; /* bytes sent since the start */
    struct fair_share share;
    struct client_share clients; /* shares of clients, under srpt */
};

struct sched_item {
    struct heap_node node; /* private */
    bool is_stream;        /* private: the length is unknown */
    /* Private: the item was taken because its client had something due. */
    bool is_due;
    /* The item is one of many responses of a connection, and has no part in
     * levels. Set by the owner while the item is not queued. */
    bool is_of_many;
    uint64_t arrival; /* private: the value of clock on arrival */
    /* Private: under srpt the a of the key, under fsp the virtual finish. */
    uint64_t stamp;
    uint64_t bytes;            /* private: the item's part of bytes_waiting */
    struct client_place place; /* private */
    uint64_t excess;           /* private: the part of the key that is excess */
};

/* The bounds that keep responses from starving under srpt. */
struct sched_bounds {
    uint64_t bytes;  /* --starvation-bound: K; 0: no bound */
    uint64_t factor; /* --starvation-factor: c of client_share.h; 0: no
                        shares */
};

void sched_init(struct sched *sched, enum sched_policy policy,
                struct sched_bounds bounds);
void sched_fini(struct sched *sched);

/* Makes room for `items` items in all, so that sched_put() cannot fail. Returns
 * 0 or -ENOMEM. */
MUST_USE int sched_reserve(struct sched *sched, size_t items);

/* Notes that a new response of `bytes` bytes arrives. For a stream, `bytes`
 * counts only the bytes that can be sent when it begins. `client` comes from
 * client_share_name(). */
void sched_arrive(struct sched *sched, struct sched_item *item, uint64_t client,
                  uint64_t bytes, bool is_stream);

/* Whether `item`, which has arrived and is not queued, would be taken next. If
 * so, it may send at once, without being queued. `bytes` is as for
 * sched_put(). */
bool sched_goes_first(const struct sched *sched, const struct sched_item *item,
                      uint64_t bytes);

/* Returns the key by which items are ordered, smallest first. The key is 0 when
 * `item` was taken because its client had something due. Under the policy fair,
 * which orders by turns alone, the key is always UINT64_MAX. `bytes` is as for
 * sched_put(). */
uint64_t sched_key(const struct sched *sched, const struct sched_item *item,
                   uint64_t bytes);

/* Queues `item`, which must not be queued yet. `bytes` is the number of bytes
 * left to send or, for a stream, sent so far. */
void sched_put(struct sched *sched, struct sched_item *item, uint64_t bytes);

/* Whether sched_take() has to be called: an item is queued, or the client whose
 * item was taken last may have ceased to wait, which sched_take() then
 * notes. */
static inline bool sched_has_work(const struct sched *sched)
{
    return sched->heap.count > 0 || sched->clients.taken;
}

/* Takes out the item that sends next; NULL when none waits. */
struct sched_item *sched_take(struct sched *sched);

/* Takes out `item`, which will not be sent. Does nothing when `item` is not
 * queued. */
void sched_drop(struct sched *sched, struct sched_item *item);

/* Notes that `bytes` bytes of a response will never be sent. */
static inline void sched_forget(struct sched *sched, uint64_t bytes)
{
    if (sched->policy == SCHED_POLICY_FSP)
        fair_share_advance(&sched->share, bytes);
}

/* Notes that `bytes` bytes of `item` were sent. */
static inline void sched_sent(struct sched *sched, struct sched_item *item,
                              uint64_t bytes)
{
    sched->bytes_sent += bytes;
    if (client_share_is_used(&sched->clients))
        client_share_charge(&sched->clients, &item->place, bytes);
    else
        sched_forget(sched, bytes);
}

/* Returns how many of the waiting items would send before `item`, which does
 * not wait. `bytes` is as for sched_put(). */
size_t sched_count_before(const struct sched *sched,
                          const struct sched_item *item, uint64_t bytes);

/* Whether `item`, which sends now, overtakes another: true when the first of
 * the waiting items arrived earlier than `item`. */
static inline bool sched_overtakes(const struct sched *sched,
                                   const struct sched_item *item)
{
    const struct heap_item *first = heap_first(&sched->heap);

    return first && first->tie < item->arrival;
}

/* Returns the key of the item that is next; UINT64_MAX when none waits. */
static inline uint64_t sched_next_key(const struct sched *sched)
{
    const struct heap_item *first = heap_first(&sched->heap);

    if (client_share_has_due(&sched->clients))
        return 0;
    return first ? first->key : UINT64_MAX;
}

/* Returns the base from which this scheduler's keys count now. Keys grow with
 * the bytes that arrived or were sent here. So keys of two schedulers can be
 * compared only by their distance from the base. */
static inline uint64_t sched_base(const struct sched *sched)
{
    switch (sched->policy) {
    case SCHED_POLICY_SRPT:
        return sched->bound > 0 ? sched->bytes_arrived : 0;
    case SCHED_POLICY_FSP:
        return sched->share.now;
    case SCHED_POLICY_FIFO:
        return sched->clock;
    case SCHED_POLICY_FAIR:
        break;
    }
    return 0;
}

static inline bool sched_is_empty(const struct sched *sched)
{
    return sched->heap.count == 0;
}

#endif
