#include "kv/kv_store.h"

#include <assert.h>
#include <stdlib.h>

struct kv_value *kv_value_create(size_t type_bytes, size_t data_bytes)
{
    struct kv_value *value = malloc(sizeof(*value) + type_bytes + data_bytes);
    char *room;

    if (!value)
        return NULL;
    room = kv_value_room(value);
    *value = (struct kv_value){.bytes = data_bytes,
                               .type = {room, type_bytes},
                               .data = {room + type_bytes, data_bytes}};
    atomic_init(&value->refs, 1);
    return value;
}

char *kv_value_room(struct kv_value *value)
{
    return (char *)(value + 1);
}

bool kv_type_is_valid(struct bytes type)
{
    return type.len <= KV_TYPE_BYTES_MAX && !bytes_has_control(type);
}

struct kv_value *kv_value_acquire(struct kv_value *value)
{
    atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
    return value;
}

void kv_value_release(struct kv_value **value_ref)
{
    struct kv_value *value = *value_ref;

    *value_ref = NULL;
    /* acq_rel: the value is freed only after all reads by other threads. */
    if (value &&
        atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) == 1)
        free(value);
}

/* Asserts the lengths: handlers have already answered 400 or 413 to a client's
 * wrong lengths, so here a wrong length is a bug of ours. */
size_t kv_write_weigh(const struct kv_write *write)
{
    size_t bytes = 0;

    assert(write->count >= 1 && write->count <= KV_WRITE_OPS_MAX);
    for (size_t i = 0; i < write->count; i++) {
        const struct kv_op *op = &write->ops[i];

        if (op->kind == KV_PUT_NAMED)
            assert(op->key.len <= KV_KEY_BYTES_MAX - KV_NAME_BYTES);
        else
            assert(op->key.len >= 1 && op->key.len <= KV_KEY_BYTES_MAX);
        assert(op->value.len <= KV_VALUE_BYTES_MAX &&
               op->type.len <= KV_TYPE_BYTES_MAX);
        bytes += sizeof(*op) + op->key.len + op->value.len + op->type.len;
    }
    return bytes;
}

void kv_write_set_outcomes(struct kv_write *write, enum kv_outcome outcome)
{
    write->is_done = false;
    for (size_t i = 0; i < write->count; i++) {
        write->ops[i].outcome = outcome;
        write->ops[i].meta = (struct kv_meta){0};
    }
}
