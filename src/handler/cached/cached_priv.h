/*
 * cached_priv - shared by the files of cached. A file calls only files below it
 * in this list. Their functions are declared further down, from the lowest file
 * to the highest. A fetch reports its result by its asker's on_fetched.
 *
 *   cached.c          which requests the cache is for, and what it answers at
 *                     once; begins a fetch in the background if an answer is
 *                     stale but may still be used (stale-while-revalidate)
 *   cached_purge.c    PURGE: removes stored answers on request
 *   cached_ask.c      a request that waits for another's fetch or for its own
 *   cached_fetch.c    a fetch: asks the proxy
 *     cached_keep.c     stores an answer, or hands it over
 *     cached_renew.c    renews a stored answer that a 304 confirms
 *     cached_fill.c     fills the body of a stored answer
 *     cached_part.c     stores a part: alone, or joined with others
 *     cached_error.c    decides whether an error concerns its asker alone
 *     cached_fetches.c  all fetches under way, and how they end
 *                       (the files of a fetch share cached_fetch_priv.h)
 *   cached_request.c  the request that a fetch sends
 *   cached_hand.c     an answer that is not stored, for its asker
 *   cached_answer.c   a stored answer: whole, in part, not modified
 *   cached_body.c     the body of a stored answer: complete or still coming,
 *                     as it is or compressed
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
    CACHED_METHOD, /* this way and the next two bypass the cache (fwd=) */
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
    struct cache_wait over; /* called when a fetch has ended */
    /* Lines of Cache-Status for the ways that bypass the cache. */
    char past[CACHED_WAYS][CACHED_NOTE_BYTES];
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
    unsigned status; /* status of the origin's answer; 0: there was none */
    bool is_stored;
    bool is_collapsed; /* the request waited for another request's fetch */
    bool has_ttl;
    int64_t ttl_s;
    const char *detail; /* detail of Cache-Status, a token, or NULL */
    /* The origin has just answered this request. The request then also gets the
     * fields in `own`, which are not stored (RFC 9111 5.2.2.4, 5.2.2.7). */
    bool is_from_origin;
    bool is_aged; /* that answer had an Age: it came from another cache */
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

/* Has the Cache-Status line of a bypass put into the answer, if that is another
 * server's. What this server says itself has none (RFC 9211 2). */
void cached_note_past(const struct cached *cached, struct exchange *exchange,
                      enum cached_way way);

/* --- cached_source.c ----------------------------------------------------- */

/* Returns whether a client gets a file's bytes from the file's mapping
 * (cache/cache_body.h): clients that use TLS do, and clients on this
 * machine. */
bool cached_is_mapped(const struct exchange *exchange);

/* Creates a source of a body's bytes from `first` to `end`. If `end` is
 * UINT64_MAX, it is the body's end. Takes a reference to the body. Returns NULL
 * when there is no memory. */
MUST_USE struct source *cached_source_create(struct cached *cached,
                                             struct exchange *exchange,
                                             struct cache_body *body,
                                             uint64_t first, uint64_t end);

/* --- cached_body.c ------------------------------------------------------- */

/* Completes a response whose head has all fields but those about the length.
 * The response gets `length` bytes of `body`, from byte `first` on. `body` may
 * be NULL for no body. `length` may be CACHE_LENGTH_UNKNOWN if the body is
 * still being filled. */
void cached_add_body(struct cached *cached, struct exchange *exchange,
                     struct cache_body *body, uint64_t first, uint64_t length);

/* --- cached_answer.c ----------------------------------------------------- */

/* Whether the found entry can answer the request. An entry of parts may lack
 * the part that is asked for, and a body may have broken off. */
bool cached_has(const struct cached *cached, const struct exchange *exchange,
                const struct cache_found *found);

/* Makes the response from an entry for which cached_has() is true, or from an
 * entry with a single part that has just come. The caller keeps the references
 * in `found`. */
void cached_answer(struct cached *cached, struct exchange *exchange,
                   const struct cache_found *found,
                   const struct cached_note *note);

/* Answers 504, for only-if-cached (RFC 9111 5.2.1.7). The answer has no
 * Cache-Status: it contains nothing stored, and the request was not forwarded
 * (RFC 9211 2). */
void cached_answer_none(struct cached *cached, struct exchange *exchange);

/* --- cached_request.c ---------------------------------------------------- */

