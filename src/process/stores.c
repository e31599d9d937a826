#include "process/stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "config/certificates/upstream_trust.h"
#include "confine/folder_files.h"
#include "confine/root_files.h"
#include "handler/status/status.h"

_Static_assert((int)OPTIONS_WORKERS_MAX <= (int)KV_LMDB_CLIENTS_MAX,
               "a client for each worker");

static int explain(const char *folder, int err)
{
    fprintf(stderr, "sprintd: --kv '%s': %s\n", folder,
            err == -EBUSY    ? "another process has it open"
            : err == -EPROTO ? "its layout is of another version"
                             : root_files_explain(err));
    return err == -EACCES || err == -EPERM ? EX_NOPERM : EX_CANTCREAT;
}

/* Checks the files that LMDB will open in the folder. LMDB would hang when it
 * opens a FIFO, and would trust files of other users, although root must use
 * only its own files. */
static int check_files(const char *folder)
{
    struct folder_files_fault fault;
    int status = EX_OK;
    int fd;

    if (!identity_is_root_for_files())
        return EX_OK;
    fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1)
        return explain(folder, -errno);
    if (!folder_files_check(fd, kv_lmdb_files, true, &fault)) {
        fprintf(stderr, "sprintd: --kv '%s/%s': %s\n", folder, fault.name,
                fault.text);
        status = fault.status;
    }
    close(fd);
    return status;
}

static int make_folder(const char *folder, const struct identity *identity)
{
    int err = root_files_settle_folder(identity, folder);

    return err == 0 ? check_files(folder) : explain(folder, err);
}

/* Reads the authorities for stores over TLS. To be called while the server can
 * still read the authorities' files. */
static int open_trust(const struct options *options,
                      struct tls_trust **trust_out)
{
    struct upstream_trust_fault fault;

    if (!store_rule_any_is_tls(options) ||
        upstream_trust_open_kv(trust_out, options, &fault))
        return EX_OK;
    fprintf(stderr, "sprintd: %s\n", fault.text);
    return fault.status;
}

/* Opens the store at a URL, which looks up the names of the store's machines.
 * The URL is not logged, since it may contain a password. */
static int find_machines(struct worker_store *store, const char *url,
                         struct tls_trust *trust)
{
    struct kv_redis_options redis = {.url = url, .trust = trust};
    int err = kv_redis_open(&store->redis, &redis);

    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: --kv %.*s: %s\n", (int)store->prefix.len,
            store->prefix.data,
            err == -EHOSTUNREACH ? "no host of it has an address"
                                 : strerror(-err));
    return err == -EHOSTUNREACH ? EX_NOHOST : EX_OSERR;
}

static int make_places(struct stores *stores, const struct options *options,
                       const struct identity *identity, struct tls_trust *trust)
{
    for (size_t i = 0; i < options->kv.count; i++) {
        struct worker_store *store = &stores->items[i];
        const char *place;
        int status;

        if (store_rule_read(options->kv.items[i], &store->prefix, &place))
            return EX_USAGE; /* cannot happen: the option was checked */
        status = kv_redis_is_url(place) ? find_machines(store, place, trust)
                                        : make_folder(place, identity);
        if (status != EX_OK)
            return status;
        stores->count++;
    }
    return EX_OK;
}

int stores_make_places(struct stores *stores, const struct options *options,
                       const struct identity *identity)
{
    struct tls_trust *trust = NULL;
    int status = open_trust(options, &trust);

    if (status == EX_OK)
        status = make_places(stores, options, identity, trust);
    if (trust)
        tls_trust_release(&trust);
    for (size_t i = 0; i < options->kv_compress.count; i++) {
        int found = store_rule_find(options,
                                    bytes_of(options->kv_compress.items[i]));

        if (found >= 0) /* always so, since the option was checked */
            stores->items[found].codes_values = true;
    }
    return status;
}

int stores_open(struct stores *stores, const struct options *options)
{
    struct kv_lmdb_options lmdb = {
        .bytes_max = options->kv_bytes_max,
        .cache = {.policy = (enum evict_policy)options->kv_cache_policy,
                  .bytes_max = options->kv_cache_bytes,
                  .groups = (unsigned)options->kv_lock_groups}};

    if (store_rule_read_sync(options->kv_sync, &lmdb))
        return EX_USAGE; /* cannot happen: the option was checked */
    for (size_t i = 0; i < stores->count; i++) {
        int err;

        lmdb.path = store_rule_folder(options->kv.items[i]);
        err = lmdb.path ? kv_lmdb_open(&stores->items[i].lmdb, &lmdb) : 0;
        if (err != 0)
            return explain(lmdb.path, err);
    }
    return EX_OK;
}

/* --- Statistics ---------------------------------------------------------- */

/* Returns a word with one set bit for each number from `first` to `last`. */
static uint32_t numbers(enum stats_store_number first,
                        enum stats_store_number last)
{
    uint32_t bits = 0;

    for (unsigned number = first; number <= (unsigned)last; number++)
        bits |= STATS_STORE_NUMBER(number);
    return bits;
}

int stores_describe(const struct options *options,
                    struct stats_store_options *to, size_t *count_out)
{
    *count_out = options->kv.count;
    for (size_t i = 0; i < options->kv.count; i++) {
        struct bytes prefix;
        const char *place;

        if (store_rule_read(options->kv.items[i], &prefix, &place))
            return EX_USAGE; /* cannot happen: the option was checked */
        snprintf(to[i].prefix, sizeof(to[i].prefix), "%.*s", (int)prefix.len,
                 prefix.data);
        if (kv_redis_is_url(place)) {
            to[i].engine = "redis";
            to[i].numbers = numbers(STATS_STORE_CALLS, STATS_STORE_CONNECTS);
            continue;
        }
        to[i].engine = "lmdb";
        to[i].numbers = numbers(STATS_STORE_KEYS,
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

/* --- Handing over -------------------------------------------------------- */

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

/* --- Ending -------------------------------------------------------------- */

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
