#include "cache/cache_vary.h"
#include "handler/cached/cached_fetch_priv.h"

enum {
    RETRY_S = 2 /* seconds for which a failed origin is not asked again if a
                   stale answer may be used instead */
};

/* --- Stale answers in place of failures ---------------------------------- */

/* Returns true if the status says that the origin has failed. The proxy's own
 * errors have the same statuses. A 404 or 410 is no failure, even if an error
 * page of the place replaces its body. */
static bool is_failure(const struct response *response)
{
    return response->status == 500 || response->status == 502 ||
           response->status == 503 || response->status == 504;
}

/* Whether the request was refused here, without asking the origin. */
static bool is_refusal(const struct response *response)
{
    return response->reason != REASON_NONE;
}

/* Answers with a stored answer instead of a failure. Returns false if no stored
 * answer may be used instead. */
static bool bear_failure(struct fetch *fetch)
{
    const struct cached *cached = fetch->cached;
    const struct response *response = &fetch->exchange.response;
    struct cache_entry *entry = fetch->earlier.entry;
    int64_t now_s = cached_now(cached)->wall_s;
    struct cached_note note = fetch_note(fetch);
    bool has_answered = !response->is_error;

    if (!entry || !is_failure(response) || !fetch_is_current(fetch, entry))
        return false;
    atomic_store_explicit(&entry->has_answered, has_answered,
                          memory_order_relaxed);
    atomic_store_explicit(&entry->retry_s, cached_mono_s(cached) + RETRY_S,
                          memory_order_release);
    if (!cache_facts_bears_error(&entry->facts, &fetch->control, now_s,
                                 cached->options.unreachable_s, has_answered))
        return false;
    fetch_end_flight(fetch, CACHE_OUTCOME_STORED);
    if (response->is_error) {
        note.status = 0;
        note.detail = "unreachable";
    }
    note.has_ttl = true;
    note.ttl_s = cache_facts_ttl(&entry->facts, now_s);
    fetch_tell_entry(fetch, entry, fetch->earlier.body, &note);
    return true;
}

/* --- Keeping ------------------------------------------------------------- */

/* The parts of an answer that are stored. */
struct keeping {
    unsigned status;
    struct bytes phrase;
    struct bytes lines;
    uint64_t bytes; /* length of the body, or CACHE_LENGTH_UNKNOWN */
    /* `range` and `length` are for a part that is stored alone. */
    struct range range;
    uint64_t length;
};

/* Reads a part that should fill the gap between stored ranges, and so complete
 * the stored answer. Returns false if it is not that part. */
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

/* Reads a part that has come. A part that is the whole body is stored as a 200.
 * Puts the answer's lines into `out`, without Content-Range, which describes
 * this part alone. Returns false if the part cannot be stored. */
static bool read_part(struct fetch *fetch, struct keeping *kept,
                      struct buf *out)
{
    if (!fetch_read_part(fetch, &kept->range, &kept->length))
        return false;
    cached_head_put_for_part(kept->lines, out);
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
    fetch->mends = false; /* the answer is not the part asked for */
    return true;
}

/* Returns true if the answer is an error whose body the proxy could not replace
 * by the place's own page, since the fetch has no asker, or its asker has left.
 * Such an answer is not stored. */
static bool is_bare_error(const struct fetch *fetch, const struct keeping *kept)
{
    return fetch->cached->options.intercepts_errors && kept->status >= 400 &&
           !fetch->exchange.response.errors;
}

static bool may_keep(const struct fetch *fetch, const struct keeping *kept)
{
    const struct response *response = &fetch->exchange.response;
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cache_asked asked = {.is_authorized = fetch->is_authorized,
                                .has_user = fetch->has_user,
                                .no_store = cache_control_says(&fetch->control,
                                                               CACHE_NO_STORE),
                                .takes_part = fetch->is_part};
    struct cache_facts facts;

    cache_facts_read(&facts, kept->status, kept->lines, &circumstances);
    return !response->is_error && !response->head.failed &&
           !is_refusal(response) && !is_bare_error(fetch, kept) &&
           cache_facts_judge(&facts, &asked) == CACHE_KEPT &&
           !fetch_is_askers_error(fetch) &&
           cache_store_has_room(fetch->cached->options.store, kept->bytes);
}

static bool has_body(unsigned status)
{
    return status != 204 && status != 304;
}

/* Creates the entry to be stored. The entry has the whole body, or a range of
 * the body, or is the earlier entry completed by this answer. */
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

/* Whether a body of unknown length will probably be too long to be stored,
 * since it was too long before. Such a body is not shared: all its readers
 * would be as slow as the slowest of them. */
