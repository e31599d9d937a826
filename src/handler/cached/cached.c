#include <stdlib.h>

#include "cache/cache_form.h"
#include "handler/cached/cached_priv.h"
#include "http/range.h"

enum { KEY_STORAGE = 1024 };

/* --- Which requests ------------------------------------------------------ */

static bool has_upgrade(const struct request *request)
{
    return request_find(request, FIELD_UPGRADE);
}

/* Whether the request has a condition that only the origin can judge (RFC 9110
 * 13.1.1, 13.1.4). */
static bool has_precondition(const struct request *request)
{
    return request_find(request, FIELD_IF_MATCH) ||
           request_find(request, FIELD_IF_UNMODIFIED_SINCE);
}

static bool is_read(const struct request *request)
{
    return request->method == METHOD_GET || request->method == METHOD_HEAD;
}

/* Whether the cache may answer the request. It never answers a request with a
 * body, whatever the method, since the answer depends on the body, too. */
static bool is_for_cache(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;

    return is_read(request) && !exchange->sink && !request->is_chunked &&
           request->content_length == 0 && !has_upgrade(request) &&
           !has_precondition(request) && !request->expects_continue;
}

static struct cache_key_asker asker_of(const struct cached *cached,
                                       const struct exchange *exchange)
{
    const struct forwarded_trust *trust = cached->options.trust;

    return (struct cache_key_asker){
        .is_secure = exchange_is_secure(exchange),
        .is_trusted = trust &&
                      forwarded_is_trusted(trust, exchange->neighbour)};
}

/* Reads the request's cache directives. Pragma counts if there is no
 * Cache-Control (RFC 9111 5.4). */
static void read_control(struct cache_control *control,
                         const struct request *request)
{
    bool has_pragma = false;

    cache_control_init(control);
    for (unsigned i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];

        if (field->id != FIELD_OTHER)
            continue;
        if (bytes_ieq(field->name, BYTES("Cache-Control")))
            cache_control_read(control, field->value, BYTES(""));
        else if (bytes_ieq(field->name, BYTES("Pragma")))
            has_pragma |= bytes_ieq(field->value, BYTES("no-cache"));
    }
    if (has_pragma && !cache_control_says(control, CACHE_ANY))
        control->said |= CACHE_NO_CACHE;
}

/* --- Answering ----------------------------------------------------------- */

static void go_past(struct cached *cached, struct exchange *exchange,
                    struct bytes rest, enum cached_way way)
{
    const struct handler *inner = &cached->options.inner;

    cached_note_past(cached, exchange, way);
    inner->answer(inner->self, exchange, rest);
}

/* Fetches a stale answer anew in the background, unless another fetch does so
 * (RFC 5861 3). Nothing is fetched for a request with only-if-cached: the fetch
 * would have that directive, too, and a cache on the way to the origin would
 * answer 504. Nor is anything fetched for a request with no-store, whose answer
 * could not be stored. */
static void refresh_later(struct cached *cached, struct exchange *exchange,
                          struct bytes key, const struct cache_control *control,
                          const struct cache_found *found)
{
    struct cache_found earlier = {
        .entry = cache_entry_acquire(found->entry),
        .body = found->body ? cache_body_acquire(found->body) : NULL};
    struct fetch_order order = {.from = exchange,
                                .key = key,
                                .control = control,
                                .earlier = &earlier,
                                .way = CACHED_STALE};
    bool is_begun = false;

    if (exchange->request.method == METHOD_GET &&
        !cache_control_says(control, CACHE_ONLY_IF_CACHED) &&
        !cache_control_says(control, CACHE_NO_STORE) &&
        cached->unasked_count < FETCH_UNASKED_MAX &&
        !cache_entry_is_left_alone(found->entry, cached_mono_s(cached)) &&
        cache_store_join(cached->options.store, key, found,
                         cached_mono_s(cached), NULL,
                         &order.flight) == CACHE_LEAD)
        is_begun = fetch_begin(cached, &order);
    if (!is_begun)
        cache_found_release(&earlier);
}

/* Whether the request may get the found answer. A request with Authorization
 * gets only shared answers. */
static bool is_open_to(const struct cache_found *found,
                       const struct request *request)
{
    return !request_find(request, FIELD_AUTHORIZATION) ||
           cache_facts_is_shared(&found->entry->facts);
}

/* Answers with the found entry. Returns false if that is not possible. */
static bool answer_found(struct cached *cached, struct exchange *exchange,
                         struct bytes key, const struct cache_control *control,
                         const struct cache_found *found)
{
    int64_t now_s = cached_now(cached)->wall_s;
    struct cached_note note = {.way = CACHED_HIT, .has_ttl = true};

    if (!found->entry || !is_open_to(found, &exchange->request) ||
        !cached_has(cached, exchange, found))
        return false;
    note.ttl_s = cache_facts_ttl(&found->entry->facts, now_s);
    switch (cache_entry_use(found->entry, control, now_s)) {
    case CACHE_USE_ASK:
        return false;
    case CACHE_USE_MEANWHILE:
        if (found->entry->ranges)
            return false; /* parts cannot be fetched in the background */
        refresh_later(cached, exchange, key, control, found);
        break;
    case CACHE_USE_FRESH:
    case CACHE_USE_STALE:
        break;
    }
    cached_answer(cached, exchange, found, &note);
    return true;
}

