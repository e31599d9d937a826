/*
 * cached_fetch_priv - what the files of a fetch share. Each calls only those below
 * it:
 *
 *   cached_fetch.c    asks the proxy, and goes on when there is word of it
 *   cached_keep.c     what has come: still good, kept, or handed over
 *   cached_fill.c     the body of what is kept
 *   cached_fetches.c  those that are under way, and how they end
 */
#ifndef HANDLER_CACHED_CACHED_FETCH_PRIV_H
#define HANDLER_CACHED_CACHED_FETCH_PRIV_H

#include "handler/cached/cached_priv.h"

/*
 *   ASKING --> FILLING --> over, and gone
 *      |          '------> WAITING for its readers, and FILLING again
 *      '-----> HANDED      the asker's response pulls, and destroys it
 */
enum fetch_state { FETCH_ASKING, FETCH_FILLING, FETCH_HANDED };

struct fetch {
    struct list list_node;
    struct cached *cached;
    enum fetch_state state;
    struct exchange exchange; /* with the proxy */
    struct exchange *to;      /* HANDED: whose response it is */
    struct address peer;
    struct address neighbour;
    void *request; /* what the exchange's points to */
    struct cache_wait turn;
    struct fetch_asker *asker;
    struct cache_control control; /* of the request */
    struct cache_found earlier;
    struct cache_flight *flight;
    enum cached_way way;
    bool is_authorized;
    bool is_passing; /* it was too long to be kept */
    int64_t asked_s;
    uint64_t asked_ms;
    struct cache_entry *entry; /* that is being filled, as the next */
    struct cache_body *body;
    uint32_t epoch; /* of the key, when it was asked for */
    size_t key_len;
    char key[];
};

/* --- cached_fetches.c --------------------------------------------------------- */

void fetch_end_flight(struct fetch *fetch, enum cache_outcome outcome);

/* --- cached_fill.c ------------------------------------------------------------ */

/* Goes on with the body; the fetch may be gone afterwards. */
void fetch_fill(struct fetch *fetch);

/* --- cached_keep.c ------------------------------------------------------------ */

/* There is an answer: it is used, kept or handed over. The fetch may be gone
 * afterwards; else it is FILLING, or HANDED. */
void fetch_use_answer(struct fetch *fetch);

#endif
