/*
 * sched - decides which connection may send next: the one whose response has
 *         the smallest key.
 *
 *   srpt  fewest bytes left first (Schrage, "A proof of the optimality of the
 *         shortest remaining processing time discipline", 1968), with a bound
 *         on how much may pass a response.
 *   fsp   in the order of finishing under fair sharing; see fair_share.h.
 *   fifo  in the order they came, each to its end as far as its client takes
 *         it.
 *   fair  round robin, a quantum each.
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
 * responses that came later. Proof: let q, of x bytes, be the last in arrival
 * of those that pass r (b bytes left at most, arrived at a). Passing means
 * K * x + a' < K * b + a for q's arrival a' >= a + b, hence
 * a' - a < K * (b - x): the bytes of all that came after r and before q are
 * fewer than K * (b - x) - b. With the x bytes of q itself, and x < b, that
 * is less than K * b + b. What b shrinks to while r is served only lowers its
 * key further.  So r waits for what was there when it came, and for less than
 * (K + 1) * b bytes more: work in proportion to its own size, as under fair
 * sharing, instead of for ever.
 *
 * Levels. When a client waits for several small things, its level
 * (client_level.h) is added to the b of each, but no more than 8 b. The a of
 * every key counts 9 times then, and the bound is the same for K >= 9. Proof:
 * passing means K * x + 9 a' < K * 9 b + 9 a at most, as a level takes nothing
 * away from x, hence a' - a < K * (b - x / 9). With the x bytes of q that is
 * less than K * b + b in all, as long as x < b (which is so within a client) or
 * K >= 9. (Otherwise it is less than 9 b.)
 *
 * Excess. A client that is far ahead of its share has its excess
 * (client_share.h) added, too. The bound above does not hold for its responses:
 * they are kept from starvation by the bound in time alone, which
 * client_share.h proves.
 *
 * A response of unknown length (a stream) is ordered by the bytes it has had:
 * least attained service first (Rai, Urvoy-Keller, Biersack, "Analysis of LAS
 * scheduling for job size distributions with high variance", SIGMETRICS
 * 2003).
 *
 * Connections and streams. An item stands for a connection, not for a response:
 * its bytes are those of the connection's candidate (engine/protocol.h), which
 * is the one with the smallest key of all that it could send now. HTTP/1 has
 * one candidate, its pipeline. A protocol with streams keeps a heap of them by
 * the same key inside, and puts its item back with another number of bytes when
 * the smallest becomes another. (A client of HTTP/2 may say in which order its
 * streams are sent. Then the stream that is sent need not be the smallest, and
 * the item bids with the bytes that the smallest would have left by now, had it
 * been sent instead, or with fewer for the last files of a page:
 * src/engine/h2/h2_bid.c.)
 *
 * Claim: the order over all candidates of all connections is that of their
 *        keys.
 * Proof: the top of the heap has the smallest of the smallest keys of all
 * connections, and that is the smallest of all. So a connection gains nothing
 * by opening more streams: each of them waits as if it were a connection of its
 * own; nor by calling one urgent, which orders a connection's own streams and
 * changes no key. A socket that takes no more is one removal, whatever waits
 * behind it.
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
    uint64_t bound;         /* K of srpt; 0: none */
    uint64_t clock;         /* number of arrivals and turns */
    uint64_t bytes_arrived; /* A, times its weight in keys of srpt */
    uint64_t bytes_waiting; /* of items that wait; streams count as 0 */
    uint64_t bytes_sent;    /* since ever */
    struct fair_share share;
    struct client_share clients; /* shares of clients, under srpt */
};

struct sched_item {
    struct heap_node node; /* private */
    bool is_stream;        /* private: of unknown length */
    bool is_due;           /* private: it was taken as its client was due */
    bool is_of_many;       /* its owner sets this while it is not queued: one of
                              many responses of a connection, without a part in
                              levels */
    uint64_t arrival;      /* private: its number in clock */
    uint64_t stamp;        /* private: a of srpt; virtual finish of fsp */
    uint64_t bytes;        /* private: its part of bytes_waiting */
    struct client_place place; /* private */
    uint64_t excess;           /* private: the excess within its key */
};

/* What keeps responses from starving under srpt. */
struct sched_bounds {
    uint64_t bytes;  /* --starvation-bound: K; 0: none */
    uint64_t factor; /* --starvation-factor: c of client_share.h; 0: none */
};

void sched_init(struct sched *sched, enum sched_policy policy,
                struct sched_bounds bounds);
void sched_fini(struct sched *sched);

/* Makes room for items in all, so that sched_put() cannot fail. 0, -ENOMEM. */
MUST_USE int sched_reserve(struct sched *sched, size_t items);

/* A new response of so many bytes begins to wait; of a stream, so many as it
 * has to begin with. client: from client_share_name(). */
void sched_arrive(struct sched *sched, struct sched_item *item, uint64_t client,
                  uint64_t bytes, bool is_stream);

/* Whether item, which has arrived and is not queued, would be the very next:
 * then it may send at once and spare itself the queue. bytes as for
 * sched_put(). */
bool sched_goes_first(const struct sched *sched, const struct sched_item *item,
                      uint64_t bytes);

/* What the order goes by, smallest first; 0 when item was taken because its
 * client is due. Under fair, which orders by turns alone, it is always
 * UINT64_MAX. bytes as for sched_put(). */
uint64_t sched_key(const struct sched *sched, const struct sched_item *item,
                   uint64_t bytes);

/* Queues item, which must not be queued yet. bytes: left to send; of a
 * stream, sent so far. */
void sched_put(struct sched *sched, struct sched_item *item, uint64_t bytes);

/* Whether sched_take() would find something, or has something to settle. */
static inline bool sched_has_work(const struct sched *sched)
{
    return sched->heap.count > 0 || sched->clients.taken;
}

/* Takes out the item that sends next; NULL when none waits. */
struct sched_item *sched_take(struct sched *sched);

/* Takes out an item that gives up; nothing happens when it is not queued. */
void sched_drop(struct sched *sched, struct sched_item *item);

/* Tells that so many bytes will not be sent any more. */
static inline void sched_forget(struct sched *sched, uint64_t bytes)
{
    if (sched->policy == SCHED_POLICY_FSP)
        fair_share_advance(&sched->share, bytes);
}

/* Tells sched that so many bytes of item were sent. */
static inline void sched_sent(struct sched *sched, struct sched_item *item,
                              uint64_t bytes)
{
    sched->bytes_sent += bytes;
    if (client_share_is_used(&sched->clients))
        client_share_charge(&sched->clients, &item->place, bytes);
    else
        sched_forget(sched, bytes);
}

/* How many of the waiting items send before item, which does not wait. */
size_t sched_count_before(const struct sched *sched,
                          const struct sched_item *item, uint64_t bytes);

/* Whether item, which does not wait but sends now, overtakes: the next of
 * those that wait, and perhaps others behind it, came earlier. */
static inline bool sched_overtakes(const struct sched *sched,
                                   const struct sched_item *item)
{
    const struct heap_item *first = heap_first(&sched->heap);

    return first && first->tie < item->arrival;
}

/* The key of the item that is next; UINT64_MAX when none waits. */
static inline uint64_t sched_next_key(const struct sched *sched)
{
    const struct heap_item *first = heap_first(&sched->heap);

    if (client_share_has_due(&sched->clients))
        return 0;
    return first ? first->key : UINT64_MAX;
}

/* Where keys begin by now. Keys grow with what has come to this scheduler or
 * was sent by it, so other schedulers can only compare a key's distance from
 * here. */
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
