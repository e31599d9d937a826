#include <errno.h>
#include <stdlib.h>

#include <lmdb.h>

#include "kv/kv_page.h"
#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    /* How many records are looked at for one page. There is a limit since most
     * records may be expired. */
    PAGE_LOOKS_MAX = 4 * KV_PAGE_ENTRIES_MAX,
    NS_PER_MS = 1000000
};

static struct kv_lmdb_client *client_of(struct kv_client *client)
{
    return OWNER_OF(client, struct kv_lmdb_client, client);
}

static int64_t now_ms_of(const struct kv_lmdb_client *client)
{
    return client->now->wall_ns / NS_PER_MS;
}

static MDB_val val_of(struct bytes text)
{
    return (MDB_val){text.len, (void *)(uintptr_t)text.data};
}

static struct bytes bytes_of_val(MDB_val val)
{
    return (struct bytes){val.mv_data, val.mv_size};
}

/* --- Get ------------------------------------------------------------------ */

static void copy_out(struct kv_get *get, const struct kv_record *record)
{
    bool is_wanted = !get->without_data &&
                     (!get->wants_data || get->wants_data(get, &record->meta));
    size_t bytes = is_wanted ? record->value.len : 0;
    struct kv_value *value = kv_value_create(record->type.len, bytes);
    char *room;

    if (!value) {
        get->outcome = KV_BUSY;
        return;
    }
    room = kv_value_room(value);
    value->meta = record->meta;
    value->bytes = record->value.len;
    if (record->type.len > 0)
        memcpy(room, record->type.data, record->type.len);
    if (bytes > 0)
        memcpy(room + record->type.len, record->value.data, bytes);
    get->value = value;
    get->outcome = KV_FOUND;
}

static void read_store(struct kv_lmdb_client *client, struct kv_get *get)
{
    MDB_val key = val_of(get->key);
    MDB_val found;
    struct kv_record record;
    int rc = kv_lmdb_read_begin(client);

    if (rc == 0) {
        rc = mdb_get(client->txn, client->store->env.values, &key, &found);
        if (rc == 0 && !kv_record_read(&record, bytes_of_val(found))) {
            get->outcome = KV_ERROR;
            kv_lmdb_log_corrupt(client, get->key);
        } else if (rc == 0 &&
                   !kv_meta_has_expired(&record.meta, now_ms_of(client))) {
            copy_out(get, &record);
        }
        kv_lmdb_read_end(client);
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        get->outcome = KV_ERROR;
        kv_lmdb_log_fault(client, rc);
    }
}

static void read_through(struct kv_lmdb_client *client, struct kv_get *get)
{
    struct kv_cache *cache = client->store->cache;
    struct kv_cache_ticket ticket;

    get->value = kv_cache_acquire(cache, get->key, &ticket);
    if (!get->value) {
        read_store(client, get);
        if (get->outcome == KV_FOUND &&
            get->value->data.len == get->value->bytes)
            kv_cache_fill(cache, get->key, &ticket, get->value);
    } else if (kv_meta_has_expired(&get->value->meta, now_ms_of(client))) {
        kv_value_release(&get->value);
    } else {
        get->outcome = KV_FOUND;
    }
}

static bool answer_get(struct kv_client *base, struct kv_get *get)
{
    struct kv_lmdb_client *client = client_of(base);

    get->value = NULL;
    get->outcome = KV_MISSING;
    if (get->key.len == 0 || get->key.len > KV_KEY_BYTES_MAX)
        return true;
    if (client->store->cache)
        read_through(client, get);
    else
        read_store(client, get);
    return true;
}

/* --- List ----------------------------------------------------------------- */

/* A walk over the keys for one page. */
struct kv_walk {
    struct kv_lmdb_client *client;
    struct kv_page *page;
    MDB_cursor *cursor;
    struct bytes last; /* last key looked at; lies in the map */
    bool is_last_prefix;
    /* the key to continue at, instead of the next one */
    char seek[KV_KEY_BYTES_MAX];
};

/* Goes to the first key behind all keys that begin with `prefix`. */
static int seek_behind(struct kv_walk *walk, struct bytes prefix, MDB_val *key,
                       MDB_val *data)
{
    size_t len;

    memmove(walk->seek, prefix.data, prefix.len);
    len = kv_key_after_prefix(walk->seek, prefix.len);
    if (len == 0)
        return MDB_NOTFOUND;
    *key = (MDB_val){len, walk->seek};
    return mdb_cursor_get(walk->cursor, key, data, MDB_SET_RANGE);
}

/* Goes to the page's first key, which follows the end of the previous page and
 * is not before page->prefix. The page's cursor may come from another listing,
 * or be forged. */
static int seek_first(struct kv_walk *walk, MDB_val *key, MDB_val *data)
{
    const struct kv_page *page = walk->page;
    bool is_prefix;
    struct bytes after = kv_page_after(page, &is_prefix);
    int rc;

    if (kv_key_compare(after, page->prefix) < 0) {
        *key = val_of(page->prefix);
        return mdb_cursor_get(walk->cursor, key, data, MDB_SET_RANGE);
    }
    if (after.len == 0)
        return mdb_cursor_get(walk->cursor, key, data, MDB_FIRST);
    if (is_prefix)
        return seek_behind(walk, after, key, data);
    *key = val_of(after);
    rc = mdb_cursor_get(walk->cursor, key, data, MDB_SET_RANGE);
    if (rc == 0 && bytes_eq(bytes_of_val(*key), after))
        rc = mdb_cursor_get(walk->cursor, key, data, MDB_NEXT);
    return rc;
}

