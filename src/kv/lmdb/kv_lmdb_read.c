#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

enum { LOG_INTERVAL_MS = 10000 };

int kv_lmdb_read_begin(struct kv_lmdb_client *client)
{
    int rc;

    pthread_mutex_lock(&client->mutex);
    rc = mdb_txn_renew(client->txn);
    while (rc == MDB_MAP_RESIZED) { /* resized by the writing process */
        pthread_mutex_unlock(&client->mutex);
        rc = kv_lmdb_adopt(client->store);
        if (rc != 0)
            return rc;
        pthread_mutex_lock(&client->mutex);
        rc = mdb_txn_renew(client->txn);
    }
    if (rc != 0)
        pthread_mutex_unlock(&client->mutex);
    return rc;
}

void kv_lmdb_read_end(struct kv_lmdb_client *client)
{
    mdb_txn_reset(client->txn);
    pthread_mutex_unlock(&client->mutex);
}

/* Limits the number of log lines, since a client could cause any number of
 * lines by asking for a corrupt record. */
static bool may_log(struct kv_lmdb_client *client)
{
    uint64_t held_back;

    return log_limit_allows(&client->log_limit, client->now->mono_ms,
                            LOG_INTERVAL_MS, &held_back);
}

void kv_lmdb_log_fault(struct kv_lmdb_client *client, int rc)
{
    if (may_log(client))
        log_error("read the key-value store '%s': %s",
                  client->store->options.path, mdb_strerror(rc));
}

void kv_lmdb_log_corrupt(struct kv_lmdb_client *client, struct bytes key)
{
    if (may_log(client))
        log_error("the key-value store '%s': the record of '%.*s' is corrupt",
                  client->store->options.path, (int)key.len, key.data);
}

uint64_t kv_lmdb_read_revision(struct kv_lmdb_client *client)
{
    uint64_t revision = 0;
    int rc = kv_lmdb_read_begin(client);

    if (rc == 0) {
        rc = kv_env_read_revision(&client->store->env, client->txn, &revision);
        kv_lmdb_read_end(client);
    }
    if (rc != 0)
        kv_lmdb_log_fault(client, rc);
    return revision;
}
