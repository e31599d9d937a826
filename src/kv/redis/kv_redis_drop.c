#include <stdlib.h>

#include "kv/redis/kv_redis_priv.h"

/* An index entry that is being dropped. This may last longer than the page that
 * found the entry. */
struct dropping {
    struct kv_redis_question question;
    struct kv_redis_call call;
    size_t len;
    char key[KV_KEY_BYTES_MAX];
};

static void destroy_dropping(struct kv_redis_question *question)
{
    list_drop(&question->list_node);
    free(OWNER_OF(question, struct dropping, question));
}

static void put_drop(struct kv_redis_call *call, struct buf *out)
{
    const struct dropping *dropping = OWNER_OF(call, struct dropping, call);
    struct bytes base = kv_redis_base(call->client, call->partition);
    struct bytes key = {dropping->key, dropping->len};

    kv_redis_put_script(call, out, KV_SCRIPT_DROP, 3, 1);
    kv_command_put_joined(out, base, BYTES("i"), BYTES(""));
    kv_command_put_joined(out, base, BYTES("e"), BYTES(""));
    kv_command_put_joined(out, base, BYTES("k:"), key);
    kv_command_put(out, key);
}

static void on_dropped(struct kv_redis_call *call, const struct kv_reply *reply)
{
    (void)reply; /* after a failure, the next page tries again */
    destroy_dropping(&OWNER_OF(call, struct dropping, call)->question);
}

void kv_redis_drop(struct kv_redis_client *client, struct bytes key)
{
    struct dropping *dropping = calloc(1, sizeof(*dropping));

    if (!dropping)
        return;
    memcpy(dropping->key, key.data, key.len);
    dropping->len = key.len;
    dropping->question.destroy = destroy_dropping;
    dropping->call.partition = kv_redis_partition(key);
    dropping->call.may_repeat = true;
    dropping->call.put = put_drop;
    dropping->call.on_end = on_dropped;
    list_put_last(&client->questions, &dropping->question.list_node);
    if (kv_redis_call_start(client, &dropping->call))
        destroy_dropping(&dropping->question);
}
