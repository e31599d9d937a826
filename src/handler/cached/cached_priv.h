/*
 * cached_priv - shared by the files of cached. A file calls only files below it
 * in this list; their functions are declared further down, from the lowest file
 * to the highest. A fetch reports its result by its asker's on_fetched.
 *
 *   cached.c          which requests the cache is for, and what it answers at
 *                     once; begins a fetch in the background where an answer is
 *                     stale and may be used all the same
 *                     (stale-while-revalidate)
 *   cached_purge.c    PURGE: removes stored answers on request
 *   cached_ask.c      a request that waits for a fetch, others' or its own
 *   cached_fetch.c    a fetch: asks the proxy
 *     cached_keep.c     stores an answer, or hands it over
 *     cached_renew.c    a 304 confirms a stored answer
 *     cached_fill.c     fills the body of a stored answer
 *     cached_part.c     stores a part: alone, or joined with others
 *     cached_error.c    whether an error concerns its asker alone
 *     cached_fetches.c  all fetches under way, and how they end
 *                       (the files of a fetch share cached_fetch_priv.h)
 *   cached_request.c  the request that a fetch sends
 *   cached_hand.c     an answer that is not stored, for its asker
 *   cached_answer.c   a stored answer: whole, in part, not modified
 *   cached_body.c     the body of such an answer: complete or still coming, as
 *                     it is or compressed
 *   cached_source.c   a body that is read while it is filled
 *   cached_note.c     Cache-Status
 */
#ifndef HANDLER_CACHED_CACHED_PRIV_H
#define HANDLER_CACHED_CACHED_PRIV_H

#include "base/units.h"
#include "handler/cached/cached.h"
#include "http/trace.h"

/* RFC 9211: how the cache has handled a request. */
enum cached_way {
    CACHED_HIT,
    CACHED_METHOD, /* this and the next two bypass the cache (fwd=) */
    CACHED_BYPASS,
    CACHED_REQUEST,
    CACHED_MISS,
    CACHED_VARY_MISS,
    CACHED_PARTIAL,
    CACHED_STALE,
    CACHED_WAYS
};

enum { CACHED_NOTE_BYTES = 256 };

struct cached {
    struct cached_options options;
    struct trace trace;
    struct list fetches;
    size_t fetch_count;
    size_t unasked_count;   /* fetches that nobody has ever waited for */
    struct cache_wait over; /* called when a fetch is over */
    char past[CACHED_WAYS][CACHED_NOTE_BYTES]; /* Cache-Status of bypasses */
};

static inline const struct now *cached_now(const struct cached *cached)
{
    return cached->options.defaults->now;
}

/* Seconds of the monotonic clock, for time limits. */
static inline int64_t cached_mono_s(const struct cached *cached)
{
    return (int64_t)(cached_now(cached)->mono_ms / MS_PER_S);
}

/* --- cached_note.c ------------------------------------------------------- */

struct cached_note {
    enum cached_way way;
    unsigned status; /* the origin's; 0: it has not answered */
    bool is_stored;
    bool is_collapsed; /* it waited for another request's fetch */
    bool has_ttl;
    int64_t ttl_s;
    const char *detail; /* a token; NULL: none */
    /* The origin has just answered this request: then it also gets the fields
     * in own, which are not stored (RFC 9111 5.2.2.4, 5.2.2.7). */
    bool is_from_origin;
    struct bytes own;
};

/* Appends the Cache-Status field with its CRLF. */
void cached_note_put(const struct cached *cached,
                     const struct cached_note *note, struct buf *out);

/* Records how a request was handled, for logs and statistics. */
void cached_note_use(const struct cached *cached, struct exchange *exchange,
                     const struct cached_note *note);

/* Makes the Cache-Status lines of requests that bypass the cache. */
void cached_note_prepare(struct cached *cached);

/* Puts such a line into an answer that the proxy itself gives to the client. */
void cached_note_past(const struct cached *cached, struct exchange *exchange,
                      enum cached_way way);

/* --- cached_source.c ----------------------------------------------------- */

/* Whether a client gets a file's bytes from its mapping (cache/cache_body.h):
 * over TLS, and on this machine. */
bool cached_is_mapped(const struct exchange *exchange);

/* Creates a source of a body's bytes from first to end, or if end is UINT64_MAX
 * to its end. Takes a reference. NULL: no memory. */
MUST_USE struct source *cached_source_create(struct cached *cached,
                                             struct exchange *exchange,
                                             struct cache_body *body,
                                             uint64_t first, uint64_t end);

/* --- cached_body.c ------------------------------------------------------- */

/* Completes a response whose head has all fields but those about the length:
 * with length bytes of a body from first on. body NULL: none. length may be
 * CACHE_LENGTH_UNKNOWN if the body is still being filled. */
void cached_add_body(struct cached *cached, struct exchange *exchange,
                     struct cache_body *body, uint64_t first, uint64_t length);

/* --- cached_answer.c ----------------------------------------------------- */

/* Whether the found entry can answer the request: an entry of parts may lack
 * the part, and a body may have broken off. */
bool cached_has(const struct cached *cached, const struct exchange *exchange,
                const struct cache_found *found);

