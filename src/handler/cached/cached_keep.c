#include "cache/cache_vary.h"
#include "handler/cached/cached_fetch_priv.h"

enum {
    RETRY_S = 2 /* an origin that has failed is left alone so long, while what
                   is stale may be used */
};

/* --- Who asked -------------------------------------------------------------------- */

/* Word of the asker's result; the fetch may be gone afterwards. */
static void tell(struct fetch *fetch, const struct cache_found *found,
                 struct fetch *hand, const struct cached_note *note)
{
    struct fetch_asker *asker = fetch->asker;

    fetch->asker = NULL;
    asker->fetch = NULL;
    if (asker->exchange->wants_upstream)
        asker->exchange->upstream = fetch->exchange.upstream;
    asker->on_fetched(asker, found, hand, note);
}

/* The asker gets an entry, if there is one. */
static void tell_entry(struct fetch *fetch, struct cache_entry *entry,
                       struct cache_body *body, const struct cached_note *note)
{
    struct cache_found found = {.entry = entry};

    if (!fetch->asker)
        return;
    cache_entry_acquire(entry);
    if (body)
        found.body = cache_body_acquire(body);
    tell(fetch, &found, NULL, note);
}

/* --- What has come ---------------------------------------------------------------- */

static struct cached_note note_of(const struct fetch *fetch)
{
    return (struct cached_note){.way = fetch->way,
                                .status = fetch->exchange.response.status};
}

/* Those who waited look for it; unless it has to be asked for each time. */
static enum cache_outcome outcome_of(const struct fetch *fetch,
                                     const struct cache_entry *entry)
{
    struct cache_control nothing;

    cache_control_init(&nothing);
    return cache_facts_use(&entry->facts, &nothing,
                           cached_now(fetch->cached)->wall_s) == CACHE_USE_ASK
               ? CACHE_OUTCOME_ALONE
               : CACHE_OUTCOME_STORED;
}

/* --- Validated, or stale all the same ----------------------------------------------- */

/* What a 304 has made of what was kept takes its place, unless it has brought a
 * cookie. That it came for one who has cookies says nothing more: what it is good for
 * is what was kept for all. False: it does not. */
static bool put_refreshed(struct fetch *fetch, struct cache_entry *entry,
                          enum cache_outcome *outcome_out)
{
    struct cache_store *store = fetch->cached->options.store;
    struct cache_asked nobody = {.has_cookie = false};

    if (cache_facts_is_of_one(&entry->facts, &nobody)) {
        cache_store_drop(store, fetch->earlier.entry);
        *outcome_out = CACHE_OUTCOME_ALONE;
        return false;
    }
    *outcome_out = CACHE_OUTCOME_AGAIN;
    if (!cache_store_put(store, entry, fetch->earlier.entry, fetch->epoch))
        return false;
    *outcome_out = outcome_of(fetch, entry);
    return true;
}

/* False: it is not good for that; then it is an answer like others. */
static bool refresh(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cached_note note = note_of(fetch);
    enum cache_outcome outcome;
    struct cache_entry *entry;

    if (fetch->exchange.response.status != 304 || !fetch->earlier.entry)
        return false;
    entry = cache_entry_refresh(fetch->earlier.entry, fetch->earlier.body,
                                fetched_lines(&fetch->exchange.response),
                                &circumstances);
    if (!entry)
        return false;
    note.is_stored = put_refreshed(fetch, entry, &outcome);
    if (note.is_stored &&
        (!fetch->earlier.body ||
         cache_body_state_of(fetch->earlier.body) == CACHE_BODY_WHOLE))
        cache_store_settle(store, entry);
    fetch_end_flight(fetch, outcome);
    tell_entry(fetch, entry, fetch->earlier.body, &note);
    cache_entry_release(&entry);
    return true;
}

static bool is_failure(const struct response *response)
{
    return response->is_error || response->status == 500 ||
           response->status == 502 || response->status == 503 ||
           response->status == 504;
}

