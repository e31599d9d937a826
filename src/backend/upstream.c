#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "backend/upstream_priv.h"

enum { UPSTREAMS_KEPT = 256, RACES_KEPT = 64 }; /* free ones, as of pool.h */

/* --- What is said of them -------------------------------------------------- */

/* Why an ask has failed. */
static const char *explain(const struct upstream_server *server,
                           enum upstream_error error, int err)
{
    const char *why = NULL;

    switch (error) {
    case UPSTREAM_UNRESOLVED:
        why = server->name ? resolver_name_why(server->name) : NULL;
        return why ? why : "its name has no address";
    case UPSTREAM_OK:
    case UPSTREAM_NONE:
    case UPSTREAM_REFUSED:
    case UPSTREAM_TIMEOUT:
    case UPSTREAM_SHORT:
        break;
    }
    return err != 0 ? strerror(err) : "it takes too long";
}

const char *upstream_describe_ask(const struct upstream_ask *ask,
                                  char text[UPSTREAM_ASK_TEXT_BYTES])
{
    int uri_len = ask->uri.len < UPSTREAM_ASK_URI_MAX ? (int)ask->uri.len
                                                      : UPSTREAM_ASK_URI_MAX;
    int len = 0;

    text[0] = '\0';
    if (ask->uri.len > 0)
        len = snprintf(text, UPSTREAM_ASK_TEXT_BYTES, "; URI '%.*s'%s", uri_len,
                       ask->uri.data,
                       ask->uri.len > UPSTREAM_ASK_URI_MAX ? "..." : "");
    if (ask->request_id.len > 0)
        snprintf(text + len, UPSTREAM_ASK_TEXT_BYTES - (size_t)len,
                 "%s request %.*s", len > 0 ? "," : ";",
                 (int)ask->request_id.len, ask->request_id.data);
    return text;
}

static void log_failure(const struct upstream_ask *ask,
                        enum upstream_error error, int err)
{
    struct upstream_server *server = &ask->pool->servers[ask->server];
    struct bytes who = upstream_name(server->place);
    char about[UPSTREAM_ASK_TEXT_BYTES], more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (log_limit_allows(&server->failures, server->pool->now->mono_ms,
                         UPSTREAM_LOG_INTERVAL_MS, &held_back))
        log_warning("connect to upstream '%.*s': %s%s%s", (int)who.len,
                    who.data, explain(server, error, err),
                    upstream_describe_ask(ask, about),
                    log_held_back(held_back, more));
}

static void log_refusal(const struct upstream_ask *ask)
{
    struct upstream_pool *pool = ask->pool;
    struct bytes who = upstream_name(pool->servers[0].place);
    char about[UPSTREAM_ASK_TEXT_BYTES], more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (log_limit_allows(&pool->refusals, pool->now->mono_ms,
                         UPSTREAM_LOG_INTERVAL_MS, &held_back))
        log_warning("no upstream to ask: '%.*s'%s down or at the limit%s%s",
                    (int)who.len, who.data,
                    pool->options.server_count > 1 ? " and the others are"
                                                   : " is",
                    upstream_describe_ask(ask, about),
                    log_held_back(held_back, more));
}

/* --- What balance is told -------------------------------------------------- */

/* Whether one is up that is not among those tried. */
static bool has_another(const struct upstream_pool *pool, uint64_t tried)
{
    for (size_t i = 0; i < pool->options.server_count; i++) {
        enum balance_state state;

        if (tried & UINT64_C(1) << i)
            continue;
        state = balance_state_of(pool->balance, (int)i, pool->now->mono_ms);
        if (state == BALANCE_UP || state == BALANCE_SLOW)
            return true;
    }
    return false;
}

/* Where no other is up, balance has all that are left out asked on. */
static void log_ejection(const struct upstream_pool *pool, int index)
{
    struct bytes who = upstream_name(pool->servers[index].place);

    if (has_another(pool, UINT64_C(1) << index))
        log_warning("upstream '%.*s' is left out for a while: it has failed "
                    "too often",
                    (int)who.len, who.data);
    else
        log_warning("upstream '%.*s' has failed too often; it is asked all "
                    "the same, for no other is up",
                    (int)who.len, who.data);
}

