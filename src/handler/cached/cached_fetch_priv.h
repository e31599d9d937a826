/*
 * cached_fetch_priv - shared by the files of a fetch. Each file calls only
 * files below it:
 *
 *   cached_fetch.c    asks the proxy, and continues when it answers
 *   cached_keep.c     stores an answer, or hands it over
 *   cached_renew.c    renews a stored answer that the origin has confirmed
 *   cached_fill.c     fills the body of a stored answer
 *   cached_part.c     stores a part: alone, or joined with others
 *   cached_error.c    decides whether an error concerns its asker alone
 *   cached_fetches.c  all fetches under way, and how they end
 */
#ifndef HANDLER_CACHED_CACHED_FETCH_PRIV_H
#define HANDLER_CACHED_CACHED_FETCH_PRIV_H

#include "cache/cached_head.h"
#include "handler/cached/cached_priv.h"

/*
 *   ASKING --> FILLING --> over, and destroyed
 *      |          '------> WAITING for its readers, and FILLING again
 *      '-----> HANDED      the asker's response pulls, and destroys the fetch
 */
enum fetch_state { FETCH_ASKING, FETCH_FILLING, FETCH_HANDED };

struct fetch {
    struct list list_node;
    struct cached *cached;
    enum fetch_state state;
    struct exchange exchange; /* the exchange with the proxy */
    struct exchange *to;      /* in HANDED: the exchange to be answered */
    struct address peer;
    struct address neighbour;
    void *request; /* block of memory that exchange.request points into */
    struct cache_wait turn;
    struct fetch_asker *asker;
    struct cache_control control; /* directives of the request */
    struct cache_found earlier;
    struct cache_flight *flight;
    enum cached_way way;
    bool is_authorized;
    bool has_user;   /* the request may identify its user */
    bool is_passing; /* the body goes to its readers only, and is not stored */
    uint64_t asked_ms;
    /* The entry and the body that are being filled, or NULL. */
    struct cache_entry *entry;
    struct cache_body *body;
    bool is_part; /* `entry` has only a range */
    bool mends;   /* the fetch fills the gap between the ranges of `earlier` */
    struct range gap;
    uint64_t held_at;         /* next byte to copy from `earlier` */
    uint64_t mended;          /* bytes of the gap that were received */
    struct cache_epoch epoch; /* epoch of the key when the fetch began */
    bool is_overtaken;   /* the key was invalidated since the fetch began */
    bool has_no_variant; /* the answer's Vary cannot be evaluated */
    bool is_unasked;     /* nobody has ever waited for this fetch */
    size_t key_len;
    char key[];
};

/* --- cached_fetches.c ---------------------------------------------------- */

void fetch_end_flight(struct fetch *fetch, enum cache_outcome outcome);

/* Ends some of the fetches whose answers nobody reads any more, if there are
 * many such fetches. Must be called before another fetch begins. */
void fetch_end_unread(struct cached *cached);

/* Returns the length of the answer's body, or CACHE_LENGTH_UNKNOWN. */
uint64_t fetch_body_length(const struct fetch *fetch);

struct cache_circumstances fetch_circumstances(const struct fetch *fetch);

/* Tells the asker the fetch's result. The asker may destroy the fetch. */
void fetch_tell(struct fetch *fetch, const struct cache_found *found,
                struct fetch *hand, const struct cached_note *note);

/* Tells the asker the entry, if the fetch has an asker. */
void fetch_tell_entry(struct fetch *fetch, struct cache_entry *entry,
                      struct cache_body *body, const struct cached_note *note);

struct cached_note fetch_note(const struct fetch *fetch);

/* Returns what the requests that wait for this fetch do next. They look up
 * `entry`, unless the entry must be revalidated for each request. */
enum cache_outcome fetch_outcome(const struct fetch *fetch,
                                 const struct cache_entry *entry);

/* Returns false if the entry was invalidated after it was asked for. Then no
 * client may get it, not even a client that asked before the invalidation. */
bool fetch_is_current(const struct fetch *fetch, struct cache_entry *entry);

/* Starts over after an answer that is about another representation than the
 * stored answer. Removes the stored answer and destroys the fetch. The clients
 * that have asked then fetch the whole representation. */
void fetch_start_over(struct fetch *fetch);

/* --- cached_error.c ------------------------------------------------------ */

/* Returns true if the answer's status is only about this request or its sender.
 * Such an answer does not remove what is stored for all clients. Otherwise, a
 * client could remove it by sending a field that is too long for the origin. */
bool fetch_is_about_request(const struct fetch *fetch);

/* Returns true if the answer is an error that must not be stored, since the
 * asker's own request may have caused it. This is assumed if the request's
 * fields are odd, or if an answer that is no error is stored under the same
 * key. That answer may be another variant: an error without Vary would match
 * every request. A lifetime from the origin does not count here. Some origins
 * give all answers the same lifetime: after one malformed request, all clients
 * would get 400. */
bool fetch_is_askers_error(const struct fetch *fetch);

/* --- cached_part.c ------------------------------------------------------- */

/* Reads the range of the answer, and the whole length. Returns false if the
 * answer is no part, or if its range does not match its length. */
bool fetch_read_part(const struct fetch *fetch, struct range *range_out,
                     uint64_t *length_out);

/* Whether the client has asked for a part, whatever the answer is. */
bool fetch_asks_for_part(const struct fetch *fetch);

/* Whether two answers have identical bytes (RFC 9110 8.8.3.2). */
bool fetch_is_same(const struct cache_facts *a, const struct cache_facts *b);

/* Stores the part that has come, together with the parts of the same
 * representation that are stored already. */
void fetch_put_part(struct fetch *fetch);

/* --- cached_fill.c ------------------------------------------------------- */

/* Continues to fill the body; may destroy the fetch. */
void fetch_fill(struct fetch *fetch);

/* --- cached_renew.c ------------------------------------------------------ */

/* Handles a 304 about a stored answer: renews that answer, or starts over if
 * the 304 does not fit it. Either destroys the fetch and returns true. Returns
 * false, and keeps the fetch, if the answer is no such 304, or when there is no
 * memory. */
bool fetch_heed_not_modified(struct fetch *fetch);

/* Renews or removes the stored answer, as the answer to a HEAD tells. */
void fetch_heed_head(struct fetch *fetch);

/* --- cached_keep.c ------------------------------------------------------- */

/* Uses, stores or hands over the answer. Afterwards the fetch is FILLING or
 * HANDED, or was destroyed. */
void fetch_use_answer(struct fetch *fetch);

#endif
