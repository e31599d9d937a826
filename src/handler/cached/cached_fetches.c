#include <stdlib.h>

#include "handler/cached/cached_fetch_priv.h"

enum {
    MANY = 64, /* unread fetches that may continue for later clients */
    /* Fetches looked at when another begins, to spread the work. */
    LOOKED_AT = 4
};

/* --- Coming and going ---------------------------------------------------- */

void fetch_end_flight(struct fetch *fetch, enum cache_outcome outcome)
{
    cache_flight_end(fetch->cached->options.store, &fetch->flight, outcome,
                     cached_mono_s(fetch->cached));
}

uint64_t fetch_body_length(const struct fetch *fetch)
{
    return fetched_length(&fetch->exchange.response);
}

/* The time of the request is computed from its duration in milliseconds. By the
 * clock's seconds, a short request could seem to last a whole second. */
struct cache_circumstances fetch_circumstances(const struct fetch *fetch)
{
    const struct cached_options *options = &fetch->cached->options;
    const struct now *now = cached_now(fetch->cached);

    return (struct cache_circumstances){
        .asked_s = now->wall_s -
                   (int64_t)((now->mono_ms - fetch->asked_ms) / MS_PER_S),
        .came_s = now->wall_s,
        .default_s = options->default_s,
        .may_guess = !fetch->has_user,
        .surrogate = options->name};
}

void fetch_destroy(struct fetch *fetch)
{
    if (fetch->asker)
        fetch->asker->fetch = NULL;
    fetch_end_flight(fetch, CACHE_OUTCOME_AGAIN);
    if (fetch->body) {
        cache_body_cancel(fetch->body, &fetch->turn);
        cache_body_end(fetch->body, false);
        cache_store_drop(fetch->cached->options.store, fetch->entry);
    } else {
        cache_wait_cancel(&fetch->turn, NULL);
    }
    cache_body_release(&fetch->body);
    cache_entry_release(&fetch->entry);
    cache_found_release(&fetch->earlier);
    exchange_fini(&fetch->exchange);
    list_drop(&fetch->list_node);
    fetch->cached->fetch_count--;
    fetch->cached->unasked_count -= fetch->is_unasked;
    if (fetch->cached->options.on_fetch_over)
        cache_wait_later(&fetch->cached->over);
    free(fetch->request);
    free(fetch);
}

/* --- The askers ---------------------------------------------------------- */

void fetch_tell(struct fetch *fetch, const struct cache_found *found,
                struct fetch *hand, const struct cached_note *note)
{
    struct fetch_asker *asker = fetch->asker;

    fetch->asker = NULL;
    asker->fetch = NULL;
    if (asker->exchange->wants_upstream)
        asker->exchange->upstream = fetch->exchange.upstream;
    asker->on_fetched(asker, found, hand, note);
}

/* Puts the fields of the answer that are for the asker alone. They are not
 * stored. */
static void put_own(const struct fetch *fetch, struct buf *out)
{
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct bytes lines = fetched_lines(&fetch->exchange.response);
    bool is_update = fetch->exchange.response.status == 304 || fetch->mends;
    struct cache_facts facts;

    cache_facts_read(&facts, 200, lines, &circumstances);
    if (is_update || facts.control.private_fields.len > 0 ||
        facts.control.no_cache_fields.len > 0)
        cached_head_put_own(lines, &facts.control, is_update, out);
}

void fetch_tell_entry(struct fetch *fetch, struct cache_entry *entry,
                      struct cache_body *body, const struct cached_note *note)
{
    struct cache_found found = {.entry = entry};
    struct bytes lines = fetched_lines(&fetch->exchange.response);
    struct cached_note told = *note;
    struct buf own;