/* Returns true if the request asks for a single range, without If-Range: the
 * answer may be a part that can be stored. */
static bool is_for_part(const struct request *request)
{
    const struct field *field = request_single(request, FIELD_RANGE);
    struct range ranges[RANGE_COUNT_MAX];
    size_t count = 0;

    return field && !request_find(request, FIELD_IF_RANGE) &&
           range_parse(field->value, INT64_MAX, ranges, &count) ==
               RANGE_PARTIAL &&
           count == 1;
}

/* Returns true if the request goes directly to the proxy: it is a HEAD, or asks
 * for several parts, and no whole answer is stored. Its answer cannot be
 * stored, so no other request waits for it. If a whole answer is stored, the
 * request does not go directly to the proxy, since the reply tells whether the
 * stored answer is valid. */
static bool goes_past(const struct exchange *exchange,
                      const struct cache_found *found)
{
    const struct request *request = &exchange->request;

    return (!found->entry || found->entry->ranges) &&
           (request->method == METHOD_HEAD ||
            (request_find(request, FIELD_RANGE) && !is_for_part(request)));
}

/* Returns why a request goes directly to the proxy, for Cache-Status. */
static enum cached_way way_past(const struct cache_found *found)
{
    if (!found->entry)
        return CACHED_MISS;
    return found->entry->ranges ? CACHED_PARTIAL : CACHED_STALE;
}

static void answer_by_key(struct cached *cached, struct exchange *exchange,
                          struct bytes rest, struct bytes key)
{
    struct cache_control control;
    struct cache_found found;

    read_control(&control, &exchange->request);
    cache_store_find(cached->options.store, key, &exchange->request, &found);
    if (!answer_found(cached, exchange, key, &control, &found)) {
        if (cache_control_says(&control, CACHE_ONLY_IF_CACHED)) {
            cached_answer_none(cached, exchange);
        } else if (goes_past(exchange, &found)) {
            go_past(cached, exchange, rest, way_past(&found));
        } else {
            if (found.entry && !is_open_to(&found, &exchange->request))
                cache_found_release(&found);
            cached_ask(cached, exchange, key, &control, &found);
            return;
        }
    }
    cache_found_release(&found);
}

/* Returns true if the request bypasses the cache: it gets nothing from the
 * cache, and stores nothing there. This includes requests with fields that
 * Connection names. The origin does not see these fields, so its answer is for
 * requests without them. If the answer's Vary named such a field, the cache
 * would store the answer for requests that have the field. */
static bool is_passed_by(const struct cached *cached,
                         const struct exchange *exchange)
{
    return (cached->options.tells_client && exchange_is_secure(exchange)) ||
           cache_parts_has(&cached->options.bypass, &exchange->request) ||
           relay_leaves_out(&exchange->request);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct cached *cached = self;
    struct cache_key_asker asker;
    char storage[KEY_STORAGE];
    struct buf key;

    if (cached_answer_purge(cached, exchange))
        return;
    if (!is_for_cache(exchange)) {
        go_past(cached, exchange, rest,
                is_read(&exchange->request) ? CACHED_BYPASS : CACHED_METHOD);
        return;
    }
    if (cached->options.names_requests)
        trace_identify(&cached->trace, cached->options.trust, exchange);
    asker = asker_of(cached, exchange);
    buf_init(&key, storage, sizeof(storage), CACHE_KEY_BYTES_MAX);
    if (!is_passed_by(cached, exchange) &&
        cache_key_put(&cached->options.key, &exchange->request, &asker, &key))
        answer_by_key(cached, exchange, rest, buf_bytes(&key));
    else
        go_past(cached, exchange, rest, CACHED_BYPASS);
    buf_fini(&key);
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    const struct handler *inner = &((struct cached *)self)->options.inner;

    if (!cached_is_purge(&exchange->request)) /* PURGE needs no body */
        inner->begin(inner->self, exchange, rest);
}

struct handler cached_handler(struct cached *cached)
{
    return (struct handler){.answer = answer,
                            .begin = begin,
                            .self = cached,
                            .slash = cached->options.inner.slash};
}

/* --- Invalidating -------------------------------------------------------- */

