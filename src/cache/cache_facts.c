#include "cache/cache_facts.h"

#include "cache/cache_targeted.h"
#include "cache/cached_head.h"
#include "http/date.h"
#include "http/field.h"

/* What the lines say, before it is decided which fields count. */
struct said {
    struct cache_control common;   /* Cache-Control */
    struct cache_control targeted; /* CDN-Cache-Control */
    bool is_targeted_wrong;        /* CDN-Cache-Control is malformed: ignored */
    struct cache_control surrogate;
    struct bytes expires; /* value of Expires; data NULL: none */
    bool has_two_expires;
    struct bytes date;
    struct bytes age; /* value of the first Age line */
    bool has_pragma;  /* the answer has "Pragma: no-cache" */
};

/* --- Reading lines ------------------------------------------------------- */

static bool has_star(struct bytes list)
{
    struct bytes member;

    while (field_next_member(&list, &member))
        if (bytes_eq(member, BYTES("*")))
            return true;
    return false;
}

static void read_time(struct bytes *time, bool *has_two, struct bytes value)
{
    if (time->data && has_two)
        *has_two = true;
    else if (!time->data)
        *time = value;
}

static void read_line(struct cache_facts *facts, struct said *said,
                      const struct cached_line *line, struct bytes surrogate)
{
    struct bytes name = line->name;

    if (bytes_ieq(name, BYTES("Cache-Control")))
        cache_control_read(&said->common, line->value, BYTES(""));
    else if (bytes_ieq(name, BYTES("CDN-Cache-Control")))
        said->is_targeted_wrong |= !cache_targeted_read(&said->targeted,
                                                        line->value);
    else if (bytes_ieq(name, BYTES("Surrogate-Control")))
        cache_control_read(&said->surrogate, line->value, surrogate);
    else if (bytes_ieq(name, BYTES("Expires")))
        read_time(&said->expires, &said->has_two_expires, line->value);
    else if (bytes_ieq(name, BYTES("Age")))
        read_time(&said->age, NULL, line->value);
    else if (bytes_ieq(name, BYTES("Date")))
        read_time(&said->date, NULL, line->value);
    else if (bytes_ieq(name, BYTES("Last-Modified")))
        read_time(&facts->modified, NULL, line->value);
    else if (bytes_ieq(name, BYTES("ETag")))
        read_time(&facts->etag, NULL, line->value);
    else if (bytes_ieq(name, BYTES("Pragma")))
        said->has_pragma |= bytes_ieq(line->value, BYTES("no-cache"));
    else if (bytes_ieq(name, BYTES("Vary")))
        facts->varies_by_all |= has_star(line->value);
    else if (bytes_ieq(name, BYTES("Set-Cookie")) ||
             bytes_ieq(name, BYTES("Set-Cookie2")))
        facts->has_cookie = true;
}

/* --- Freshness ----------------------------------------------------------- */

/* Reads Age. The first member of a list counts; a member that is no number
 * counts as 0 (RFC 9111 5.1). */
static int64_t read_age(struct bytes list)
{
    struct bytes first;
    int64_t age;

    return field_next_member(&list, &first) && cache_seconds_read(first, &age)
               ? age
               : 0;
}

/* Returns the age that an answer had when it came (RFC 9111 4.2.3). */
static int64_t initial_age(const struct said *said, int64_t date_s,
                           const struct cache_circumstances *when)
{
    int64_t apparent = when->came_s > date_s ? when->came_s - date_s : 0;
    int64_t age = read_age(said->age);

    age += when->came_s > when->asked_s ? when->came_s - when->asked_s : 0;
    return age > apparent ? age : apparent;
}

/* Whether the lifetime of an answer with that status may be guessed (RFC 9110
 * 15.1). */
static bool is_heuristic(unsigned status)
{
    switch (status) {
    case 200:
    case 203:
    case 204:
    case 206:
    case 300:
    case 301:
    case 308:
    case 404:
    case 405:
    case 410:
    case 414:
    case 501:
        return true;
    default:
        return false;
    }
}

/* Guesses how long an answer is fresh (RFC 9111 4.2.2). Nothing is guessed for
 * an answer that sets a cookie, because it may be for one client. */
static int64_t guess_lifetime(const struct cache_facts *facts,
                              const struct cache_circumstances *when)
{
    bool is_public = cache_control_says(&facts->control, CACHE_PUBLIC);
    int64_t since, lifetime;

    if (facts->has_cookie || (!is_heuristic(facts->status) && !is_public))
        return 0;
    if (facts->modified_s == INT64_MIN || !(when->may_guess || is_public))
        return when->default_s;
    since = facts->date_s > facts->modified_s
                ? facts->date_s - facts->modified_s
                : 0;
    lifetime = since / CACHE_HEURISTIC_PART;
    if (lifetime > CACHE_HEURISTIC_MAX_S)
        lifetime = CACHE_HEURISTIC_MAX_S;
    return lifetime > when->default_s ? lifetime : when->default_s;
}