static void give(struct upstream_pool *pool, int index,
                 enum balance_result result)
{
    struct upstream_server *server = &pool->servers[index];
    struct bytes who = upstream_name(server->place);
    uint64_t now_ms = pool->now->mono_ms;

    if (result == BALANCE_FAILURE)
        upstream_count(&server->counts->failures);
    if (balance_give(pool->balance, index, result, now_ms)) {
        server->was_ejected = true;
        log_ejection(pool, index);
    } else if (result == BALANCE_SUCCESS && server->was_ejected &&
               balance_state_of(pool->balance, index, now_ms) !=
                   BALANCE_EJECTED) {
        server->was_ejected = false;
        log_notice("upstream '%.*s' is back", (int)who.len, who.data);
    }
}

/* --- Asking ---------------------------------------------------------------- */

static void on_won(struct upstream_ask *ask, struct upstream *upstream)
{
    upstream_give_to(upstream, ask);
    ask->on_open(ask);
}

static void on_lost(struct upstream_ask *ask, enum upstream_error error,
                    int err)
{
    log_failure(ask, error, err);
    give(ask->pool, ask->server,
         error == UPSTREAM_SHORT ? BALANCE_NEITHER : BALANCE_FAILURE);
    ask->error = error;
    ask->on_failed(ask);
}

void upstream_ask_start(struct upstream_pool *pool, struct upstream_ask *ask)
{
    uint64_t now_ms = pool->now->mono_ms;
    struct upstream_server *server;
    struct upstream *upstream;
    bool wants_new = ask->wants_new;

    assert(!ask->upstream && !ask->race);
    if (!ask->is_retry)
        retry_budget_note_request(&pool->budget, now_ms);
    ask->is_retry = ask->wants_new = ask->is_reused = false;
    ask->pool = pool;
    ask->error = UPSTREAM_OK;
    ask->server = balance_take(pool->balance, ask->hash, ask->tried, now_ms);
    if (ask->server < 0) {
        log_refusal(ask);
        ask->error = UPSTREAM_NONE;
        ask->on_failed(ask);
        return;
    }
    ask->tried |= UINT64_C(1) << ask->server;
    server = &pool->servers[ask->server];
    upstream_count(&server->counts->requests);
    upstream = wants_new ? NULL : upstream_take_idle(server);
    if (!upstream) {
        upstream_race_start(server, ask);
        return;
    }
    upstream_count(&server->counts->reuses);
    ask->is_reused = true;
    on_won(ask, upstream);
}

void upstream_ask_cancel(struct upstream_ask *ask)
{
    struct upstream *upstream = ask->upstream;

    if (!upstream && !ask->race)
        return;
    ask->upstream = NULL;
    if (ask->race) {
        upstream_race_stop(ask->race);
    } else {
        upstream_close(upstream);
        upstream_race_knock(&ask->pool->servers[ask->server]);
    }
    give(ask->pool, ask->server, BALANCE_NEITHER);
}

void upstream_release(struct upstream_ask *ask, bool reusable, uint64_t idle_ms,
                      enum balance_result result)
{
    struct upstream *upstream = ask->upstream;

    assert(upstream);
    ask->upstream = NULL;
    if (reusable)
        upstream_keep(upstream, idle_ms);
    else
        upstream_close(upstream);
    upstream_race_knock(&ask->pool->servers[ask->server]);
    give(ask->pool, ask->server, result);
}

bool upstream_may_retry(struct upstream_ask *ask, unsigned retries,
                        bool was_stale)
{
    struct upstream_pool *pool = ask->pool;

    if (ask->server < 0)
        return false;
    if (was_stale && ask->is_reused) {
        ask->tried &= ~(UINT64_C(1) << ask->server);
        ask->wants_new = true;
    } else if (retries >= pool->options.retries_max ||
               !has_another(pool, ask->tried) ||
               !retry_budget_take(&pool->budget, pool->now->mono_ms)) {
        return false;
    }
    ask->is_retry = true;
    upstream_count(&pool->servers[ask->server].counts->retries);
    return true;
}

