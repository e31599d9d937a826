#include <stdlib.h>

#include "cache/cache_vary.h"
#include "handler/cached/cached_priv.h"

enum {
    TURN_BYTES = 262144, /* that one fetch takes before others get their turn */
    PIECE_BYTES = 65536,
    /* Worth ending though whoever asked has gone. */
    ALONE_BYTES = 4 * 1048576,
    RETRY_S = 2 /* an origin that has failed is left alone so long, while what
                   is stale may be used */
};

/*
 *   ASKING --> FILLING --> over, and gone
 *      |          '------> WAITING for its readers, and FILLING again
 *      '-----> HANDED      the asker's response pulls, and destroys it
 */
enum fetch_state { FETCH_ASKING, FETCH_FILLING, FETCH_HANDED };

struct fetch {
    struct list list_node;
    struct cached *cached;
    enum fetch_state state;
    struct exchange exchange; /* with the proxy */
    struct exchange *to;      /* HANDED: whose response it is */
    struct address peer;
    struct address neighbour;
    void *request; /* what the exchange's points to */
    struct cache_wait turn;
    struct fetch_asker *asker;
    struct cache_control control; /* of the request */
    struct cache_found earlier;
    struct cache_flight *flight;
    enum cached_way way;
    bool is_authorized;
    bool is_passing; /* it was too long to be kept */
    int64_t asked_s;
    uint64_t asked_ms;
    struct cache_entry *entry; /* that is being filled, as the next */
    struct cache_body *body;
    uint32_t epoch; /* of the key, when it was asked for */
    size_t key_len;
    char key[];
};

/* What a proxy that is asked by https has to know: that it was. */
static const char secure_mark;

/* --- Coming and going ----------------------------------------------------------- */

static void end_flight(struct fetch *fetch, enum cache_outcome outcome)
{
    cache_flight_end(fetch->cached->options.store, &fetch->flight, outcome,
                     cached_now(fetch->cached)->wall_s);
}