static int64_t find_lifetime(struct cache_facts *facts, const struct said *said,
                             const struct cache_circumstances *when)
{
    const struct cache_control *control = &facts->control;
    int64_t expires;

    facts->is_explicit = true;
    if (control->s_maxage != CACHE_UNSAID)
        return control->s_maxage;
    if (control->max_age != CACHE_UNSAID)
        return control->max_age;
    if (said->expires.data && !facts->is_targeted) {
        if (said->has_two_expires ||
            !date_parse(said->expires, when->came_s, &expires))
            return 0;
        return expires > facts->date_s ? expires - facts->date_s : 0;
    }
    facts->is_explicit = false;
    return guess_lifetime(facts, when);
}

/* Chooses the field whose directives count: CDN-Cache-Control if it says
 * anything at all, else Surrogate-Control, else Cache-Control. */
static void choose_control(struct cache_facts *facts, const struct said *said)
{
    facts->is_targeted = true;
    if (cache_control_says(&said->targeted, CACHE_ANY) &&
        !said->is_targeted_wrong) {
        facts->control = said->targeted;
        return;
    }
    if (cache_control_says(&said->surrogate, CACHE_ANY)) {
        facts->control = said->surrogate;
        /* A field with only unknown directives leaves all to Cache-Control. */
        if (said->surrogate.max_age != CACHE_UNSAID ||
            said->surrogate.said & ~(uint32_t)CACHE_ANY)
            return;
    }
    facts->is_targeted = false;
    facts->control = said->common;
    /* RFC 9111 5.4 has Pragma only in requests, but older servers send it. */
    if (said->has_pragma && !cache_control_says(&said->common, CACHE_ANY))
        facts->control.said |= CACHE_NO_CACHE;
}

void cache_facts_read(struct cache_facts *facts, unsigned status,
                      struct bytes lines,
                      const struct cache_circumstances *when)
{
    struct said said = {.has_pragma = false};
    struct cached_line line;

    *facts = (struct cache_facts){.status = status, .modified_s = INT64_MIN};
    cache_control_init(&said.common);
    cache_control_init(&said.targeted);
    cache_control_init(&said.surrogate);
    while (cached_head_next(&lines, &line))
        read_line(facts, &said, &line, when->surrogate);
    choose_control(facts, &said);
    facts->date_s = when->came_s;
    facts->has_date = said.date.data;
    if (said.date.data)
        (void)date_parse(said.date, when->came_s, &facts->date_s);
    if (facts->modified.data &&
        !date_parse(facts->modified, when->came_s, &facts->modified_s))
        facts->modified = BYTES("");
    facts->has_validator = facts->etag.len > 0 || facts->modified.len > 0;
    facts->born_s = when->came_s - initial_age(&said, facts->date_s, when);
    facts->lifetime_s = find_lifetime(facts, &said, when);
}

/* --- Keeping ------------------------------------------------------------- */

/* Whether an answer with that status can be kept at all. A 1xx is no answer.
 * 226 (a difference from what the client has, RFC 3229), 304 and 416 are about
 * one request. 206 is kept only where parts are kept. 401 and 407 ask one
 * client for credentials; from the cache they would reach clients that have
 * sent some. */
static bool is_final(unsigned status, const struct cache_asked *asked)
{
    switch (status) {
    case 206:
        return asked->takes_part;
    case 226:
    case 304:
    case 401:
    case 407:
    case 416:
    case 425: /* about how this request came (RFC 8470 5.2) */
    case 428: /* from here to 511: not to be stored (RFC 6585) */
    case 429:
    case 431:
    case 511:
        return false;
    default:
        return status >= 200;
    }
}

/* Whether this cache understands the status (RFC 9110 15), as must-understand
 * demands. */
static bool is_understood(unsigned status)
{
    return is_heuristic(status) || status == 302 || status == 303 ||
           status == 307;
}

/* Whether an answer may be stored at all: it says how long it is fresh, or that
 * it is for all, or it has a status that lets the cache guess its lifetime (RFC
 * 9111 3). A validator alone is not enough. */
static bool is_storable(const struct cache_facts *facts)
{
    return facts->is_explicit || is_heuristic(facts->status) ||
           cache_control_says(&facts->control, CACHE_PUBLIC);
}

bool cache_facts_is_shared(const struct cache_facts *facts)
{
    return cache_control_says(&facts->control, CACHE_PUBLIC) ||
           cache_control_says(&facts->control, CACHE_MUST_REVALIDATE) ||
           facts->control.s_maxage != CACHE_UNSAID;
}

