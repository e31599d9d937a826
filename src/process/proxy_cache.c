#include "process/proxy_cache.h"

#include <errno.h>
#include <stdio.h>
#include <sysexits.h>

#include "confine/root_files.h"

#define MEMORY_BYTES (UINT64_C(256) << 20)
#define FOLDER_BYTES (UINT64_C(10) << 30)

const char *proxy_cache_folder(const struct options *options)
{
    return options->proxy_cache && strcmp(options->proxy_cache, "memory") != 0
               ? options->proxy_cache
               : NULL;
}

static int explain(const struct options *options, int err)
{
    bool is_others = err == -EPERM && !identity_is_root_for_files();

    fprintf(stderr, "sprintd: --proxy-cache '%s': %s\n", options->proxy_cache,
            err == -EWOULDBLOCK ? "another process has it open"
            : is_others ? "it is another user's, or others can write in it: "
                          "give it to the server's user alone (chown, chmod "
                          "go-w)"
                        : root_files_explain(err));
    return err == -EACCES || err == -EPERM ? EX_NOPERM
           : err == -EWOULDBLOCK           ? EX_UNAVAILABLE
                                           : EX_OSERR;
}

int proxy_cache_make_place(const struct options *options,
                           const struct identity *identity)
{
    const char *folder = proxy_cache_folder(options);
    int err = folder ? root_files_settle_folder(identity, folder) : 0;

    return err == 0 ? EX_OK : explain(options, err);
}

int proxy_cache_open(struct cache_store **store_out,
                     const struct options *options, size_t files_max,
                     bool is_successor)
{
    struct cache_store_options wanted = {
        .policy = (enum evict_policy)options->proxy_cache_policy,
        .bytes_max = options->proxy_cache_bytes,
        .object_max = options->proxy_cache_object_bytes,
        .files_max = files_max,
        .disk = {.folder = proxy_cache_folder(options),
                 .surrogate = bytes_of(options->proxy_name),
                 .is_awaited = is_successor}};
    int err;

    *store_out = NULL;
    if (!options->proxy_cache)
        return EX_OK;
    if (wanted.bytes_max == 0)
        wanted.bytes_max = wanted.disk.folder ? FOLDER_BYTES : MEMORY_BYTES;
    err = cache_store_create(store_out, &wanted);
    return err == 0 ? EX_OK : explain(options, err);
}
