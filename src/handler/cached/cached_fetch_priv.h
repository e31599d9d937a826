/*
 * cached_fetch_priv - what the files of a fetch share. Each calls only those
 * below it:
 *
 *   cached_fetch.c    asks the proxy, and goes on when there is word of it
 *   cached_keep.c     what has come: kept, or handed over
 *   cached_renew.c    what is kept is still good
 *   cached_fill.c     the body of what is kept
 *   cached_part.c     a part that is: alone, or joined with others
 *   cached_fetches.c  those that are under way, and how they end
 */
#ifndef HANDLER_CACHED_CACHED_FETCH_PRIV_H
#define HANDLER_CACHED_CACHED_FETCH_PRIV_H

#include "cache/cached_head.h"
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
    bool has_user;   /* the request may have said whose it is */
    bool is_passing; /* it was too long to be kept */
    uint64_t asked_ms;
    struct cache_entry *entry; /* that is being filled, as the next */
    struct cache_body *body;
    bool is_part; /* entry has a range of it */
    bool mends;   /* what comes is the gap in the ranges that earlier has */
    struct range gap;
    uint64_t held_at;         /* the next byte that earlier is to give */
    uint64_t mended;          /* bytes of the gap that have come */
    struct cache_epoch epoch; /* of the key, when it was asked for */
    bool is_overtaken;        /* it was made invalid since */
    bool has_no_variant;      /* what it varies by is not clear of this one */
    bool is_unasked;          /* nobody has ever waited for it */
    size_t key_len;
    char key[];
};

/* --- cached_fetches.c ---------------------------------------------------- */

void fetch_end_flight(struct fetch *fetch, enum cache_outcome outcome);

/* Ends some of those that nobody reads any more, where there are many. Who
 * begins another calls it. */
void fetch_end_unread(struct cached *cached);

/* What the body of the answer will be; CACHE_LENGTH_UNKNOWN perhaps. */
uint64_t fetch_body_length(const struct fetch *fetch);

struct cache_circumstances fetch_circumstances(const struct fetch *fetch);

/* Tells the asker what the fetch has brought; the fetch may be gone
 * afterwards. */
void fetch_tell(struct fetch *fetch, const struct cache_found *found,
                struct fetch *hand, const struct cached_note *note);

/* Tells the asker, if there is one, of an entry. */
void fetch_tell_entry(struct fetch *fetch, struct cache_entry *entry,
                      struct cache_body *body, const struct cached_note *note);

struct cached_note fetch_note(const struct fetch *fetch);

/* How the flight of a fetch ends: those that waited look for the entry, unless
 * it has to be asked about each time. */
enum cache_outcome fetch_outcome(const struct fetch *fetch,
                                 const struct cache_entry *entry);

/* Whether nothing was said against an entry since it was asked about. False:
 * not even a client that asked before may have it. */
bool fetch_is_current(const struct fetch *fetch, struct cache_entry *entry);

/* What has come is about something else than was asked about: that goes, and
 * whoever asked has all of it fetched. The fetch is gone. */
void fetch_start_over(struct fetch *fetch);

/* --- cached_part.c ------------------------------------------------------- */

/* The range that the answer has, by its own account, and of how much. False: it
 * is no part, or what it says is not what comes. */
bool fetch_read_part(const struct fetch *fetch, struct range *range_out,
                     uint64_t *length_out);

/* Whether a client has asked for a part, whatever comes of that. */
bool fetch_asks_for_part(const struct fetch *fetch);

/* Whether two answers are of the same bytes (RFC 9110 8.8.3.2). */
bool fetch_is_same(const struct cache_facts *a, const struct cache_facts *b);

/* Keeps the part that has come, beside those that are there of the same. */
void fetch_put_part(struct fetch *fetch);

/* --- cached_fill.c ------------------------------------------------------- */

/* Goes on with the body; the fetch may be gone afterwards. */
void fetch_fill(struct fetch *fetch);

/* --- cached_renew.c ------------------------------------------------------ */

/* Whether the answer is word about what is kept, and has been used; then the
 * fetch is gone. */
bool fetch_heed_not_modified(struct fetch *fetch);

/* Uses what HEAD was answered with. */
void fetch_heed_head(struct fetch *fetch);

/* --- cached_keep.c ------------------------------------------------------- */

/* There is an answer: it is used, kept or handed over. The fetch may be gone
 * afterwards; else it is FILLING, or HANDED. */
void fetch_use_answer(struct fetch *fetch);

#endif