    if (!fetch->asker)
        return;
    cache_entry_acquire(entry);
    if (body)
        found.body = cache_body_acquire(body);
    buf_init(&own, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    if (note->is_from_origin) {
        put_own(fetch, &own);
        told.is_aged = cached_head_find(lines, BYTES("Age")).data;
    }
    told.own = buf_bytes(&own);
    fetch_tell(fetch, &found, NULL, &told);
    buf_fini(&own);
}

struct cached_note fetch_note(const struct fetch *fetch)
{
    return (struct cached_note){.way = fetch->way,
                                .status = fetch->exchange.response.status};
}

enum cache_outcome fetch_outcome(const struct fetch *fetch,
                                 const struct cache_entry *entry)
{
    struct cache_control nothing;

    cache_control_init(&nothing);
    return cache_facts_use(&entry->facts, &nothing,
                           cached_now(fetch->cached)->wall_s) == CACHE_USE_ASK
               ? CACHE_OUTCOME_ALONE
               : CACHE_OUTCOME_STORED;
}

bool fetch_is_current(const struct fetch *fetch, struct cache_entry *entry)
{
    return cache_store_is_current(fetch->cached->options.store, entry,
                                  fetch->epoch);
}

void fetch_start_over(struct fetch *fetch)
{
    struct cached_note note = fetch_note(fetch);
    struct cache_found nothing = {.entry = NULL};

    cache_store_drop(fetch->cached->options.store, fetch->earlier.entry);
    fetch_end_flight(fetch, CACHE_OUTCOME_AGAIN);
    if (fetch->asker)
        fetch_tell(fetch, &nothing, NULL, &note);
    fetch_destroy(fetch);
}

/* --- Fetches that nobody needs ------------------------------------------- */

static bool is_needed(const struct fetch *fetch)
{
    return (fetch->body && cache_body_is_wanted(fetch->body)) ||
           (fetch->flight &&
            cache_flight_has_waits(fetch->cached->options.store,
                                   fetch->flight));
}

bool fetch_is_any_needed(const struct cached *cached)
{
    for (const struct list *at = cached->fetches.next; at != &cached->fetches;
         at = at->next)
        if (is_needed(OWNER_OF(at, struct fetch, list_node)))
            return true;
    return false;
}

/* Ends fetches that nobody reads, if there are many. Otherwise, clients that
 * ask and leave at once could cause any number of fetches. */
void fetch_end_unread(struct cached *cached)
{
    for (int i = 0; i < LOOKED_AT && cached->fetch_count > MANY; i++) {
        struct fetch *fetch = OWNER_OF(cached->fetches.next, struct fetch,
                                       list_node);

        if (fetch->state == FETCH_FILLING && !is_needed(fetch)) {
            fetch_destroy(fetch);
        } else {
            list_drop(&fetch->list_node);
            list_put_last(&cached->fetches, &fetch->list_node);
        }
    }
}

/* Ends fetches that fetch_forsake() could not end. Some have no answer yet, and
 * the last request that waited for them was another worker's. Others have lost
 * their readers, and are too many: fetch_end_unread() would end them, but it
 * runs only when a fetch begins. */
void fetch_end_unawaited(struct cached *cached)
{
    size_t unread = 0;

    for (struct list *at = cached->fetches.next; at != &cached->fetches;) {
        struct fetch *fetch = OWNER_OF(at, struct fetch, list_node);

        at = at->next;
        if (fetch->asker || fetch->is_unasked || is_needed(fetch))
            continue;
        if (fetch->state == FETCH_ASKING ||
            (fetch->state == FETCH_FILLING && ++unread > MANY))
            fetch_destroy(fetch);
    }
}

void fetch_destroy_all(struct cached *cached)
{
    while (!list_is_empty(&cached->fetches))
        fetch_destroy(OWNER_OF(cached->fetches.next, struct fetch, list_node));
}

struct exchange *fetch_hand(struct fetch *fetch, struct exchange *to)
{
    fetch->to = to;
    return &fetch->exchange;
}

void fetch_forsake(struct fetch_asker *asker)
{
    struct fetch *fetch = asker->fetch;

    asker->fetch = NULL;
    if (!fetch)
        return;
    fetch->asker = NULL;
    fetch->exchange.response.errors = NULL;
    if (!fetch->flight ||
        !cache_flight_has_waits(fetch->cached->options.store, fetch->flight))
        fetch_destroy(fetch);
}