/* Adds an entry to the page, or a common prefix if `record` is NULL. Returns
 * false if there is no memory. */
static bool tell(struct kv_page *page, struct bytes key,
                 const struct kv_record *record)
{
    struct kv_entry entry = {.key = key, .is_prefix = !record};

    if (record) {
        entry.value_bytes = record->value.len;
        entry.meta = record->meta;
        entry.type = record->type;
        if (kv_page_takes_value(page, record->value.len))
            entry.value = record->value;
    }
    return kv_page_add(page, &entry);
}

/* Lists or skips one key, and moves the cursor to the next. */
static int step(struct kv_walk *walk, MDB_val *key, MDB_val *data)
{
    struct kv_page *page = walk->page;
    struct bytes text = bytes_of_val(*key);
    struct bytes common;
    struct kv_record record;

    walk->last = text;
    walk->is_last_prefix = false;
    if (!kv_record_read(&record, bytes_of_val(*data))) {
        kv_lmdb_log_corrupt(walk->client, text);
    } else if (!kv_meta_has_expired(&record.meta, now_ms_of(walk->client))) {
        if (!kv_page_find_common(page, text, &common))
            return tell(page, text, &record)
                       ? mdb_cursor_get(walk->cursor, key, data, MDB_NEXT)
                       : ENOMEM;
        walk->last = common;
        walk->is_last_prefix = true;
        return tell(page, common, NULL) ? seek_behind(walk, common, key, data)
                                        : ENOMEM;
    }
    return mdb_cursor_get(walk->cursor, key, data, MDB_NEXT);
}

static int run_walk(struct kv_walk *walk)
{
    struct kv_page *page = walk->page;
    MDB_val key;
    MDB_val data;
    int rc = seek_first(walk, &key, &data);

    for (unsigned looks = 0; rc == 0; looks++) {
        if (!kv_key_begins_with(bytes_of_val(key), page->prefix))
            break;
        if (kv_page_is_full(page) || looks == PAGE_LOOKS_MAX)
            return kv_page_set_next(page, walk->last, walk->is_last_prefix)
                       ? 0
                       : ENOMEM;
        rc = step(walk, &key, &data);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static bool answer_list(struct kv_client *base, struct kv_page *page)
{
    struct kv_lmdb_client *client = client_of(base);
    struct kv_walk walk = {.client = client, .page = page};
    int rc;

    if (!kv_page_begin(page))
        return true;
    rc = kv_lmdb_read_begin(client);
    if (rc == 0) {
        rc = kv_env_read_revision(&client->store->env, client->txn,
                                  &page->revision);
        page->has_revision = rc == 0;
        if (rc == 0)
            rc = mdb_cursor_open(client->txn, client->store->env.values,
                                 &walk.cursor);
        if (rc == 0) {
            rc = run_walk(&walk);
            mdb_cursor_close(walk.cursor);
        }
        kv_lmdb_read_end(client);
    }
    page->outcome = rc == 0 ? KV_FOUND : rc == ENOMEM ? KV_BUSY : KV_ERROR;
    if (rc != 0)
        kv_lmdb_log_fault(client, rc);
    return true;
}

/* --- The client ---------------------------------------------------------- */

static bool put_write(struct kv_client *base, struct kv_write *write)
{
    struct kv_lmdb_client *client = client_of(base);

    client->has_asked = client->gathers;
    return kv_lmdb_put_write(client->store, client->mailbox, write,
                             !client->gathers);
}

static void flush(struct kv_client *base)
{
    struct kv_lmdb_client *client = client_of(base);

    if (!client->has_asked)
        return;
    client->has_asked = false;
    kv_lmdb_wake_writer(client->store);
}

void kv_lmdb_client_gather(struct kv_client *client)
{
    client_of(client)->gathers = true;
}

static void destroy(struct kv_client *base)
{
    struct kv_lmdb_client *client = client_of(base);

    pthread_mutex_lock(&client->store->clients_mutex);
    list_drop(&client->list_node);
    client->store->client_count--;
    mdb_txn_abort(client->txn);
    pthread_mutex_unlock(&client->store->clients_mutex);
    pthread_mutex_destroy(&client->mutex);
    free(client);
}

static const struct kv_client_ops table = {.get = answer_get,
                                           .list = answer_list,
                                           .write = put_write,
                                           .watch = kv_lmdb_watch,
                                           .unwatch = kv_lmdb_unwatch,
                                           .flush = flush,
                                           .destroy = destroy};

struct kv_client *kv_lmdb_client_create(struct kv_lmdb *store,
                                        struct mailbox *mailbox,
                                        const struct now *now)
{
    struct kv_lmdb_client *client = calloc(1, sizeof(*client));
    int rc = MDB_READERS_FULL;

    if (!client)
        return NULL;
    client->client.ops = &table;
    client->store = store;
    client->mailbox = mailbox;
    client->now = now;
    kv_lmdb_watch_init(client);
    pthread_mutex_init(&client->mutex, NULL);
    pthread_mutex_lock(&store->clients_mutex);
    if (store->env.env && store->client_count < store->options.clients_max)
        rc = mdb_txn_begin(store->env.env, NULL, MDB_RDONLY, &client->txn);
    if (rc == 0) {
        mdb_txn_reset(client->txn);
        store->client_count++;
        list_put_last(&store->clients, &client->list_node);
    }
    pthread_mutex_unlock(&store->clients_mutex);
    if (rc != 0) {
        kv_lmdb_log_fault(client, rc);
        pthread_mutex_destroy(&client->mutex);
        free(client);
        return NULL;
    }
    return &client->client;
}
