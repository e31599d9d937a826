#include <lmdb.h>

#include "backend/kv_lmdb_priv.h"

enum { LOG_INTERVAL_MS = 10000 };

int kv_lmdb_read_begin(struct kv_lmdb_desk *desk)
{
    int rc;

    pthread_mutex_lock(&desk->mutex);
    rc = mdb_txn_renew(desk->txn);
    while (rc == MDB_MAP_RESIZED) { /* by the process that writes now */
        pthread_mutex_unlock(&desk->mutex);
        rc = kv_lmdb_adopt(desk->store);
        if (rc != 0)
            return rc;
        pthread_mutex_lock(&desk->mutex);
        rc = mdb_txn_renew(desk->txn);
    }
    if (rc != 0)
        pthread_mutex_unlock(&desk->mutex);
    return rc;
}

void kv_lmdb_read_end(struct kv_lmdb_desk *desk)
{
    mdb_txn_reset(desk->txn);
    pthread_mutex_unlock(&desk->mutex);
}

/* Whoever asks for it could have a line written as often as he likes. */
static bool may_log(struct kv_lmdb_desk *desk)
{
    uint64_t held_back;

    return log_limit_allows(&desk->log_limit, desk->now->mono_ms,
                            LOG_INTERVAL_MS, &held_back);
}

void kv_lmdb_log_fault(struct kv_lmdb_desk *desk, int rc)
{
    if (may_log(desk))
        log_error("read the key-value store '%s': %s",
                  desk->store->options.path, mdb_strerror(rc));
}

void kv_lmdb_log_corrupt(struct kv_lmdb_desk *desk, struct bytes key)
{
    if (may_log(desk))
        log_error("the key-value store '%s': the record of '%.*s' is corrupt",
                  desk->store->options.path, (int)key.len, key.data);
}

uint64_t kv_lmdb_read_revision(struct kv_lmdb_desk *desk)
{
    uint64_t revision = 0;
    int rc = kv_lmdb_read_begin(desk);

    if (rc == 0) {
        rc = kv_env_read_revision(&desk->store->env, desk->txn, &revision);
        kv_lmdb_read_end(desk);
    }
    if (rc != 0)
        kv_lmdb_log_fault(desk, rc);
    return revision;
}