/* Whether the method only reads (RFC 9110 9.2.1). */
static bool is_safe(const struct request *request)
{
    static const struct bytes names[] = {
        {"PROPFIND", 8}, {"QUERY", 5}, {"REPORT", 6}, {"SEARCH", 6}};

    if (request->method == METHOD_OTHER)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
            if (bytes_eq(request->method_name, names[i]))
                return true;
    return is_read(request) || request->method == METHOD_OPTIONS ||
           request->method == METHOD_TRACE;
}

/* Appends the key of `reference`, or of the request's own address if
 * `reference` is NULL. Returns false if there is no key. */
static bool put_key(const struct cache_key_rules *rules,
                    const struct exchange *exchange,
                    const struct cache_key_asker *asker,
                    const struct bytes *reference, struct buf *out)
{
    const struct request *request = &exchange->request;

    return reference
               ? cache_key_put_other(rules, request, asker, *reference, out)
               : cache_key_put_target(rules, request, asker, out);
}

/* Invalidates the answers stored under `key` in the forms `forms`
 * (cache/cache_form.h). Then does so for `forms` with one more form, for each
 * usual form. The caller's key names no form yet. */
static void invalidate_forms(struct cache_store *store, struct buf *key,
                             const struct request *request,
                             const struct cache_forms *forms)
{
    size_t len = key->len;

    cache_forms_put(forms, request, key);
    for (unsigned i = 0;; i++) {
        if (!key->failed)
            (void)cache_store_invalidate(store, buf_bytes(key));
        key->len = len;
        key->failed = false; /* the writer's own forms may be too long */
        if (!cache_forms_put_with(forms, request, i, key))
            return;
    }
}

/* Invalidates the stored answers of an address: `reference`, or the request's
 * own address if `reference` is NULL. Readers may have asked in other forms
 * than the writer. So the answers are invalidated without a form; in each form
 * that a proxy or a framework usually adds; and, for readers behind the
 * writer's proxy, in the writer's forms, alone and with one more. */
static void invalidate(struct cached *cached, const struct exchange *exchange,
                       const struct bytes *reference)
{
    const struct request *request = &exchange->request;
    struct cache_forms forms = cache_forms_read(request), none = {.asked = 0};
    struct cache_key_asker asker = asker_of(cached, exchange);
    struct cache_store *store = cached->options.store;
    char storage[KEY_STORAGE];
    struct buf key;

    asker.has_no_form = true;
    buf_init(&key, storage, sizeof(storage), CACHE_KEY_BYTES_MAX);
    if (put_key(&cached->options.key, exchange, &asker, reference, &key)) {
        invalidate_forms(store, &key, request, &none);
        if (forms.asked != 0)
            invalidate_forms(store, &key, request, &forms);
    }
    buf_fini(&key);
}

/* Invalidates the stored answers of `uri`, which the origin's reply has named.
 * relay_put_uri() makes the address by which clients know `uri`. */
static void invalidate_named(struct cached *cached,
                             const struct exchange *exchange,
                             const struct relay *relay, struct bytes uri)
{
    char storage[KEY_STORAGE];
    struct bytes reference;
    struct buf name;

    buf_init(&name, storage, sizeof(storage), CACHE_KEY_BYTES_MAX);
    relay_put_uri(relay, &exchange->request, uri, &name);
    reference = buf_bytes(&name);
    if (!name.failed)
        invalidate(cached, exchange, &reference);
    buf_fini(&name);
}

void cached_note_reply(struct cached *cached, const struct exchange *exchange,
                       const struct reply *reply, const struct relay *relay)
{
    if (is_safe(&exchange->request) || reply->status < 200 ||
        reply->status >= 400)
        return;
    invalidate(cached, exchange, NULL);
    for (unsigned i = 0; i < reply->field_count; i++)
        if (bytes_ieq(reply->fields[i].name, BYTES("Location")) ||
            bytes_ieq(reply->fields[i].name, BYTES("Content-Location")))
            invalidate_named(cached, exchange, relay, reply->fields[i].value);
}

/* --- Coming and going ---------------------------------------------------- */

static void on_over(struct cache_wait *wait)
{
    struct cached *cached = OWNER_OF(wait, struct cached, over);

    cached->options.on_fetch_over(cached->options.context);
}

void cached_tick(struct cached *cached)
{
    fetch_end_unawaited(cached);
}

bool cached_is_needed(const struct cached *cached)
{
    return fetch_is_any_needed(cached);
}

struct cached *cached_create(const struct cached_options *options)
{
    struct cached *cached = calloc(1, sizeof(*cached));

    if (!cached)
        return NULL;
    cached->options = *options;
    list_init(&cached->fetches);
    cache_wait_init(&cached->over, options->port, on_over);
    cached_note_prepare(cached);
    if (trace_init(&cached->trace) == 0)
        return cached;
    free(cached);
    return NULL;
}

void cached_destroy(struct cached *cached)
{
    if (!cached)
        return;
    fetch_destroy_all(cached);
    cache_wait_cancel(&cached->over, NULL);
    free(cached);
}
