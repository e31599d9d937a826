#include <stdlib.h>

#include "handler/cached/cached_priv.h"

enum {
    /* A request looks into the store this many times before it fetches for
     * itself alone. */
    LOOKS_MAX = 4,
    INTERIM_BYTES_MAX = 65536
};

/*
 *   begin --> WAITING for another's flight --> begin
 *     |-----> FETCHING ---> has an entry, or a fetch for this request only
 *     '-----> has an entry
 */
struct ask {
    struct pending pending;
    struct fetch_asker asker;
    struct cached *cached;
    struct cache_wait wait;
    struct cache_flight *flight; /* the flight that is waited for, or NULL */
    unsigned looks;
    bool is_done;      /* the members from here to `own` have the result */
    bool is_collapsed; /* another request's fetch has brought the result */
    struct cache_found found;
    struct cache_reader place; /* the reader's position in the body of
                                  `found` */
    bool has_place;
    /* Fetch whose answer is the result instead of `found`, or NULL. */
    struct fetch *hand;
    struct cached_note note;
    struct buf own; /* memory of note.own */
    struct cache_control control;
    /* Interim answers, each with a struct interim in front. */
    struct buf interims;
    /* Where the interim answers begin that were not taken yet. */
    size_t interims_at;
    size_t key_len;
    char key[];
};

struct interim {
    unsigned status;
    size_t phrase_len;
    size_t fields_len;
};

/* --- A position in the body ---------------------------------------------- */

/* Takes a reader's position in the body. So the body waits for the exchange, as
 * for any slow reader, if its client takes nothing for a long time. Without a
 * position, bytes of the body would be held without bound, or be lost. */
static void take_place(struct ask *ask)
{
    ask->has_place = ask->found.body;
    if (!ask->has_place)
        return;
    cache_body_join(ask->found.body, &ask->place, 0);
    /* Other readers do not pause for this reader. */
    cache_body_note_begun(ask->found.body);
}

static void leave_place(struct ask *ask)
{
    if (ask->has_place)
        cache_body_leave(ask->found.body, &ask->place);
    ask->has_place = false;
}

/* --- Ending -------------------------------------------------------------- */

static void destroy_ask(struct ask *ask)
{
    leave_place(ask);
    if (ask->flight)
        (void)cache_flight_leave(ask->cached->options.store, &ask->flight,
                                 &ask->wait);
    fetch_forsake(&ask->asker);
    cache_found_release(&ask->found);
    if (ask->hand)
        fetch_destroy(ask->hand);
    buf_fini(&ask->interims);
    buf_fini(&ask->own);
    free(ask);
}

static void destroy_pending(struct pending *pending)
{
    destroy_ask(OWNER_OF(pending, struct ask, pending));
}

static void answer(struct ask *ask)
{
    struct exchange *exchange = ask->asker.exchange;
    struct fetch *hand = ask->hand;

    exchange->pending = NULL;
    ask->hand = NULL;
    ask->note.is_collapsed |= ask->is_collapsed;
    if (hand)
        cached_hand_over(ask->cached, exchange, hand, &ask->note);
    else if (ask->found.entry)
        cached_answer(ask->cached, exchange, &ask->found, &ask->note);
    else
        response_make_error(&exchange->response, 503, BYTES(""),
                            ask->cached->options.defaults);
    destroy_ask(ask);
}

/* --- Results of fetches -------------------------------------------------- */

static void on_fetched(struct fetch_asker *asker,
                       const struct cache_found *found, struct fetch *hand,
                       const struct cached_note *note)
{
    struct ask *ask = OWNER_OF(asker, struct ask, asker);

    ask->is_done = hand || found->entry;
    ask->note = *note;
    buf_put(&ask->own, note->own);
    ask->note.own = buf_bytes(&ask->own);
    ask->hand = hand;
    if (!ask->is_done)
        ask->looks = LOOKS_MAX + 1; /* fetch now, whatever is stored */
    if (!hand) {
        ask->found = *found;
        take_place(ask);
    }
    exchange_wake(asker->exchange);
}

/* Keeps an interim answer for the client. The fetch does not wait for the
 * client, since others wait for the fetch. An interim answer that does not fit
 * is dropped: a final answer follows. */
