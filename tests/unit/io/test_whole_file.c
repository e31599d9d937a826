/* link: -Wl,--wrap=fsync */
#include "io/whole_file.h"
#include "suite.h"

#include <dirent.h>

#include "unit/place.h"
#include "wrap.h"

static int folder_errno; /* what a folder's fsync() fails with; 0: it works */

WRAP(int, fsync, int fd)
{
    struct stat st;

    if (folder_errno == 0 || fstat(fd, &st) == -1 || !S_ISDIR(st.st_mode))
        return __real_fsync(fd);
    errno = folder_errno;
    return -1;
}

static void assert_file(const char *name, const char *text)
{
    struct small_file file;

    assert_int_equal(whole_file_read(test_place.fd, name, geteuid(), 64, &file),
                     0);
    assert_string_equal(file.text, text);
    small_file_fini(&file);
}

/* The names in the place; whatever was written besides them is a leftover. */
static unsigned count_names(void)
{
    DIR *folder = opendir(test_place.name);
    unsigned count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* "." and ".." */
}

TEST(a_file_is_made_once)
{
    struct stat st;

    assert_int_equal(whole_file_create(test_place.fd, "a", BYTES("1"), 0600),
                     0);
    assert_int_equal(whole_file_create(test_place.fd, "a", BYTES("2"), 0600),
                     -EEXIST);
    assert_file("a", "1");
    assert_int_equal(fstatat(test_place.fd, "a", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(count_names(), 1);
}

TEST(a_file_takes_the_place_of_another)
{
    struct stat st;

    assert_int_equal(whole_file_replace(test_place.fd, "b", BYTES("1"), 0600),
                     0);
    assert_int_equal(whole_file_replace(test_place.fd, "b", BYTES("22"), 0644),
                     0);
    assert_file("b", "22");
    assert_int_equal(fstatat(test_place.fd, "b", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    assert_int_equal(count_names(), 1);
}

TEST(where_no_folder_can_be_synced_a_file_is_written)
{
    folder_errno = EINVAL;
    assert_int_equal(whole_file_replace(test_place.fd, "a", BYTES("1"), 0600),
                     0);
    assert_int_equal(whole_file_create(test_place.fd, "b", BYTES("2"), 0600),
                     0);
    folder_errno = EIO;
    assert_int_equal(whole_file_replace(test_place.fd, "a", BYTES("3"), 0600),
                     -EIO);
    folder_errno = 0;
    assert_int_equal(count_names(), 2);
}

TEST(a_link_leads_nobody_elsewhere)
{
    struct small_file file;

    assert_int_equal(place_write(&test_place, "other", "other"), 0);
    assert_int_equal(symlinkat("other", test_place.fd, "link"), 0);
    assert_int_equal(whole_file_read(test_place.fd, "link", geteuid(), 64,
                                     &file),
                     -EACCES);
    assert_int_equal(whole_file_create(test_place.fd, "link", BYTES("1"), 0600),
                     -EEXIST);
    assert_int_equal(whole_file_replace(test_place.fd, "link", BYTES("1"),
                                        0600),
                     0);
    assert_file("link", "1");
    assert_file("other", "other");
}

TEST(what_is_no_file_of_the_owner_is_not_read)
{
    struct small_file file;

    assert_int_equal(place_write(&test_place, "mine", "mine"), 0);
    assert_int_equal(mkdirat(test_place.fd, "folder", 0700), 0);
    assert_int_equal(mkfifoat(test_place.fd, "pipe", 0600), 0);
    assert_int_equal(whole_file_read(test_place.fd, "mine", geteuid() + 1, 64,
                                     &file),
                     -EACCES);
    assert_int_equal(whole_file_read(test_place.fd, "folder", geteuid(), 64,
                                     &file),
                     -EACCES);
    assert_int_equal(whole_file_read(test_place.fd, "pipe", geteuid(), 64,
                                     &file),
                     -EACCES);
    assert_int_equal(whole_file_read(test_place.fd, "none", geteuid(), 64,
                                     &file),
                     -ENOENT);
    assert_null(file.text);
}

TEST(a_file_longer_than_the_limit_is_not_read)
{
    struct small_file file;

    assert_int_equal(place_write(&test_place, "long", "12345"), 0);
    assert_int_equal(whole_file_read(test_place.fd, "long", geteuid(), 4,
                                     &file),
                     -EFBIG);
    assert_int_equal(whole_file_read(test_place.fd, "long", geteuid(), 5,
                                     &file),
                     0);
    assert_int_equal(file.len, 5);
    small_file_fini(&file);
}

SUITE(.each_begin = place_begin, .each_end = place_end);
