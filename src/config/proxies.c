#include "config/proxies.h"

#include <stdatomic.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/units.h"
#include "config/proxy_rule.h"

/* The data about a proxy's servers that all workers share, under all
 * configurations. `refs` counts the configurations that use the data. */
struct shared_health {
    atomic_uint refs;
    struct upstream_shared shared;
    struct upstream_counts *counts;
    /* The array that `counts` points to lies behind this one. */
    struct balance_server_shared balance[];
};

struct proxies_item {
    const char *text;   /* text of the option */
    const char *name;   /* name in reports; unique */
    const char **names; /* names of servers */
    struct shared_health *health;
    struct balance *balance; /* used only to read servers' states */
};

/* A row of a report: one server of a proxy. */
struct proxies_row {
    unsigned item;
    unsigned server;
};

struct proxies {
    /* Each proxy has at least one server, so the arrays are long enough.
     * `workers` has the form that workers get. */
    struct worker_proxy workers[PROXIES_SERVERS_MAX];
    struct proxies_item items[PROXIES_SERVERS_MAX];
    size_t count;
    struct proxies_row rows[PROXIES_SERVERS_MAX];
    struct stats_upstreams upstreams;
};

_Static_assert((int)PROXIES_SERVERS_MAX <= (int)WORKER_PROXIES_MAX,
               "each proxy has a server");

/* --- Shared data --------------------------------------------------------- */

static struct shared_health *create_health(size_t count)
{
    struct shared_health *health =
        calloc(1, sizeof(*health) + count * (sizeof(health->balance[0]) +
                                             sizeof(health->counts[0])));

    if (!health)
        return NULL;
    _Static_assert(_Alignof(struct upstream_counts) <=
                       _Alignof(struct balance_server_shared),
                   "one lies behind the other");
    health->counts = (void *)(health->balance + count);
    health->shared = (struct upstream_shared){.balance = health->balance,
                                              .counts = health->counts};
    atomic_init(&health->refs, 1);
    return health;
}

static void release_health(struct shared_health *health)
{
    if (health &&
        atomic_fetch_sub_explicit(&health->refs, 1, memory_order_acq_rel) == 1)
        free(health);
}

/* Makes `health` the shared data of the proxy with the number `number`, and
 * takes over the caller's reference to `health`. Returns false, with nothing
 * changed, if there is no memory. */
static bool share(struct proxies *proxies, size_t number,
                  struct shared_health *health)
{
    struct upstream_options *upstream =
        &proxies->workers[number].options.upstream;
    struct proxies_item *item = &proxies->items[number];
    struct balance *balance = balance_create(&upstream->balance,
                                             upstream->servers, health->balance,
                                             upstream->server_count, 0);

    if (!balance)
        return false;
    balance_destroy(item->balance);
    release_health(item->health);
    item->balance = balance;
    item->health = health;
    upstream->shared = &health->shared;
    return true;
}

void proxies_inherit(struct proxies *proxies, const struct proxies *earlier)
{
    for (size_t i = 0; i < proxies->count; i++) {
        for (size_t k = 0; k < earlier->count; k++) {
            struct shared_health *health = earlier->items[k].health;

            if (strcmp(proxies->items[i].text, earlier->items[k].text) != 0 ||
                strcmp(proxies->items[i].name, earlier->items[k].name) != 0)
                continue;
            atomic_fetch_add_explicit(&health->refs, 1, memory_order_relaxed);
            if (!share(proxies, i, health))
                release_health(health);
        }
    }
}

/* --- Reports ------------------------------------------------------------- */

