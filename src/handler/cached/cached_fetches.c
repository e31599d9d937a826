#include <stdlib.h>

#include "handler/cached/cached_fetch_priv.h"

/* --- Coming and going ----------------------------------------------------------- */

void fetch_end_flight(struct fetch *fetch, enum cache_outcome outcome)
{
    cache_flight_end(fetch->cached->options.store, &fetch->flight, outcome,
                     cached_now(fetch->cached)->wall_s);
}

uint64_t fetch_body_length(const struct fetch *fetch)
{
    const struct response *response = &fetch->exchange.response;
    uint64_t length = response->has_length ? response->length_left : 0;

    if (response->source && !response->has_length && !response->has_ended)
        return CACHE_LENGTH_UNKNOWN;
    for (unsigned i = response->part_at + 1u; i < response->part_count; i++)
        length += response->parts[i].len;
    return length;
}

struct cache_circumstances fetch_circumstances(const struct fetch *fetch)
{
    const struct cached_options *options = &fetch->cached->options;

    return (struct cache_circumstances){
        .asked_s = fetch->asked_s,
        .came_s = cached_now(fetch->cached)->wall_s,
        .default_s = options->default_s,
        .may_guess = !fetch->has_cookie,
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
    if (fetch->cached->options.on_fetch_over)
        cache_wait_later(&fetch->cached->over);
    free(fetch->request);
    free(fetch);
}

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
    if (!fetch->flight)
        fetch_destroy(fetch);
}
