#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "upstream/upstream_priv.h"

enum { UPSTREAMS_KEPT = 256, CONNECTS_KEPT = 64 }; /* most free structs kept */

/* --- Words for the log ---------------------------------------------------- */

/* Explains in words why a lease has failed. */
static const char *explain(const struct upstream_server *server,
                           enum upstream_error error, int err, const char *why)
{
    switch (error) {
    case UPSTREAM_UNRESOLVED:
        why = server->name ? resolver_name_why(server->name) : NULL;
        return why ? why : "its name has no address";
    case UPSTREAM_TLS:
    case UPSTREAM_UNTRUSTED:
    case UPSTREAM_OK:
    case UPSTREAM_NONE:
    case UPSTREAM_REFUSED:
    case UPSTREAM_TIMEOUT:
    case UPSTREAM_SHORT:
        break;
    }
    if (why)
        return why;
    return err != 0 ? strerror(err) : "it takes too long";
}

const char *upstream_describe_ask(const struct upstream_lease *lease,
                                  char text[UPSTREAM_LEASE_TEXT_BYTES])
{
    int uri_len = lease->uri.len < UPSTREAM_LEASE_URI_MAX
                      ? (int)lease->uri.len
                      : UPSTREAM_LEASE_URI_MAX;
    int len = 0;

    text[0] = '\0';
    if (lease->uri.len > 0)
        len = snprintf(text, UPSTREAM_LEASE_TEXT_BYTES, "; URI '%.*s'%s",
                       uri_len, lease->uri.data,
                       lease->uri.len > UPSTREAM_LEASE_URI_MAX ? "..." : "");
    if (lease->request_id.len > 0)
        snprintf(text + len, UPSTREAM_LEASE_TEXT_BYTES - (size_t)len,
                 "%s request %.*s", len > 0 ? "," : ";",
                 (int)lease->request_id.len, lease->request_id.data);
    return text;
}

static void log_failure(const struct upstream_lease *lease,
                        enum upstream_error error, int err, const char *why)
{
    struct upstream_server *server = &lease->pool->servers[lease->server];
    struct bytes who = upstream_name(server->endpoint);
    char about[UPSTREAM_LEASE_TEXT_BYTES], more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (log_limit_allows(&server->failures, server->pool->now->mono_ms,
                         UPSTREAM_LOG_INTERVAL_MS, &held_back))
        log_warning("connect to upstream '%.*s': %s%s%s%s", (int)who.len,
                    who.data, why ? "TLS: " : "",
                    explain(server, error, err, why),
                    upstream_describe_ask(lease, about),
                    log_held_back(held_back, more));
}

static void log_refusal(const struct upstream_lease *lease)
{
    struct upstream_pool *pool = lease->pool;
    struct bytes who = upstream_name(pool->servers[0].endpoint);
    char about[UPSTREAM_LEASE_TEXT_BYTES], more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (log_limit_allows(&pool->refusals, pool->now->mono_ms,
                         UPSTREAM_LOG_INTERVAL_MS, &held_back))
        log_warning("no upstream to ask: '%.*s'%s down or at the limit%s%s",
                    (int)who.len, who.data,
                    pool->options.server_count > 1 ? " and the others are"
                                                   : " is",
                    upstream_describe_ask(lease, about),
                    log_held_back(held_back, more));
}

/* --- What balance is told ------------------------------------------------ */

/* Whether any server is up whose bit in `tried` is not set. */
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

/* Logs an ejection. If no other server is up, the log says that the ejected
 * server is asked all the same. */
static void log_ejection(const struct upstream_pool *pool, int index)
{
    struct bytes who = upstream_name(pool->servers[index].endpoint);

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
    struct bytes who = upstream_name(server->endpoint);
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

/* --- Asking -------------------------------------------------------------- */

static void on_won(struct upstream_lease *lease, struct upstream *upstream)
{
    upstream_give_to(upstream, lease);
    lease->on_open(lease);
}

static void on_lost(struct upstream_lease *lease, enum upstream_error error,
                    int err, const char *why)
{
    log_failure(lease, error, err, why);
    give(lease->pool, lease->server,
         error == UPSTREAM_SHORT ? BALANCE_NEITHER : BALANCE_FAILURE);
    lease->error = error;
    lease->on_failed(lease);
}

void upstream_lease_start(struct upstream_pool *pool,
                          struct upstream_lease *lease)
{
    uint64_t now_ms = pool->now->mono_ms;
    struct upstream_server *server;
    struct upstream *upstream;
    bool wants_new = lease->wants_new;

    assert(!lease->upstream && !lease->connecting);
    if (!lease->is_retry)
        retry_budget_note_request(&pool->budget, now_ms);
    lease->is_retry = lease->wants_new = lease->is_reused = false;
    lease->pool = pool;
    lease->error = UPSTREAM_OK;
    lease->server = balance_take(pool->balance, lease->hash, lease->tried,
                                 now_ms);
    if (lease->server < 0) {
        log_refusal(lease);
        lease->error = UPSTREAM_NONE;
        lease->on_failed(lease);
        return;
    }
    lease->tried |= UINT64_C(1) << lease->server;
    server = &pool->servers[lease->server];
    upstream_count(&server->counts->requests);
    upstream = wants_new ? NULL : upstream_take_idle(server);
    if (!upstream) {
        upstream_connecting_start(server, lease);
        return;
    }
    upstream_count(&server->counts->reuses);
    lease->is_reused = true;
    on_won(lease, upstream);
}

void upstream_lease_cancel(struct upstream_lease *lease)
{
    struct upstream *upstream = lease->upstream;

    if (!upstream && !lease->connecting)
        return;
    lease->upstream = NULL;
    if (lease->connecting) {
        upstream_connecting_stop(lease->connecting);
    } else {
        upstream_close(upstream);
        upstream_connecting_retry_backlog(&lease->pool->servers[lease->server]);
    }
    give(lease->pool, lease->server, BALANCE_NEITHER);
}

void upstream_release(struct upstream_lease *lease, bool reusable,
                      uint64_t idle_ms, enum balance_result result)
{
    struct upstream *upstream = lease->upstream;

    assert(upstream);
    lease->upstream = NULL;
    if (reusable)
        upstream_keep(upstream, idle_ms);
    else
        upstream_close(upstream);
    upstream_connecting_retry_backlog(&lease->pool->servers[lease->server]);
    give(lease->pool, lease->server, result);
}

bool upstream_may_retry(struct upstream_lease *lease, unsigned retries,
                        bool was_stale)
{
    struct upstream_pool *pool = lease->pool;

    if (lease->server < 0)
        return false;
    if (was_stale && lease->is_reused) {
        lease->tried &= ~(UINT64_C(1) << lease->server);
        lease->wants_new = true;
    } else if (retries >= pool->options.retries_max ||
               !has_another(pool, lease->tried) ||
               !retry_budget_take(&pool->budget, pool->now->mono_ms)) {
        return false;
    }
    lease->is_retry = true;
    upstream_count(&pool->servers[lease->server].counts->retries);
    return true;
}

/* --- A pool's life ------------------------------------------------------- */

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
    upstream_connecting_wake(server);
}

