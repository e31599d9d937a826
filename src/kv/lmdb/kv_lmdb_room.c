#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

static struct kv_lmdb_client *client_at(struct list *at)
{
    return OWNER_OF(at, struct kv_lmdb_client, list_node);
}

static void lock_clients(struct kv_lmdb *store)
{
    pthread_mutex_lock(&store->clients_mutex);
    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next)
        pthread_mutex_lock(&client_at(at)->mutex);
}

static void unlock_clients(struct kv_lmdb *store)
{
    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next)
        pthread_mutex_unlock(&client_at(at)->mutex);
    pthread_mutex_unlock(&store->clients_mutex);
}

bool kv_lmdb_make_room(struct kv_lmdb *store, bool beyond_max)
{
    bool has_grown;

    if (kv_env_clear_readers(&store->env))
        return true;
    lock_clients(store);
    has_grown = kv_env_grow(&store->env, beyond_max);
    unlock_clients(store);
    return has_grown;
}

void kv_lmdb_trim(struct kv_lmdb *store)
{
    if (!store->env.is_beyond_max)
        return;
    lock_clients(store);
    kv_env_trim(&store->env);
    unlock_clients(store);
}

int kv_lmdb_adopt(struct kv_lmdb *store)
{
    int rc;

    lock_clients(store);
    rc = kv_env_adopt(&store->env);
    unlock_clients(store);
    return rc;
}

/* --- Another environment -------------------------------------------------- */

/* Makes the client's read transaction. */
static int make_reader(const struct kv_lmdb *store,
                       struct kv_lmdb_client *client)
{
    int rc = mdb_txn_begin(store->env.env, NULL, MDB_RDONLY, &client->txn);

    if (rc == 0)
        mdb_txn_reset(client->txn);
    else
        client->txn = NULL;
    return rc;
}

/* Reads the last revision from the store, because a commit that was reported as
 * failed may have reached the file. */
static int count_on(struct kv_lmdb *store)
{
    uint64_t revision;
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env.env, NULL, MDB_RDONLY, &txn);

    if (rc != 0)
        return rc;
    rc = kv_env_read_revision(&store->env, txn, &revision);
    mdb_txn_abort(txn);
    if (rc != 0 || revision == store->revision)
        return rc;
    store->revision = revision;
    kv_events_restart(store->events, revision);
    return 0;
}

/* Opens the environment anew, with new read transactions for all clients. The
 * caller has locked all clients. */
static int reopen(struct kv_lmdb *store)
{
    int rc;

    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next) {
        mdb_txn_abort(client_at(at)->txn);
        client_at(at)->txn = NULL;
    }
    rc = kv_env_reopen(&store->env, &store->env_options);
    if (rc == 0)
        rc = count_on(store);
    for (struct list *at = store->clients.next;
         at != &store->clients && rc == 0; at = at->next)
        rc = make_reader(store, client_at(at));
    return rc;
}

bool kv_lmdb_revive(struct kv_lmdb *store)
{
    int rc;

    if (!kv_env_is_given_up(&store->env))
        return false;
    lock_clients(store);
    rc = reopen(store);
    unlock_clients(store);
    if (rc == 0)
        return true;
    store->is_broken = true;
    store->env.is_beyond_max = false;
    log_error("open the key-value store '%s' anew: %s", store->options.path,
              mdb_strerror(rc));
    return true;
}