static void on_interim(struct fetch_asker *asker, const struct answer *interim)
{
    struct ask *ask = OWNER_OF(asker, struct ask, asker);
    struct buf *out = &ask->interims;
    struct interim head = {.status = interim->status,
                           .phrase_len = interim->phrase.len,
                           .fields_len = interim->fields.len};
    size_t before = out->len;

    if (asker->exchange->request.minor == 0) /* HTTP/1.0 has no 1xx */
        return;
    buf_put(out, (struct bytes){(const char *)&head, sizeof(head)});
    buf_put(out, interim->phrase);
    buf_put(out, interim->fields);
    if (out->failed) {
        out->failed = false;
        out->len = before;
        return;
    }
    exchange_wake(asker->exchange);
}

static void on_flight(struct cache_wait *wait)
{
    exchange_wake(OWNER_OF(wait, struct ask, wait)->asker.exchange);
}

/* --- Deciding ------------------------------------------------------------ */

/* Returns true if `found`, which is stale, may be used because the origin has
 * failed a moment ago. */
static bool bears_failure(const struct ask *ask, int64_t now_s)
{
    const struct cache_entry *entry = ask->found.entry;

    return cache_entry_is_left_alone(entry, cached_mono_s(ask->cached)) &&
           cache_facts_bears_error(&entry->facts, &ask->control, now_s,
                                   ask->cached->options.unreachable_s,
                                   atomic_load_explicit(&entry->has_answered,
                                                        memory_order_relaxed));
}

/* Returns true if the found entry can be sent as it is. */
static bool serves(struct ask *ask)
{
    const struct cached *cached = ask->cached;
    struct cache_entry *entry = ask->found.entry;
    int64_t now_s = cached_now(cached)->wall_s;
    enum cache_use use;

    if (!entry || !cached_has(cached, ask->asker.exchange, &ask->found))
        return false;
    use = cache_entry_use(entry, &ask->control, now_s);
    ask->note = (struct cached_note){.way = CACHED_HIT,
                                     .has_ttl = true,
                                     .ttl_s = cache_facts_ttl(&entry->facts,
                                                              now_s)};
    if (ask->is_collapsed)
        ask->note.way = CACHED_MISS;
    if (use == CACHE_USE_FRESH || use == CACHE_USE_STALE)
        return true;
    return !entry->ranges &&
           (use == CACHE_USE_MEANWHILE || bears_failure(ask, now_s));
}

/* Whether the request wants a part of an answer that is not stored whole. */
static bool wants_part(const struct ask *ask)
{
    const struct cache_entry *entry = ask->found.entry;

    return (!entry || entry->ranges) &&
           request_find(&ask->asker.exchange->request, FIELD_RANGE);
}

/* If the client wants the whole answer, and exactly one part is missing,
 * prepares to fetch only that part. Otherwise drops the stored parts. */
static void prepare_parts(struct ask *ask, struct fetch_order *order)
{
    order->way = CACHED_PARTIAL;
    if (wants_part(ask) || !cache_facts_is_strong(&ask->found.entry->facts) ||
        !cache_ranges_find_gap(ask->found.entry->ranges, &order->gap))
        cache_found_release(&ask->found);
}

/* Returns why the origin is asked about an entry: the request wants it, or the
 * entry is stale. */
static enum cached_way way_about(const struct ask *ask)
{
    struct cache_control nothing;

    cache_control_init(&nothing);
    return cache_entry_use(ask->found.entry, &nothing,
                           cached_now(ask->cached)->wall_s) == CACHE_USE_FRESH
               ? CACHED_REQUEST
               : CACHED_STALE;
}

/* Fetches the answer. If `flight` is NULL, the answer is for this request
 * only. */
static void fetch(struct ask *ask, struct cache_flight *flight)
{
    struct fetch_order order = {.from = ask->asker.exchange,
                                .key = {ask->key, ask->key_len},
                                .control = &ask->control,
                                .earlier = &ask->found,
                                .flight = flight,
                                .asker = &ask->asker,
                                .way = CACHED_MISS};

    if (ask->found.entry && ask->found.entry->ranges)
        prepare_parts(ask, &order);
    else if (ask->found.entry)
        order.way = way_about(ask);
    else if (ask->found.variant != 0)
        order.way = CACHED_VARY_MISS;
    ask->is_done = !fetch_begin(ask->cached, &order);
}

/* Returns true if the request shares no fetch: it does not wait for the fetch
 * of another request, and no other request waits for its fetch. Only requests
 * that are alike share a fetch. */
