#include <stdlib.h>

#include "handler/cached/cached_fetch_priv.h"

/* Stands for the TLS connection of a fetch whose client has asked over https.
 * So the proxy sees that the client is secure. */
static const char secure_mark;

/* Whether there is a final answer. Interim answers go to the asker, and are not
 * stored. */
static bool is_answered(struct fetch *fetch)
{
    while (fetch->exchange.pending) {
        struct answer answer =
            fetch->exchange.pending->look(fetch->exchange.pending);

        if (answer.state == ANSWER_LATER)
            return false;
        if (answer.state == ANSWER_INTERIM && fetch->asker)
            fetch->asker->on_interim(fetch->asker, &answer);
    }
    return true;
}

static void run(struct cache_wait *wait)
{
    struct fetch *fetch = OWNER_OF(wait, struct fetch, turn);

    switch (fetch->state) {
    case FETCH_ASKING:
        if (is_answered(fetch))
            fetch_use_answer(fetch);
        break;
    case FETCH_FILLING:
        fetch_fill(fetch);
        break;
    case FETCH_HANDED: /* on_wake() wakes the exchange that has the fetch */
        break;
    }
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

enum { SEARCHED_BYTES_MAX = 64 /* longest name that is searched for words */ };

static bool begins_with(struct bytes text, const char *word)
{
    size_t i = 0;

    while (word[i] && i < text.len &&
           field_byte_of_cgi(text.data[i]) == field_byte_of_cgi(word[i]))
        i++;
    return !word[i];
}

/* Returns true if a field of this name may tell the origin who has sent the
 * request, such as Cookie, "X-API-Key" or "Private-Token". A very long name
 * may, too: it is not searched, since a client could make that expensive.
 * Authorization has rules of its own. */
static bool tells_user(struct bytes name)
{
    static const char *const words['z' - 'a' + 1][8] = {
        ['a' - 'a'] = {"access-key", "account", "api-key", "apikey",
                       "assertion", "auth"},
        ['c' - 'a'] = {"client-cert", "client-dn", "client-principal",
                       "client-s-dn", "client-verify", "consumer",
                       "credential"},
        ['d' - 'a'] = {"dpop"},
        ['f' - 'a'] = {"functions-key"},
        ['i' - 'a'] = {"identity"},
        ['j' - 'a'] = {"jwt"},
        ['o' - 'a'] = {"oidc"},
        ['p' - 'a'] = {"password"},
        ['s' - 'a'] = {"secret", "session", "signature", "subscription-key"},
        ['t' - 'a'] = {"tenant", "token"},
        ['u' - 'a'] = {"user"}};

    if (bytes_ieq(name, BYTES("Cookie")) || name.len > SEARCHED_BYTES_MAX)
        return true;
    /* Sec-Fetch-User says that somebody has clicked, not who. */
    if (bytes_ieq(name, BYTES("Sec-Fetch-User")))
        return false;
    for (size_t at = 0; at < name.len; at++) {
        struct bytes rest = {name.data + at, name.len - at};
        char first = byte_lower(*rest.data);
        char second = rest.len > 1 ? byte_lower(rest.data[1]) : '\0';

        if (first < 'a' || first > 'z' ||
            (first == 'u' && begins_with(rest, "user-agent")))
            continue;
        for (const char *const *word = words[first - 'a']; *word; word++)
            if ((*word)[1] == second && begins_with(rest, *word))
                return true;
    }
    return false;
}

static bool has_user(const struct request *request)
{
    for (unsigned i = 0; i < request->field_count; i++)
        if (request->fields[i].id == FIELD_OTHER &&
            tells_user(request->fields[i].name))
            return true;
    return false;
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
    fetch->gap = order->gap;
    fetch->control = *order->control;
    fetch->earlier = *order->earlier;
    fetch->flight = order->flight;
    fetch->way = order->way;
    fetch->is_passing = fetch->is_overtaken = false;
    fetch->has_no_variant = false;
    fetch->is_unasked = !order->asker;
    fetch->is_part = false;
    fetch->mends = order->earlier->entry && order->earlier->entry->ranges;
    fetch->held_at = fetch->mended = 0;
    fetch->is_authorized = request_find(&order->from->request,
                                        FIELD_AUTHORIZATION);
    fetch->has_user = has_user(&order->from->request);
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
    cached->fetch_count++;
    cached->unasked_count += fetch->is_unasked;
    return fetch;
}

bool fetch_begin(struct cached *cached, const struct fetch_order *order)
{
    const struct handler *inner = &cached->options.inner;
    struct cache_flight *flight = order->flight;
    struct fetch *fetch;

    fetch_end_unread(cached);
    fetch = make(cached, order);
    if (!fetch) {
        cache_found_release(order->earlier);
        cache_flight_end(cached->options.store, &flight, CACHE_OUTCOME_AGAIN,
                         cached_mono_s(cached));
        return false;
    }
    *order->earlier = (struct cache_found){.entry = NULL};
    fetch->request = cached_request_make(cached, &fetch->exchange, order->from,
                                         fetch->earlier.entry,
                                         fetch->mends ? &fetch->gap : NULL);
    if (!fetch->request) {
        fetch->asker = NULL;
        fetch_destroy(fetch);
        return false;
    }
    if (fetch->asker)
        fetch->asker->fetch = fetch;
    inner->answer(inner->self, &fetch->exchange, fetch->exchange.request.path);
    cache_wait_later(&fetch->turn); /* the proxy may have answered already */
    return true;
}