/* Copies the request of `from` into `to`, and changes what the copy asks for.
 * If `earlier` is NULL, it asks for what the client wants. If only `gap` is
 * NULL, it asks whether the stored entry `earlier` is still valid. If neither
 * is NULL, it asks for the range `gap` instead, which `earlier` lacks. The copy
 * points into the block returned, which the caller frees by free(3). Returns
 * NULL when there is no memory. */
MUST_USE void *cached_request_make(const struct cached *cached,
                                   struct exchange *to,
                                   const struct exchange *from,
                                   const struct cache_entry *earlier,
                                   const struct range *gap);

/* Returns the fields of a fetched answer without the request id, since the
 * answer to each client has an id of its own. */
static inline struct bytes fetched_lines(const struct response *response)
{
    const char *data = response->head.data;

    if (response->head.failed || !response->has_head)
        return BYTES("");
    return bytes_between(data + RESPONSE_HEADROOM,
                         data + response->fields_end - response->id_line.len);
}

/* Returns the length of a fetched answer's body, or CACHE_LENGTH_UNKNOWN if the
 * answer does not say it. */
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
    /* Called once, from the port's loop. Takes over the references of `found`.
     * If `hand` is not NULL, takes over that fetch instead, whose answer is for
     * this asker only. If both are empty, the asker must ask again, for the
     * whole answer. */
    void (*on_fetched)(struct fetch_asker *asker,
                       const struct cache_found *found, struct fetch *hand,
                       const struct cached_note *note);
    /* Called for a 1xx before on_fetched(). The texts of `interim` are valid
     * during the call. */
    void (*on_interim)(struct fetch_asker *asker, const struct answer *interim);
    struct exchange *exchange; /* the exchange that asks */
    struct fetch *fetch;       /* NULL: the fetch is over, or never began */
};

struct fetch_order {
    const struct exchange *from; /* the exchange with the request */
    struct bytes key;
    const struct cache_control *control; /* directives of the request */
    /* The entry to be revalidated, or empty. The fetch takes it over. */
    struct cache_found *earlier;
    struct range gap;            /* gap to be fetched, if `earlier` has
                                    ranges */
    struct cache_flight *flight; /* requests that wait; taken over, or NULL */
    struct fetch_asker *asker;   /* NULL: the fetch serves later requests */
    enum cached_way way;
};

/* Most fetches without an asker, for each place and worker. */
enum { FETCH_UNASKED_MAX = 64 };

/* Begins a fetch. Returns false when there is no memory; then the flight was
 * ended, and `earlier` was released. */
MUST_USE bool fetch_begin(struct cached *cached,
                          const struct fetch_order *order);

/* Must be called when the asker has gone. Its fetch continues only if others
 * wait for the fetch. */
void fetch_forsake(struct fetch_asker *asker);

/* Ends a fetch in whatever state it is. */
void fetch_destroy(struct fetch *fetch);

/* Ends all fetches. */
void fetch_destroy_all(struct cached *cached);

/* Ends each fetch that has no answer yet if all its askers have left. Ends
 * fetches with an answer that nobody reads any more, but only if these are too
 * many. */
void fetch_end_unawaited(struct cached *cached);

/* Returns true if the body of any fetch has readers, or if requests other than
 * the asker wait for a fetch. */
bool fetch_is_any_needed(const struct cached *cached);

/* Returns the exchange of a fetch that is handed over. From now on, that
 * exchange wakes the exchange `to`. */
struct exchange *fetch_hand(struct fetch *fetch, struct exchange *to);

/* --- cached_hand.c ------------------------------------------------------- */

/* Makes the fetch's response the response of the exchange. The fetch is
 * destroyed together with that response. */
void cached_hand_over(struct cached *cached, struct exchange *exchange,
                      struct fetch *fetch, const struct cached_note *note);

/* --- cached_purge.c ------------------------------------------------------ */

/* Whether the request is a PURGE. A PURGE is never passed on: the next cache
 * would believe that this server has authorized it. */
bool cached_is_purge(const struct request *request);

/* Answers a PURGE. It names the answers to be removed in one of three ways: by
 * an address; by the beginning of addresses, if its path ends in '*'; by the
 * tags in its fields. Programs on this machine may purge, and clients with a
 * token. Returns false if the request is no PURGE. */
bool cached_answer_purge(struct cached *cached, struct exchange *exchange);

/* --- cached_ask.c -------------------------------------------------------- */

/* Makes the exchange wait for an answer that is not stored, or is stored but
 * stale. Takes over `found`, which is empty or stale. */
void cached_ask(struct cached *cached, struct exchange *exchange,
                struct bytes key, const struct cache_control *control,
                struct cache_found *found);

#endif
