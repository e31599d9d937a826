#include "kv/lmdb/kv_lmdb_priv.h"

static void lock_clients(struct kv_lmdb *store)
{
    pthread_mutex_lock(&store->clients_mutex);
    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next)
        pthread_mutex_lock(&OWNER_OF(at, struct kv_lmdb_client, list_node)
                                ->mutex);
}

static void unlock_clients(struct kv_lmdb *store)
{
    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next)
        pthread_mutex_unlock(&OWNER_OF(at, struct kv_lmdb_client, list_node)
                                  ->mutex);
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
