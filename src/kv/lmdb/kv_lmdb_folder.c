#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/whole_file.h"
#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    /* bytes of a reader's slot in lock.mdb: one cache line */
    READER_BYTES = 64,
    READERS_HEAD_BYTES = 4096
};

static const char lock_name[] = "sprintd.lock";
const char *const kv_lmdb_files[] = {"data.mdb", "lock.mdb", lock_name, NULL};

int kv_folder_lock(const char *path, int *fd_out)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = 0;

    *fd_out = -1;
    if (folder == -1) {
        err = -errno;
        log_error("open '%s': %s", path, strerror(-err));
        return err;
    }
    *fd_out = openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC,
                     FILE_MODE);
    if (*fd_out == -1) {
        err = -errno;
        log_error("open '%s/%s': %s", path, lock_name, strerror(-err));
    } else if (flock(*fd_out, LOCK_EX | LOCK_NB) == -1) {
        err = errno == EWOULDBLOCK ? -EBUSY : -errno;
        log_error("lock '%s/%s': %s", path, lock_name,
                  err == -EBUSY ? "another process has this store open"
                                : strerror(-err));
    }
    close(folder);
    return err;
}

int kv_folder_make(const char *path)
{
    int err;

    if (mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST)
        return 0;
    err = -errno;
    log_error("mkdir '%s': %s", path, strerror(-err));
    return err;
}

int kv_folder_sync_names(int folder)
{
    int err = whole_file_sync_folder(folder);

    return err == 0 ? whole_file_sync_folder_name(folder) : err;
}

int kv_folder_sync(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = folder == -1 ? -errno : kv_folder_sync_names(folder);

    if (folder != -1)
        close(folder);
    if (err != 0)
        log_error("sync '%s': %s", path, strerror(-err));
    return err;
}

/* Whether the file has blocks for this many bytes. */
static bool has_blocks(int fd, off_t bytes)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (off_t)st.st_blocks * 512 >= bytes;
}

/* Allocates blocks for the file's first bytes. If the file has all of its
 * blocks, ENOSPC does not count: some file systems want room even then. */
static int reserve(int fd, off_t bytes)
{
    int err = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes) == -1 ? -errno : 0;

    if (err != -ENOSPC && err != -EDQUOT)
        return 0; /* it has the blocks, or cannot preallocate */
    return has_blocks(fd, bytes) ? 0 : err;
}

int kv_folder_reserve_readers(const char *path, unsigned readers)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = 0;
    int fd = folder == -1
                 ? -1
                 : openat(folder, "lock.mdb",
                          O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);

    if (fd != -1) {
        err = reserve(fd, READERS_HEAD_BYTES + (off_t)readers * READER_BYTES);
        close(fd);
    }
    if (folder != -1)
        close(folder);
    if (err != 0)
        log_error("no room for '%s/lock.mdb': %s", path, strerror(-err));
    return err;
}

int kv_folder_open_data(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = folder == -1 ? -1
                          : openat(folder, kv_lmdb_files[0],
                                   O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (folder != -1)
        close(folder);
    return fd;
}
