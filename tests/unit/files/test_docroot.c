/* link: -Wl,--wrap=syscall */
#include "files/docroot.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "suite.h"
#include "unit/openat2.h"
#include "unit/place.h"

/* --- openat2, which may fail --------------------------------------------- */

static void fail_next(unsigned times, int with)
{
    lookup_errno = with;
    lookup_failures_left = times;
    lookups = 0;
}

/* --- A root with things that should not be there ------------------------- */

static struct place place; /* the root is a folder in it */
static struct docroot root;

static int make_socket(const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int err;

    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    err = bind(fd, (const struct sockaddr *)&un, sizeof(un));
    close(fd);
    return err;
}

static int make_things(void)
{
    return place_write(&place, "secret", "outside") ||
           mkdirat(place.fd, "root", 0755) ||
           mkdirat(place.fd, "root/dir", 0755) ||
           place_write(&place, "root/file", "inside") ||
           place_write(&place, "root/dir/file", "deeper") ||
           symlinkat("file", place.fd, "root/link") ||
           symlinkat("dir", place.fd, "root/link_dir") ||
           symlinkat("../secret", place.fd, "root/link_out") ||
           symlinkat("..", place.fd, "root/link_up") ||
           symlinkat("../../secret", place.fd, "root/dir/link_out") ||
           symlinkat(place_path(&place, "secret"), place.fd,
                     "root/link_absolute") ||
           symlinkat(place_path(&place, "root/file"), place.fd,
                     "root/link_absolute_in") ||
           symlinkat("loop", place.fd, "root/loop") ||
           symlinkat("/proc/self/root", place.fd, "root/link_magic") ||
           mkfifoat(place.fd, "root/fifo", 0644) ||
           symlinkat("fifo", place.fd, "root/link_fifo") ||
           make_socket(place_path(&place, "root/socket"));
}

static int set_up(void **state)
{
    (void)state;
    before_lookup = NULL;
    lookup_failures_left = 0;
    if (place_open(&place) != 0 || make_things() != 0)
        return -1;
    return docroot_open(&root, place_path(&place, "root"), false);
}

/* No test may leave a descriptor open. */
static int tear_down(void **state)
{
    (void)state;
    docroot_close(&root);
    docroot_close(&root);
    return place_close_tidy(&place);
}

/* The same root, opened in another way. */
static void reopen(bool follow_symlinks, bool has_openat2)
{
    docroot_close(&root);
    if (!has_openat2)
        fail_next(1, ENOSYS);
    assert_int_equal(docroot_open(&root, place_path(&place, "root"),
                                  follow_symlinks),
                     0);
    assert_int_equal(root.has_openat2, has_openat2);
}

/* 0 or -errno. */
static int try_to_open(const char *path)
{
    struct stat st;
    int fd = docroot_open_file(&root, path, &st);

    if (fd < 0)
        return fd;
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    return 0;
}

static void assert_reads(const char *path, const char *expected)
{
    char text[100] = "";
    struct stat st;
    int fd = docroot_open_file(&root, path, &st);

    if (fd < 0)
        fail_msg("%s: %s", path, strerror(-fd));
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_size, strlen(expected));
    assert_int_equal(read(fd, text, sizeof(text)), strlen(expected));
    close(fd);
    assert_string_equal(text, expected);
}

static void assert_is_directory(const char *path)
{
    struct stat st;
    int fd = docroot_open_file(&root, path, &st);

    if (fd < 0)
        fail_msg("%s: %s", path, strerror(-fd));
    assert_true(S_ISDIR(st.st_mode));
    close(fd);
}

/* --- What is inside ------------------------------------------------------ */

TEST(files_and_directories_inside_are_opened)
{
    for (int has_openat2 = 0; has_openat2 < 2; has_openat2++) {
        reopen(false, has_openat2);
        assert_reads("file", "inside");
        assert_reads("dir/file", "deeper");
        assert_is_directory("");
        assert_is_directory("dir");
        assert_is_directory("dir/");
    }
}

TEST(what_is_not_there_is_said_so)
{
    char long_name[300];

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    for (int has_openat2 = 0; has_openat2 < 2; has_openat2++) {
        reopen(false, has_openat2);
        assert_int_equal(try_to_open("none"), -ENOENT);
        assert_int_equal(try_to_open("none/file"), -ENOENT);
        assert_int_equal(try_to_open("file/file"), -ENOTDIR);
        assert_int_equal(try_to_open("file/"), -ENOTDIR);
        assert_int_equal(try_to_open(long_name), -ENAMETOOLONG);
    }
}

TEST(symlinks_that_stay_inside_are_followed)
{
    assert_reads("link", "inside");
    assert_reads("link_dir/file", "deeper");
    assert_is_directory("link_dir");
}

TEST(without_openat2_no_symlink_is_followed)
{
    reopen(false, false);
    assert_int_not_equal(try_to_open("link"), 0);
    assert_int_not_equal(try_to_open("link_dir"), 0);
    assert_int_not_equal(try_to_open("link_dir/file"), 0);
}

/* --- What leads out ------------------------------------------------------ */

