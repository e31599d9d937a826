#include "unit/files/file_cache_fixture.h"

#include <time.h>

#include "unit/small_cache.h"
#include "wrap.h"

/* --- System calls -------------------------------------------------------- */

unsigned stats;
void (*after_pread)(void);

WRAP(int, fstatat, int fd, const char *name, struct stat *st, int flags)
{
    stats++;
    return __real_fstatat(fd, name, st, flags);
}

WRAP(ssize_t, pread, int fd, void *to, size_t len, off_t offset)
{
    ssize_t n = __real_pread(fd, to, len, offset);

    if (after_pread)
        after_pread();
    return n;
}

/* --- A cache ------------------------------------------------------------- */

struct place place;
static struct docroot root;
static struct mime *mime;
struct now now;
struct file_cache_options options;
struct file_space space;
struct file_cache *cache;

void remake(void)
{
    file_cache_destroy(cache);
    cache = file_cache_create(&options);
    assert_non_null(cache);
}

int set_up(void **state)
{
    struct timespec time;

    (void)state;
    lookup_failures_left = 0;
    after_pread = NULL;
    mime = mime_create(NULL);
    if (!mime || place_open(&place) != 0)
        return -1;
    if (docroot_open(&root, place.name, false) != 0)
        return -1;
    /* Whatever a test writes is old already. */
    clock_gettime(CLOCK_REALTIME, &time);
    now = (struct now){.mono_ms = 1000000, .wall_s = time.tv_sec + 1000};
    now.wall_ns = now.wall_s * 1000000000;
    space = (struct file_space){.root = &root, .index = "index.html"};
    options = small_cache(mime, &now);
    options.snapshot_bytes = SNAPSHOT_BYTES;
    cache = file_cache_create(&options);
    return cache ? 0 : -1;
}

int tear_down(void **state)
{
    (void)state;
    file_cache_destroy(cache);
    cache = NULL;
    docroot_close(&root);
    mime_destroy(mime);
    return place_close_tidy(&place);
}

struct file_entry *acquire_coded(const char *path, enum coding coding)
{
    struct file_entry *entry = file_cache_acquire(cache, &space, bytes_of(path),
                                                  coding);

    assert_non_null(entry);
    assert_int_equal(entry->coding, coding);
    return entry;
}

struct file_entry *acquire(const char *path)
{
    return acquire_coded(path, CODING_IDENTITY);
}

enum file_kind kind_of(const char *path)
{
    struct file_entry *entry = acquire(path);
    enum file_kind kind = entry->kind;

    file_entry_release(entry);
    return kind;
}

void pass_check(void)
{
    now.mono_ms += FILE_CACHE_CHECK_MS;
}

void write_file(const char *name, const char *text)
{
    assert_int_equal(place_write(&place, name, text), 0);
}

void write_zeros(const char *name, off_t bytes)
{
    write_file(name, "");
    assert_int_equal(truncate(place_path(&place, name), bytes), 0);
}

void assert_body(const struct file_entry *entry, const char *expected)
{
    struct bytes body = file_entry_body(entry);

    assert_int_equal(entry->kind, FILE_REGULAR);
    assert_true(entry->is_snapshot);
    assert_int_equal(body.len, strlen(expected));
    assert_memory_equal(body.data, expected, body.len);
}

void assert_serves(const char *path, const char *expected)
{
    struct file_entry *entry = acquire(path);

    assert_body(entry, expected);
    file_entry_release(entry);
}
