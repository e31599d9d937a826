#include "config/store_rule.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "handler/status/status.h"
#include "kv/redis/kv_redis.h"

enum { INTERVAL_MS_MAX = 60000 };

const char *store_rule_read(const char *text, struct bytes *prefix_out,
                            const char **where_out)
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
    prefix_out->data = text; /* the array `prefix` does not stay */
    *where_out = equals + 1;
    return kv_redis_is_url(equals + 1) ? kv_redis_check(equals + 1) : NULL;
}

int store_rule_find(const struct options *options, struct bytes prefix)
{
    for (size_t i = 0; i < options->kv.count; i++) {
        struct bytes found;
        const char *where;

        if (!store_rule_read(options->kv.items[i], &found, &where) &&
            bytes_eq(found, prefix))
            return (int)i;
    }
    return -1;
}

/* Whether both paths are the same folder. Folders that do not exist yet are
 * compared by name. */
static bool is_same_folder(const char *one, const char *other)
{
    struct stat first, second;

    if (!one || !other)
        return false;
    if (stat(one, &first) == -1 || stat(other, &second) == -1)
        return strcmp(one, other) == 0;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

const char *store_rule_check(const struct options *options, size_t *number_out)
{
    const struct texts *rules = &options->kv;
    struct bytes prefix, other;
    const char *where;

    for (size_t i = 0; i < rules->count; i++) {
        *number_out = i;
        if (store_rule_read(rules->items[i], &prefix, &where))
            continue; /* reported elsewhere */
        if (bytes_eq(prefix, options->status))
            return "has the prefix of status";
        for (size_t k = 0; k < i; k++) {
            if (store_rule_read(rules->items[k], &other, &where))
                continue;
            if (bytes_eq(prefix, other))
                return "has the prefix of another store";
            if (is_same_folder(store_rule_folder(rules->items[i]),
                               store_rule_folder(rules->items[k])))
                return "has the folder of another store";
        }
    }
    return NULL;
}

const char *store_rule_folder(const char *text)
{
    const char *where = strchr(text, '=') + 1;

    return kv_redis_is_url(where) ? NULL : where;
}

bool store_rule_any_is_remote(const struct options *options)
{
    for (size_t i = 0; i < options->kv.count; i++)
        if (!store_rule_folder(options->kv.items[i]))
            return true;
    return false;
}

bool store_rule_any_is_tls(const struct options *options)
{
    for (size_t i = 0; i < options->kv.count; i++) {
        const char *equals = strchr(options->kv.items[i], '=');

        if (equals && kv_redis_is_tls(equals + 1))
            return true;
    }
    return false;
}

const char *store_rule_read_sync(const char *text, struct kv_lmdb_options *to)
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
