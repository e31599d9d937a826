#include "cache/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/siphash.h"
#include "base/units.h"

/* Whether a file has an ACL. If the kernel cannot tell, the file counts as
 * having one. */
static bool has_acl(int fd)
{
    return fgetxattr(fd, "system.posix_acl_access", NULL, 0) != -1 ||
           (errno != ENODATA && errno != ENOTSUP);
}

/* Whether only this user can write to a file or folder. Clients get what is in
 * it, so nobody else may write there. An exception is root's group, unless the
 * group's bits are the mask of an ACL. */
static bool is_ours_alone(int fd, const struct stat *st)
{
    bool group_writes = st->st_mode & S_IWGRP;

    return st->st_uid == geteuid() && !(st->st_mode & S_IWOTH) &&
           (!group_writes || (st->st_gid == 0 && !has_acl(fd)));
}

int cache_folder_open(struct cache_folder *folder, const char *path)
{
    struct siphash_key random;
    struct stat st;
    int err = siphash_make_key(&random);

    *folder = (struct cache_folder){.fd = -1, .path = path};
    if (err != 0)
        return err;
    folder->run = (uint32_t)random.words[0];
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd == -1 || fstat(folder->fd, &st) == -1)
        err = -errno;
    else if (!is_ours_alone(folder->fd, &st))
        err = -EPERM;
    if (err != 0)
        cache_folder_close(folder);
    return err;
}

void cache_folder_close(struct cache_folder *folder)
{
    if (folder->fd != -1)
        close(folder->fd);
    folder->fd = -1;
}

int cache_folder_take(struct cache_folder *folder)
{
    if (flock(folder->fd, LOCK_EX | LOCK_NB) == -1)
        return -errno;
    atomic_store(&folder->is_ours, true);
    return 0;
}

void cache_folder_leave(struct cache_folder *folder)
{
    atomic_store(&folder->is_ours, false);
    flock(folder->fd, LOCK_UN);
}

static uint64_t read_ms(void)
{
    return now_read_ns() / NS_PER_MS;
}

bool cache_folder_takes(const struct cache_folder *folder)
{
    uint64_t retry_ms = atomic_load_explicit(&folder->retry_ms,
                                             memory_order_relaxed);

    return atomic_load_explicit(&folder->is_ours, memory_order_relaxed) &&
           (retry_ms == 0 || read_ms() >= retry_ms);
}

void cache_folder_note(struct cache_folder *folder, int err)
{
    if (err != 0 && !folder->is_failing)
        log_warning("proxy-cache '%s': %s; answers are not kept there until "
                    "that works again",
                    folder->path, strerror(-err));
    else if (err == 0 && folder->is_failing)
        log_notice("proxy-cache '%s': works again", folder->path);
    folder->is_failing = err != 0;
    atomic_store_explicit(&folder->retry_ms,
                          err != 0 ? read_ms() + CACHE_FOLDER_RETRY_MS : 0,
                          memory_order_relaxed);
}

/* --- Names --------------------------------------------------------------- */

uint64_t cache_folder_next_serial(struct cache_folder *folder)
{
    return (uint64_t)folder->run << 32 |
           atomic_fetch_add_explicit(&folder->serials, 1, memory_order_relaxed);
}

void cache_file_name_put(const struct cache_file_name *name, bool is_new,
                         char text[CACHE_FILE_NAME_BYTES])
{
    snprintf(text, CACHE_FILE_NAME_BYTES, "%016" PRIx64 ".%016" PRIx64 "%s",
             name->hash, name->serial, is_new ? ".new" : "");
}

static bool read_hex(uint64_t *number, const char *text)
{
    *number = 0;
    for (int i = 0; i < 16; i++) {
        char c = text[i];

        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    return true;
}

bool cache_file_name_read(struct cache_file_name *name, bool *is_new_out,
                          const char *text)
{
    size_t len = strlen(text);

    if ((len != 33 && len != 37) || text[16] != '.' ||
        !read_hex(&name->hash, text) || !read_hex(&name->serial, text + 17))
        return false;
    *is_new_out = len == 37;
    return len == 33 || strcmp(text + 33, ".new") == 0;
}
