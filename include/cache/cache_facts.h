/*
 * cache_facts - what a cache has to know of an answer: how old it is, for how
 * long it may be used, by whom, and by which fields it was chosen (RFC 9111 3,
 * 4.2).
 *
 * A field for shared caches (CDN-Cache-Control, RFC 9213, or the older
 * Surrogate-Control) replaces all that Cache-Control and Expires say.
 *
 *   born            now
 *    |--- age -------|
 *    |--- lifetime ------------|--- stale, if it is allowed ---|
 *
 * Thread: any; no state.
 * Owns:   nothing; texts are views into the lines that were read.
 */
#ifndef CACHE_CACHE_FACTS_H
#define CACHE_CACHE_FACTS_H

#include "cache/cache_control.h"

enum {
    /* A lifetime that has to be guessed is one tenth of the time since
     * Last-Modified, and CACHE_HEURISTIC_MAX_S seconds at most. */
    CACHE_HEURISTIC_PART = 10,
    CACHE_HEURISTIC_MAX_S = 86400,
    /* One worker's clock may be behind another's by this many seconds, because
     * they read the time at different moments. */
    CACHE_CLOCK_SLACK_S = 5,
    CACHE_DEFAULT_NONE = 0
};

struct cache_facts {
    unsigned status;
    struct cache_control control; /* directives of the field that counts */
    bool is_targeted;             /* the field is one for shared caches */
    bool is_explicit;             /* lifetime_s is the origin's, not guessed */
    bool has_cookie;              /* the answer has Set-Cookie */
    bool varies_by_all;           /* the answer has "Vary: *" */
    bool has_validator;
    bool has_date;
    struct bytes etag;     /* value of ETag; empty: none */
    int64_t modified_s;    /* Last-Modified; INT64_MIN: none */
    int64_t date_s;        /* Date, or else when the answer came */
    int64_t born_s;        /* when the age was 0, by the wall clock */
    int64_t lifetime_s;    /* how long it is fresh; 0: stale at once */
    struct bytes modified; /* Last-Modified as it came; or empty */
};

/* When an answer was asked for, when it came, and how long it is fresh if it
 * does not say so itself. */
struct cache_circumstances {
    int64_t asked_s; /* seconds since the epoch, like came_s */
    int64_t came_s;
    int64_t default_s;      /* lifetime of an answer that tells none */
    bool may_guess;         /* lifetimes may be guessed from Last-Modified */
    struct bytes surrogate; /* our name in Surrogate-Control */
};

void cache_facts_read(struct cache_facts *facts, unsigned status,
                      struct bytes lines,
                      const struct cache_circumstances *when);

/* Tells why an answer is not kept; for Cache-Status and tests. */
enum cache_refusal {
    CACHE_KEPT,
    CACHE_REFUSED_STATUS,     /* no answer with such a status is kept */
    CACHE_REFUSED_NO_STORE,   /* the request or the answer says no-store */
    CACHE_REFUSED_PRIVATE,    /* the answer is for one client alone */
    CACHE_REFUSED_AUTHORIZED, /* the request had Authorization: perhaps only
                                 one client may have the answer */
    CACHE_REFUSED_COOKIE,     /* there is a cookie: perhaps only one client may
                                 have the answer */
    CACHE_REFUSED_VARY,       /* nobody can tell for whom it is (Vary: *) */
    CACHE_REFUSED_STALE       /* it is stale at once, and has no validator */
};

struct cache_asked {
    bool is_authorized; /* the request had Authorization */
    bool has_user;      /* the request had Cookie, or the like */
    bool no_store;      /* the request said no-store */
    bool takes_part;    /* a part of an answer may be kept, too */
};

/* Returns CACHE_KEPT when an answer may be kept (RFC 9111 3), or why not. */
enum cache_refusal cache_facts_judge(const struct cache_facts *facts,
                                     const struct cache_asked *asked);

/* Whether an answer to a request with Authorization may be used for other
 * requests (RFC 9111 3.5). */
bool cache_facts_is_shared(const struct cache_facts *facts);

/* --- Using an answer ----------------------------------------------------- */

static inline int64_t cache_facts_age(const struct cache_facts *facts,
                                      int64_t now_s)
{
    return now_s > facts->born_s ? now_s - facts->born_s : 0;
}

/* Returns for how many more seconds the answer is fresh. A negative result
 * tells for how many seconds it has been stale. An answer that was born after
 * now_s shows that the clock was put back. The age of such an answer is
 * unknown, so it counts as stale until now_s has reached born_s. */
static inline int64_t cache_facts_ttl(const struct cache_facts *facts,
                                      int64_t now_s)
{
    if (facts->born_s > now_s + CACHE_CLOCK_SLACK_S)
        return now_s - facts->born_s;
    return facts->lifetime_s - cache_facts_age(facts, now_s);
}

/* Whether the answer has a strong ETag (RFC 9110 8.8.1). */
static inline bool cache_facts_is_strong(const struct cache_facts *facts)
{
    return facts->etag.len > 0 && *facts->etag.data == '"';
}

enum cache_use {
    CACHE_USE_FRESH,
    CACHE_USE_STALE,     /* stale, but the request allows it (max-stale) */
    CACHE_USE_MEANWHILE, /* stale, but usable while it is fetched anew
                            (stale-while-revalidate) */
    CACHE_USE_ASK        /* usable only after asking the origin */
};

/* Tells how an answer may be used for a request with that Cache-Control (RFC
 * 9111 4). */
enum cache_use cache_facts_use(const struct cache_facts *facts,
                               const struct cache_control *request,
                               int64_t now_s);

/* Whether a stale answer may be used because the origin has failed (RFC 9111
 * 4.2.4, RFC 5861 4: stale-if-error). has_answered tells that the origin has
 * answered with an error; otherwise the origin could not be reached. In that
 * case an answer without stale-if-error may have been stale for unreachable_s
 * seconds. */
bool cache_facts_bears_error(const struct cache_facts *facts,
                             const struct cache_control *request, int64_t now_s,
                             int64_t unreachable_s, bool has_answered);

#endif
