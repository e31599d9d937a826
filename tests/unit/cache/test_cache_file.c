#include "cache/cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

enum { SHORT = 700, LONG = 2 * CACHE_FILE_BLOCK_BYTES + 9, SEED = 3 };

static char path[] = "/tmp/sprintd-cache-file-XXXXXX";
static struct cache_folder folder;

static int set_up(void **state)
{
    (void)state;
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(path));
    assert_int_equal(cache_folder_open(&folder, path), 0);
    return cache_folder_take(&folder);
}

static unsigned count_files(bool removes)
{
    DIR *names = opendir(path);
    struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(names))) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (removes)
            unlinkat(folder.fd, entry->d_name, 0);
    }
    closedir(names);
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    (void)count_files(true);
    cache_folder_close(&folder);
    return rmdir(path);
}

SUITE(.each_begin = set_up, .each_end = tear_down);

static char text_at(size_t at)
{
    return (char)((at * 2654435761u) >> 24);
}

static struct cache_file *make_file(size_t len, const char *head)
{
    struct cache_file_writer *writer;
    struct cache_file *file;
    size_t at = 0, piece = 1;
    char *text = malloc(len);

    for (size_t i = 0; i < len; i++)
        text[i] = text_at(i);
    assert_int_equal(cache_file_begin(&writer, &folder), 0);
    while (at < len) { /* by pieces of all lengths */
        size_t n = piece < len - at ? piece : len - at;

        assert_int_equal(cache_file_put(writer, (struct bytes){text + at, n}),
                         0);
        at += n;
        piece = 3 * piece + 1;
    }
    assert_int_equal(cache_file_end(writer, bytes_of(head), 42, &file), 0);
    cache_file_writer_destroy(writer);
    free(text);
    return file;
}

/* Whether all of it is as it was. */
static bool is_right(const struct cache_file *file, const char *head)
{
    static char buffer[CACHE_FILE_BLOCK_BYTES + sizeof(uint64_t)];
    int fd = cache_file_open(file);
    uint64_t length = 0, at = 0;
    struct buf read;
    bool is_right;

    assert_true(fd >= 0);
    buf_init(&read, NULL, 0, CACHE_FILE_HEAD_BYTES_MAX);
    is_right = cache_file_read_head(fd, &read, &length) &&
               bytes_eq(buf_bytes(&read), bytes_of(head)) &&
               length == file->length;
    while (is_right && at < length)
        is_right = cache_file_check_block(fd, length, at, buffer, &at);
    if (is_right && length <= SHORT)
        is_right = cache_file_read_body(fd, length, buffer);
    if (is_right && length <= SHORT)
        for (size_t i = 0; i < length; i++)
            assert_int_equal(buffer[i], text_at(i));
    buf_fini(&read);
    close(fd);
    return is_right;
}

static void change(const struct cache_file *file, off_t at)
{
    char name[CACHE_FILE_NAME_BYTES], byte;
    int fd;

    cache_file_name_put(&file->name, false, name);
    fd = openat(folder.fd, name, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static off_t size_of(const struct cache_file *file)
{
    struct stat st;
    int fd = cache_file_open(file);

    fstat(fd, &st);
    close(fd);
    return st.st_size;
}

TEST(what_is_written_is_read_whatever_its_length)
{
    static const size_t lengths[] = {
        0, 1, SHORT, CACHE_FILE_BLOCK_BYTES, LONG, CACHE_FILE_BLOCK_BYTES - 1};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct cache_file *file = make_file(lengths[i], "head");

        assert_true(is_right(file, "head"));
        assert_int_equal(cache_file_change_head(file, BYTES("another head")),
                         0);
        assert_true(is_right(file, "another head"));
        assert_int_equal(cache_file_change_head(file, BYTES("h")), 0);
        assert_true(is_right(file, "h"));
        cache_file_remove(&folder, &file->name, false);
        cache_file_release(&file);
    }
    assert_int_equal(count_files(false), 0);
}

TEST(any_byte_that_changes_is_noticed)
{
    struct cache_file *file = make_file(SHORT, "some head");
    off_t size = size_of(file);

    for (off_t at = 0; at < size; at++) {
        change(file, at);
        if (is_right(file, "some head"))
            fail_msg("byte %lld has changed unnoticed", (long long)at);
        change(file, at);
    }
    assert_true(is_right(file, "some head"));
    cache_file_release(&file);
    file = make_file(LONG, "h");
    for (off_t at = 0; at < LONG; at += 40009) {
        change(file, at);
        assert_false(is_right(file, "h"));
        change(file, at);
    }
    assert_true(is_right(file, "h"));
    cache_file_release(&file);
}

TEST(a_file_that_was_cut_or_grew_is_noticed)
{
    struct cache_file *file = make_file(SHORT, "some head");
    char name[CACHE_FILE_NAME_BYTES];
    off_t size = size_of(file);
    int fd;

    cache_file_name_put(&file->name, false, name);
    fd = openat(folder.fd, name, O_RDWR);
    assert_int_equal(ftruncate(fd, size + 1), 0);
    assert_false(is_right(file, "some head"));
    while (size-- > 0) {
        assert_int_equal(ftruncate(fd, size), 0);
        assert_false(is_right(file, "some head"));
    }
    close(fd);
    cache_file_release(&file);
}

TEST(what_has_not_come_to_its_end_leaves_nothing)
{
    struct cache_file_writer *writer;

    assert_int_equal(cache_file_begin(&writer, &folder), 0);
    assert_int_equal(cache_file_put(writer, BYTES("text")), 0);
    assert_int_equal(count_files(false), 1);
    cache_file_writer_destroy(writer);
    assert_int_equal(count_files(false), 0);
}

TEST(nothing_is_removed_from_a_folder_that_is_anothers)
{
    struct cache_file *file = make_file(SHORT, "h");

    cache_folder_leave(&folder);
    cache_file_remove(&folder, &file->name, false);
    assert_int_equal(count_files(false), 1);
    assert_false(cache_folder_takes(&folder));
    cache_file_release(&file);
}

TEST(a_name_is_read_only_if_all_of_it_is_one)
{
    static const char *const others[] = {
        "",
        "0123456789abcdef",
        "0123456789abcdef.0123456789abcde",
        "0123456789abcdef.0123456789abcdef.neu",
        "0123456789abcdef.0123456789abcdefg",
        "0123456789abcdeF.0123456789abcdef",
        "0123456789abcdef-0123456789abcdef"};
    struct cache_file_name name = {.hash = 77, .serial = UINT64_MAX - 1}, read;
    char text[CACHE_FILE_NAME_BYTES];
    bool is_new;

    for (int i = 0; i < 2; i++) {
        cache_file_name_put(&name, i, text);
        assert_true(cache_file_name_read(&read, &is_new, text));
        assert_true(read.hash == 77 && read.serial == UINT64_MAX - 1 &&
                    is_new == i);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(cache_file_name_read(&read, &is_new, others[i]));
}
