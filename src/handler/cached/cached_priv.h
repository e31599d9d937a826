/*
 * cached_priv - what the files of cached share. A file calls only files that
 * stand below it in this list; what they offer is declared further down, from
 * the lowest file to the highest. Word of a fetch travels up by the callback
 * on_fetched of its asker.
 *
 *   cached.c          which requests the cache is for, and what it answers at
 *                     once; begins a fetch in the background where an answer is
 *                     stale and may be used all the same
 *                     (stale-while-revalidate)
 *   cached_purge.c    PURGE: kept answers go, on somebody's word
 *   cached_ask.c      a request that waits, for others or for its own fetch
 *   cached_fetch.c    a fetch: asks the proxy
 *     cached_keep.c     what came is kept, or handed over
 *     cached_renew.c    a 304 says that what is kept is still good
 *     cached_fill.c     the body of what is kept
 *     cached_part.c     a part of a body: alone, or joined with others
 *     cached_fetches.c  all fetches under way, and how they end
 *                       (the files of a fetch share cached_fetch_priv.h)
 *   cached_request.c  the request that a fetch sends
 *   cached_hand.c     an answer that is not kept, on its way to its asker
 *   cached_answer.c   an answer that is kept: whole, in part, not modified
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

/* RFC 9211: how an answer came to be. */
enum cached_way {
    CACHED_HIT,
    CACHED_METHOD, /* this and the next two went past the cache (fwd=) */
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
    struct cache_wait over; /* word that a fetch is over */
    char past[CACHED_WAYS][CACHED_NOTE_BYTES]; /* lines of what goes past */
};

static inline const struct now *cached_now(const struct cached *cached)
{
    return cached->options.defaults->now;
}

/* Seconds of the clock that nobody sets, for what is waited for. */
static inline int64_t cached_mono_s(const struct cached *cached)
{
    return (int64_t)(cached_now(cached)->mono_ms / MS_PER_S);
}

/* --- cached_note.c ------------------------------------------------------- */

struct cached_note {
    enum cached_way way;
    unsigned status; /* that the origin answered; 0: it did not */
    bool is_stored;
    bool is_collapsed; /* another request's fetch was waited for */
    bool has_ttl;
    int64_t ttl_s;
    const char *detail; /* a token; NULL: none */
    /* The origin has just answered this very request: it gets the fields, too,
     * that are kept for nobody, which own has (RFC 9111 5.2.2.4, 5.2.2.7). */
    bool is_from_origin;
    struct bytes own;
};

/* Appends the Cache-Status field with its CRLF. */
void cached_note_put(const struct cached *cached,
                     const struct cached_note *note, struct buf *out);

/* Notes what became of a request, for logs and statistics. */
void cached_note_use(const struct cached *cached, struct exchange *exchange,
                     const struct cached_note *note);

/* Makes the Cache-Status lines of requests that go past the cache. */
void cached_note_prepare(struct cached *cached);

/* Puts such a line into an answer that the proxy gives to the client itself. */
void cached_note_past(const struct cached *cached, struct exchange *exchange,
                      enum cached_way way);

/* --- cached_source.c ----------------------------------------------------- */

/* Whether a client gets bytes of a file from its mapping (cache/cache_body.h):
 * over TLS, and on this machine. */
bool cached_is_mapped(const struct exchange *exchange);

/* A source of a body from first on, to end or, if that is UINT64_MAX, to its
 * end. Takes a reference. NULL: no memory. */
MUST_USE struct source *cached_source_create(struct cached *cached,
                                             struct exchange *exchange,
                                             struct cache_body *body,
                                             uint64_t first, uint64_t end);

/* --- cached_body.c ------------------------------------------------------- */

/* Ends a response whose fields are in its head, but for what is about the
 * length: with length bytes of a body from first on. body NULL: it has none.
 * length: CACHE_LENGTH_UNKNOWN perhaps, of one that is still filled. */
void cached_add_body(struct cached *cached, struct exchange *exchange,
                     struct cache_body *body, uint64_t first, uint64_t length);

/* --- cached_answer.c ----------------------------------------------------- */

/* Whether the found entry has what the request is for: an entry of parts may
 * lack the part, and a body may just have broken off. */
bool cached_has(const struct cached *cached, const struct exchange *exchange,
                const struct cache_found *found);

/* Makes the response of an entry that has what the request is for, or of the
 * only part of an entry, which has just come instead. found's references stay
 * the caller's. */
