#include <lmdb.h>

#include "kv/kv_integer.h"
#include "kv/lmdb/kv_lmdb_priv.h"

static MDB_val val_of(struct bytes text)
{
    return (MDB_val){text.len, (void *)(uintptr_t)text.data};
}

static struct bytes bytes_of_val(MDB_val val)
{
    return (struct bytes){val.mv_data, val.mv_size};
}

/* Tells the value cache that a key is about to be changed. */
static void tell_cache(struct kv_change *change, struct bytes key)
{
    if (change->cache)
        kv_cache_begin_write(change->cache, key);
}

/* --- The index of expiries ------------------------------------------------ */

/* Puts a key into the index of expiries. The index maps the time to the store's
 * key; a key made of both, time and key, might be longer than LMDB allows. */
static int put_expiry(struct kv_change *change, struct bytes key,
                      int64_t expires_ms)
{
    char when[KV_NUMBER_BYTES];
    MDB_val index_key = {sizeof(when), when};
    MDB_val index_data = val_of(key);

    kv_number_write((uint64_t)expires_ms, when);
    change->has_expiring = true;
    return mdb_put(change->txn, change->env->expiry, &index_key, &index_data,
                   0);
}

static int drop_expiry(struct kv_change *change, struct bytes key,
                       int64_t expires_ms)
{
    char when[KV_NUMBER_BYTES];
    MDB_val index_key = {sizeof(when), when};
    MDB_val index_data = val_of(key);
    int rc;

    if (expires_ms == 0)
        return 0;
    kv_number_write((uint64_t)expires_ms, when);
    rc = mdb_del(change->txn, change->env->expiry, &index_key, &index_data);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* --- Who watches --------------------------------------------------------- */

static void tell_gone(struct kv_change *change, enum kv_event_kind kind,
                      struct bytes key)
{
    struct kv_entry entry = {.key = key};

    kv_events_put(change->events, kind, change->revision, &entry);
}

static void tell_put(struct kv_change *change, struct bytes key,
                     const struct kv_record *record)
{
    struct kv_entry entry = {.key = key,
                             .value_bytes = record->value.len,
                             .meta = record->meta,
                             .type = record->type};

    kv_events_put(change->events, KV_EVENT_PUT, change->revision, &entry);
}

/* --- Operations ----------------------------------------------------------- */

/* The state of a key before an operation. A corrupt record counts as present
 * with revision 0, and can be replaced or deleted. Such a record does not say
 * its expiry; if the index of expiries has an entry for the key, the sweep
 * removes the entry. */
struct present {
    bool is_stored; /* a record exists, expired or not */
    bool is_there;
    struct kv_meta meta;
    struct bytes type; /* in the map, valid until a write */
    struct bytes value;
};

static int look_up(struct kv_change *change, struct bytes key,
                   struct present *present)
{
    MDB_val index_key = val_of(key);
    MDB_val found;
    struct kv_record record;
    int rc = mdb_get(change->txn, change->env->values, &index_key, &found);

    *present = (struct present){0};
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc != 0)
        return rc;
    present->is_stored = present->is_there = true;
    if (kv_record_read(&record, bytes_of_val(found))) {
        present->meta = record.meta;
        present->type = record.type;
        present->value = record.value;
        present->is_there = !kv_meta_has_expired(&record.meta, change->now_ms);
    }
    return 0;
}

static bool holds(const struct kv_op *op, const struct present *present)
{
    switch (op->condition) {
    case KV_IF_ANY:
        return true;
    case KV_IF_MISSING:
        return !present->is_there;
    case KV_IF_PRESENT:
        return present->is_there;
    case KV_IF_REVISION:
        return present->is_there && present->meta.revision == op->if_revision;
    }
    return false;
}

static int64_t end_of(int64_t now_ms, uint64_t ttl_ms)
{
    if (ttl_ms == 0)
        return 0;
    return ttl_ms < (uint64_t)(INT64_MAX - now_ms) ? now_ms + (int64_t)ttl_ms
                                                   : INT64_MAX;
}

/* Puts the record. The caller has set all fields except the revision and the
 * time of storing. */
static int put_record(struct kv_change *change, struct kv_op *op,
                      struct bytes key, const struct present *present,
                      struct kv_record *record)
{
    MDB_val index_key = val_of(key);
    MDB_val room;
    int rc = drop_expiry(change, key, present->meta.expires_ms);

    tell_cache(change, key);
    record->meta.revision = ++change->revision;
    record->meta.stored_ms = change->now_ms;
    room.mv_size = kv_record_bytes(record);
    if (rc == 0)
        rc = mdb_put(change->txn, change->env->values, &index_key, &room,
                     MDB_RESERVE);
    if (rc != 0)
        return rc;
    kv_record_write(record, room.mv_data);
    tell_put(change, key, record);
    op->meta = record->meta;
    op->outcome = present->is_there ? KV_REPLACED : KV_CREATED;
    return op->meta.expires_ms == 0
               ? 0
               : put_expiry(change, key, op->meta.expires_ms);
}

