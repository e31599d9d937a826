#include "backend/kv_store.h"

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

struct kv_value *kv_value_acquire(struct kv_value *value)
{
    atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
    return value;
}

void kv_value_release(struct kv_value **value_ref)
{
    struct kv_value *value = *value_ref;

    *value_ref = NULL;
    /* Whoever frees it must see that all others have read it. */
    if (value &&
        atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) == 1)
        free(value);
}
