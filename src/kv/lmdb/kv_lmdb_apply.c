#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

static const char revision_key[] = "revision";

/* --- Writes --------------------------------------------------------------- */

/* Applies all operations up to the first one that is refused. */
static int apply_ops(struct kv_change *change, struct kv_write *write)
{
    write->is_done = true;
    for (size_t i = 0; i < write->count && write->is_done; i++) {
        int rc = kv_change_do(change, &write->ops[i]);

        if (rc != 0)
            return rc;
        write->is_done = !kv_is_refused(write->ops[i].outcome);
    }
    return 0;
}

static void mark_undone(struct kv_write *write)
{
    for (size_t i = 0; i < write->count; i++) {
        struct kv_op *op = &write->ops[i];

        if (kv_is_refused(op->outcome))
            break; /* later operations are KV_UNDONE already */
        op->outcome = KV_UNDONE;
        op->meta = (struct kv_meta){0};
    }
}

/* Does several operations in a nested transaction, so that all can be undone. A
 * single operation needs none: if it fails, it has changed nothing. */
int kv_change_apply(struct kv_change *change, struct kv_write *write)
{
    size_t draft = kv_events_draft(change->events);
    struct kv_change inner = *change;
    int rc;

    /* An earlier try may have set outcomes. */
    kv_write_set_outcomes(write, KV_UNDONE);
    if (write->count == 1)
        return apply_ops(change, write);
    rc = mdb_txn_begin(change->env->env, change->txn, 0, &inner.txn);
    if (rc != 0)
        return rc;
    rc = apply_ops(&inner, write);
    if (rc != 0 || !write->is_done) {
        mdb_txn_abort(inner.txn);
        kv_events_undo(change->events, draft);
        mark_undone(write);
        return rc;
    }
    rc = mdb_txn_commit(inner.txn);
    change->revision = inner.revision;
    change->has_expiring = inner.has_expiring;
    return rc;
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

int kv_change_begin(struct kv_change *change, int64_t now_ms)
{
    change->now_ms = now_ms;
    change->revision_begun = change->revision;
    change->has_expiring = false;
    return mdb_txn_begin(change->env->env, NULL, 0, &change->txn);
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
    if (rc == 0)
        kv_events_publish(change->events, change->revision);
    else
        kv_events_undo(change->events, 0);
    return rc;
}

void kv_change_abort(struct kv_change *change)
{
    mdb_txn_abort(change->txn);
    kv_events_undo(change->events, 0);
    if (change->cache)
        kv_cache_end_writes(change->cache);
}