static bool is_for_a_while(const struct cache_facts *facts)
{
    return facts->lifetime_s > 0 &&
           !cache_control_says(&facts->control, CACHE_NO_CACHE);
}

/* Whether an answer is perhaps for one client only: it or its request has a
 * cookie, and the origin has not said that the answer is for all. A cookie that
 * is set belongs to one client, and a 304 for another client does not take it
 * back. So the origin has to say for how long all may have the answer. For an
 * answer to a client that has cookies, asking the origin each time is not
 * enough, either: if the page has not changed, it may still be another client's
 * page. */
static bool is_of_one(const struct cache_facts *facts,
                      const struct cache_asked *asked)
{
    if (is_for_a_while(facts))
        return facts->has_cookie && !facts->is_explicit;
    return facts->has_cookie ||
           (asked->has_user &&
            !cache_control_says(&facts->control, CACHE_PUBLIC));
}

static bool is_of_use(const struct cache_facts *facts)
{
    return facts->has_validator ||
           (facts->lifetime_s > 0 &&
            !cache_control_says(&facts->control, CACHE_NO_CACHE)) ||
           (facts->is_explicit && facts->lifetime_s > 0);
}

enum cache_refusal cache_facts_judge(const struct cache_facts *facts,
                                     const struct cache_asked *asked)
{
    const struct cache_control *control = &facts->control;
    bool must_understand = cache_control_says(control, CACHE_MUST_UNDERSTAND);

    if (!is_final(facts->status, asked) || !is_storable(facts) ||
        (must_understand && !is_understood(facts->status)))
        return CACHE_REFUSED_STATUS;
    if (asked->no_store ||
        (cache_control_says(control, CACHE_NO_STORE) && !must_understand))
        return CACHE_REFUSED_NO_STORE;
    if (cache_control_says(control, CACHE_PRIVATE))
        return CACHE_REFUSED_PRIVATE;
    if (asked->is_authorized && !cache_facts_is_shared(facts))
        return CACHE_REFUSED_AUTHORIZED;
    if (is_of_one(facts, asked))
        return CACHE_REFUSED_COOKIE;
    if (facts->varies_by_all)
        return CACHE_REFUSED_VARY;
    return is_of_use(facts) ? CACHE_KEPT : CACHE_REFUSED_STALE;
}

/* --- Using --------------------------------------------------------------- */

/* Whether nobody may have the answer once it is stale. */
static bool must_be_fresh(const struct cache_facts *facts)
{
    return cache_control_says(&facts->control, CACHE_MUST_REVALIDATE) ||
           cache_control_says(&facts->control, CACHE_PROXY_REVALIDATE) ||
           cache_control_says(&facts->control, CACHE_NO_CACHE) ||
           facts->control.s_maxage != CACHE_UNSAID;
}

static bool is_fresh_enough(const struct cache_facts *facts,
                            const struct cache_control *request, int64_t now_s)
{
    int64_t ttl = cache_facts_ttl(facts, now_s);

    return ttl > 0 &&
           (request->max_age == CACHE_UNSAID ||
            cache_facts_age(facts, now_s) <= request->max_age) &&
           (request->min_fresh == CACHE_UNSAID || ttl >= request->min_fresh);
}

enum cache_use cache_facts_use(const struct cache_facts *facts,
                               const struct cache_control *request,
                               int64_t now_s)
{
    int64_t stale = -cache_facts_ttl(facts, now_s);

    if (cache_control_says(&facts->control, CACHE_NO_CACHE) ||
        cache_control_says(request, CACHE_NO_CACHE) || request->max_age == 0)
        return CACHE_USE_ASK;
    if (is_fresh_enough(facts, request, now_s))
        return CACHE_USE_FRESH;
    if (must_be_fresh(facts) || stale < 0 ||
        (request->max_age != CACHE_UNSAID &&
         cache_facts_age(facts, now_s) > request->max_age))
        return CACHE_USE_ASK;
    if (request->max_stale != CACHE_UNSAID && stale <= request->max_stale)
        return CACHE_USE_STALE;
    if (request->min_fresh == CACHE_UNSAID &&
        stale < facts->control.stale_while_revalidate)
        return CACHE_USE_MEANWHILE;
    return CACHE_USE_ASK;
}

bool cache_facts_bears_error(const struct cache_facts *facts,
                             const struct cache_control *request, int64_t now_s,
                             int64_t unreachable_s, bool has_answered)
{
    int64_t stale = -cache_facts_ttl(facts, now_s);
    int64_t allowed = facts->control.stale_if_error;

    if (must_be_fresh(facts))
        return false;
    if (request->stale_if_error > allowed)
        allowed = request->stale_if_error;
    if (!has_answered && unreachable_s > allowed &&
        facts->control.stale_if_error == CACHE_UNSAID)
        allowed = unreachable_s;
    return stale < allowed;
}
