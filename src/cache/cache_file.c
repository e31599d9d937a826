#include "cache/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/read_at.h"

#define MAGIC UINT64_C(0x3165686361637073) /* "spcache1" */

struct foot {
    uint64_t magic;
    uint64_t length;
    uint64_t head_len;
    uint64_t head_sum;
};

struct cache_file_writer {
    struct cache_folder *folder;
    struct cache_file_name name;
    int fd;
    uint64_t written;
    uint64_t *sums;
    size_t sums_max;
    XXH3_state_t *block; /* sum of the block that is being written */
};

static uint64_t count_blocks(uint64_t length)
{
    return (length + CACHE_FILE_BLOCK_BYTES - 1) / CACHE_FILE_BLOCK_BYTES;
}

/* Returns where the head begins in the file: behind the body and its sums. */
static uint64_t head_at(uint64_t length)
{
    return length + count_blocks(length) * sizeof(uint64_t);
}

static uint64_t sum_of_head(struct bytes head, uint64_t length)
{
    return XXH3_64bits_withSeed(head.data, head.len, length);
}

struct cache_file *cache_file_create(struct cache_folder *folder,
                                     const struct cache_file_name *name,
                                     uint64_t length)
{
    struct cache_file *file = calloc(1, sizeof(*file));

    if (!file)
        return NULL;
    file->folder = folder;
    file->name = *name;
    file->length = length;
    atomic_init(&file->refs, 1);
    return file;
}

