#include "kv/redis/kv_redis_priv.h"

enum {
    ASK_MS = 200, /* least time between two questions for the map */
    LOG_MS = 10000
};

/* --- What the operator hears ---------------------------------------------- */

/* Notes that the store cannot be reached. Of all clients, only the first to go
 * down logs this; tell_up() logs when the last is up again. */
static void tell_down(struct kv_redis_client *client, const char *why)
{
    struct kv_redis_route *route = &client->route;
    struct kv_redis *store = client->store;
    uint64_t held_back;

    if (!route->is_down) {
        route->is_down = true;
        atomic_fetch_add(&store->clients_down, 1);
    }
    if (!atomic_load(&store->is_told) &&
        log_limit_allows(&route->log_limit, client->now->mono_ms, LOG_MS,
                         &held_back) &&
        !atomic_exchange(&store->is_told, true))
        log_warning("the key-value store at %s cannot be reached: %s",
                    store->label, why);
}

static void tell_up(struct kv_redis_client *client)
{
    struct kv_redis *store = client->store;

    if (!client->route.is_down)
        return;
    client->route.is_down = false;
    if (atomic_fetch_sub(&store->clients_down, 1) == 1 &&
        atomic_exchange(&store->is_told, false))
        log_notice("the key-value store at %s can be reached again",
                   store->label);
}

/* --- Links ---------------------------------------------------------------- */

static struct kv_redis_client *client_of(void *context)
{
    return context;
}

static void look_again(struct kv_redis_client *client)
{
    if (kv_redis_route_is_whole(&client->route))
        tell_up(client);
    kv_redis_feed_look(client);
    kv_redis_place_waiting(client);
}

static void on_up(void *context)
{
    struct kv_redis_client *client = client_of(context);

    kv_redis_add(&client->store->connects);
    if (client->route.wants_map)
        kv_redis_route_refresh(client);
    look_again(client);
}

/* Whether a failed connection means that the store cannot be reached. Once the
 * map is known, one failure is enough. Before that, all connections must have
 * failed: a server often listens on only one of its name's addresses (::1 and
 * 127.0.0.1), and the refusal at the other would be logged instead of the true
 * reason. */
static bool is_without_hope(const struct kv_redis_route *route)
{
    if (route->mode != KV_REDIS_UNKNOWN)
        return true;
    for (size_t i = 0; i < route->count; i++)
        if (kv_connection_state(route->connections[i]) != KV_CONNECTION_DOWN)
            return false;
    return true;
}

static void on_down(void *context, const struct kv_connection *connection,
                    const char *why)
{
    struct kv_redis_client *client = client_of(context);

    if (kv_redis_route_needs(&client->route, connection)) {
        if (kv_connection_state(connection) == KV_CONNECTION_DOWN &&
            is_without_hope(&client->route))
            tell_down(client, why);
        kv_redis_route_refresh(client);
    }
    kv_redis_place_waiting(client);
}

/* --- The question --------------------------------------------------------- */

static void put_map_question(struct kv_redis_call *call, struct buf *out)
{
    if (call->client->route.asks_role) {
        kv_command_begin(out, 1);
        kv_command_put(out, BYTES("ROLE"));
        return;
    }
    kv_command_begin(out, 2);
    kv_command_put(out, BYTES("CLUSTER"));
    kv_command_put(out, BYTES("SLOTS"));
}

/* Treats a single node that is no replica as the master of all partitions. */
static void take_alone(struct kv_redis_client *client,
                       struct kv_connection *connection)
{
    struct kv_slot_map map;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        map.has[i] = true;
        map.nodes[i] = *kv_connection_address(connection);
    }
    client->route.mode = KV_REDIS_ALONE;
    kv_redis_route_take(client, &map);
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

/* Handles the reply to CLUSTER SLOTS or ROLE from the connection
 * call->only_at. */
static void on_map(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_client *client = call->client;
    struct kv_redis_route *route = &client->route;
    struct kv_connection *connection = call->only_at;
    struct bytes text = kv_reply_text(reply);
    struct kv_slot_map map;

    route->is_asking_map = false;
    if (call->outcome == KV_FOUND && !route->asks_role &&
        kv_slot_map_read(&map, &client->store->partitions, reply,
                         kv_connection_address(connection))) {
        route->mode = KV_REDIS_CLUSTER;
        kv_redis_route_take(client, &map);
    } else if (call->outcome == KV_ERROR && !route->asks_role && text.len > 0 &&
               is_without_cluster(text)) {
        route->asks_role = true;
        route->is_asking_map = true;
        if (!kv_redis_call_start(client, call))
            return;
        route->is_asking_map = false;
    } else if (route->asks_role &&
               ((call->outcome == KV_FOUND && is_master(reply)) ||
                (call->outcome == KV_ERROR && text.len > 0))) {
        /* An engine that forbids ROLE to the user counts as a master. */
        take_alone(client, connection);
    }
    route->asks_role = false;
    if (route->wants_map)
        kv_redis_route_refresh(client); /* asks again after ASK_MS */
    look_again(client);
}

static void ask_map(struct kv_redis_client *client)
{
    struct kv_redis_route *route = &client->route;

    if (route->is_asking_map || route->count == 0)
        return;
    if (client->now->mono_ms < route->ask_at_ms) {
        deadline_set(&client->wheel, &route->again, route->ask_at_ms);
        return;
    }
    for (size_t i = 0; i < route->count; i++) {
        size_t at = (route->ask_from + i) % route->count;

        if (kv_connection_state(route->connections[at]) != KV_CONNECTION_UP)
            continue;
        route->ask_from = at + 1;
        route->ask_at_ms = client->now->mono_ms + ASK_MS;
        route->is_asking_map = true;
        route->asks_role = false;
        route->call = (struct kv_redis_call){.may_repeat = true,
                                             .only_at = route->connections[at],
                                             .put = put_map_question,
                                             .on_end = on_map};
        if (kv_redis_call_start(client, &route->call))
            route->is_asking_map = false;
        return;
    }
}

/* --- Coming and going ----------------------------------------------------- */

bool kv_redis_map_init(struct kv_redis_client *client)
{
    static const struct kv_redis_route_events events = {
        .on_map_wanted = ask_map,
        .connections = {.on_up = on_up,
                        .on_down = on_down,
                        .on_answer = kv_redis_on_answer,
                        .on_return = kv_redis_on_return}};

    return kv_redis_route_init(client, &events);
}
