#include "cache/cache_vary.h"
#include "handler/cached/cached_fetch_priv.h"

/* Returns true if `entry`, the stored answer updated by a 304, may stay stored
 * as the same variant. Cookies of the client that got the 304 do not matter:
 * the 304 confirms an answer that is stored for all clients. */
static bool may_keep_on(const struct fetch *fetch,
                        const struct cache_entry *entry)
{
    struct cache_asked asked = {.is_authorized = fetch->is_authorized,
                                .takes_part = entry->ranges};
    enum cache_refusal refusal = cache_facts_judge(&entry->facts, &asked);
    char storage[256];
    struct buf names;
    bool is_same;

    buf_init(&names, storage, sizeof(storage), CACHE_VARY_BYTES_MAX);
    is_same = cache_vary_names(entry->lines, &names) &&
              bytes_eq(buf_bytes(&names), entry->names);
    buf_fini(&names);
    return is_same && (refusal == CACHE_KEPT || refusal == CACHE_REFUSED_STALE);
}

/* Replaces the stored entry by `entry`, which a 304 has updated. Sets
 * *outcome_out to what the waiting requests do next. Returns false if `entry`
 * was not stored; then only the asker gets it. The old entry is removed if the
 * updated answer must not be stored. Otherwise it stays, as when only the
 * request forbids storing (RFC 9111 5.2.1.5). */
static bool put_refreshed(struct fetch *fetch, struct cache_entry *entry,
                          enum cache_outcome *outcome_out)
{
    struct cache_store *store = fetch->cached->options.store;
    struct cache_entry *earlier = fetch->earlier.entry;

    *outcome_out = CACHE_OUTCOME_AGAIN;
    if (cache_control_says(&fetch->control, CACHE_NO_STORE))
        return false;
    if (!may_keep_on(fetch, entry)) {
        cache_store_drop(store, earlier);
        *outcome_out = CACHE_OUTCOME_ALONE;
        return false;
    }
    /* The fetch that fills the old entry's body settles or drops that entry at
     * the end. If another entry had replaced it, neither would happen. */
    if (fetch->earlier.body &&
        cache_body_state_of(fetch->earlier.body) != CACHE_BODY_WHOLE)
        return false;
    if (!cache_store_put(store, entry, earlier, fetch->epoch))
        return false;
    cache_store_settle(store, entry);
    *outcome_out = fetch_outcome(fetch, entry);
    return true;
}

/* Returns true if a 304 or an answer to HEAD is for its asker only, by the
 * rules for an answer to GET (cached_keep.c). It counts what this answer says
 * itself, and not what the stored answer says. Cookies in the answer do not
 * count, since they go only to the asker in any case. */
static bool is_of_asker(const struct fetch *fetch, struct bytes lines,
                        const struct cache_circumstances *circumstances)
{
    struct cache_asked asked = {.is_authorized = fetch->is_authorized,
                                .has_user = fetch->has_user};
    enum cache_refusal refusal;
    struct cache_facts facts;

    cache_facts_read(&facts, 200, lines, circumstances);
    facts.has_cookie = false;
    refusal = cache_facts_judge(&facts, &asked);
    return refusal == CACHE_REFUSED_AUTHORIZED ||
           refusal == CACHE_REFUSED_COOKIE;
}

/* Returns the entry that replaces the stored one for all clients after a 304;
 * `entry` has all fields of the 304, for the asker. If the asker told who it
 * is, these fields may be about the asker. Then the returned entry gets only
 * the fields that tell how long the stored answer is valid, unless the 304 says
 * that it is for all clients. Returns NULL when there is no memory. */
static struct cache_entry *make_shared(const struct fetch *fetch,
                                       struct cache_entry *entry,
                                       struct bytes lines)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cache_entry *shared = NULL;
    struct buf validity;

    if (!is_of_asker(fetch, lines, &circumstances))
        return cache_entry_acquire(entry);
    buf_init(&validity, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    cached_head_put_validity(lines, &validity);
    if (!validity.failed)
        shared = cache_entry_refresh(fetch->earlier.entry, fetch->earlier.body,
                                     buf_bytes(&validity), &circumstances);
    buf_fini(&validity);
    return shared;
}

/* Refreshes the entry by a 304. Returns false when there is no memory. */
static bool refresh(struct fetch *fetch)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct bytes lines = fetched_lines(&fetch->exchange.response);
    struct cached_note note = fetch_note(fetch);
    struct cache_entry *entry, *shared;
    enum cache_outcome outcome;

    entry = cache_entry_refresh(fetch->earlier.entry, fetch->earlier.body,
                                lines, &circumstances);
    shared = entry ? make_shared(fetch, entry, lines) : NULL;
    if (shared) {
        note.is_stored = put_refreshed(fetch, shared, &outcome);
        note.is_from_origin = true;
        fetch_end_flight(fetch, outcome);
        fetch_tell_entry(fetch, entry, fetch->earlier.body, &note);
    }
    cache_entry_release(&entry);
    if (!shared)
        return false;
    cache_entry_release(&shared);
    return true;
}

/* Returns false if the body of the stored answer cannot be read from its
 * beginning: the body has broken off, or was too long to be stored. */
static bool is_there(const struct fetch *fetch)
{
    struct cache_body *body = fetch->earlier.body;

    return !body || (cache_body_state_of(body) != CACHE_BODY_BROKEN &&
                     cache_body_has_from(body, 0));
}

bool fetch_heed_not_modified(struct fetch *fetch)
{
    const struct response *response = &fetch->exchange.response;

    if (response->status != 304 || !fetch->earlier.entry)
        return false;
    if (!is_there(fetch) || !fetch_is_current(fetch, fetch->earlier.entry) ||
        !cache_entry_is_meant(fetch->earlier.entry, fetched_lines(response))) {
        fetch_start_over(fetch);
        return true;
    }
    if (!refresh(fetch))
        return false;
    fetch_destroy(fetch);
    return true;
}

/* Returns false if the answer has a Content-Length that is not the length of
 * the stored body. Returns true if the stored length is not known, or too large
 * to be compared. */
static bool is_as_long(const struct fetch *fetch, struct bytes lines)
{
    const struct cache_body *body = fetch->earlier.body;
    struct bytes text = cached_head_find(lines, BYTES("Content-Length"));
    uint64_t length = body ? cache_body_length(body) : 0;
    int64_t told;

    if (!text.data || length >= (uint64_t)CACHE_SECONDS_MAX)
        return true;
    return cache_seconds_read(text, &told) && (uint64_t)told == length;
}

/* Updates the stored answer, or removes it if the answer to HEAD differs from
 * it (RFC 9111 4.3.5). The caller passes the answer to HEAD on. */
void fetch_heed_head(struct fetch *fetch)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    const struct response *response = &fetch->exchange.response;
    struct cache_entry *earlier = fetch->earlier.entry;
    struct bytes lines = fetched_lines(response);
    struct cache_entry *entry = NULL;
    enum cache_outcome outcome;

    if (response->status != 200 || response->is_error || !earlier ||
        earlier->facts.status != 200)
        return;
    if (!is_there(fetch) || is_of_asker(fetch, lines, &circumstances))
        return;
    if (!cache_entry_is_meant(earlier, lines) || !is_as_long(fetch, lines)) {
        cache_store_drop(fetch->cached->options.store, earlier);
        return;
    }
    entry = cache_entry_refresh(earlier, fetch->earlier.body, lines,
                                &circumstances);
    if (entry)
        (void)put_refreshed(fetch, entry, &outcome);
    cache_entry_release(&entry);
}