static void destroy_targets(struct upstream_pool *pool)
{
    for (size_t i = 0; i < pool->options.server_count; i++)
        tls_target_destroy(pool->servers[i].tls);
}

/* Makes a server. Returns false if there is no memory. */
static bool make_server(struct upstream_pool *pool, size_t number)
{
    struct upstream_server *server = &pool->servers[number];
    const struct upstream_endpoint *endpoint = &pool->options.endpoints[number];

    assert(!endpoint->unix_path ||
           strlen(endpoint->unix_path) <= UPSTREAM_UNIX_PATH_MAX);
    server->pool = pool;
    server->endpoint = endpoint;
    server->counts = &pool->options.shared->counts[number];
    list_init(&server->waiting);
    list_init(&server->backlogged);
    ev_init(&server->backlog_retries, upstream_on_backlog_retry);
    server->backlog_retries.data = server;
    list_init(&server->idle);
    if (endpoint->tls_name.len == 0)
        return true;
    server->tls = tls_target_create(pool->options.tls, endpoint->tls_name);
    return server->tls;
}

struct upstream_pool *upstream_pool_create(const struct upstream_options
                                               *options)
{
    size_t count = options->server_count;
    struct upstream_pool *pool;
    bool has_memory = true;
    uint64_t seed;

    assert(count >= 1 && count <= BALANCE_SERVERS_MAX);
    pool = calloc(1, sizeof(*pool) + count * sizeof(pool->servers[0]));
    if (!pool)
        return NULL;
    pool->options = *options;
    pool->events = (struct upstream_events){
        .on_won = on_won,
        .on_lost = on_lost,
        .on_connected = upstream_connecting_note};
    pool_init(&pool->upstreams, sizeof(struct upstream), UPSTREAMS_KEPT);
    pool_init(&pool->connectings, sizeof(struct upstream_connecting),
              CONNECTS_KEPT);
    for (size_t i = 0; i < count; i++)
        has_memory &= make_server(pool, i);
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == -1)
        seed = now_read_ns();
    if (has_memory)
        pool->balance = balance_create(&options->balance, options->servers,
                                       options->shared->balance, count, seed);
    if (pool->balance)
        return pool;
    destroy_targets(pool);
    free(pool);
    return NULL;
}

int upstream_pool_start(struct upstream_pool *pool,
                        const struct upstream_loop *loop)
{
    pool->loop = loop->loop;
    pool->now = loop->now;
    pool->tls_buffers = loop->tls_buffers;
    deadline_wheel_init(&pool->wheel, pool->loop, pool->now, on_expired, pool);
    for (size_t i = 0; i < pool->options.server_count; i++) {
        struct upstream_server *server = &pool->servers[i];
        int err;

        if (server->endpoint->unix_path)
            continue;
        err = resolver_name_open(&server->name, loop->resolver,
                                 server->endpoint->host, server->endpoint->port,
                                 on_name_change, server);
        if (err != 0) {
            server->name = NULL;
            return err; /* upstream_pool_destroy() closes the opened names */
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
    pool_fini(&pool->connectings);
    if (pool->loop) {
        for (size_t i = 0; i < pool->options.server_count; i++)
            ev_timer_stop(pool->loop, &pool->servers[i].backlog_retries);
        assert(pool->wheel.count == 0);
        deadline_wheel_fini(&pool->wheel);
    }
    destroy_targets(pool);
    balance_destroy(pool->balance);
    free(pool);
}

/* --- Looking ------------------------------------------------------------- */

const struct upstream_endpoint *upstream_endpoint_of(
    const struct upstream_pool *pool, int server)
{
    return &pool->options.endpoints[server];
}

struct balance *upstream_balance(struct upstream_pool *pool)
{
    return pool->balance;
}

unsigned upstream_retry_after_s(const struct upstream_pool *pool)
{
    return balance_retry_after_s(pool->balance, pool->now->mono_ms);
}
