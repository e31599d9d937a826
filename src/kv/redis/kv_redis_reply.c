#include <hiredis/hiredis.h>

#include "kv/redis/kv_redis_node_priv.h"

static const struct redisReply *reply_of(const struct kv_reply *reply)
{
    return (const struct redisReply *)reply;
}

enum kv_reply_kind kv_reply_kind(const struct kv_reply *reply)
{
    switch (reply ? reply_of(reply)->type : REDIS_REPLY_NIL) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return KV_REPLY_TEXT;
    case REDIS_REPLY_INTEGER:
        return KV_REPLY_NUMBER;
    case REDIS_REPLY_ARRAY:
        return KV_REPLY_LIST;
    case REDIS_REPLY_ERROR:
        return KV_REPLY_FAULT;
    default:
        return KV_REPLY_NIL;
    }
}

struct bytes kv_reply_text(const struct kv_reply *reply)
{
    enum kv_reply_kind kind = kv_reply_kind(reply);

    if (kind != KV_REPLY_TEXT && kind != KV_REPLY_FAULT)
        return (struct bytes){NULL, 0};
    return (struct bytes){reply_of(reply)->str, reply_of(reply)->len};
}

size_t kv_reply_count(const struct kv_reply *reply)
{
    return kv_reply_kind(reply) == KV_REPLY_LIST ? reply_of(reply)->elements
                                                 : 0;
}

const struct kv_reply *kv_reply_at(const struct kv_reply *reply, size_t at)
{
    return at < kv_reply_count(reply)
               ? (const struct kv_reply *)reply_of(reply)->element[at]
               : NULL;
}

bool kv_redis_read_number(struct bytes text, uint64_t *number_out)
{
    uint64_t number = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';

        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *number_out = number;
    return true;
}

bool kv_reply_number(const struct kv_reply *reply, uint64_t *number_out)
{
    if (kv_reply_kind(reply) == KV_REPLY_TEXT)
        return kv_redis_read_number(kv_reply_text(reply), number_out);
    if (kv_reply_kind(reply) != KV_REPLY_NUMBER || reply_of(reply)->integer < 0)
        return false;
    *number_out = (uint64_t)reply_of(reply)->integer;
    return true;
}
