/*
 * cache_facts - what an answer says that a cache has to know: how old it is,
 * how long it may be used, by whom, and what it was chosen by (RFC 9111 3,
 * 4.2).
 *
 * What the origin says to shared caches (CDN-Cache-Control, RFC 9213; the older
 * Surrogate-Control) takes the place of all that Cache-Control and Expires say.
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
    CACHE_HEURISTIC_PART = 10, /* of the time since it was modified: a tenth */
    CACHE_HEURISTIC_MAX_S = 86400,
    CACHE_DEFAULT_NONE = 0
};

struct cache_facts {
    unsigned status;
    struct cache_control control; /* of the field that counts */
    bool is_targeted;             /* it speaks to shared caches alone */
    bool is_explicit;             /* the origin has said how long */
    bool has_cookie;              /* Set-Cookie */
    bool varies_by_all;           /* Vary: * */
    bool has_validator;
    bool has_date;
    struct bytes etag;     /* empty: none */
    int64_t modified_s;    /* Last-Modified; INT64_MIN: none */
    int64_t date_s;        /* Date, or where that is missing when it came */
    int64_t born_s;        /* wall clock: when its age was 0 */
    int64_t lifetime_s;    /* 0: stale at once */
    struct bytes modified; /* Last-Modified as it came; or empty */
};

/* When it was asked for and came, and what is said of those that say nothing.
 */
struct cache_circumstances {
    int64_t asked_s; /* seconds since the epoch */
    int64_t came_s;
    int64_t default_s; /* lifetime of what says none; 0: none */
    bool may_guess;    /* by when it was modified: nobody has to say more */
    struct bytes surrogate; /* our name, as Surrogate-Control has it */
};

void cache_facts_read(struct cache_facts *facts, unsigned status,
                      struct bytes lines,
                      const struct cache_circumstances *when);

/* Why an answer is not kept; for Cache-Status and tests. */
enum cache_refusal {
    CACHE_KEPT,
    CACHE_REFUSED_STATUS,     /* or it has none that we understand */
    CACHE_REFUSED_NO_STORE,   /* one of the two sides says so */
    CACHE_REFUSED_PRIVATE,    /* it is for one alone */
    CACHE_REFUSED_AUTHORIZED, /* it may be */
    CACHE_REFUSED_COOKIE,     /* as may be what has to do with a cookie */
    CACHE_REFUSED_VARY,       /* nobody can tell for whom */
    CACHE_REFUSED_STALE       /* and it could not even be asked about */
};

struct cache_asked {
    bool is_authorized; /* the request had Authorization */
    bool has_cookie;    /* the request had Cookie */
    bool no_store;      /* it said so */
    bool takes_part;    /* and a part of it is something to keep, too */
};

/* RFC 9111 3. */
enum cache_refusal cache_facts_judge(const struct cache_facts *facts,
                                     const struct cache_asked *asked);

/* Whether it has to do with a cookie, and nobody has said that it is for
 * all. */
bool cache_facts_is_of_one(const struct cache_facts *facts,
                           const struct cache_asked *asked);

/* Whether requests with Authorization may have what another has asked for (RFC
 * 9111 3.5). */
bool cache_facts_is_shared(const struct cache_facts *facts);

/* --- Using it ------------------------------------------------------------- */

static inline int64_t cache_facts_age(const struct cache_facts *facts,
                                      int64_t now_s)
{
    return now_s > facts->born_s ? now_s - facts->born_s : 0;
}

/* Seconds that it is fresh yet; negative: since when it is stale. */
static inline int64_t cache_facts_ttl(const struct cache_facts *facts,
                                      int64_t now_s)
{
    return facts->lifetime_s - cache_facts_age(facts, now_s);
}

/* Whether its ETag tells its very bytes (RFC 9110 8.8.1). */
static inline bool cache_facts_is_strong(const struct cache_facts *facts)
{
    return facts->etag.len > 0 && *facts->etag.data == '"';
}

enum cache_use {
    CACHE_USE_FRESH,
    CACHE_USE_STALE,     /* the request takes it so */
    CACHE_USE_MEANWHILE, /* stale, while it is asked for anew */
    CACHE_USE_ASK        /* not without asking */
};

/* What an answer is good for, to a request that says that (RFC 9111 4). */
enum cache_use cache_facts_use(const struct cache_facts *facts,
                               const struct cache_control *request,
                               int64_t now_s);

/* Whether it may be used though the origin could not be asked, or has failed
 * (RFC 9111 4.2.4, RFC 5861 4). unreachable_s: for how long what says nothing
 * is good for when nobody answered; has_answered: an error was answered. */
bool cache_facts_bears_error(const struct cache_facts *facts,
                             const struct cache_control *request, int64_t now_s,
                             int64_t unreachable_s, bool has_answered);

#endif
