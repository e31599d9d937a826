#include "backend/kv_redis_priv.h"

enum {
    ASK_MS = 200, /* between two questions for the map */
    LOG_MS = 10000
};

/* --- What the operator hears ---------------------------------------------- */

/* The first desk that goes down says so, and the last that is up again. */
static void tell_down(struct kv_redis_desk *desk, const char *why)
{
    struct kv_redis_route *route = &desk->route;
    struct kv_redis *store = desk->store;
    uint64_t held_back;

    if (!route->is_down) {
        route->is_down = true;
        atomic_fetch_add(&store->desks_down, 1);
    }
    if (!atomic_load(&store->is_told) &&
        log_limit_allows(&route->log_limit, desk->now->mono_ms, LOG_MS,
                         &held_back) &&
        !atomic_exchange(&store->is_told, true))
        log_warning("the key-value store at %s cannot be reached: %s",
                    store->label, why);
}

static void tell_up(struct kv_redis_desk *desk)
{
    struct kv_redis *store = desk->store;

    if (!desk->route.is_down)
        return;
    desk->route.is_down = false;
    if (atomic_fetch_sub(&store->desks_down, 1) == 1 &&
        atomic_exchange(&store->is_told, false))
        log_notice("the key-value store at %s can be reached again",
                   store->label);
}

bool kv_redis_is_same_node(const struct address *a, const struct address *b)
{
    return a->family == b->family && a->port == b->port &&
           memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

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

/* --- Links ---------------------------------------------------------------- */

static struct kv_redis_desk *desk_of(void *context)
{
    return context;
}

/* Whether what is known leads to links that are fine. */
static bool is_whole(const struct kv_redis_route *route)
{
    if (route->mode == KV_REDIS_UNKNOWN)
        return false;
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->link_of[i] == KV_REDIS_NO_NODE ||
            kv_link_state(route->links[route->link_of[i]]) != KV_LINK_UP)
            return false;
    return true;
}

static void look_again(struct kv_redis_desk *desk)
{
    if (is_whole(&desk->route))
        tell_up(desk);
    kv_redis_feed_look(desk);
    kv_redis_place_waiting(desk);
}

static void on_up(void *context)
{
    struct kv_redis_desk *desk = desk_of(context);

    kv_redis_add(&desk->store->connects);
    if (desk->route.wants_map)
        kv_redis_route_refresh(desk);
    look_again(desk);
}

static bool is_needed(const struct kv_redis_route *route,
                      const struct kv_link *link)
{
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (route->link_of[i] != KV_REDIS_NO_NODE &&
            route->links[route->link_of[i]] == link)
            return true;
    return route->mode == KV_REDIS_UNKNOWN;
}

static void on_down(void *context, const struct kv_link *link, const char *why)
{
    struct kv_redis_desk *desk = desk_of(context);

    if (is_needed(&desk->route, link)) {
        if (kv_link_state(link) == KV_LINK_DOWN)
            tell_down(desk, why);
        kv_redis_route_refresh(desk);
    }
    kv_redis_place_waiting(desk);
}

static size_t find_link(struct kv_redis_desk *desk, const struct address *node)
{
    struct kv_redis_route *route = &desk->route;
    struct kv_link_options options = {.loop = desk->loop,
                                      .now = desk->now,
                                      .url = &desk->store->url,
                                      .hooks = {.on_up = on_up,
                                                .on_down = on_down,
                                                .on_answer = kv_redis_on_answer,
                                                .on_return = kv_redis_on_return,
                                                .context = desk}};

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
            !is_needed(route, link)) {
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

static void put_map_question(struct kv_redis_call *call, struct buf *out)
{
    if (call->desk->route.asks_role) {
        kv_command_begin(out, 1);
        kv_command_put(out, BYTES("ROLE"));
        return;
    }
    kv_command_begin(out, 2);
    kv_command_put(out, BYTES("CLUSTER"));
    kv_command_put(out, BYTES("SLOTS"));
}

static void take_map(struct kv_redis_desk *desk, const struct kv_slot_map *map)
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

/* A single node that is no replica has it all. */
static void take_alone(struct kv_redis_desk *desk, struct kv_link *link)
{
    struct kv_slot_map map;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        map.has[i] = true;
        map.nodes[i] = *kv_link_address(link);
    }
    desk->route.mode = KV_REDIS_ALONE;
    take_map(desk, &map);
}

static bool is_without_cluster(struct bytes text)
{
    return memmem(text.data, text.len, "cluster support disabled", 24) != NULL;
}

static bool is_master(const struct kv_reply *reply)
{
    struct bytes role = kv_reply_text(kv_reply_at(reply, 0));

    return bytes_eq(role, BYTES("master"));
}

/* What came is about the link that was asked: `only_at`. */
static void on_map(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_desk *desk = call->desk;
    struct kv_redis_route *route = &desk->route;
    struct kv_link *link = call->only_at;
    struct bytes text = kv_reply_text(reply);
    struct kv_slot_map map;

    route->is_asking_map = false;
    if (call->outcome == KV_FOUND && !route->asks_role &&
        kv_slot_map_read(&map, &desk->store->partitions, reply,
                         kv_link_address(link))) {
        route->mode = KV_REDIS_CLUSTER;
        take_map(desk, &map);
    } else if (call->outcome == KV_ERROR && !route->asks_role && text.len > 0 &&
               is_without_cluster(text)) {
        route->asks_role = true;
        route->is_asking_map = true;
        if (!kv_redis_call_start(desk, call))
            return;
        route->is_asking_map = false;
    } else if (route->asks_role &&
               ((call->outcome == KV_FOUND && is_master(reply)) ||
                (call->outcome == KV_ERROR && text.len > 0))) {
        /* Who may not ask for its role takes it as it is. */
        take_alone(desk, link);
    }
    route->asks_role = false;
    if (route->wants_map)
        kv_redis_route_refresh(desk); /* of the next one, after a while */
    look_again(desk);
}

void kv_redis_route_refresh(struct kv_redis_desk *desk)
{
    struct kv_redis_route *route = &desk->route;

    route->wants_map = true;
    if (route->is_asking_map || route->count == 0)
        return;
    if (desk->now->mono_ms < route->ask_at_ms) {
        deadline_set(&desk->wheel, &route->again, route->ask_at_ms);
        return;
    }
    for (size_t i = 0; i < route->count; i++) {
        size_t at = (route->ask_from + i) % route->count;

        if (kv_link_state(route->links[at]) != KV_LINK_UP)
            continue;
        route->ask_from = at + 1;
        route->ask_at_ms = desk->now->mono_ms + ASK_MS;
        route->is_asking_map = true;
        route->asks_role = false;
        route->call = (struct kv_redis_call){.may_repeat = true,
                                             .only_at = route->links[at],
                                             .put = put_map_question,
                                             .on_end = on_map};
        if (kv_redis_call_start(desk, &route->call))
            route->is_asking_map = false;
        return;
    }
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

/* --- Coming and going ----------------------------------------------------- */

bool kv_redis_route_init(struct kv_redis_desk *desk)
{
    struct kv_redis_route *route = &desk->route;

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