static int put(struct kv_change *change, struct kv_op *op, struct bytes key,
               const struct present *present)
{
    struct kv_record record = {.meta.expires_ms = end_of(change->now_ms,
                                                         op->ttl_ms),
                               .type = op->type,
                               .value = op->value};

    return put_record(change, op, key, present, &record);
}

/* Adds to the present number. The present type is copied, since the page in
 * which it lies is about to be written. */
static int add(struct kv_change *change, struct kv_op *op,
               const struct present *present)
{
    char text[KV_INTEGER_BYTES_MAX];
    char type[KV_TYPE_BYTES_MAX];
    struct kv_record record = {.meta.expires_ms = end_of(change->now_ms,
                                                         op->ttl_ms),
                               .type = op->type};
    int64_t number = 0;

    if (present->is_there && !kv_integer_read(present->value, &number)) {
        op->outcome = KV_NO_NUMBER;
        return 0;
    }
    if (__builtin_add_overflow(number, op->by, &op->sum)) {
        op->outcome = KV_OVERFLOW;
        return 0;
    }
    if (present->is_there) {
        record.meta.expires_ms = present->meta.expires_ms;
        record.type = (struct bytes){type, present->type.len};
        if (present->type.len > 0)
            memcpy(type, present->type.data, present->type.len);
    }
    record.value = kv_integer_write(op->sum, text);
    return put_record(change, op, op->key, present, &record);
}

static int drop(struct kv_change *change, struct bytes key,
                const struct present *present)
{
    MDB_val index_key = val_of(key);
    int rc = drop_expiry(change, key, present->meta.expires_ms);

    tell_cache(change, key);
    return rc != 0
               ? rc
               : mdb_del(change->txn, change->env->values, &index_key, NULL);
}

/* Puts a value under a name made of the next revision, so that the name is new.
 * If a client has chosen this name by hand before, the following revision is
 * tried. */
static int put_named(struct kv_change *change, struct kv_op *op)
{
    static const char digits[] = "0123456789abcdef";
    char text[KV_KEY_BYTES_MAX];
    struct bytes key = {text, op->key.len + KV_NAME_BYTES};
    struct present present;
    int rc;

    if (op->key.len > 0)
        memcpy(text, op->key.data, op->key.len);
    for (;;) {
        uint64_t number = change->revision + 1;

        for (int i = KV_NAME_BYTES - 1; i >= 0; i--) {
            op->name[i] = digits[number & 0xF];
            number >>= 4;
        }
        memcpy(text + op->key.len, op->name, KV_NAME_BYTES);
        rc = look_up(change, key, &present);
        if (rc != 0)
            return rc;
        if (!present.is_stored)
            return put(change, op, key, &present);
        change->revision++;
    }
}

int kv_change_do(struct kv_change *change, struct kv_op *op)
{
    struct present present;
    int rc;

    if (op->kind == KV_PUT_NAMED)
        return put_named(change, op);
    rc = look_up(change, op->key, &present);
    if (rc != 0)
        return rc;
    op->meta = present.is_there ? present.meta : (struct kv_meta){0};
    if (!holds(op, &present)) {
        op->outcome = KV_PRECONDITION;
        return 0;
    }
    if (op->kind == KV_PUT)
        return put(change, op, op->key, &present);
    if (op->kind == KV_ADD)
        return add(change, op, &present);
    if (op->kind == KV_CHECK) {
        op->outcome = KV_HELD;
        return 0;
    }
    op->outcome = present.is_there ? KV_DELETED : KV_MISSING;
    if (!present.is_stored)
        return 0;
    change->revision++;
    tell_gone(change, present.is_there ? KV_EVENT_DELETE : KV_EVENT_EXPIRE,
              op->key);
    if (present.is_there)
        op->meta = (struct kv_meta){.revision = change->revision};
    return drop(change, op->key, &present);
}

/* Removes the key if its value has this expiry. The index may have a wrong
 * expiry after a record was corrupt, so the value's own expiry decides. */
int kv_change_expire(struct kv_change *change, struct bytes key,
                     int64_t expires_ms)
{
    MDB_val index_key = val_of(key);
    struct present present;
    int rc = look_up(change, key, &present);

    if (rc != 0 || !present.is_stored || present.meta.expires_ms != expires_ms)
        return rc;
    tell_cache(change, key);
    change->revision++;
    tell_gone(change, KV_EVENT_EXPIRE, key);
    return mdb_del(change->txn, change->env->values, &index_key, NULL);
}