static bool goes_alone(const struct ask *ask)
{
    return ask->looks > LOOKS_MAX || wants_part(ask) ||
           ask->asker.exchange->request.method == METHOD_HEAD ||
           request_find(&ask->asker.exchange->request, FIELD_AUTHORIZATION) ||
           cache_control_says(&ask->control, CACHE_NO_CACHE) ||
           cache_control_says(&ask->control, CACHE_NO_STORE) ||
           ask->control.max_age != CACHE_UNSAID;
}

/* Fetches or waits, unless a usable answer is found now. */
static void begin(struct ask *ask)
{
    struct cached *cached = ask->cached;
    struct cache_store *store = cached->options.store;
    struct bytes key = {ask->key, ask->key_len};
    struct cache_flight *flight = NULL;

    while (!ask->is_done && !ask->asker.fetch && !ask->flight) {
        enum cache_join join = CACHE_ALONE;

        if (!goes_alone(ask))
            join = cache_store_join(store, key, &ask->found,
                                    cached_mono_s(cached), &ask->wait, &flight);
        switch (join) {
        case CACHE_LEAD:
            fetch(ask, flight);
            break;
        case CACHE_ALONE:
            fetch(ask, NULL);
            break;
        case CACHE_WAIT:
            ask->flight = flight;
            ask->is_collapsed = true;
            break;
        case CACHE_LOOK:
            ask->looks++;
            cache_found_release(&ask->found);
            cache_store_find(store, key, &ask->asker.exchange->request,
                             &ask->found);
            ask->is_done = serves(ask);
            break;
        }
    }
}

/* Looks into the store again, if the flight that was waited for has ended. */
static void look_again(struct ask *ask)
{
    struct cache_store *store = ask->cached->options.store;
    enum cache_outcome outcome = cache_flight_peek(store, ask->flight);

    if (outcome == CACHE_OUTCOME_NONE)
        return;
    (void)cache_flight_leave(store, &ask->flight, &ask->wait);
    if (outcome == CACHE_OUTCOME_ALONE)
        ask->looks = LOOKS_MAX;
    ask->looks++;
    cache_found_release(&ask->found);
    cache_store_find(store, (struct bytes){ask->key, ask->key_len},
                     &ask->asker.exchange->request, &ask->found);
    ask->is_done = serves(ask);
    begin(ask);
}

static struct answer take_interim(struct ask *ask)
{
    const char *at = ask->interims.data + ask->interims_at;
    struct interim head;

    memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    ask->interims_at += sizeof(head) + head.phrase_len + head.fields_len;
    return (struct answer){.state = ANSWER_INTERIM,
                           .status = head.status,
                           .phrase = {at, head.phrase_len},
                           .fields = {at + head.phrase_len, head.fields_len}};
}

static struct answer look(struct pending *pending)
{
    struct ask *ask = OWNER_OF(pending, struct ask, pending);

    if (ask->interims_at < ask->interims.len)
        return take_interim(ask);
    if (ask->flight)
        look_again(ask);
    else if (!ask->is_done && !ask->asker.fetch)
        begin(ask);
    if (!ask->is_done)
        return (struct answer){.state = ANSWER_LATER};
    answer(ask);
    return (struct answer){.state = ANSWER_READY};
}

void cached_ask(struct cached *cached, struct exchange *exchange,
                struct bytes key, const struct cache_control *control,
                struct cache_found *found)
{
    struct ask *ask = malloc(sizeof(*ask) + key.len);

    if (!ask) {
        cache_found_release(found);
        response_make_error(&exchange->response, 503, BYTES(""),
                            cached->options.defaults);
        return;
    }
    *ask = (struct ask){.pending = {.look = look, .destroy = destroy_pending},
                        .asker = {.on_fetched = on_fetched,
                                  .on_interim = on_interim,
                                  .exchange = exchange},
                        .cached = cached,
                        .found = *found,
                        .control = *control,
                        .key_len = key.len};
    memcpy(ask->key, key.data, key.len);
    buf_init(&ask->interims, NULL, 0, INTERIM_BYTES_MAX);
    buf_init(&ask->own, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    cache_wait_init(&ask->wait, cached->options.port, on_flight);
    exchange->pending = &ask->pending;
    begin(ask);
    if (ask->is_done)
        answer(ask);
}
