#include "server/stores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "handler/status.h"
#include "server/root_files.h"

enum { INTERVAL_MS_MAX = 60000 };

/* --- What options say ------------------------------------------------------ */

const char *stores_read(const char *text, struct bytes *prefix_out,
                        const char **place_out)
{
    char prefix[STATUS_PREFIX_BYTES_MAX + 2];
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : 0;

    if (!equals || equals[1] == '\0')
        return "is not PREFIX=FOLDER, such as /kv=./data";
    if (len >= sizeof(prefix))
        return "has a prefix that is too long";
    memcpy(prefix, text, len);
    prefix[len] = '\0';
    if (!status_read_prefix(prefix, prefix_out))
        return "has a prefix that is no path of letters, digits and \"-._~\"";
    prefix_out->data = text; /* which stays */
    *place_out = equals + 1;
    return kv_redis_is_url(equals + 1) ? kv_redis_check(equals + 1) : NULL;
}

const char *stores_folder(const char *text)
{
    const char *place = strchr(text, '=') + 1;

    return kv_redis_is_url(place) ? NULL : place;
}

bool stores_are_remote(const struct options *options)
{
    for (size_t i = 0; i < options->kv.count; i++)
        if (!stores_folder(options->kv.items[i]))
            return true;
    return false;
}

const char *stores_read_sync(const char *text, struct kv_lmdb_options *to)
{
    static const char fault[] =
        "is none of full, off and interval:MS, with at most 60000";
    char *end;
    unsigned long ms;

    if (strcmp(text, "full") == 0) {
        to->sync = KV_SYNC_FULL;
        return NULL;
    }
    if (strcmp(text, "off") == 0) {
        to->sync = KV_SYNC_OFF;
        return NULL;
    }
    if (strncmp(text, "interval:", 9) != 0 || !byte_is_digit(text[9]))
        return fault;
    ms = strtoul(text + 9, &end, 10);
    if (*end != '\0' || ms == 0 || ms > INTERVAL_MS_MAX)
        return fault;
    to->sync = KV_SYNC_INTERVAL;
    to->sync_interval_ms = (unsigned)ms;
    return NULL;
}

/* --- Opening ---------------------------------------------------------------- */

static int explain(const char *folder, int err)
{
    fprintf(stderr, "sprintd: --kv '%s': %s\n", folder,
            err == -EBUSY    ? "another process has it open"
            : err == -EPROTO ? "its layout is of another version"
                             : strerror(-err));
    return err == -EACCES || err == -EPERM ? EX_NOPERM : EX_CANTCREAT;
}

static int make_folder(const char *folder, const struct identity *identity)
{
    int err = root_files_make_folder(identity, folder);

    return err == 0 || err == -EEXIST ? EX_OK : explain(folder, err);
}

/* The URL may hold a password, so it is not told. */
static int find_machines(struct worker_store *store, const char *url)
{
    struct kv_redis_options redis = {.url = url};
    int err = kv_redis_open(&store->redis, &redis);

    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: --kv %.*s: %s\n", (int)store->prefix.len,
            store->prefix.data,
            err == -EHOSTUNREACH ? "no host of it has an address"
                                 : strerror(-err));
    return err == -EHOSTUNREACH ? EX_NOHOST : EX_OSERR;
}

int stores_make_places(struct stores *stores, const struct options *options,
                       const struct identity *identity)
{
    for (size_t i = 0; i < options->kv.count; i++) {
        struct worker_store *store = &stores->items[i];
        const char *place;
        int status;

        if (stores_read(options->kv.items[i], &store->prefix, &place))
            return EX_USAGE; /* it has been checked */
        status = kv_redis_is_url(place) ? find_machines(store, place)
                                        : make_folder(place, identity);
        if (status != EX_OK)
            return status;
        stores->count++;
    }
    return EX_OK;
}

int stores_open(struct stores *stores, const struct options *options)
{
    struct kv_lmdb_options lmdb = {
        .bytes_max = options->kv_bytes_max,
        .cache = {.policy = (enum evict_policy)options->kv_cache_policy,
                  .bytes_max = options->kv_cache_bytes,
                  .groups = (unsigned)options->kv_lock_groups}};

    if (stores_read_sync(options->kv_sync, &lmdb))
        return EX_USAGE; /* it has been checked */
    for (size_t i = 0; i < stores->count; i++) {
        int err;

        lmdb.path = stores_folder(options->kv.items[i]);
        err = lmdb.path ? kv_lmdb_open(&stores->items[i].lmdb, &lmdb) : 0;
        if (err != 0)
            return explain(lmdb.path, err);
    }
    return EX_OK;
}