/* What is kept serves once more. */
static bool bear_failure(struct fetch *fetch)
{
    const struct cached *cached = fetch->cached;
    const struct response *response = &fetch->exchange.response;
    struct cache_entry *entry = fetch->earlier.entry;
    int64_t now_s = cached_now(cached)->wall_s;
    struct cached_note note = note_of(fetch);

    if (!entry || !is_failure(response) ||
        !cache_facts_bears_error(&entry->facts, &fetch->control, now_s,
                                 cached->options.unreachable_s,
                                 !response->is_error))
        return false;
    atomic_store_explicit(&entry->retry_s, now_s + RETRY_S,
                          memory_order_relaxed);
    fetch_end_flight(fetch, CACHE_OUTCOME_STORED);
    if (response->is_error) {
        note.status = 0;
        note.detail = "unreachable";
    }
    note.has_ttl = true;
    note.ttl_s = cache_facts_ttl(&entry->facts, now_s);
    tell_entry(fetch, entry, fetch->earlier.body, &note);
    return true;
}

/* --- Keeping ------------------------------------------------------------------------ */

/* What is kept of an answer. */
struct keeping {
    unsigned status;
    struct bytes phrase;
    struct bytes lines;
    uint64_t bytes; /* of the body that is made; CACHE_LENGTH_UNKNOWN perhaps */
    struct range range; /* of a part, that is all there is; as the next */
    uint64_t length;
};

/* What fills the gap of what is there; all of it is kept then. */
static bool read_mending(const struct fetch *fetch, struct keeping *kept)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    const struct cache_entry *earlier = fetch->earlier.entry;
    struct cache_facts facts;

    cache_facts_read(&facts, 206, kept->lines, &circumstances);
    kept->status = 200;
    kept->phrase = BYTES("OK");
    kept->bytes = kept->length;
    return fetch_is_same(&facts, &earlier->facts) &&
           kept->length == earlier->ranges->length &&
           kept->range.first == fetch->gap.first &&
           kept->range.last == fetch->gap.last;
}

/* A part that has come; all of it is a whole, however it was asked for. Its lines
 * go into out, but for what is of that part alone. */
static bool read_part(struct fetch *fetch, struct keeping *kept,
                      struct buf *out)
{
    if (!fetch_read_part(fetch, &kept->range, &kept->length))
        return false;
    cached_head_put(kept->lines, BYTES("Content-Range"), out);
    kept->lines = buf_bytes(out);
    if (out->failed)
        return false;
    if (fetch->mends)
        return read_mending(fetch, kept);
    kept->bytes = kept->range.last - kept->range.first + 1;
    fetch->is_part = kept->bytes < kept->length;
    if (!fetch->is_part) {
        kept->status = 200;
        kept->phrase = BYTES("OK");
    }
    return fetch_asks_for_part(fetch);
}

static bool read_answer(struct fetch *fetch, struct keeping *kept,
                        struct buf *out)
{
    const struct response *response = &fetch->exchange.response;

    *kept = (struct keeping){.status = response->status,
                             .phrase = {response->head.data,
                                        response->phrase_len},
                             .lines = fetched_lines(response),
                             .bytes = fetch_body_length(fetch)};
    if (response->status == 206)
        return read_part(fetch, kept, out);
    fetch->mends = false; /* it is another, and comes as a whole */
    return true;
}

static bool may_keep(const struct fetch *fetch, const struct keeping *kept)
{
    const struct response *response = &fetch->exchange.response;
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cache_asked asked = {.is_authorized = fetch->is_authorized,
                                .has_cookie = fetch->has_cookie,
                                .no_store = cache_control_says(&fetch->control,
                                                               CACHE_NO_STORE),
                                .takes_part = fetch->is_part};
    struct cache_facts facts;

    cache_facts_read(&facts, kept->status, kept->lines, &circumstances);
    return !response->is_error && !response->head.failed &&
           cache_facts_judge(&facts, &asked) == CACHE_KEPT &&
           cache_store_has_room(fetch->cached->options.store, kept->bytes);
}

static bool has_body(unsigned status)
{
    return status != 204 && status != 304;
}

/* The entry, which has the body, or a range of it, or mends what was there. */
static struct cache_entry *create_entry(struct fetch *fetch,
                                        const struct keeping *kept,
                                        struct cache_entry_parts *parts)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cache_entry *entry;

    parts->body = fetch->is_part ? NULL : fetch->body;
    if (fetch->mends)
        return cache_entry_update(fetch->earlier.entry, parts, &circumstances);
    entry = cache_entry_create(parts, &circumstances);
    if (entry && fetch->is_part) {
        entry->ranges = cache_ranges_create(kept->length, &kept->range,
                                            fetch->body);
        if (!entry->ranges)
            cache_entry_release(&entry);
    }
    return entry;
}

/* Makes the entry and the room for its body. False: there is no memory, or what
 * it varies by cannot be told. */