struct cache_file *cache_file_acquire(struct cache_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

void cache_file_release(struct cache_file **file_ref)
{
    struct cache_file *file = *file_ref;

    *file_ref = NULL;
    if (file &&
        atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1)
        free(file);
}

/* --- Reading ------------------------------------------------------------- */

static int open_name(const struct cache_folder *folder,
                     const struct cache_file_name *name, bool is_new, int flags)
{
    char text[CACHE_FILE_NAME_BYTES];
    int fd;

    cache_file_name_put(name, is_new, text);
    fd = openat(folder->fd, text, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd == -1 ? -errno : fd;
}

int cache_file_open(const struct cache_file *file)
{
    return open_name(file->folder, &file->name, false, O_RDONLY);
}

bool cache_file_is_want(int err)
{
    return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -EINTR;
}

/* Whether a file of `size` bytes can end with that foot. */
static bool fits(const struct foot *foot, uint64_t size)
{
    return foot->magic == MAGIC && foot->length < size &&
           foot->head_len <= CACHE_FILE_HEAD_BYTES_MAX &&
           head_at(foot->length) + foot->head_len + sizeof(*foot) == size;
}

bool cache_file_read_head(int fd, struct buf *head, uint64_t *length_out)
{
    struct foot foot;
    struct stat st;
    char *to;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size < sizeof(foot) ||
        !read_at(fd, &foot, sizeof(foot),
                 (uint64_t)st.st_size - sizeof(foot)) ||
        !fits(&foot, (uint64_t)st.st_size))
        return false;
    to = buf_reserve(head, (size_t)foot.head_len);
    if (!to || !read_at(fd, to, (size_t)foot.head_len, head_at(foot.length)) ||
        sum_of_head((struct bytes){to, (size_t)foot.head_len}, foot.length) !=
            foot.head_sum)
        return false;
    head->len += (size_t)foot.head_len;
    *length_out = foot.length;
    return true;
}

bool cache_file_read_body(int fd, uint64_t length, char *to)
{
    uint64_t sum;

    if (length == 0)
        return true;
    if (!read_at(fd, to, (size_t)length + sizeof(sum), 0))
        return false;
    memcpy(&sum, to + length, sizeof(sum));
    return XXH3_64bits(to, (size_t)length) == sum;
}

bool cache_file_check_block(int fd, uint64_t length, uint64_t at, char *buffer,
                            uint64_t *end_out)
{
    uint64_t len = length - at < CACHE_FILE_BLOCK_BYTES
                       ? length - at
                       : CACHE_FILE_BLOCK_BYTES;
    uint64_t sum;

    *end_out = at + len;
    return read_at(fd, buffer, (size_t)len, at) &&
           read_at(fd, &sum, sizeof(sum),
                   length + at / CACHE_FILE_BLOCK_BYTES * sizeof(sum)) &&
           XXH3_64bits(buffer, (size_t)len) == sum;
}

/* --- Writing ------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t len, uint64_t at)
{
    const char *next = data;

    while (len > 0) {
        ssize_t n = pwrite(fd, next, len, (off_t)at);

        if (n == -1 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == -1 ? -errno : -EIO;
        next += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

/* Writes the head behind the sums, and the foot behind the head, where the file
 * ends from then on. */
static int write_head(int fd, struct bytes head, uint64_t length)
{
    struct foot foot = {.magic = MAGIC,
                        .length = length,
                        .head_len = head.len,
                        .head_sum = sum_of_head(head, length)};
    uint64_t at = head_at(length);
    int err = write_all(fd, head.data, head.len, at);

    if (err == 0)
        err = write_all(fd, &foot, sizeof(foot), at + head.len);
    if (err == 0 && ftruncate(fd, (off_t)(at + head.len + sizeof(foot))) == -1)
        err = -errno;
    return err;
}

int cache_file_change_head(const struct cache_file *file, struct bytes head)
{
    int fd = open_name(file->folder, &file->name, false, O_WRONLY);
    int err = fd < 0 ? fd : write_head(fd, head, file->length);

    if (fd >= 0)
        close(fd);
    return err;
}

void cache_file_remove(const struct cache_folder *folder,
                       const struct cache_file_name *name, bool is_new)
{
    char text[CACHE_FILE_NAME_BYTES];

    if (!atomic_load(&folder->is_ours))
        return;
    cache_file_name_put(name, is_new, text);
    unlinkat(folder->fd, text, 0);
}

int cache_file_begin(struct cache_file_writer **writer_out,
                     struct cache_folder *folder)
{
    struct cache_file_writer *writer = calloc(1, sizeof(*writer));
    int err = -ENOMEM;

    if (!writer)
        return err;
    writer->folder = folder;
    writer->name.serial = cache_folder_next_serial(folder);
    writer->fd = -1;
    writer->block = XXH3_createState();
    if (writer->block) {
        XXH3_64bits_reset(writer->block);
        writer->fd = open_name(folder, &writer->name, true,
                               O_RDWR | O_CREAT | O_EXCL);
        err = writer->fd < 0 ? writer->fd : 0;
    }
    if (err == 0)
        *writer_out = writer;
    else
        cache_file_writer_destroy(writer);
    return err;
}

/* Keeps the sum of the block that has just become complete. */
static int put_sum(struct cache_file_writer *writer)
{
    size_t at = (size_t)count_blocks(writer->written) - 1;

    if (at >= writer->sums_max) {
        size_t more = writer->sums_max > 0 ? 2 * writer->sums_max : 4;
        uint64_t *sums = realloc(writer->sums, more * sizeof(*sums));

        if (!sums)
            return -ENOMEM;
        writer->sums = sums;
        writer->sums_max = more;
    }
    writer->sums[at] = XXH3_64bits_digest(writer->block);
    XXH3_64bits_reset(writer->block);
    return 0;
}

static uint64_t block_left(const struct cache_file_writer *writer)
{
    return CACHE_FILE_BLOCK_BYTES - writer->written % CACHE_FILE_BLOCK_BYTES;
}

int cache_file_put(struct cache_file_writer *writer, struct bytes data)
{
    int err = write_all(writer->fd, data.data, data.len, writer->written);

    while (err == 0 && data.len > 0) {
        uint64_t left = block_left(writer);
        size_t len = data.len < left ? data.len : (size_t)left;

        XXH3_64bits_update(writer->block, data.data, len);
        writer->written += len;
        data.data += len;
        data.len -= len;
        if (len == left)
            err = put_sum(writer);
    }
    return err;
}

int cache_file_writer_fd(const struct cache_file_writer *writer)
{
    return writer->fd;
}

static int rename_to(const struct cache_file_writer *writer,
                     const struct cache_file_name *name)
{
    char from[CACHE_FILE_NAME_BYTES], to[CACHE_FILE_NAME_BYTES];
    int dir = writer->folder->fd;

    cache_file_name_put(&writer->name, true, from);
    cache_file_name_put(name, false, to);
    return renameat(dir, from, dir, to) == -1 ? -errno : 0;
}

int cache_file_end(struct cache_file_writer *writer, struct bytes head,
                   uint64_t hash, struct cache_file **file_out)
{
    struct cache_file_name name = {.hash = hash, .serial = writer->name.serial};
    uint64_t length = writer->written;
    struct cache_file *file = cache_file_create(writer->folder, &name, length);
    int err = file ? 0 : -ENOMEM;

    if (err == 0 && length % CACHE_FILE_BLOCK_BYTES > 0)
        err = put_sum(writer);
    if (err == 0)
        err = write_all(writer->fd, writer->sums,
                        (size_t)(head_at(length) - length), length);
    if (err == 0)
        err = write_head(writer->fd, head, length);
    if (err == 0)
        err = rename_to(writer, &name);
    if (err != 0) {
        cache_file_release(&file);
        return err;
    }
    atomic_store(&file->is_verified, true);
    close(writer->fd);
    writer->fd = -1;
    *file_out = file;
    return 0;
}

void cache_file_writer_destroy(struct cache_file_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0) {
        close(writer->fd);
        cache_file_remove(writer->folder, &writer->name, true);
    }
    XXH3_freeState(writer->block);
    free(writer->sums);
    free(writer);
}
