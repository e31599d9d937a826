#include "backend/kv_lmdb_priv.h"

static void lock_desks(struct kv_lmdb *store)
{
    pthread_mutex_lock(&store->desks_mutex);
    for (struct list *at = store->desks.next; at != &store->desks;
         at = at->next)
        pthread_mutex_lock(&OWNER_OF(at, struct kv_lmdb_desk, link)->mutex);
}

static void unlock_desks(struct kv_lmdb *store)
{
    for (struct list *at = store->desks.next; at != &store->desks;
         at = at->next)
        pthread_mutex_unlock(&OWNER_OF(at, struct kv_lmdb_desk, link)->mutex);
    pthread_mutex_unlock(&store->desks_mutex);
}

bool kv_lmdb_make_room(struct kv_lmdb *store, bool beyond_max)
{
    bool has_grown;

    if (kv_env_clear_readers(&store->env))
        return true;
    lock_desks(store);
    has_grown = kv_env_grow(&store->env, beyond_max);
    unlock_desks(store);
    return has_grown;
}

void kv_lmdb_trim(struct kv_lmdb *store)
{
    if (!store->env.is_beyond_max)
        return;
    lock_desks(store);
    kv_env_trim(&store->env);
    unlock_desks(store);
}

int kv_lmdb_adopt(struct kv_lmdb *store)
{
    int rc;

    lock_desks(store);
    rc = kv_env_adopt(&store->env);
    unlock_desks(store);
    return rc;
}