static bool make_entry(struct fetch *fetch, const struct keeping *kept)
{
    struct cached *cached = fetch->cached;
    char names_storage[256], variant_storage[1024];
    struct buf names, variant;
    struct cache_entry_parts parts = {
        .key = {fetch->key, fetch->key_len},
        .status = kept->status,
        .phrase = kept->phrase,
        .lines = kept->lines,
        .cost_ms = (uint32_t)(cached_now(cached)->mono_ms - fetch->asked_ms)};

    buf_init(&names, names_storage, sizeof(names_storage), 4096);
    buf_init(&variant, variant_storage, sizeof(variant_storage),
             CACHE_VARIANT_BYTES_MAX);
    if (cache_vary_names(kept->lines, &names) &&
        cache_vary_put(buf_bytes(&names), &fetch->exchange.request, &variant)) {
        parts.names = buf_bytes(&names);
        parts.variant = buf_bytes(&variant);
        if (has_body(kept->status))
            fetch->body = cache_store_make_body(cached->options.store,
                                                kept->bytes);
        if (fetch->body || !has_body(kept->status))
            fetch->entry = create_entry(fetch, kept, &parts);
    }
    buf_fini(&names);
    buf_fini(&variant);
    return fetch->entry;
}

/* A part is let in when it is there, beside others. */
static bool put_entry(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;

    if (fetch->is_part)
        return true;
    if (!cache_store_put(store, fetch->entry, NULL, fetch->epoch))
        return false;
    if (!fetch->body)
        cache_store_settle(store, fetch->entry);
    return true;
}

static bool keep(struct fetch *fetch)
{
    struct cached_note note = note_of(fetch);
    struct keeping kept;
    struct buf lines;

    buf_init(&lines, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    note.is_stored = read_answer(fetch, &kept, &lines) &&
                     may_keep(fetch, &kept) && make_entry(fetch, &kept) &&
                     put_entry(fetch);
    buf_fini(&lines);
    if (!note.is_stored) {
        cache_entry_release(&fetch->entry);
        cache_body_release(&fetch->body);
        return false;
    }
    fetch_end_flight(fetch, outcome_of(fetch, fetch->entry));
    tell_entry(fetch, fetch->entry, fetch->body, &note);
    fetch->state = FETCH_FILLING;
    return true;
}

/* --- Not keeping -------------------------------------------------------------------- */

/* Forgets what was kept of the address: the answer says that it has changed. */
static void forget_earlier(struct fetch *fetch)
{
    const struct response *response = &fetch->exchange.response;

    if (fetch->earlier.entry && !is_failure(response))
        cache_store_drop(fetch->cached->options.store, fetch->earlier.entry);
}

/* It may be that another request would get an answer for all. */
static bool is_of_one_request(const struct fetch *fetch)
{
    unsigned status = fetch->exchange.response.status;

    return status == 304 || status == 206 || status == 416 || status == 412;
}

static void hand_over(struct fetch *fetch)
{
    struct cached_note note = note_of(fetch);

    if (fetch->exchange.response.is_error)
        note.status = 0;
    forget_earlier(fetch);
    fetch_end_flight(fetch, is_of_one_request(fetch) ? CACHE_OUTCOME_AGAIN
                                                     : CACHE_OUTCOME_ALONE);
    if (!fetch->asker) {
        fetch_destroy(fetch);
        return;
    }
    fetch->state = FETCH_HANDED;
    fetch->to = fetch->asker->exchange;
    tell(fetch, NULL, fetch, &note);
}

/* What was to fill the gap does not: whoever asked has all of it fetched. */
static void start_over(struct fetch *fetch)
{
    struct cached_note note = note_of(fetch);
    struct cache_found nothing = {.entry = NULL};

    cache_store_drop(fetch->cached->options.store, fetch->earlier.entry);
    fetch_end_flight(fetch, CACHE_OUTCOME_AGAIN);
    if (fetch->asker)
        tell(fetch, &nothing, NULL, &note);
    fetch_destroy(fetch);
}

void fetch_use_answer(struct fetch *fetch)
{
    unsigned status = fetch->exchange.response.status;
    bool was_mending = fetch->mends; /* it is not where all of it has come */

    if (!was_mending && (refresh(fetch) || bear_failure(fetch)))
        fetch_destroy(fetch);
    else if (keep(fetch))
        fetch_fill(fetch);
    else if (was_mending && (status == 206 || status == 416))
        start_over(fetch);
    else
        hand_over(fetch);
}