/* --- A pool's life --------------------------------------------------------- */

static void on_expired(void *context, struct deadline *expired)
{
    struct upstream_alarm *alarm = OWNER_OF(expired, struct upstream_alarm,
                                            deadline);

    (void)context;
    alarm->on_due(alarm);
}

static void on_name_change(void *context, struct resolver_name *name)
{
    struct upstream_server *server = context;

    (void)name;
    server->changes++;
    upstream_close_moved(server);
    upstream_race_wake(server);
}

struct upstream_pool *upstream_pool_create(const struct upstream_options
                                               *options)
{
    size_t count = options->server_count;
    struct upstream_pool *pool;
    uint64_t seed;

    assert(count >= 1 && count <= BALANCE_SERVERS_MAX);
    pool = calloc(1, sizeof(*pool) + count * sizeof(pool->servers[0]));
    if (!pool)
        return NULL;
    pool->options = *options;
    pool->events = (struct upstream_events){.on_won = on_won,
                                            .on_lost = on_lost,
                                            .on_connected = upstream_race_note};
    pool_init(&pool->upstreams, sizeof(struct upstream), UPSTREAMS_KEPT);
    pool_init(&pool->races, sizeof(struct upstream_race), RACES_KEPT);
    for (size_t i = 0; i < count; i++) {
        struct upstream_server *server = &pool->servers[i];
        const char *path = options->places[i].unix_path;

        assert(!path || strlen(path) <= UPSTREAM_UNIX_PATH_MAX);
        server->pool = pool;
        server->place = &options->places[i];
        server->counts = &options->shared->counts[i];
        list_init(&server->waiting);
        list_init(&server->knocking);
        ev_init(&server->knocks, upstream_on_knock);
        server->knocks.data = server;
        list_init(&server->idle);
    }
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == -1)
        seed = now_read_ns();
    pool->balance = balance_create(&options->balance, options->servers,
                                   options->shared->balance, count, seed);
    if (!pool->balance) {
        free(pool);
        return NULL;
    }
    return pool;
}

int upstream_pool_start(struct upstream_pool *pool,
                        const struct upstream_loop *loop)
{
    pool->loop = loop->loop;
    pool->now = loop->now;
    deadline_wheel_init(&pool->wheel, pool->loop, pool->now, on_expired, pool);
    for (size_t i = 0; i < pool->options.server_count; i++) {
        struct upstream_server *server = &pool->servers[i];
        int err;

        if (server->place->unix_path)
            continue;
        err = resolver_name_open(&server->name, loop->resolver,
                                 server->place->host, server->place->port,
                                 on_name_change, server);
        if (err != 0) {
            server->name = NULL;
            return err; /* upstream_pool_destroy() closes the others */
        }
    }
    return 0;
}

void upstream_pool_destroy(struct upstream_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->options.server_count; i++)
        if (pool->servers[i].name)
            resolver_name_close(pool->servers[i].name);
    while (upstream_close_one_idle(pool))
        continue;
    pool_fini(&pool->upstreams);
    pool_fini(&pool->races);
    if (pool->loop) {
        for (size_t i = 0; i < pool->options.server_count; i++)
            ev_timer_stop(pool->loop, &pool->servers[i].knocks);
        assert(pool->wheel.count == 0);
        deadline_wheel_fini(&pool->wheel);
    }
    balance_destroy(pool->balance);
    free(pool);
}

/* --- Looking --------------------------------------------------------------- */

const struct upstream_place *upstream_place_of(const struct upstream_pool *pool,
                                               int server)
{
    return &pool->options.places[server];
}

struct balance *upstream_balance(struct upstream_pool *pool)
{
    return pool->balance;
}

unsigned upstream_retry_after_s(const struct upstream_pool *pool)
{
    return balance_retry_after_s(pool->balance, pool->now->mono_ms);
}
