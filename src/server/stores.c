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

bool stores_are_shared(const struct options *options)
{
    for (size_t i = 0; i < options->kv.count; i++)
        if (stores_folder(options->kv.items[i]))
            return false;
    return true;
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

static int make_folder(const char *folder, const struct identity *identity)
{
    if (mkdir(folder, 0700) == -1)
        return errno == EEXIST ? EX_OK : explain(folder, -errno);
    if (identity && chown(folder, identity->uid, identity->gid) == -1)
        return explain(folder, -errno);
    return EX_OK;
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

int stores_read_tokens(struct stores *stores, const struct options *options)
{
    const char *path = options->kv_token;
    struct kv_token_fault fault = {0};
    int err = path ? kv_tokens_open(&stores->tokens, path, &fault) : 0;

    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: --kv-token '%s'", path);
    if (fault.line > 0)
        fprintf(stderr, ":%u", fault.line);
    fprintf(stderr, ": %s\n", err == -EINVAL ? fault.text : strerror(-err));
    return err == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

int stores_open(struct stores *stores, const struct options *options)
{
    struct kv_lmdb_options lmdb = {.bytes_max = options->kv_bytes_max};

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
    kv_tokens_destroy(stores->tokens);
    stores->tokens = NULL;
}