void cached_answer(struct cached *cached, struct exchange *exchange,
                   const struct cache_found *found,
                   const struct cached_note *note);

/* 504, for only-if-cached (RFC 9111 5.2.1.7). */
void cached_answer_none(struct cached *cached, struct exchange *exchange);

/* --- cached_request.c ---------------------------------------------------- */

/* Copies the request of from into to, and has it ask whether earlier, unless
 * that is NULL, is still good; or, with a gap, for that of it. The copy points
 * into the block that is returned, which the caller frees by free(3). NULL: no
 * memory. */
MUST_USE void *cached_request_make(const struct cached *cached,
                                   struct exchange *to,
                                   const struct exchange *from,
                                   const struct cache_entry *earlier,
                                   const struct range *gap);

/* The fields of an answer that a fetch has got, without its request's id: each
 * client's answer has its own. */
static inline struct bytes fetched_lines(const struct response *response)
{
    const char *data = response->head.data;

    if (response->head.failed || !response->has_head)
        return BYTES("");
    return bytes_between(data + RESPONSE_HEADROOM,
                         data + response->fields_end - response->id_line.len);
}

/* --- cached_fetch.c ------------------------------------------------------ */

struct fetch;

/* A request that waits for what is fetched. */
struct fetch_asker {
    /* Called once, from the port's loop. Takes over the references of found;
     * or, if hand is not NULL, that fetch, whose answer is for one alone. With
     * neither the asker has to ask again, for the whole answer. */
    void (*on_fetched)(struct fetch_asker *asker,
                       const struct cache_found *found, struct fetch *hand,
                       const struct cached_note *note);
    /* Called for a 1xx that comes before on_fetched(); interim's texts are
     * views that last as long as the call. */
    void (*on_interim)(struct fetch_asker *asker, const struct answer *interim);
    struct exchange *exchange; /* that asks */
    struct fetch *fetch;       /* NULL: the fetch is over, or never began */
};

struct fetch_order {
    const struct exchange *from; /* whose request it is */
    struct bytes key;
    const struct cache_control *control; /* that the request says */
    struct cache_found *earlier; /* to be asked about; taken over; or empty */
    struct range gap; /* in its ranges, if it has those: that is asked for */
    struct cache_flight *flight; /* taken over; NULL: nobody waits for it */
    struct fetch_asker *asker;   /* NULL: nobody, it is for later */
    enum cached_way way;
};

enum { FETCH_UNASKED_MAX = 64 /* of one place and worker */ };

/* False: no memory; the flight has ended, and what was found is released. */
MUST_USE bool fetch_begin(struct cached *cached,
                          const struct fetch_order *order);

/* The asker is gone. Its fetch goes on only if others wait for it. */
void fetch_forsake(struct fetch_asker *asker);

/* Ends a fetch in whatever state it is. */
void fetch_destroy(struct fetch *fetch);

/* Ends all fetches; or all those still being asked for whose askers have all
 * left, and those beyond some whose readers have. */
void fetch_destroy_all(struct cached *cached);
void fetch_end_unawaited(struct cached *cached);

/* Whether somebody besides the askers wants what any fetch brings. */
bool fetch_is_any_needed(const struct cached *cached);

/* The exchange of a fetch that is handed over; from now on it wakes to. */
struct exchange *fetch_hand(struct fetch *fetch, struct exchange *to);

/* --- cached_hand.c ------------------------------------------------------- */

/* Makes the fetch's response that of the exchange; the fetch is destroyed with
 * that. */
void cached_hand_over(struct cached *cached, struct exchange *exchange,
                      struct fetch *fetch, const struct cached_note *note);

/* --- cached_purge.c ------------------------------------------------------ */

/* Whether it is a PURGE, which never goes on: a cache behind this one would take
 * it for ours, whoever has sent it. */
bool cached_is_purge(const struct request *request);

/* Answers PURGE: of the address that it names; of all that begin so, if its
 * path ends in '*'; of those with a tag, where it has a field of tags. Of
 * programs on this machine, and of who has a token for it. False: it is no
 * PURGE. */
bool cached_answer_purge(struct cached *cached, struct exchange *exchange);

/* --- cached_ask.c -------------------------------------------------------- */

/* Has the exchange wait for an answer that the cache has not, or not fresh:
 * found, which is taken over, is empty or stale. */
void cached_ask(struct cached *cached, struct exchange *exchange,
                struct bytes key, const struct cache_control *control,
                struct cache_found *found);

#endif
