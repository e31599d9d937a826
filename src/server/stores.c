#include "server/stores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "handler/status.h"

enum { INTERVAL_MS_MAX = 60000 };

/* --- What options say ------------------------------------------------------ */

const char *stores_read(const char *text, struct bytes *prefix_out,
                        const char **folder_out)
{
    char prefix[STATUS_PREFIX_BYTES_MAX + 2];
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : 0;

    if (!equals || equals[1] == '\0')
        return "is not PREFIX=FOLDER, such as /kv=./data";
    if (strncmp(equals + 1, "redis:", 6) == 0)
        return "names another machine, which this version cannot use";
    if (len >= sizeof(prefix))
        return "has a prefix that is too long";
    memcpy(prefix, text, len);
    prefix[len] = '\0';
    if (!status_read_prefix(prefix, prefix_out))
        return "has a prefix that is no path of letters, digits and \"-._~\"";
    prefix_out->data = text; /* which stays */
    *folder_out = equals + 1;
    return NULL;
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
    if (strncmp(text, "interval:", 9) != 0 || text[9] < '0' || text[9] > '9')
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

int stores_make_folders(const struct options *options,
                        const struct identity *identity)
{
    for (size_t i = 0; i < options->kv.count; i++) {
        struct bytes prefix;
        const char *folder;

        if (stores_read(options->kv.items[i], &prefix, &folder))
            return EX_USAGE; /* it has been checked */
        if (mkdir(folder, 0700) == -1) {
            if (errno == EEXIST)
                continue;
            return explain(folder, -errno);
        }
        if (identity && chown(folder, identity->uid, identity->gid) == -1)
            return explain(folder, -errno);
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
    for (size_t i = 0; i < options->kv.count; i++) {
        struct worker_store *store = &stores->items[i];
        int err;

        if (stores_read(options->kv.items[i], &store->prefix, &lmdb.path))
            return EX_USAGE;
        err = kv_lmdb_open(&store->lmdb, &lmdb);
        if (err != 0)
            return explain(lmdb.path, err);
        stores->count++;
    }
    return EX_OK;
}

/* --- Statistics ------------------------------------------------------------- */

int stores_describe(const struct options *options,
                    struct stats_store_options *to, size_t *count_out)
{
    static const uint32_t lmdb_figures =
        STATS_STORE_FIGURE(STATS_STORE_NUMBERS) - STATS_STORE_ALL_COUNTED - 1;

    *count_out = options->kv.count;
    for (size_t i = 0; i < options->kv.count; i++) {
        struct bytes prefix;
        const char *folder;

        if (stores_read(options->kv.items[i], &prefix, &folder))
            return EX_USAGE; /* it has been checked */
        snprintf(to[i].prefix, sizeof(to[i].prefix), "%.*s", (int)prefix.len,
                 prefix.data);
        to[i].engine = "lmdb";
        to[i].figures = lmdb_figures;
    }
    return EX_OK;
}

void stores_count(const struct stores *stores, struct stats_store *to)
{
    for (size_t i = 0; i < stores->count; i++) {
        struct kv_lmdb_counts counts;

        kv_lmdb_count(stores->items[i].lmdb, &counts);
        stats_store_set(&to[i], STATS_STORE_KEYS, counts.keys);
        stats_store_set(&to[i], STATS_STORE_MAP_BYTES, counts.map_bytes);
        stats_store_set(&to[i], STATS_STORE_USED_BYTES, counts.used_bytes);
        stats_store_set(&to[i], STATS_STORE_COMMITS, counts.commits);
        stats_store_set(&to[i], STATS_STORE_WRITES, counts.writes);
        stats_store_set(&to[i], STATS_STORE_SWEPT, counts.swept);
        stats_store_set(&to[i], STATS_STORE_QUEUE_WRITES, counts.queue_writes);
        stats_store_set(&to[i], STATS_STORE_QUEUE_BYTES, counts.queue_bytes);
    }
}

/* --- Handing over ----------------------------------------------------------- */

void stores_pause(struct stores *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        kv_lmdb_pause(stores->items[i].lmdb);
    stores->is_paused = stores->count > 0;
}

bool stores_resume(struct stores *stores)
{
    bool are_all = true;

    for (size_t i = 0; i < stores->count && stores->is_paused; i++)
        are_all &= kv_lmdb_resume(stores->items[i].lmdb) == 0;
    stores->is_paused = !are_all;
    return are_all;
}

/* --- Ending ----------------------------------------------------------------- */

void stores_stop(struct stores *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        kv_lmdb_stop(stores->items[i].lmdb);
}

void stores_close(struct stores *stores)
{
    for (size_t i = 0; i < stores->count; i++)
        kv_lmdb_close(stores->items[i].lmdb);
    stores->count = 0;
}
