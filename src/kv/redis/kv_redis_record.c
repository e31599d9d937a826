#include "kv/redis/kv_redis_priv.h"

enum { LOG_MS = 10000 };

struct bytes kv_redis_base(const struct kv_redis_client *client,
                           unsigned partition)
{
    return bytes_of(client->store->bases[partition]);
}

void kv_redis_log_corrupt(struct kv_redis_client *client, struct bytes key)
{
    uint64_t held_back;

    if (log_limit_allows(&client->log_limit, client->now->mono_ms, LOG_MS,
                         &held_back))
        log_error("the key-value store at %s: what is kept of '%.*s' is "
                  "corrupt",
                  client->store->label, (int)key.len, key.data);
}

bool kv_redis_read_meta(const struct kv_reply *reply, struct kv_meta *meta_out,
                        struct bytes *type_out, uint64_t *bytes_out)
{
    uint64_t stored, expires;

    *type_out = kv_reply_text(kv_reply_at(reply, 3));
    if (!kv_reply_number(kv_reply_at(reply, 0), &meta_out->revision) ||
        !kv_reply_number(kv_reply_at(reply, 1), &stored) ||
        !kv_reply_number(kv_reply_at(reply, 2), &expires) ||
        !kv_reply_number(kv_reply_at(reply, 4), bytes_out))
        return false;
    meta_out->stored_ms = (int64_t)(stored & INT64_MAX);
    meta_out->expires_ms = (int64_t)(expires & INT64_MAX);
    return type_out->data && kv_type_is_valid(*type_out);
}
