/* link: -Wl,--wrap=malloc,--wrap=read,--wrap=fstat */
#include "io/small_file.h"

#include "suite.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "wrap.h"

static struct place place;
static struct small_file file;
static int fstat_errno, read_errno; /* 0: none */
static int interruptions;           /* before the next read */
static size_t read_max;             /* at a time */
static int growing_fd;              /* one more byte at every read; -1: none */

WRAP(int, fstat, int fd, struct stat *st)
{
    errno = fstat_errno;
    return fstat_errno != 0 ? -1 : __real_fstat(fd, st);
}

WRAP(ssize_t, read, int fd, void *data, size_t size)
{
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if (read_errno != 0) {
        errno = read_errno;
        return -1;
    }
    if (growing_fd != -1)
        assert_int_equal(write(growing_fd, "x", 1), 1);
    return __real_read(fd, data, size < read_max ? size : read_max);
}

static int set_up(void **state)
{
    (void)state;
    file = (struct small_file){0};
    allocations_left = -1;
    fstat_errno = read_errno = interruptions = 0;
    read_max = SIZE_MAX;
    growing_fd = -1;
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    small_file_fini(&file);
    if (growing_fd != -1)
        close(growing_fd);
    return place_close(&place);
}

/* With that many bytes. */
static void make(size_t len)
{
    char *text = calloc(1, len + 1);

    assert_non_null(text);
    memset(text, 'a', len);
    assert_int_equal(place_write_bytes(&place, "file", text, len), 0);
    free(text);
}

static int read_named(const char *name)
{
    unsigned open_before = place_count_fds();
    int err = small_file_read(&file, place_path(&place, name));

    assert_int_equal(place_count_fds(), open_before);
    if (err != 0) {
        assert_null(file.text);
        assert_int_equal(file.len, 0);
    }
    return err;
}

TEST(all_of_a_file_is_read)
{
    place_write_bytes(&place, "file", "a\0b\n", 4);
    assert_int_equal(read_named("file"), 0);
    assert_int_equal(file.len, 4);
    assert_memory_equal(file.text, "a\0b\n", 4);
    assert_int_equal(file.seen.st_size, 4);
    small_file_fini(&file);
    assert_null(file.text);
    make(0);
    assert_int_equal(read_named("file"), 0);
    assert_non_null(file.text);
    assert_int_equal(file.len, 0);
}

TEST(short_and_interrupted_reads_go_on)
{
    place_write(&place, "file", "0123456789");
    read_max = 3;
    interruptions = 2;
    assert_int_equal(read_named("file"), 0);
    assert_int_equal(file.len, 10);
    assert_memory_equal(file.text, "0123456789", 10);
}

TEST(a_byte_over_the_limit_is_too_many)
{
    make(SMALL_FILE_BYTES_MAX);
    assert_int_equal(read_named("file"), 0);
    assert_int_equal(file.len, SMALL_FILE_BYTES_MAX);
    assert_int_equal(file.text[SMALL_FILE_BYTES_MAX - 1], 'a');
    small_file_fini(&file);
    make(SMALL_FILE_BYTES_MAX + 1);
    assert_int_equal(read_named("file"), -EFBIG);
    assert_string_equal(small_file_fault(-EFBIG), "it has more than 1 MiB");
}

TEST(what_grows_meanwhile_is_read_up_to_the_limit)
{
    make(SMALL_FILE_BYTES_MAX - 8);
    growing_fd = open(place_path(&place, "file"),
                      O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_not_equal(growing_fd, -1);
    read_max = 4096;
    assert_int_equal(read_named("file"), -EFBIG);
    assert_in_range(lseek(growing_fd, 0, SEEK_END), SMALL_FILE_BYTES_MAX + 1,
                    SMALL_FILE_BYTES_MAX + 1024);
}

TEST(what_is_no_file_is_refused_without_waiting)
{
    assert_int_equal(mkfifoat(place.fd, "fifo", 0600), 0);
    assert_int_equal(read_named("fifo"), -EINVAL);
    assert_int_equal(read_named("."), -EISDIR);
    assert_int_equal(read_named("none"), -ENOENT);
    assert_string_equal(small_file_fault(-EINVAL), "it is no file");
    assert_string_equal(small_file_fault(-EISDIR), "it is no file");
    assert_null(small_file_fault(-ENOENT));
}

TEST(what_fails_leaves_nothing_behind)
{
    make(100);
    fstat_errno = EIO;
    assert_int_equal(read_named("file"), -EIO);
    fstat_errno = 0;
    read_errno = EIO;
    assert_int_equal(read_named("file"), -EIO);
    read_errno = 0;
    allocations_left = 0;
    assert_int_equal(read_named("file"), -ENOMEM);
    allocations_left = -1;
    assert_int_equal(read_named("file"), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
