#include <lmdb.h>

#include "backend/kv_lmdb_priv.h"

static const char revision_key[] = "revision";

static MDB_val val_of(struct bytes text)
{
    return (MDB_val){text.len, (void *)(uintptr_t)text.data};
}

static struct bytes bytes_of_val(MDB_val val)
{
    return (struct bytes){val.mv_data, val.mv_size};
}

/* To be called of each key before it is changed. */
static void tell_cache(struct kv_change *change, struct bytes key)
{
    if (change->cache)
        kv_cache_begin_write(change->cache, key);
}

/* --- The index of ends ---------------------------------------------------- */

/* When stands in the key, and the key in the data: both together would be
 * longer than a key may be. */
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

/* --- Operations ----------------------------------------------------------- */

/* What there is of a key before an operation. A corrupt record is there, at no
 * revision, and can be put over or deleted; its end, if it has one in the
 * index, is the sweep's to find out. */
struct present {
    bool is_stored; /* be it expired */
    bool is_there;
    struct kv_meta meta;
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

static int put(struct kv_change *change, struct kv_op *op, struct bytes key,
               const struct present *present)
{
    struct kv_record record = {.type = op->type, .value = op->value};
    MDB_val index_key = val_of(key);
    MDB_val room;
    int rc = drop_expiry(change, key, present->meta.expires_ms);

    tell_cache(change, key);
    record.meta.revision = ++change->revision;
    record.meta.stored_ms = change->now_ms;
    record.meta.expires_ms = end_of(change->now_ms, op->ttl_ms);
    room.mv_size = kv_record_bytes(&record);
    if (rc == 0)
        rc = mdb_put(change->txn, change->env->values, &index_key, &room,
                     MDB_RESERVE);
    if (rc != 0)
        return rc;
    kv_record_write(&record, room.mv_data);
    op->meta = record.meta;
    op->outcome = present->is_there ? KV_REPLACED : KV_CREATED;
    return op->meta.expires_ms == 0
               ? 0
               : put_expiry(change, key, op->meta.expires_ms);
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

/* The revision to come is the name: nobody had it before. But for somebody who
 * chose such a name by himself: then the one after it. */
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

static int apply_op(struct kv_change *change, struct kv_op *op)
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
    if (op->kind == KV_CHECK) {
        op->outcome = KV_HELD;
        return 0;
    }
    op->outcome = present.is_there ? KV_DELETED : KV_MISSING;
    if (present.is_there)
        op->meta = (struct kv_meta){.revision = ++change->revision};
    return present.is_stored ? drop(change, op->key, &present) : 0;
}

/* --- Writes --------------------------------------------------------------- */

/* All of them, or up to the one whose condition does not hold. */
static int apply_ops(struct kv_change *change, struct kv_write *write)
{
    write->is_done = true;
    for (size_t i = 0; i < write->count && write->is_done; i++) {
        int rc = apply_op(change, &write->ops[i]);

        if (rc != 0)
            return rc;
        write->is_done = write->ops[i].outcome != KV_PRECONDITION;
    }
    return 0;
}

static void mark_undone(struct kv_write *write)
{
    for (size_t i = 0; i < write->count; i++) {
        struct kv_op *op = &write->ops[i];

        if (op->outcome == KV_PRECONDITION)
            break; /* those behind it are undone as it is */
        op->outcome = KV_UNDONE;
        op->meta = (struct kv_meta){0};
    }
}

/* Several operations have a transaction of their own in ours, so that what was
 * done can be undone. A single one that fails has done nothing. */
int kv_change_apply(struct kv_change *change, struct kv_write *write)
{
    struct kv_change inner = *change;
    int rc;

    kv_write_set_outcomes(write, KV_UNDONE); /* it may be tried again */
    if (write->count == 1)
        return apply_ops(change, write);
    rc = mdb_txn_begin(change->env->env, change->txn, 0, &inner.txn);
    if (rc != 0)
        return rc;
    rc = apply_ops(&inner, write);
    if (rc != 0 || !write->is_done) {
        mdb_txn_abort(inner.txn);
        mark_undone(write);
        return rc;
    }
    rc = mdb_txn_commit(inner.txn);
    change->revision = inner.revision;
    change->has_expiring = inner.has_expiring;
    return rc;
}

/* --- The sweep ------------------------------------------------------------ */

/* The index may know of an end that is not the value's any more, if a record
 * was corrupt: the value decides. */
static int sweep_key(struct kv_change *change, struct bytes key,
                     int64_t expires_ms)
{
    MDB_val index_key = val_of(key);
    struct present present;
    int rc = look_up(change, key, &present);

    if (rc != 0 || !present.is_stored || present.meta.expires_ms != expires_ms)
        return rc;
    tell_cache(change, key);
    return mdb_del(change->txn, change->env->values, &index_key, NULL);
}

int kv_change_sweep(struct kv_change *change, size_t limit, size_t *swept_out,
                    bool *some_left_out)
{
    MDB_cursor *cursor;
    MDB_val when;
    MDB_val key;
    int rc = mdb_cursor_open(change->txn, change->env->expiry, &cursor);

    *swept_out = 0;
    if (rc != 0)
        return rc;
    for (;;) {
        int64_t expires_ms;

        rc = mdb_cursor_get(cursor, &when, &key, MDB_FIRST);
        *some_left_out = rc != MDB_NOTFOUND;
        if (rc != 0 || *swept_out == limit)
            break;
        expires_ms = when.mv_size == KV_NUMBER_BYTES
                         ? (int64_t)kv_number_read(when.mv_data)
                         : 0; /* none of ours: away with it */
        if (expires_ms > change->now_ms)
            break;
        rc = sweep_key(change, bytes_of_val(key), expires_ms);
        if (rc == 0)
            rc = mdb_cursor_del(cursor, 0);
        if (rc != 0)
            break;
        ++*swept_out;
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* --- Changes -------------------------------------------------------------- */

int kv_env_read_revision(const struct kv_env *env, struct MDB_txn *txn,
                         uint64_t *revision_out)
{
    MDB_val key = {sizeof(revision_key) - 1, (void *)(uintptr_t)revision_key};
    MDB_val found;
    int rc = mdb_get(txn, env->meta, &key, &found);

    *revision_out = 0;
    if (rc == MDB_NOTFOUND)
        return 0;
    if (rc == 0 && found.mv_size != KV_NUMBER_BYTES)
        return MDB_CORRUPTED;
    if (rc == 0)
        *revision_out = kv_number_read(found.mv_data);
    return rc;
}

int kv_change_begin(struct kv_change *change, const struct kv_env *env,
                    struct kv_cache *cache, uint64_t revision, int64_t now_ms)
{
    *change = (struct kv_change){.env = env,
                                 .cache = cache,
                                 .now_ms = now_ms,
                                 .revision = revision,
                                 .revision_begun = revision};
    return mdb_txn_begin(env->env, NULL, 0, &change->txn);
}

int kv_change_commit(struct kv_change *change)
{
    MDB_val key = {sizeof(revision_key) - 1, (void *)(uintptr_t)revision_key};
    char number[KV_NUMBER_BYTES];
    MDB_val value = {sizeof(number), number};
    int rc = 0;

    if (change->revision != change->revision_begun) {
        kv_number_write(change->revision, number);
        rc = mdb_put(change->txn, change->env->meta, &key, &value, 0);
    }
    if (rc != 0)
        mdb_txn_abort(change->txn);
    else
        rc = mdb_txn_commit(change->txn);
    if (change->cache)
        kv_cache_end_writes(change->cache);
    return rc;
}

void kv_change_abort(struct kv_change *change)
{
    mdb_txn_abort(change->txn);
    if (change->cache)
        kv_cache_end_writes(change->cache);
}