/* Makes the response from an entry that can answer the request, or from an
 * entry's only part, which has just come. The caller keeps found's
 * references. */
void cached_answer(struct cached *cached, struct exchange *exchange,
                   const struct cache_found *found,
                   const struct cached_note *note);

/* Answers 504, for only-if-cached (RFC 9111 5.2.1.7). It has no Cache-Status:
 * nothing kept is in it, and nothing went forward (RFC 9211 2). */
void cached_answer_none(struct cached *cached, struct exchange *exchange);

/* --- cached_request.c ---------------------------------------------------- */

/* Copies the request of from into to; if earlier is not NULL, it asks whether
 * that is still valid, or, with a gap, for the gap. The copy points into the
 * block returned, to be freed by free(3). NULL: no memory. */
MUST_USE void *cached_request_make(const struct cached *cached,
                                   struct exchange *to,
                                   const struct exchange *from,
                                   const struct cache_entry *earlier,
                                   const struct range *gap);

/* The fields of a fetched answer, without the request id: each client's answer
 * has its own. */
static inline struct bytes fetched_lines(const struct response *response)
{
    const char *data = response->head.data;

    if (response->head.failed || !response->has_head)
        return BYTES("");
    return bytes_between(data + RESPONSE_HEADROOM,
                         data + response->fields_end - response->id_line.len);
}

/* The length of the body that such an answer has; CACHE_LENGTH_UNKNOWN: it does
 * not say. */
static inline uint64_t fetched_length(const struct response *response)
{
    uint64_t length = response->has_length ? response->length_left : 0;

    if (response->source && !response->has_length && !response->has_ended)
        return CACHE_LENGTH_UNKNOWN;
    for (unsigned i = response->part_at + 1u; i < response->part_count; i++)
        length += response->parts[i].len;
    return length;
}

/* --- cached_fetch.c ------------------------------------------------------ */

struct fetch;

/* A request that waits for a fetch. */
struct fetch_asker {
    /* Called once, from the port's loop. Takes over the references of found,
     * or, if hand is not NULL, that fetch, whose answer is for this asker only.
     * With neither, the asker must ask again, for the whole answer. */
    void (*on_fetched)(struct fetch_asker *asker,
                       const struct cache_found *found, struct fetch *hand,
                       const struct cached_note *note);
    /* Called for a 1xx before on_fetched(); interim's texts are valid during
     * the call. */
    void (*on_interim)(struct fetch_asker *asker, const struct answer *interim);
    struct exchange *exchange; /* the exchange that asks */
    struct fetch *fetch;       /* NULL: over, or never begun */
};

struct fetch_order {
    const struct exchange *from; /* the exchange with the request */
    struct bytes key;
    const struct cache_control *control; /* directives of the request */
    struct cache_found *earlier; /* revalidated; taken over; may be empty */
    struct range gap;            /* gap to be fetched, if earlier has ranges */
    struct cache_flight *flight; /* taken over; NULL: nobody waits */
    struct fetch_asker *asker;   /* NULL: nobody asks, it is for later */
    enum cached_way way;
};

enum { FETCH_UNASKED_MAX = 64 /* fetches for each place and worker */ };

/* Begins a fetch. False: no memory; the flight was ended, and what was found
 * released. */
MUST_USE bool fetch_begin(struct cached *cached,
                          const struct fetch_order *order);

/* Tells that the asker has gone. Its fetch continues only if others wait for
 * it. */
void fetch_forsake(struct fetch_asker *asker);

/* Ends a fetch in whatever state it is. */
void fetch_destroy(struct fetch *fetch);

/* Ends all fetches; the second, only those that are not answered and whose
 * askers have all left, and those beyond a limit whose readers have left. */
void fetch_destroy_all(struct cached *cached);
void fetch_end_unawaited(struct cached *cached);

/* Whether anybody other than the askers waits for what any fetch brings. */
bool fetch_is_any_needed(const struct cached *cached);

/* Returns the exchange of a fetch that is handed over; it now wakes to. */
struct exchange *fetch_hand(struct fetch *fetch, struct exchange *to);

/* --- cached_hand.c ------------------------------------------------------- */

/* Makes the fetch's response that of the exchange, with which the fetch is
 * destroyed. */
void cached_hand_over(struct cached *cached, struct exchange *exchange,
                      struct fetch *fetch, const struct cached_note *note);

/* --- cached_purge.c ------------------------------------------------------ */

/* Whether it is a PURGE. These are never passed on: the next cache would
 * believe that this server has authorized them. */
bool cached_is_purge(const struct request *request);

/* Answers a PURGE: of the address that it names; of all that begin with it, if
 * its path ends in '*'; or of those with the tags in its fields. Programs on
 * this machine may purge, and clients with a token. False: it is no PURGE. */
bool cached_answer_purge(struct cached *cached, struct exchange *exchange);

/* --- cached_ask.c -------------------------------------------------------- */

/* Makes the exchange wait for an answer that the cache lacks, or has only
 * stale: found, which is taken over, is empty or stale. */
void cached_ask(struct cached *cached, struct exchange *exchange,
                struct bytes key, const struct cache_control *control,
                struct cache_found *found);

#endif