static const char *const escapes[] = {"..",
                                      "../secret",
                                      "dir/../../secret",
                                      "link_out",
                                      "dir/link_out",
                                      "link_up",
                                      "link_up/secret",
                                      "link_up/root/file",
                                      "link_absolute",
                                      "link_absolute_in",
                                      "link_magic",
                                      "link_magic/etc/passwd",
                                      "loop",
                                      "/",
                                      "/etc/passwd",
                                      "//etc/passwd",
                                      "dir//../../secret",
                                      "./../secret",
                                      "link_dir/../../secret"};

TEST(whatever_leads_out_is_refused)
{
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        int err = try_to_open(escapes[i]);

        if (err != -EXDEV && err != -ELOOP)
            fail_msg("%s: %d", escapes[i], err);
    }
}

TEST(without_openat2_it_is_refused_too)
{
    struct stat st;

    reopen(false, false);
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        int fd = docroot_open_file(&root, escapes[i], &st);

        /* An absolute name is taken for one below the root here. */
        if (strcmp(escapes[i], "/") == 0)
            close(fd);
        else if (fd >= 0)
            fail_msg("%s was opened", escapes[i]);
    }
}

TEST(when_allowed_symlinks_are_followed_out)
{
    for (int has_openat2 = 0; has_openat2 < 2; has_openat2++) {
        reopen(true, has_openat2);
        assert_reads("link_out", "outside");
        assert_reads("link_absolute", "outside");
        assert_reads("link_up/secret", "outside");
        assert_int_equal(try_to_open("loop"), -ELOOP);
    }
}

TEST(magic_links_are_never_followed)
{
    reopen(true, true);
    assert_int_equal(try_to_open("link_magic/etc"), -ELOOP);
}

/* --- What is no file ----------------------------------------------------- */

TEST(what_is_neither_file_nor_directory_is_refused)
{
    for (int has_openat2 = 0; has_openat2 < 2; has_openat2++) {
        reopen(false, has_openat2);
        assert_int_equal(try_to_open("fifo"), -EPERM);
        assert_int_equal(try_to_open("socket"), -EPERM);
        assert_int_equal(try_to_open("link_fifo"), -EPERM);
    }
}

TEST(a_device_is_refused)
{
    if (mknodat(place.fd, "root/zero", S_IFCHR | 0644, makedev(1, 5)) != 0)
        skip(); /* for root only */
    assert_int_equal(try_to_open("zero"), -EPERM);
}

TEST(a_fifo_is_not_even_opened)
{
    lookups = 0;
    assert_int_equal(try_to_open("fifo"), -EPERM);
    assert_int_equal(lookups, 0); /* the look only */
}

static void put_fifo_in_place(unsigned call)
{
    if (call == 1)
        renameat(place.fd, "root/fifo", place.fd, "root/file");
}

TEST(what_is_replaced_between_look_and_opening_is_refused)
{
    lookups = 0;
    before_lookup = put_fifo_in_place;
    assert_int_equal(try_to_open("file"), -EPERM);
    assert_int_equal(lookups, 1);
}

static void remove_file(unsigned call)
{
    if (call == 1)
        unlinkat(place.fd, "root/file", 0);
}

TEST(what_is_removed_between_look_and_opening_is_not_there)
{
    lookups = 0;
    before_lookup = remove_file;
    assert_int_equal(try_to_open("file"), -ENOENT);
}

/* --- Lookups that give up ------------------------------------------------ */

TEST(a_lookup_that_a_rename_disturbed_is_tried_again)
{
    fail_next(7, EAGAIN);
    assert_reads("file", "inside");
    fail_next(7, EINTR);
    assert_reads("file", "inside");
}

TEST(it_is_not_tried_for_ever)
{
    fail_next(1000, EAGAIN);
    assert_int_equal(try_to_open("file"), -EAGAIN);
    assert_in_range(lookups, 2, 20);
}

TEST(other_errors_are_final)
{
    static const int errors[] = {EMFILE, ENFILE, EACCES, EIO, ENOMEM};

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        fail_next(1, errors[i]);
        assert_int_equal(try_to_open("file"), -errors[i]);
        assert_int_equal(lookups, 1);
    }
}

/* --- The root itself, and stat ------------------------------------------- */

TEST(a_root_that_is_no_directory_is_refused)
{
    struct docroot other;

    assert_int_equal(docroot_open(&other, place_path(&place, "none"), false),
                     -ENOENT);
    assert_int_equal(docroot_open(&other, place_path(&place, "secret"), false),
                     -ENOTDIR);
}

TEST(stat_tells_what_open_would_find)
{
    struct stat opened;
    struct stat st;
    int fd = docroot_open_file(&root, "dir/file", &opened);

    close(fd);
    assert_int_equal(docroot_stat(&root, "dir/file", &st), 0);
    assert_int_equal(st.st_ino, opened.st_ino);
    assert_int_equal(docroot_stat(&root, "", &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(docroot_stat(&root, "none", &st), -ENOENT);
    assert_int_equal(docroot_stat(&root, "loop", &st), -ELOOP);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