/* --- Statistics ------------------------------------------------------------- */

/* The figures from first to last. */
static uint32_t figures(enum stats_store_number first,
                        enum stats_store_number last)
{
    uint32_t bits = 0;

    for (unsigned number = first; number <= (unsigned)last; number++)
        bits |= STATS_STORE_FIGURE(number);
    return bits;
}

int stores_describe(const struct options *options,
                    struct stats_store_options *to, size_t *count_out)
{
    *count_out = options->kv.count;
    for (size_t i = 0; i < options->kv.count; i++) {
        struct bytes prefix;
        const char *place;

        if (stores_read(options->kv.items[i], &prefix, &place))
            return EX_USAGE; /* it has been checked */
        snprintf(to[i].prefix, sizeof(to[i].prefix), "%.*s", (int)prefix.len,
                 prefix.data);
        if (kv_redis_is_url(place)) {
            to[i].engine = "redis";
            to[i].figures = figures(STATS_STORE_CALLS, STATS_STORE_CONNECTS);
            continue;
        }
        to[i].engine = "lmdb";
        to[i].figures = figures(STATS_STORE_KEYS,
                                options->kv_cache_bytes > 0
                                    ? STATS_STORE_CACHE_BYTES
                                    : STATS_STORE_QUEUE_BYTES);
    }
    return EX_OK;
}

static void count_lmdb(struct kv_lmdb *lmdb, struct stats_store *to)
{
    struct kv_lmdb_counts counts;

    kv_lmdb_count(lmdb, &counts);
    stats_store_set(to, STATS_STORE_KEYS, counts.keys);
    stats_store_set(to, STATS_STORE_MAP_BYTES, counts.map_bytes);
    stats_store_set(to, STATS_STORE_USED_BYTES, counts.used_bytes);
    stats_store_set(to, STATS_STORE_COMMITS, counts.commits);
    stats_store_set(to, STATS_STORE_WRITES, counts.writes);
    stats_store_set(to, STATS_STORE_SWEPT, counts.swept);
    stats_store_set(to, STATS_STORE_QUEUE_WRITES, counts.queue_writes);
    stats_store_set(to, STATS_STORE_QUEUE_BYTES, counts.queue_bytes);
    stats_store_set(to, STATS_STORE_CACHE_HITS, counts.cache.hits);
    stats_store_set(to, STATS_STORE_CACHE_MISSES, counts.cache.misses);
    stats_store_set(to, STATS_STORE_CACHE_EVICTIONS, counts.cache.evictions);
    stats_store_set(to, STATS_STORE_CACHE_BYTES, counts.cache.bytes);
}

static void count_redis(const struct kv_redis *redis, struct stats_store *to)
{
    struct kv_redis_counts counts;

    kv_redis_count(redis, &counts);
    stats_store_set(to, STATS_STORE_CALLS, counts.calls);
    stats_store_set(to, STATS_STORE_RESENT,
                    counts.redirected + counts.repeated);
    stats_store_set(to, STATS_STORE_TIMEOUTS, counts.timeouts);
    stats_store_set(to, STATS_STORE_UNREACHABLE, counts.unreachable);
    stats_store_set(to, STATS_STORE_CONNECTS, counts.connects);
}

void stores_count(const struct stores *stores, struct stats_store *to)
{
    for (size_t i = 0; i < stores->count; i++)
        if (stores->items[i].lmdb)
            count_lmdb(stores->items[i].lmdb, &to[i]);
        else if (stores->items[i].redis)
            count_redis(stores->items[i].redis, &to[i]);
}

/* --- Handing over ----------------------------------------------------------- */

void stores_pause(struct stores *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        if (stores->items[i].lmdb)
            kv_lmdb_pause(stores->items[i].lmdb);
    stores->is_paused = stores->count > 0;
}

bool stores_resume(struct stores *stores)
{
    bool are_all = true;

    for (size_t i = 0; i < stores->count && stores->is_paused; i++)
        if (stores->items[i].lmdb)
            are_all &= kv_lmdb_resume(stores->items[i].lmdb) == 0;
    stores->is_paused = !are_all;
    return are_all;
}

/* --- Ending ----------------------------------------------------------------- */

void stores_stop(struct stores *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        if (stores->items[i].lmdb)
            kv_lmdb_stop(stores->items[i].lmdb);
}

void stores_close(struct stores *stores)
{
    for (size_t i = 0; i < OPTIONS_KV_MAX; i++) {
        kv_lmdb_close(stores->items[i].lmdb);
        kv_redis_close(stores->items[i].redis);
        stores->items[i] = (struct worker_store){.lmdb = NULL};
    }
    stores->count = 0;
}