static uint64_t load(const _Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void read_row(const void *context, size_t number, uint64_t mono_ms,
                     struct stats_upstream *row_out)
{
    static const enum stats_upstream_state states[] = {
        [BALANCE_UP] = STATS_UPSTREAM_UP,
        [BALANCE_SLOW] = STATS_UPSTREAM_SLOW,
        [BALANCE_EJECTED] = STATS_UPSTREAM_EJECTED,
        [BALANCE_DOWN] = STATS_UPSTREAM_DOWN};
    const struct proxies *proxies = context;
    const struct proxies_item *item =
        &proxies->items[proxies->rows[number].item];
    unsigned server = proxies->rows[number].server;
    const struct upstream_counts *counts = &item->health->counts[server];
    const struct balance_server_shared *shared = &item->health->balance[server];

    enum balance_state state = balance_state_of(item->balance, (int)server,
                                                mono_ms);

    *row_out = (struct stats_upstream){
        .proxy = item->name,
        .server = item->names[server],
        .state = states[state],
        .up = state == BALANCE_UP || state == BALANCE_SLOW,
        .active = atomic_load_explicit(&shared->active, memory_order_relaxed),
        .idle = atomic_load_explicit(&counts->idle, memory_order_relaxed),
        .requests = load(&counts->requests),
        .failures = load(&counts->failures),
        .retries = load(&counts->retries),
        .connects = load(&counts->connects),
        .reuses = load(&counts->reuses),
        .bytes_in = load(&counts->bytes_in),
        .bytes_out = load(&counts->bytes_out),
        .handshakes = load(&counts->handshakes),
        .resumed = load(&counts->resumed),
        .handshakes_failed = load(&counts->handshakes_failed)};
}

/* --- Creating and destroying --------------------------------------------- */

static struct proxy_options options_of(const struct options *options,
                                       const struct forwarded_trust *trust)
{
    struct proxy_options made = {
        .upstream = {.balance = {.fails_max = (unsigned)options->proxy_fails,
                                 .fail_window_ms =
                                     options->proxy_fail_window_ms,
                                 .eject_ms = options->proxy_eject_ms,
                                 .eject_max_ms = options->proxy_eject_max_ms,
                                 .slow_start_ms = options->proxy_slow_start_ms,
                                 .rise = (unsigned)options->proxy_probe_rise,
                                 .fall = (unsigned)options->proxy_probe_fall},
                     .connect_ms = options->proxy_connect_ms,
                     .idle_max = (unsigned)options->proxy_idle_max,
                     .idle_ms = options->proxy_keepalive_ms,
                     .requests_max = (unsigned)options->proxy_requests_max,
                     .retries_max = (unsigned)options->proxy_retries},
        .relay = {.keeps_host = options->proxy_host == PROXY_HOST_KEEP,
                  .pseudonym = bytes_of(options->proxy_name),
                  .upgrade = BYTES("websocket"),
                  .renames = options->proxy_redirect,
                  .tells_client = options->proxy_tls_client,
                  .trust = trust},
        .buffer_bytes = (size_t)options->proxy_buffer_bytes,
        .request_bytes = (size_t)options->proxy_request_bytes,
        .slash = (enum proxy_slash)options->proxy_encoded_slash,
        .splices = options->proxy_splice,
        .names_requests = options->request_id,
        .makes_traceparent = options->proxy_traceparent == PROXY_TRACE_MAKE,
        .intercepts_errors = options->proxy_intercept_errors,
        .reply_ms = options->proxy_reply_ms,
        .idle_ms = options->proxy_idle_ms,
        .tunnel_ms = options->proxy_tunnel_ms};

    /* The text was checked earlier, so this cannot fail. */
    (void)proxy_rule_read_balance(&made, bytes_of(options->proxy_balance));
    if (made.upstream.balance.eject_max_ms < made.upstream.balance.eject_ms)
        made.upstream.balance.eject_max_ms = made.upstream.balance.eject_ms;
    return made;
}

static struct upstream_probe_options probe_of(const struct options *options)
{
    struct upstream_probe_options probe = {
        .interval_ms = options->proxy_probe_interval_ms,
        .timeout_ms = options->proxy_probe_ms};

    if (options->proxy_probe)
        probe.path = bytes_of(options->proxy_probe);
    (void)proxy_rule_read_statuses(bytes_of(options->proxy_probe_status),
                                   &probe.status_min, &probe.status_max);
    return probe;
}

/* Returns the name that the server's certificate must have. For a unix socket,
 * the name is "localhost", as in the Host field. */
static struct bytes tls_name_of(const struct options *options,
                                const struct proxy_rule_server *server)
{
    if (!server->is_tls)
        return BYTES("");
    if (options->proxy_tls_name)
        return bytes_of(options->proxy_tls_name);
    return server->socket.len > 0 ? BYTES("localhost") : server->host;
}

/* Adds the servers of a rule. The rule is temporary, but the text into which it
 * points stays. Returns false if there is no memory. */
static bool add_servers(struct worker_proxy *worker, struct proxies_item *item,
                        const struct proxy_rule *rule,
                        const struct options *options, struct arena *arena)
{
    struct upstream_endpoint *endpoints =
        arena_take(arena, rule->count * sizeof(*endpoints));
    struct balance_server *servers = arena_take(arena,
                                                rule->count * sizeof(*servers));

    item->names = arena_take(arena, rule->count * sizeof(*item->names));
    if (!endpoints || !servers || !item->names)
        return false;
    for (size_t i = 0; i < rule->count; i++) {
        const struct proxy_rule_server *server = &rule->servers[i];

        item->names[i] = arena_text(arena, server->name);
        endpoints[i] = (struct upstream_endpoint){
            .host = server->host,
            .port = server->port,
            .authority = server->authority,
            .tls_name = tls_name_of(options, server)};
        servers[i] = (struct balance_server){
            .weight = server->weight,
            .conns_max = server->conns_max,
            .is_backup = server->is_backup,
            .name_hash = XXH3_64bits(server->name.data, server->name.len)};
        if (server->socket.len > 0)
            endpoints[i].unix_path = arena_text(arena, server->socket);
        if (!item->names[i] ||
            (server->socket.len > 0 && !endpoints[i].unix_path))
            return false;
    }
    worker->options.upstream.endpoints = endpoints;
    worker->options.upstream.servers = servers;
    worker->options.upstream.server_count = rule->count;
    return true;
}

static const struct location_options *place_of(const struct proxy_told *told)
{
    if (told->location)
        return &told->location->options;
    return told->site ? &told->site->options : &told->options->location;
}

static void read_parts(struct cache_parts *parts, const struct texts *texts)
{
    for (size_t i = 0; i < texts->count && i < CACHE_PARTS_MAX; i++)
        if (!cache_part_read(&parts->items[parts->count],
                             bytes_of(texts->items[i])))
            parts->count++; /* always so, since the texts were checked */
}

static bool add(struct proxies *proxies, const struct worker_proxy *preset,
                const struct proxy_told *told, struct arena *arena)
{
    struct worker_proxy *worker = &proxies->workers[proxies->count];
    struct proxies_item *item = &proxies->items[proxies->count];
    struct shared_health *health;
    char name[PROXY_TOLD_LABEL_MAX + 1];
    struct proxy_rule rule;

    *worker = *preset;
    item->text = told->text;
    if (proxy_told_read(told, &rule) ||
        !add_servers(worker, item, &rule, told->options, arena))
        return false;
    worker->cached = (struct cached_options){
        .name = bytes_of(told->options->proxy_name),
        .trust = worker->options.relay.trust,
        .purgers = worker->cached.purgers,
        .names_requests = told->options->request_id,
        .tells_client = worker->options.relay.tells_client,
        .intercepts_errors = worker->options.intercepts_errors};
    worker->cached.default_s = (int64_t)(place_of(told)->cache_default_ms /
                                         MS_PER_S);
    worker->cached.unreachable_s = (int64_t)(place_of(told)->cache_stale_ms /
                                             MS_PER_S);
    read_parts(&worker->cached.bypass, &place_of(told)->cache_bypass);
    read_parts(&worker->cached.key.parts, &place_of(told)->cache_key);
    worker->said_in = told->list->items;
    worker->prefix = rule.prefix;
    proxy_told_name(told, &rule, name);
    item->name = arena_text(arena, bytes_of(name));
    if (!item->name)
        return false;
    worker->cached.key.place = bytes_of(item->name);
    if (rule.path.len > 0) {
        worker->options.relay.strip = rule.prefix;
        worker->options.relay.replace = rule.path;
    }
    health = create_health(rule.count);
    if (!health || !share(proxies, proxies->count, health)) {
        release_health(health);
        return false;
    }
    for (unsigned i = 0; i < rule.count; i++)
        proxies->rows[proxies->upstreams.count++] = (struct proxies_row){
            (unsigned)proxies->count, i};
    proxies->count++;
    return true;
}

struct proxies *proxies_create(const struct options *options,
                               const struct forwarded_trust *trust,
                               const struct kv_tokens *purgers,
                               struct arena *arena)
{
    struct worker_proxy preset = {.options = options_of(options, trust),
                                  .cached = {.purgers = purgers},
                                  .probe = probe_of(options)};
    struct proxies *proxies = calloc(1, sizeof(*proxies));
    struct proxy_told told = {.options = options};

    if (!proxies)
        return NULL;
    proxies->upstreams = (struct stats_upstreams){.read = read_row,
                                                  .context = proxies};
    while (proxy_told_next(&told)) {
        if (!add(proxies, &preset, &told, arena)) {
            proxies_destroy(proxies);
            return NULL;
        }
    }
    return proxies;
}

void proxies_destroy(struct proxies *proxies)
{
    for (size_t i = 0; proxies && i < proxies->count; i++) {
        balance_destroy(proxies->items[i].balance);
        release_health(proxies->items[i].health);
    }
    free(proxies);
}

const struct worker_proxy *proxies_list(const struct proxies *proxies,
                                        size_t *count_out)
{
    *count_out = proxies->count;
    return proxies->workers;
}

const struct stats_upstreams *proxies_upstreams(const struct proxies *proxies)
{
    return &proxies->upstreams;
}