void fetch_destroy(struct fetch *fetch)
{
    if (fetch->asker)
        fetch->asker->fetch = NULL;
    end_flight(fetch, CACHE_OUTCOME_AGAIN);
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

static struct cache_circumstances circumstances_of(const struct fetch *fetch)
{
    const struct cached_options *options = &fetch->cached->options;

    return (struct cache_circumstances){
        .asked_s = fetch->asked_s,
        .came_s = cached_now(fetch->cached)->wall_s,
        .default_s = options->default_s,
        .may_guess = true,
        .surrogate = options->name};
}

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

/* False: it is not good for that; then it is an answer like others. */
static bool refresh(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;
    struct cache_circumstances circumstances = circumstances_of(fetch);
    struct cached_note note = note_of(fetch);
    struct cache_entry *entry;

    if (fetch->exchange.response.status != 304 || !fetch->earlier.entry)
        return false;
    entry = cache_entry_refresh(fetch->earlier.entry, fetch->earlier.body,
                                fetched_lines(&fetch->exchange.response),
                                &circumstances);
    if (!entry)
        return false;
    note.is_stored = cache_store_put(store, entry, fetch->earlier.entry,
                                     fetch->epoch);
    if (note.is_stored &&
        (!fetch->earlier.body ||
         cache_body_state_of(fetch->earlier.body) == CACHE_BODY_WHOLE))
        cache_store_settle(store, entry);
    end_flight(fetch,
               note.is_stored ? outcome_of(fetch, entry) : CACHE_OUTCOME_AGAIN);
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
    end_flight(fetch, CACHE_OUTCOME_STORED);
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

/* What the body will be; CACHE_LENGTH_UNKNOWN perhaps. */
static uint64_t length_of(const struct response *response)
{
    uint64_t length = response->has_length ? response->length_left : 0;

    if (response->source && !response->has_length && !response->has_ended)
        return CACHE_LENGTH_UNKNOWN;
    for (unsigned i = response->part_at + 1u; i < response->part_count; i++)
        length += response->parts[i].len;
    return length;
}

static bool may_keep(const struct fetch *fetch, const struct cache_facts *facts)
{
    const struct response *response = &fetch->exchange.response;
    struct cache_asked asked = {.is_authorized = fetch->is_authorized,
                                .no_store = cache_control_says(&fetch->control,
                                                               CACHE_NO_STORE)};

    return !response->is_error && !response->head.failed &&
           cache_facts_judge(facts, &asked) == CACHE_KEPT &&
           cache_store_has_room(fetch->cached->options.store,
                                length_of(response));
}

static bool has_body(const struct response *response)
{
    return response->status != 204 && response->status != 304;
}

/* Makes the entry and the room for its body. False: there is no memory, or what
 * it varies by cannot be told. */
static bool make_entry(struct fetch *fetch, struct bytes lines)
{
    struct cached *cached = fetch->cached;
    const struct response *response = &fetch->exchange.response;
    struct cache_circumstances circumstances = circumstances_of(fetch);
    char names_storage[256], variant_storage[1024];
    struct buf names, variant;
    struct cache_entry_parts parts = {
        .key = {fetch->key, fetch->key_len},
        .status = response->status,
        .phrase = {response->head.data, response->phrase_len},
        .lines = lines,
        .cost_ms = (uint32_t)(cached_now(cached)->mono_ms - fetch->asked_ms)};

    buf_init(&names, names_storage, sizeof(names_storage), 4096);
    buf_init(&variant, variant_storage, sizeof(variant_storage),
             CACHE_VARIANT_BYTES_MAX);
    if (cache_vary_names(lines, &names) &&
        cache_vary_put(buf_bytes(&names), &fetch->exchange.request, &variant)) {
        parts.names = buf_bytes(&names);
        parts.variant = buf_bytes(&variant);
        if (has_body(response))
            fetch->body = cache_store_make_body(cached->options.store,
                                                length_of(response));
        parts.body = fetch->body;
        if (fetch->body || !has_body(response))
            fetch->entry = cache_entry_create(&parts, &circumstances);
    }
    buf_fini(&names);
    buf_fini(&variant);
    return fetch->entry;
}

static bool keep(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;
    struct bytes lines = fetched_lines(&fetch->exchange.response);
    struct cache_circumstances circumstances = circumstances_of(fetch);
    struct cached_note note = note_of(fetch);
    struct cache_facts facts;

    cache_facts_read(&facts, fetch->exchange.response.status, lines,
                     &circumstances);
    if (!may_keep(fetch, &facts))
        return false;
    if (!make_entry(fetch, lines) ||
        !cache_store_put(store, fetch->entry, NULL, fetch->epoch)) {
        cache_entry_release(&fetch->entry);
        cache_body_release(&fetch->body);
        return false;
    }
    if (!fetch->body)
        cache_store_settle(store, fetch->entry);
    end_flight(fetch, outcome_of(fetch, fetch->entry));
    note.is_stored = true;
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
    end_flight(fetch, is_of_one_request(fetch) ? CACHE_OUTCOME_AGAIN
                                               : CACHE_OUTCOME_ALONE);
    if (!fetch->asker) {
        fetch_destroy(fetch);
        return;
    }
    fetch->state = FETCH_HANDED;
    fetch->to = fetch->asker->exchange;
    tell(fetch, NULL, fetch, &note);
}

struct exchange *fetch_hand(struct fetch *fetch, struct exchange *to)
{
    fetch->to = to;
    return &fetch->exchange;
}

/* --- Filling ------------------------------------------------------------------------ */

static bool put_part(struct fetch *fetch, struct part part)
{
    switch (part.kind) {
    case PART_MEMORY:
        return cache_body_put(fetch->body,
                              (struct bytes){part.at.memory, (size_t)part.len});
    case PART_PIPE:
        return cache_body_put_pipe(fetch->body, part.fd, part.len);
    case PART_SENDFILE:
    case PART_READ:
        break; /* no proxy has any */
    }
    return part.len == 0;
}

/* Nothing more is kept of it than its readers need, from now on. */
static void stop_keeping(struct fetch *fetch)
{
    fetch->is_passing = true;
    cache_store_drop(fetch->cached->options.store, fetch->entry);
    cache_body_pass(fetch->body);
}

/* Or there is no room where it was to lie. */
static bool is_too_long(const struct fetch *fetch)
{
    const struct cache_store *store = fetch->cached->options.store;

    return !fetch->is_passing &&
           (cache_body_has_fallen(fetch->body) ||
            cache_body_filled(fetch->body) >
                cache_store_options_of(store)->object_max);
}

/* Whether it is to go on when nobody reads: for who comes later. */
static bool is_worth_ending(const struct fetch *fetch)
{
    uint64_t length = cache_body_length(fetch->body);
    uint64_t filled = cache_body_filled(fetch->body);

    if (fetch->is_passing)
        return false;
    return length == CACHE_LENGTH_UNKNOWN
               ? filled <= ALONE_BYTES
               : length <= ALONE_BYTES || filled >= length / 2;
}

static void finish(struct fetch *fetch, bool is_whole)
{
    struct cache_store *store = fetch->cached->options.store;

    cache_body_end(fetch->body, is_whole);
    if (is_whole && !fetch->is_passing &&
        cache_body_state_of(fetch->body) != CACHE_BODY_BROKEN)
        cache_store_settle(store, fetch->entry);
    else
        cache_store_drop(store, fetch->entry);
    cache_body_release(&fetch->body);
    fetch_destroy(fetch);
}

/* What has come with the head. False: there is no room. */
static bool put_first(struct fetch *fetch)
{
    struct response *response = &fetch->exchange.response;
    bool is_put = true;

    for (unsigned i = 1; i < response->part_count && is_put; i++)
        is_put = put_part(fetch, response->parts[i]);
    response->part_count = response->part_at = 0;
    response->bytes_left = 0;
    return is_put;
}

/* The next piece. False: nothing more comes now, or ever. */
static bool fill_piece(struct fetch *fetch, uint64_t *bytes)
{
    struct response *response = &fetch->exchange.response;
    struct piece piece = {.state = PIECE_END};

    if (response_has_more(response))
        piece = response->source->next(response->source, PIECE_BYTES);
    *bytes += piece.part.len;
    if (piece.state == PIECE_FAILED || !put_part(fetch, piece.part)) {
        finish(fetch, false);
        return false;
    }
    if (is_too_long(fetch))
        stop_keeping(fetch);
    if (piece.state == PIECE_END)
        finish(fetch, true);
    return piece.state == PIECE_MORE;
}

static void fill(struct fetch *fetch)
{
    uint64_t bytes = 0;

    if (!fetch->body) { /* it has none */
        fetch_destroy(fetch);
        return;
    }
    if (fetch->exchange.response.part_count > 0 && !put_first(fetch)) {
        finish(fetch, false);
        return;
    }
    do {
        if (!cache_body_takes_more(fetch->body, &fetch->turn))
            return; /* a reader tells when it does */
        if (!cache_body_is_wanted(fetch->body) && !is_worth_ending(fetch)) {
            finish(fetch, false);
            return;
        }
        if (bytes >= TURN_BYTES) {
            cache_wait_later(&fetch->turn);
            return;
        }
    } while (fill_piece(fetch, &bytes));
}

/* --- Asking -------------------------------------------------------------------------- */

/* Whether there is an answer; what comes before it goes nowhere. */
static bool is_answered(struct fetch *fetch)
{
    while (fetch->exchange.pending) {
        struct answer answer =
            fetch->exchange.pending->look(fetch->exchange.pending);

        if (answer.state == ANSWER_LATER)
            return false;
    }
    return true;
}

static void run(struct cache_wait *wait)
{
    struct fetch *fetch = OWNER_OF(wait, struct fetch, turn);

    if (fetch->state == FETCH_ASKING) {
        if (!is_answered(fetch))
            return;
        if (refresh(fetch) || bear_failure(fetch)) {
            fetch_destroy(fetch);
            return;
        }
        if (!keep(fetch)) {
            hand_over(fetch);
            return;
        }
    }
    if (fetch->state == FETCH_FILLING)
        fill(fetch);
}

static void on_wake(struct exchange *exchange)
{
    struct fetch *fetch = exchange->session;

    if (fetch->state == FETCH_HANDED)
        exchange_wake(fetch->to);
    else
        cache_wait_later(&fetch->turn);
}

static void init_exchange(struct fetch *fetch, const struct fetch_order *order)
{
    const struct exchange *from = order->from;
    struct exchange *exchange = &fetch->exchange;
    struct exchange_side side = {
        .peer = &fetch->peer,
        .is_introduced = from->is_introduced,
        .wants_id = from->wants_id,
        .wants_upstream = from->wants_upstream && order->asker,
        .on_wake = on_wake,
        .session = fetch,
        .tls = exchange_is_secure(from) ? (const void *)&secure_mark : NULL};

    fetch->peer = *from->peer;
    fetch->neighbour = *from->neighbour;
    exchange_init(exchange, &side);
    exchange->neighbour = &fetch->neighbour;
    exchange->id_len = from->id_len;
    memcpy(exchange->id_line, from->id_line, sizeof(exchange->id_line));
    exchange->response.persists = false;
    exchange->response.is_head = from->request.method == METHOD_HEAD;
    if (order->asker)
        exchange->response.errors = from->response.errors;
}

static struct fetch *make(struct cached *cached,
                          const struct fetch_order *order)
{
    struct fetch *fetch = malloc(sizeof(*fetch) + order->key.len);
    const struct now *now = cached_now(cached);

    if (!fetch)
        return NULL;
    memset(fetch, 0, offsetof(struct fetch, exchange));
    fetch->cached = cached;
    fetch->state = FETCH_ASKING;
    fetch->to = NULL;
    fetch->asker = order->asker;
    fetch->control = *order->control;
    fetch->earlier = *order->earlier;
    fetch->flight = order->flight;
    fetch->way = order->way;
    fetch->is_passing = false;
    fetch->is_authorized = request_find(&order->from->request,
                                        FIELD_AUTHORIZATION);
    fetch->asked_s = now->wall_s;
    fetch->asked_ms = now->mono_ms;
    fetch->entry = NULL;
    fetch->body = NULL;
    fetch->epoch = cache_store_epoch(cached->options.store, order->key);
    fetch->key_len = order->key.len;
    memcpy(fetch->key, order->key.data, order->key.len);
    cache_wait_init(&fetch->turn, cached->options.port, run);
    init_exchange(fetch, order);
    list_init(&fetch->list_node);
    list_put_last(&cached->fetches, &fetch->list_node);
    return fetch;
}

bool fetch_begin(struct cached *cached, const struct fetch_order *order)
{
    const struct handler *inner = &cached->options.inner;
    struct cache_flight *flight = order->flight;
    struct fetch *fetch = make(cached, order);

    if (!fetch) {
        cache_found_release(order->earlier);
        cache_flight_end(cached->options.store, &flight, CACHE_OUTCOME_AGAIN,
                         cached_now(cached)->wall_s);
        return false;
    }
    *order->earlier = (struct cache_found){.entry = NULL};
    fetch->request = cached_request_make(&fetch->exchange, order->from,
                                         fetch->earlier.entry,
                                         cached->options.name);
    if (!fetch->request) {
        fetch->asker = NULL;
        fetch_destroy(fetch);
        return false;
    }
    if (fetch->asker)
        fetch->asker->fetch = fetch;
    inner->answer(inner->self, &fetch->exchange, fetch->exchange.request.path);
    cache_wait_later(&fetch->turn); /* it may have been answered at once */
    return true;
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
