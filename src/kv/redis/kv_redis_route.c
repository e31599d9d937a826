#include "kv/redis/kv_redis_priv.h"

bool kv_redis_is_same_node(const struct address *a, const struct address *b)
{
    return a->family == b->family && a->port == b->port &&
           memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

static const char *name_host(const struct kv_redis *store,
                             const struct address *node)
{
    for (size_t i = 0; i < store->seed_count; i++)
        if (kv_redis_is_same_node(&store->seeds[i], node))
            return store->url.seeds[store->hosts[i]].host;
    return store->url.seeds[0].host;
}

struct kv_connection_options kv_redis_aim(const struct kv_redis_client *client,
                                          const struct address *node)
{
    return (struct kv_connection_options){.loop = client->loop,
                                          .now = client->now,
                                          .url = &client->store->url,
                                          .tls = client->tls,
                                          .tls_buffers = client->tls_buffers,
                                          .host = name_host(client->store,
                                                            node)};
}

/* --- Links ---------------------------------------------------------------- */

bool kv_redis_route_is_whole(const struct kv_redis_route *route)
{
    if (route->mode == KV_REDIS_UNKNOWN)
        return false;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->connection_of[i] == KV_REDIS_NO_NODE ||
            kv_connection_state(route->connections[route->connection_of[i]]) !=
                KV_CONNECTION_UP)
            return false;
    return true;
}

bool kv_redis_route_needs(const struct kv_redis_route *route,
                          const struct kv_connection *connection)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->connection_of[i] != KV_REDIS_NO_NODE &&
            route->connections[route->connection_of[i]] == connection)
            return true;
    return route->mode == KV_REDIS_UNKNOWN;
}

static size_t find_connection(struct kv_redis_client *client,
                              const struct address *node)
{
    struct kv_redis_route *route = &client->route;
    struct kv_connection_options options = kv_redis_aim(client, node);

    options.hooks = route->events->connections;
    options.hooks.context = client;
    for (size_t i = 0; i < route->count; i++)
        if (kv_redis_is_same_node(kv_connection_address(route->connections[i]),
                                  node))
            return i;
    if (route->count == KV_REDIS_NODES_MAX)
        return KV_REDIS_NO_NODE;
    route->connections[route->count] = kv_connection_create(&options, node);
    return route->connections[route->count] ? route->count++ : KV_REDIS_NO_NODE;
}

struct kv_connection *kv_redis_route_to(struct kv_redis_client *client,
                                        const struct address *node)
{
    size_t at = find_connection(client, node);

    return at == KV_REDIS_NO_NODE ? NULL : client->route.connections[at];
}

/* Drops the connections to nodes that have left the cluster. A connection that
 * still waits for answers stays until the next map. Seeds are never dropped. */
static void drop_connections(struct kv_redis_client *client)
{
    struct kv_redis_route *route = &client->route;
    uint8_t moved_to[KV_REDIS_NODES_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < route->count; i++) {
        struct kv_connection *connection = route->connections[i];

        if (i >= client->store->seed_count &&
            kv_connection_is_idle(connection) &&
            !kv_redis_route_needs(route, connection)) {
            kv_connection_destroy(connection);
            route->connections[i] = NULL;
        }
    }
    for (size_t i = 0; i < route->count; i++) {
        moved_to[i] = (uint8_t)kept;
        if (route->connections[i])
            route->connections[kept++] = route->connections[i];
    }
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->connection_of[i] != KV_REDIS_NO_NODE)
            route->connection_of[i] = moved_to[route->connection_of[i]];
    route->count = kept;
}

/* --- The map -------------------------------------------------------------- */

/* Logs how many partitions have moved in the new map. Every client gets the
 * map, but only one client logs. */
static void tell_moved(struct kv_redis_client *client,
                       const struct kv_slot_map *map)
{
    struct kv_redis *store = client->store;
    const struct kv_slot_map *earlier = &client->route.map;
    unsigned moved = 0;
    uint64_t mark = 1;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        const struct address *node = &map->nodes[i];

        moved += map->has[i] && earlier->has[i] &&
                 !kv_redis_is_same_node(node, &earlier->nodes[i]);
        for (size_t k = 0; k < sizeof(node->octets); k++)
            mark = mark * 31 + node->octets[k];
        mark = mark * 31 + node->port + map->has[i];
    }
    if (atomic_exchange(&store->map_told, mark) != mark && moved > 0)
        log_notice("the key-value store at %s: %u of %d partitions are with "
                   "another node now",
                   store->label, moved, (int)KV_REDIS_PARTITIONS);
    client->route.map = *map;
}

void kv_redis_route_take(struct kv_redis_client *client,
                         const struct kv_slot_map *map)
{
    struct kv_redis_route *route = &client->route;

    route->wants_map = false;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        route->connection_of[i] = KV_REDIS_NO_NODE;
        if (map->has[i])
            route->connection_of[i] = (uint8_t)find_connection(client,
                                                               &map->nodes[i]);
        route->wants_map |= route->connection_of[i] == KV_REDIS_NO_NODE;
    }
    tell_moved(client, map);
    drop_connections(client);
}

/* --- Asked by calls ------------------------------------------------------- */

struct kv_connection *kv_redis_route_find(struct kv_redis_client *client,
                                          unsigned partition,
                                          bool *may_come_out)
{
    struct kv_redis_route *route = &client->route;
    uint8_t at = route->connection_of[partition];

    *may_come_out = false;
    if (at != KV_REDIS_NO_NODE)
        return route->connections[at];
    for (size_t i = 0; i < route->count && route->mode == KV_REDIS_UNKNOWN; i++)
        if (kv_connection_state(route->connections[i]) != KV_CONNECTION_DOWN)
            *may_come_out = true;
    return NULL;
}

void kv_redis_route_move(struct kv_redis_client *client, unsigned partition,
                         const struct address *node)
{
    client->route.connection_of[partition] = (uint8_t)find_connection(client,
                                                                      node);
    kv_redis_route_refresh(client);
}

void kv_redis_route_refresh(struct kv_redis_client *client)
{
    client->route.wants_map = true;
    client->route.events->on_map_wanted(client);
}

/* --- Coming and going ----------------------------------------------------- */

bool kv_redis_route_init(struct kv_redis_client *client,
                         const struct kv_redis_route_events *events)
{
    struct kv_redis_route *route = &client->route;

    route->events = events;
    memset(route->connection_of, KV_REDIS_NO_NODE,
           sizeof(route->connection_of));
    deadline_init(&route->again);
    deadline_init(&route->call.deadline);
    route->wants_map = true;
    for (size_t i = 0; i < client->store->seed_count; i++)
        if (!kv_redis_route_to(client, &client->store->seeds[i]))
            return false;
    return true;
}

void kv_redis_route_fini(struct kv_redis_client *client)
{
    struct kv_redis_route *route = &client->route;

    for (size_t i = 0; i < route->count; i++)
        kv_connection_destroy(route->connections[i]);
    route->count = 0;
    if (route->is_down)
        atomic_fetch_sub(&client->store->clients_down, 1);
}
