/*
 * cache_place - a file cache over a temporary root, with a clock that the
 * test moves and system calls that are counted and may fail.
 *
 * Who includes it links with --wrap=syscall,fstatat,pread,malloc,calloc.
 */
#ifndef UNIT_CACHE_PLACE_H
#define UNIT_CACHE_PLACE_H

#include "backend/file_cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#include "../place.h"

enum { SNAPSHOT_BYTES = 100 };

/* --- System calls --------------------------------------------------------------- */

static unsigned lookups; /* by openat2 */
static unsigned stats;   /* by name */
static int lookup_errno;
static unsigned lookup_failures_left;
static void (*after_pread)(void);
static bool has_memory = true;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list args;
    int dir;
    const char *path;
    void *how;
    size_t size;

    va_start(args, number);
    dir = va_arg(args, int);
    path = va_arg(args, const char *);
    how = va_arg(args, void *);
    size = va_arg(args, size_t);
    va_end(args);
    lookups++;
    if (lookup_failures_left == 0)
        return __real_syscall(number, dir, path, how, size);
    lookup_failures_left--;
    errno = lookup_errno;
    return -1;
}

int __real_fstatat(int fd, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int fd, const char *name, struct stat *st, int flags)
{
    stats++;
    return __real_fstatat(fd, name, st, flags);
}

ssize_t __real_pread(int fd, void *to, size_t len, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t len, off_t offset)
{
    ssize_t n = __real_pread(fd, to, len, offset);

    if (after_pread)
        after_pread();
    return n;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return has_memory ? __real_malloc(bytes) : NULL;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return has_memory ? __real_calloc(count, bytes) : NULL;
}

/* --- A cache ----------------------------------------------------------------------- */

static struct place place;
static struct docroot root;
static struct mime *mime;
static struct now now;
static struct file_cache_options options;
static struct file_space space;
static struct file_cache *cache;
static unsigned fds_before;

/* Makes the cache anew, as options say. */
static inline void remake(void)
{
    file_cache_destroy(cache);
    cache = file_cache_create(&options);
    assert_non_null(cache);
}

static inline int set_up(void **state)
{
    struct timespec time;

    (void)state;
    lookup_failures_left = 0;
    after_pread = NULL;
    mime = mime_create(NULL);
    if (!mime || place_open(&place) != 0)
        return -1;
    fds_before = place_count_fds();
    if (docroot_open(&root, place.name, false) != 0)
        return -1;
    /* Whatever a test writes is old already. */
    clock_gettime(CLOCK_REALTIME, &time);
    now = (struct now){.mono_ms = 1000000, .wall_s = time.tv_sec + 1000};
    now.wall_ns = now.wall_s * 1000000000;
    space = (struct file_space){.root = &root, .index = "index.html"};
    options = (struct file_cache_options){.mime = mime,
                                          .style = {.now = &now},
                                          .policy = EVICT_SIEVE,
                                          .bytes_max = 1 << 20,
                                          .entries_max = 100,
                                          .descriptors_max = 10,
                                          .snapshot_bytes = SNAPSHOT_BYTES};
    cache = file_cache_create(&options);
    return cache ? 0 : -1;
}

/* No descriptor may be left open. */
static inline int tear_down(void **state)
{
    bool is_tidy;

    (void)state;
    file_cache_destroy(cache);
    cache = NULL;
    docroot_close(&root);
    mime_destroy(mime);
    is_tidy = place_count_fds() == fds_before;
    return place_close(&place) == 0 && is_tidy ? 0 : -1;
}

static inline struct file_entry *acquire_coded(const char *path,
                                               enum coding coding)
{
    struct file_entry *entry = file_cache_acquire(cache, &space, bytes_of(path),
                                                  coding);

    assert_non_null(entry);
    assert_int_equal(entry->coding, coding);
    return entry;
}

static inline struct file_entry *acquire(const char *path)
{
    return acquire_coded(path, CODING_IDENTITY);
}

static inline enum file_kind kind_of(const char *path)
{
    struct file_entry *entry = acquire(path);
    enum file_kind kind = entry->kind;

    file_entry_release(entry);
    return kind;
}

/* Time goes by until entries must be checked again. */
static inline void pass_check(void)
{
    now.mono_ms += FILE_CACHE_CHECK_MS;
}

static inline void write_file(const char *name, const char *text)
{
    assert_int_equal(place_write(&place, name, text), 0);
}

/* A file of so many bytes, all zero. */
static inline void write_zeros(const char *name, off_t bytes)
{
    write_file(name, "");
    assert_int_equal(truncate(place_path(&place, name), bytes), 0);
}

static inline void assert_body(const struct file_entry *entry,
                               const char *expected)
{
    struct bytes body = file_entry_body(entry);

    assert_int_equal(entry->kind, FILE_REGULAR);
    assert_true(entry->is_snapshot);
    assert_int_equal(body.len, strlen(expected));
    assert_memory_equal(body.data, expected, body.len);
}

static inline void assert_serves(const char *path, const char *expected)
{
    struct file_entry *entry = acquire(path);

    assert_body(entry, expected);
    file_entry_release(entry);
}

#endif