static bool will_be_long(const struct fetch *fetch, const struct keeping *kept,
                         struct bytes variant)
{
    return kept->bytes == CACHE_LENGTH_UNKNOWN &&
           cache_store_was_long(fetch->cached->options.store,
                                (struct bytes){fetch->key, fetch->key_len},
                                variant, cached_mono_s(fetch->cached));
}

/* Makes the entry and the room for its body. Returns false when there is no
 * memory, when the answer's Vary cannot be evaluated, or when the body will be
 * too long. */
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

    buf_init(&names, names_storage, sizeof(names_storage),
             CACHE_VARY_BYTES_MAX);
    buf_init(&variant, variant_storage, sizeof(variant_storage),
             CACHE_VARIANT_BYTES_MAX);
    if (!cache_vary_names(kept->lines, &names))
        names.failed = true;
    else if (!cache_vary_put(buf_bytes(&names), &fetch->exchange.request,
                             &variant))
        fetch->has_no_variant = true;
    if (fetch->mends &&
        !bytes_eq(buf_bytes(&names), fetch->earlier.entry->names))
        names.failed = true; /* the stored ranges came with another Vary */
    if (!names.failed && !fetch->has_no_variant &&
        !will_be_long(fetch, kept, buf_bytes(&variant))) {
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

/* Stores the entry. An entry with a part is stored later, when the part is
 * complete, together with other parts. */
static bool put_entry(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;

    if (fetch->is_part)
        return true;
    fetch->is_overtaken = !cache_store_put(store, fetch->entry, NULL,
                                           fetch->epoch);
    if (fetch->is_overtaken)
        return false;
    if (!fetch->body)
        cache_store_settle(store, fetch->entry);
    return true;
}

static bool keep(struct fetch *fetch)
{
    struct cached_note note = fetch_note(fetch);
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
    note.is_from_origin = true;
    if (fetch->body && fetch->flight &&
        cache_flight_has_waits(fetch->cached->options.store, fetch->flight))
        cache_body_await_crowd(fetch->body);
    fetch_end_flight(fetch, fetch_outcome(fetch, fetch->entry));
    fetch_tell_entry(fetch, fetch->entry, fetch->body, &note);
    fetch->state = FETCH_FILLING;
    return true;
}

/* --- Answers that are not stored ----------------------------------------- */

/* Removes the stored answer of the address, since the new answer says that the
 * resource has changed. */
static void forget_earlier(struct fetch *fetch)
{
    const struct response *response = &fetch->exchange.response;

    if (fetch->earlier.entry && !is_failure(response) &&
        !is_refusal(response) && !fetch_is_about_request(fetch))
        cache_store_drop(fetch->cached->options.store, fetch->earlier.entry);
}

/* Returns true if the answer is for this request only. The requests that wait
 * for the fetch then ask again, since their answer may be one that can be
 * stored. */
static bool is_of_one_request(const struct fetch *fetch)
{
    const struct response *response = &fetch->exchange.response;

    switch (response->status) {
    case 206:
    case 226:
    case 304:
    case 412:
    case 416:
    case 429: /* this client asks too often */
    case 431:
        return true;
    default:
        return fetch->is_overtaken || fetch->has_no_variant ||
               is_refusal(response) ||
               (fetch->earlier.entry && fetch_is_about_request(fetch));
    }
}

static void hand_over(struct fetch *fetch)
{
    struct cached_note note = fetch_note(fetch);

    if (fetch->exchange.response.is_error)
        note.status = 0;
    fetch_end_flight(fetch, is_of_one_request(fetch) ? CACHE_OUTCOME_AGAIN
                                                     : CACHE_OUTCOME_ALONE);
    if (!fetch->asker) {
        fetch_destroy(fetch);
        return;
    }
    fetch->state = FETCH_HANDED;
    fetch->to = fetch->asker->exchange;
    fetch_tell(fetch, NULL, fetch, &note);
}

/* Hands over the answer to HEAD, which makes no entry. */
static void hand_head_over(struct fetch *fetch)
{
    fetch_heed_head(fetch);
    hand_over(fetch);
}

void fetch_use_answer(struct fetch *fetch)
{
    unsigned status = fetch->exchange.response.status;
    bool was_mending = fetch->mends; /* keep() may clear fetch->mends */

    if (!was_mending && fetch_heed_not_modified(fetch))
        return;
    if (!was_mending && bear_failure(fetch))
        fetch_destroy(fetch);
    else if (fetch->exchange.request.method == METHOD_HEAD)
        hand_head_over(fetch);
    else if (keep(fetch))
        fetch_fill(fetch);
    else if (was_mending && (status == 206 || status == 416))
        fetch_start_over(fetch);
    else {
        forget_earlier(fetch);
        hand_over(fetch);
    }
}
