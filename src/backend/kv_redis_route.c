#include "backend/kv_redis_priv.h"

bool kv_redis_is_same_node(const struct address *a, const struct address *b)
{
    return a->family == b->family && a->port == b->port &&
           memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

/* --- Links ---------------------------------------------------------------- */

bool kv_redis_route_is_whole(const struct kv_redis_route *route)
{
    if (route->mode == KV_REDIS_UNKNOWN)
        return false;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->link_of[i] == KV_REDIS_NO_NODE ||
            kv_link_state(route->links[route->link_of[i]]) != KV_LINK_UP)
            return false;
    return true;
}

bool kv_redis_route_needs(const struct kv_redis_route *route,
                          const struct kv_link *link)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->link_of[i] != KV_REDIS_NO_NODE &&
            route->links[route->link_of[i]] == link)
            return true;
    return route->mode == KV_REDIS_UNKNOWN;
}

static size_t find_link(struct kv_redis_desk *desk, const struct address *node)
{
    struct kv_redis_route *route = &desk->route;
    struct kv_link_options options = {.loop = desk->loop,
                                      .now = desk->now,
                                      .url = &desk->store->url,
                                      .hooks = route->events->links};

    options.hooks.context = desk;
    for (size_t i = 0; i < route->count; i++)
        if (kv_redis_is_same_node(kv_link_address(route->links[i]), node))
            return i;
    if (route->count == KV_REDIS_NODES_MAX)
        return KV_REDIS_NO_NODE;
    route->links[route->count] = kv_link_create(&options, node);
    return route->links[route->count] ? route->count++ : KV_REDIS_NO_NODE;
}

struct kv_link *kv_redis_route_to(struct kv_redis_desk *desk,
                                  const struct address *node)
{
    size_t at = find_link(desk, node);

    return at == KV_REDIS_NO_NODE ? NULL : desk->route.links[at];
}

/* Nodes that have left the cluster; the ones that still answer stay until the
 * next map. Seeds stay for ever. */
static void drop_links(struct kv_redis_desk *desk)
{
    struct kv_redis_route *route = &desk->route;
    uint8_t moved_to[KV_REDIS_NODES_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < route->count; i++) {
        struct kv_link *link = route->links[i];

        if (i >= desk->store->seed_count && kv_link_is_idle(link) &&
            !kv_redis_route_needs(route, link)) {
            kv_link_destroy(link);
            route->links[i] = NULL;
        }
    }
    for (size_t i = 0; i < route->count; i++) {
        moved_to[i] = (uint8_t)kept;
        if (route->links[i])
            route->links[kept++] = route->links[i];
    }
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->link_of[i] != KV_REDIS_NO_NODE)
            route->link_of[i] = moved_to[route->link_of[i]];
    route->count = kept;
}

/* --- The map -------------------------------------------------------------- */

/* Each desk gets the map; one of them tells. */
static void tell_moved(struct kv_redis_desk *desk,
                       const struct kv_slot_map *map)
{
    struct kv_redis *store = desk->store;
    const struct kv_slot_map *earlier = &desk->route.map;
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
    desk->route.map = *map;
}

void kv_redis_route_take(struct kv_redis_desk *desk,
                         const struct kv_slot_map *map)
{
    struct kv_redis_route *route = &desk->route;

    route->wants_map = false;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        route->link_of[i] = KV_REDIS_NO_NODE;
        if (map->has[i])
            route->link_of[i] = (uint8_t)find_link(desk, &map->nodes[i]);
        route->wants_map |= route->link_of[i] == KV_REDIS_NO_NODE;
    }
    tell_moved(desk, map);
    drop_links(desk);
}

/* --- Asked by calls ------------------------------------------------------- */

struct kv_link *kv_redis_route_find(struct kv_redis_desk *desk,
                                    unsigned partition, bool *may_come_out)
{
    struct kv_redis_route *route = &desk->route;
    uint8_t at = route->link_of[partition];

    *may_come_out = false;
    if (at != KV_REDIS_NO_NODE)
        return route->links[at];
    for (size_t i = 0; i < route->count && route->mode == KV_REDIS_UNKNOWN; i++)
        if (kv_link_state(route->links[i]) != KV_LINK_DOWN)
            *may_come_out = true;
    return NULL;
}

void kv_redis_route_move(struct kv_redis_desk *desk, unsigned partition,
                         const struct address *node)
{
    desk->route.link_of[partition] = (uint8_t)find_link(desk, node);
    kv_redis_route_refresh(desk);
}

void kv_redis_route_refresh(struct kv_redis_desk *desk)
{
    desk->route.wants_map = true;
    desk->route.events->on_map_wanted(desk);
}

/* --- Coming and going ----------------------------------------------------- */

bool kv_redis_route_init(struct kv_redis_desk *desk,
                         const struct kv_redis_route_events *events)
{
    struct kv_redis_route *route = &desk->route;

    route->events = events;
    memset(route->link_of, KV_REDIS_NO_NODE, sizeof(route->link_of));
    deadline_init(&route->again);
    deadline_init(&route->call.deadline);
    route->wants_map = true;
    for (size_t i = 0; i < desk->store->seed_count; i++)
        if (!kv_redis_route_to(desk, &desk->store->seeds[i]))
            return false;
    return true;
}

void kv_redis_route_fini(struct kv_redis_desk *desk)
{
    struct kv_redis_route *route = &desk->route;

    for (size_t i = 0; i < route->count; i++)
        kv_link_destroy(route->links[i]);
    route->count = 0;
    if (route->is_down)
        atomic_fetch_sub(&desk->store->desks_down, 1);
}
