#include <stdlib.h>

#include "kv/redis/kv_redis_priv.h"

static struct kv_redis_client *client_of(struct kv_client *client)
{
    return OWNER_OF(client, struct kv_redis_client, client);
}

/* --- Get ------------------------------------------------------------------ */

static void put_get(struct kv_redis_call *call, struct buf *out)
{
    const struct kv_get *get =
        OWNER_OF(call, struct kv_redis_asking, call)->get;
    static const char fields[] = "rmetnv";
    size_t count = get->without_data ? 5 : 6;

    kv_command_begin(out, 2 + count);
    kv_command_put(out, BYTES("HMGET"));
    kv_command_put_joined(out, kv_redis_base(call->client, call->partition),
                          BYTES("k:"), get->key);
    for (size_t i = 0; i < count; i++)
        kv_command_put(out, (struct bytes){&fields[i], 1});
}

static enum kv_outcome copy_out(struct kv_redis_client *client,
                                struct kv_get *get,
                                const struct kv_reply *reply)
{
    struct bytes data = kv_reply_text(kv_reply_at(reply, 5));
    struct kv_meta meta;
    struct bytes type;
    uint64_t bytes;
    char *room;

    if (kv_reply_count(reply) > 0 &&
        kv_reply_kind(kv_reply_at(reply, 0)) == KV_REPLY_NIL)
        return KV_MISSING;
    if (!kv_redis_read_meta(reply, &meta, &type, &bytes) ||
        bytes > KV_VALUE_BYTES_MAX ||
        (!get->without_data && (!data.data || data.len != bytes))) {
        kv_redis_log_corrupt(client, get->key);
        return KV_ERROR;
    }
    get->value = kv_value_create(type.len, data.len);
    if (!get->value)
        return KV_ERROR;
    room = kv_value_room(get->value);
    get->value->meta = meta;
    get->value->bytes = (size_t)bytes;
    memcpy(room, type.data, type.len);
    if (data.len > 0)
        memcpy(room + type.len, data.data, data.len);
    return KV_FOUND;
}

static void on_get(struct kv_redis_call *call, const struct kv_reply *reply)
{
    struct kv_redis_asking *asking = OWNER_OF(call, struct kv_redis_asking,
                                              call);
    struct kv_get *get = asking->get;

    get->outcome = call->outcome == KV_FOUND
                       ? copy_out(call->client, get, reply)
                       : call->outcome;
    kv_redis_put_asking(asking);
    get->on_done(get);
}

static bool answer_get(struct kv_client *base, struct kv_get *get)
{
    struct kv_redis_client *client = client_of(base);
    struct kv_redis_asking *asking;

    get->value = NULL;
    get->outcome = KV_MISSING;
    if (get->key.len == 0 || get->key.len > KV_KEY_BYTES_MAX)
        return true;
    get->outcome = KV_BUSY;
    asking = kv_redis_take_asking(client);
    if (!asking)
        return true;
    asking->get = get;
    asking->call.partition = kv_redis_partition(get->key);
    asking->call.may_repeat = true;
    asking->call.put = put_get;
    asking->call.on_end = on_get;
    if (!kv_redis_call_start(client, &asking->call))
        return false;
    get->outcome = asking->call.outcome;
    kv_redis_put_asking(asking);
    return true;
}

/* --- The client ---------------------------------------------------------- */

static void on_deadline(void *context, struct deadline *deadline)
{
    struct kv_redis_client *client = context;

    if (deadline == &client->route.again)
        kv_redis_route_refresh(client);
    else if (deadline == &client->feed.patience)
        kv_redis_feed_on_deadline(client);
    else
        kv_redis_on_deadline(client, deadline);
}

static void destroy_all(struct list *questions)
{
    while (!list_is_empty(questions)) {
        struct kv_redis_question *question =
            OWNER_OF(questions->next, struct kv_redis_question, list_node);

        question->destroy(question);
    }
}

static void destroy(struct kv_client *base)
{
    struct kv_redis_client *client = client_of(base);

    kv_redis_feed_fini(client);
    kv_redis_route_fini(client);
    deadline_wheel_fini(&client->wheel);
    destroy_all(&client->questions);
    destroy_all(&client->spare);
    buf_fini(&client->command);
    tls_connector_destroy(client->tls);
    tls_buffers_destroy(client->tls_buffers);
    free(client);
}

static bool open_tls(struct kv_redis_client *client)
{
    char fault[TLS_FAULT_MAX];

    if (!client->store->trust)
        return true;
    client->tls = tls_connector_create(client->store->trust, fault);
    client->tls_buffers = tls_buffers_create();
    if (client->tls)
        tls_connector_offer_nothing(client->tls);
    else
        log_error("the key-value store at '%s': %s", client->store->label,
                  fault);
    return client->tls && client->tls_buffers;
}

static const struct kv_client_ops table = {.get = answer_get,
                                           .list = kv_redis_list,
                                           .write = kv_redis_write,
                                           .watch = kv_redis_watch,
                                           .unwatch = kv_redis_unwatch,
                                           .destroy = destroy};

struct kv_client *kv_redis_client_create(struct kv_redis *store,
                                         struct ev_loop *loop,
                                         const struct now *now)
{
    struct kv_redis_client *client = calloc(1, sizeof(*client));

    if (!client)
        return NULL;
    client->client.ops = &table;
    client->store = store;
    client->loop = loop;
    client->now = now;
    list_init(&client->waiting);
    list_init(&client->questions);
    list_init(&client->spare);
    deadline_wheel_init(&client->wheel, loop, now, on_deadline, client);
    kv_redis_feed_init(client);
    if (open_tls(client) && kv_redis_map_init(client))
        return &client->client;
    destroy(&client->client);
    return NULL;
}
