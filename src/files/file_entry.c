#include "files/file_entry_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "http/date.h"
#include "http/http1/http1.h"
#include "http/http1/http1_frame.h"

enum {
    SNAPSHOT_TRIES = 3,
    NAME_BYTES_MAX = FILE_NAME_BYTES_MAX + sizeof(".zst"),
    /* Kernels before 6.13 stamp files by the tick, up to 10 ms, and some file
     * systems more coarsely. Two changes within this time may have the same
     * stamp. */
    YOUNG_NS = 100000000
};

/* Writes the name of a file below the root, made of a path, an index and a
 * coding. Returns false when the name is too long. */
static bool make_name(char name[NAME_BYTES_MAX], struct bytes path,
                      const char *index, enum coding coding)
{
    struct bytes suffix = coding_suffix(coding);
    size_t index_len = strlen(index);
    struct buf to;

    buf_init(&to, name, NAME_BYTES_MAX, NAME_BYTES_MAX);
    buf_put(&to, (struct bytes){path.data + 1, path.len - 1});
    buf_put(&to, (struct bytes){index, index_len});
    buf_put(&to, suffix);
    buf_put(&to, (struct bytes){"", 1});
    return !to.failed;
}

static const char *index_of(const struct file_space *space, struct bytes path)
{
    return path.data[path.len - 1] == '/' ? space->index : "";
}

unsigned file_entry_find_siblings(const struct file_entry *entry)
{
    struct bytes path = {entry->path, entry->path_len};
    unsigned siblings = 0;

    if (entry->coding != CODING_IDENTITY)
        return 0;

    for (int coding = CODING_IDENTITY + 1; coding < CODING_COUNT; coding++) {
        char name[NAME_BYTES_MAX];
        struct stat st;

        if (make_name(name, path, index_of(entry->space, path),
                      (enum coding)coding) &&
            docroot_stat(entry->space->root, name, &st) == 0 &&
            S_ISREG(st.st_mode))
            siblings |= 1u << coding;
    }
    return siblings;
}

static enum file_kind kind_of_error(int err)
{
    switch (err) {
    case -ENOENT:
    case -ENOTDIR:
    case -ENAMETOOLONG:
        return FILE_MISSING;
    case -EACCES:
    case -EPERM:
    case -EXDEV:
    case -ELOOP:
        return FILE_FORBIDDEN;
    default:
        return FILE_BROKEN;
    }
}

/* --- The head ----------------------------------------------------------- */

struct bytes file_entry_head(struct file_entry *entry, const struct now *now)
{
    if (entry->dated_s != now->wall_s) {
        date_format_now(now->wall_s, entry->block + HTTP1_CACHED_DATE_AT);
        entry->dated_s = now->wall_s;
    }
    return (struct bytes){entry->block, entry->head_len};
}

/* --- The body ----------------------------------------------------------- */

static bool read_all(int fd, char *to, size_t len)
{
    size_t at = 0;

    while (at < len) {
        ssize_t n = pread(fd, to + at, len - at, (off_t)at);

        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* Reads the body of one version, and writes its head. Returns false when there
 * is no memory. A file that keeps changing meanwhile becomes no snapshot, and
 * is sent by sendfile. */
static bool take_snapshot(struct file_entry *entry,
                          const struct file_cache_options *options)
{
    for (int tries = 0; tries < SNAPSHOT_TRIES; tries++) {
        struct file_stamp before = entry->stamp;
        size_t bytes = (size_t)before.bytes;
        struct stat st;

        if (bytes > options->snapshot_bytes)
            break;
        if (!file_entry_write_block(entry, options, bytes))
            return false;
        if (read_all(entry->fd, entry->block + entry->head_len + 2, bytes) &&
            fstat(entry->fd, &st) == 0) {
            entry->stamp = file_stamp_of(&st);
            if (file_stamp_eq(&before, &entry->stamp)) {
                entry->is_snapshot = true;
                close(entry->fd);
                entry->fd = -1;
                return true;
            }
        } else if (fstat(entry->fd, &st) == 0) {
            entry->stamp = file_stamp_of(&st);
        }
    }
    return file_entry_write_block(entry, options, 0);
}

static bool map_body(struct file_entry *entry,
                     const struct file_cache_options *options)
{
    if (entry->stamp.bytes > 0) {
        void *map = mmap(NULL, (size_t)entry->stamp.bytes, PROT_READ,
                         MAP_SHARED, entry->fd, 0);

        if (map == MAP_FAILED)
            return false;
        entry->map = map;
    }
    return file_entry_write_block(entry, options, 0);
}

static bool load_body(struct file_entry *entry,
                      const struct file_cache_options *options)
{
    switch (options->send_method) {
    case SEND_AUTO:
        return take_snapshot(entry, options);
    case SEND_MMAP:
        return map_body(entry, options);
    case SEND_SENDFILE:
    case SEND_READ:
        return file_entry_write_block(entry, options, 0);
    }
    return false;
}

/* --- Coming and going --------------------------------------------------- */

/* Opens what the path leads to: the file, the index of a directory, or the
 * directory. Returns a descriptor or -errno. */
static int open_path(const struct file_space *space, struct bytes path,
                     enum coding coding, struct stat *st)
{
    const char *index = index_of(space, path);
    char name[NAME_BYTES_MAX];
    int fd;

    if (!make_name(name, path, index, coding))
        return -ENAMETOOLONG;
    fd = docroot_open_file(space->root, name, st);
    if (*index == '\0' || coding != CODING_IDENTITY)
        return fd;
    if (fd >= 0 && S_ISDIR(st->st_mode)) { /* a directory has the index's
                                              name */
        close(fd);
        fd = -ENOENT;
    }
    if (fd != -ENOENT)
        return fd;
    return make_name(name, path, "", coding)
               ? docroot_open_file(space->root, name, st)
               : -ENAMETOOLONG;
}

struct file_entry *file_entry_create(const struct file_space *space,
                                     struct bytes path, enum coding coding,
                                     uint64_t now_ms)
{
    struct file_entry *entry = calloc(1, sizeof(*entry) + path.len + 1);

    if (!entry)
        return NULL;
    entry->space = space;
    entry->fd = -1;
    entry->refs = 1;
    entry->coding = coding;
    entry->checked_ms = entry->siblings_checked_ms = now_ms;
    entry->path_len = path.len;
    memcpy(entry->path, path.data, path.len);
    return entry;
}

/* Returns the codings in which variants of the file may be made. There are none
 * if the cache keeps nothing: a variant would be gone before it is sent. */
static unsigned find_codable(const struct file_entry *entry,
                             const struct file_cache_options *options)
{
    const struct compress_rules *rules = entry->space->compress;

    return rules && options->compressor && options->bytes_max > 0 &&
                   options->entries_max > 0 &&
                   entry->coding == CODING_IDENTITY &&
                   entry->stamp.bytes >= rules->bytes_min &&
                   entry->stamp.bytes <= rules->bytes_max &&
                   compress_rules_take(rules, entry->type)
               ? rules->codings
               : 0;
}

/* Finds the file's rules for dictionaries. They go by the path by which clients
 * know the file. */
static void find_dictionaries(struct file_entry *entry,
                              const struct file_cache_options *options)
{
    const struct dictionary_rules *rules = entry->space->dictionaries;
    struct bytes prefix = entry->space->prefix;
    char storage[NAME_BYTES_MAX];
    struct buf path;

    if (!rules || !options->dictionaries || !options->compressor)
        return;
    buf_init(&path, storage, sizeof(storage), sizeof(storage));
    buf_put(&path, prefix);
    buf_put(&path, (struct bytes){entry->path, entry->path_len});
    if (path.failed)
        return;
    if (entry->stamp.bytes > 0 && entry->stamp.bytes <= DICTIONARY_BYTES_MAX)
        entry->dictionary_made = dictionary_rules_find_made(rules,
                                                            buf_bytes(&path));
    if (options->bytes_max > 0 && options->entries_max > 0 &&
        entry->stamp.bytes >= FILE_DELTA_BYTES_MIN &&
        entry->stamp.bytes <= DICTIONARY_BYTES_MAX)
        entry->dictionary_used = dictionary_rules_find_used(rules,
                                                            buf_bytes(&path));
    if (entry->dictionary_used && entry->coding == CODING_IDENTITY)
        entry->codable |= 1u << CODING_DCZ;
}

static bool load_regular(struct file_entry *entry,
                         const struct file_cache_options *options,
                         const struct stat *st)
{
    struct bytes path = {entry->path, entry->path_len};
    int64_t age_ns;

    entry->kind = FILE_REGULAR;
    entry->stamp = file_stamp_of(st);
    entry->type = file_space_type(entry->space, options->mime, path);
    entry->type = head_edits_type(entry->space->edits, entry->type);
    entry->siblings = file_entry_find_siblings(entry);
    entry->codable = find_codable(entry, options);
    find_dictionaries(entry, options);
    if (!load_body(entry, options))
        return false;
    if (entry->codable != 0 && file_head_forbids_coding(entry))
        entry->codable = 0;
    age_ns = options->defaults.now->wall_ns - entry->stamp.changed_ns;
    entry->is_young = age_ns < YOUNG_NS;
    return true;
}

struct file_entry *file_entry_load(const struct file_cache_options *options,
                                   const struct file_space *space,
                                   struct bytes path, enum coding coding,
                                   bool *exhausted_out)
{
    struct file_entry *entry =
        file_entry_create(space, path, coding, options->defaults.now->mono_ms);
    struct stat st;

    *exhausted_out = false;
    if (!entry)
        return NULL;
    entry->fd = open_path(space, path, coding, &st);
    if (entry->fd < 0) {
        *exhausted_out = entry->fd == -EMFILE || entry->fd == -ENFILE;
        entry->kind = kind_of_error(entry->fd);
        entry->fd = -1;
        return entry;
    }
    if (S_ISDIR(st.st_mode)) {
        entry->kind = FILE_DIRECTORY;
        close(entry->fd);
        entry->fd = -1;
    } else if (!load_regular(entry, options, &st)) {
        file_entry_release(entry);
        return NULL;
    }
    return entry;
}

bool file_entry_is_fresh(const struct file_entry *entry)
{
    struct bytes path = {entry->path, entry->path_len};
    char name[NAME_BYTES_MAX];
    struct file_stamp stamp;
    struct stat st;

    if (entry->kind != FILE_REGULAR || entry->is_young ||
        !make_name(name, path, index_of(entry->space, path), entry->coding) ||
        docroot_stat(entry->space->root, name, &st) != 0)
        return false;
    stamp = file_stamp_of(&st);
    return file_stamp_eq(&stamp, &entry->stamp);
}

bool file_entry_is_intact(const struct file_entry *entry)
{
    struct stat st;
    struct file_stamp stamp;

    if (file_entry_is_resident(entry))
        return true;
    if (fstat(entry->fd, &st) == -1)
        return false;
    /* The change time is not compared: renaming or removing the file changes
     * it, but the open file has the bytes that were announced. */
    stamp = file_stamp_of(&st);
    return stamp.bytes == entry->stamp.bytes &&
           stamp.modified_ns == entry->stamp.modified_ns;
}

void file_entry_release(struct file_entry *entry)
{
    if (!entry || --entry->refs > 0)
        return;
    if (entry->map)
        munmap((void *)(uintptr_t)entry->map, (size_t)entry->stamp.bytes);
    if (entry->fd >= 0)
        close(entry->fd);
    coded_body_release(entry->coded);
    free(entry->variants);
    free(entry->coded_head.data);
    free(entry->block);
    free(entry);
}
