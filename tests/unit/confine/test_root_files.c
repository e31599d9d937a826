/* In children that use files as nobody: run by root only. */
/* link: -Wl,--wrap=fsync */
#include "confine/root_files.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "io/listener.h"
#include "io/small_file.h"
#include "suite.h"
#include "unit/confine/enclosed.h"
#include "unit/place.h"
#include "wrap.h"

enum { NOBODY = 65534 };

static struct place place;
static struct identity nobody;

static int set_up(void **state)
{
    (void)state;
    if (geteuid() != 0)
        return 0;
    return identity_find(&nobody, "65534:65534", NULL) != EX_OK ||
                   place_open(&place) != 0 || fchmod(place.fd, 0755) != 0 ||
                   mkdirat(place.fd, "roots", 0755) != 0 ||
                   mkdirat(place.fd, "theirs", 0755) != 0 ||
                   place_write(&place, "secret", "secret") != 0 ||
                   fchmodat(place.fd, "secret", 0600, 0) != 0 ||
                   fchownat(place.fd, "theirs", NOBODY, NOBODY, 0) != 0 ||
                   symlinkat("../secret", place.fd, "theirs/link") != 0 ||
                   symlinkat("../roots", place.fd, "theirs/roots") != 0 ||
                   linkat(place.fd, "secret", place.fd, "theirs/hard", 0) != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return geteuid() == 0 ? place_close(&place) : 0;
}

static bool begin(void)
{
    if (identity_begin(&nobody) != EX_OK)
        return false;
    root_files_begin(&nobody);
    return true;
}

static int (*act_as_nobody)(void);

static int begin_and_act(void)
{
    return begin() ? act_as_nobody() : 99;
}

/* What act returns in a child that uses files as nobody. */
static int as_nobody(int (*act)(void))
{
    act_as_nobody = act;
    return enclosed(begin_and_act);
}

static int ask(enum file_need need, const char *name)
{
    return file_broker_ask(need, place_path(&place, name), -EACCES);
}

/* Whether it is a file of that owner, and files are used as nobody still. */
static bool is_of(const char *name, uid_t uid)
{
    struct stat st;

    return fstatat(place.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_uid == uid && setfsuid((uid_t)-1) == NOBODY;
}

static bool has_mode(const char *name, mode_t mode)
{
    struct stat st;

    return fstatat(place.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (st.st_mode & 07777) == mode;
}

/* --- Files --------------------------------------------------------------- */

static int try_what_they_could_lead_astray(void)
{
    static const char *const names[] = {"theirs/link", "theirs/hard",
                                        "theirs/new", "theirs/roots/new",
                                        "theirs/../roots/new"};
    static const enum file_need needs[] = {
        FILE_READ,           FILE_APPEND, FILE_PID,    FILE_LISTEN,
        FILE_LISTEN_PRIVATE, FILE_REMOVE, FILE_PRIVATE};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (size_t k = 0; k < sizeof(needs) / sizeof(*needs); k++)
            if (ask(needs[k], names[i]) != -EACCES)
                return 2;
    return is_of("secret", 0) && faccessat(place.fd, "roots/new", F_OK, 0) != 0
               ? 0
               : 3;
}

TEST(nothing_is_done_where_the_user_can_lead_it_astray)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_nobody(try_what_they_could_lead_astray), 0);
}

static int use_roots_places(void)
{
    if (open(place_path(&place, "roots/a"), O_WRONLY | O_CREAT, 0640) != -1)
        return 1;
    if (ask(FILE_APPEND, "roots/log") < 0 || !is_of("roots/log", NOBODY))
        return 2;
    if (ask(FILE_APPEND, "secret") < 0 || !is_of("secret", 0))
        return 3; /* opened, and not given away */
    if (ask(FILE_READ, "roots/log") < 0 || ask(FILE_READ, "roots/no") >= 0)
        return 4;
    if (ask(FILE_PID, "roots/pid") < 0 || !is_of("roots/pid", 0) ||
        ask(FILE_PID, "roots/pid") < 0)
        return 5;
    if (ask(FILE_PRIVATE, "roots/old-pid") != 0 ||
        !has_mode("roots/old-pid", 0600) || ask(FILE_PRIVATE, "roots/no") == 0)
        return 6;
    if (ask(FILE_REMOVE, "roots/pid") != 0 ||
        ask(FILE_REMOVE, "roots/pid") == 0)
        return 7;
    return 0;
}

TEST(in_roots_places_root_does_what_is_needed)
{
    if (geteuid() != 0)
        skip();
    /* The hard link makes it a file that may be meant by another name. */
    assert_int_equal(unlinkat(place.fd, "theirs/hard", 0), 0);
    assert_int_equal(place_write(&place, "roots/old-pid", "1\n"), 0);
    assert_int_equal(fchmodat(place.fd, "roots/old-pid", 0644, 0), 0);
    assert_int_equal(as_nobody(use_roots_places), 0);
}

static int try_hard_link_and_others(void)
{
    int fd;

    if (ask(FILE_APPEND, "secret") != -EACCES ||
        ask(FILE_READ, "secret") != -EACCES)
        return 2;
    if (ask(FILE_APPEND, "roots/others") != -EACCES)
        return 3;
    if (ask(FILE_APPEND, "roots") >= 0 || ask(FILE_PID, "roots") >= 0)
        return 4;
    if (ask(FILE_APPEND, "roots/fifo") != -ENXIO) /* nobody reads */
        return 5;
    if (ask(FILE_READ, "roots/fifo") != -EACCES)
        return 6;
    fd = open(place_path(&place, "roots/fifo"), O_RDONLY | O_NONBLOCK);
    return fd != -1 && ask(FILE_APPEND, "roots/fifo") >= 0 ? 0 : 7;
}

TEST(only_plain_files_of_root_or_the_user_are_opened)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(place_write(&place, "roots/others", "theirs"), 0);
    assert_int_equal(fchownat(place.fd, "roots/others", 12345, 0, 0), 0);
    assert_int_equal(mkfifoat(place.fd, "roots/fifo", 0666), 0);
    assert_int_equal(fchmodat(place.fd, "roots/fifo", 0666, 0), 0);
    assert_int_equal(as_nobody(try_hard_link_and_others), 0);
}

/* A server that has been taken over hands such descriptors over. */
static int append_to_open_file(void)
{
    char path[32];
    int fd = openat(place.fd, "secret", O_RDONLY);

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd == -1 || !begin() || open(path, O_WRONLY | O_APPEND) != -1)
        return 1;
    if (file_broker_ask(FILE_APPEND, path, -EACCES) != -EACCES)
        return 2;
    return symlink(path, place_path(&place, "theirs/fd")) == 0 &&
                   ask(FILE_APPEND, "theirs/fd") == -EACCES
               ? 0
               : 3;
}

TEST(an_open_file_is_no_way_to_more_rights)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(enclosed(append_to_open_file), 0);
}

/* --- Sockets, folders ---------------------------------------------------- */

static int listen_in_roots_place(void)
{
    struct listener listener, other;
    struct stat st;

    if (listener_open_private(&listener, place_path(&place, "roots/control")) !=
        0)
        return 2;
    if (!is_of("roots/control", NOBODY) ||
        fstatat(place.fd, "roots/control", &st, 0) != 0 ||
        (st.st_mode & 0777) != 0600)
        return 3;
    if (listener_open_unix(&other, place_path(&place, "roots/control")) !=
        -EADDRINUSE)
        return 4;
    listener_close(&listener);
    if (fstatat(place.fd, "roots/control", &st, 0) == 0)
        return 5;
    if (listener_open_unix(&other, place_path(&place, "theirs/roots/s")) !=
        -EACCES)
        return 6;
    return listener_open_unix(&other, place_path(&place, "theirs/s")) == 0 &&
                   is_of("theirs/s", NOBODY)
               ? 0
               : 7;
}

TEST(a_control_socket_is_the_users_wherever_it_is)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_nobody(listen_in_roots_place), 0);
}

static int make_folders(void)
{
    if (root_files_make_folder(&nobody, place_path(&place, "roots/data")) !=
            0 ||
        !is_of("roots/data", NOBODY))
        return 2;
    if (root_files_make_folder(&nobody, place_path(&place, "theirs/data")) !=
            0 ||
        !is_of("theirs/data", NOBODY))
        return 3;
    if (root_files_make_folder(&nobody,
                               place_path(&place, "theirs/roots/more")) !=
            -EACCES ||
        faccessat(place.fd, "roots/more", F_OK, 0) == 0)
        return 4;
    return root_files_make_folder(&nobody, place_path(&place, "roots/data")) ==
                   -EEXIST
               ? 0
               : 5;
}

TEST(folders_are_made_for_the_user)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_nobody(make_folders), 0);
}

/* What they lie in is not. */
static int make_deep_folders(void)
{
    struct stat st;

    umask(077);
    root_files_make_folders(&nobody, place_path(&place, "roots/a/b//c/"));
    if (!is_of("roots/a", 0) || !is_of("roots/a/b", 0) ||
        !is_of("roots/a/b/c", NOBODY))
        return 2;
    if (fstatat(place.fd, "roots/a/b", &st, 0) == -1 ||
        (st.st_mode & 07777) != 0755)
        return 3;
    if (fstatat(place.fd, "roots/a/b/c", &st, 0) == -1 ||
        (st.st_mode & 07777) != 0700)
        return 4;
    root_files_make_folders(&nobody, place_path(&place, "theirs/a/b"));
    return is_of("theirs/a", NOBODY) && is_of("theirs/a/b", NOBODY) ? 0 : 5;
}

TEST(only_the_last_folder_is_the_users_where_root_makes_several)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_nobody(make_deep_folders), 0);
}

static struct stat last_synced;

WRAP(int, fsync, int fd)
{
    return fstat(fd, &last_synced) == -1 ? -1 : __real_fsync(fd);
}

/* Whether a folder is made there whose name is on disk. */
static bool makes_for_good(const char *above, const char *path)
{
    struct stat st;

    last_synced = (struct stat){0};
    return root_files_make_folder(&nobody, place_path(&place, path)) == 0 &&
           fstatat(place.fd, above, &st, 0) == 0 &&
           st.st_ino == last_synced.st_ino && st.st_dev == last_synced.st_dev;
}

/* One where the user may, and one where root has to. */
static int make_for_good(void)
{
    return !makes_for_good("theirs", "theirs/new") ? 1
           : !makes_for_good("roots", "roots/new") ? 2
                                                   : 0;
}

TEST(the_name_of_a_folder_that_is_made_is_on_disk)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(as_nobody(make_for_good), 0);
}

static int read_secret(void)
{
    struct small_file file;

    if (small_file_read(&file, place_path(&place, "roots/token")) != 0)
        return 1;
    small_file_fini(&file);
    root_files_end();
    return small_file_read(&file, place_path(&place, "roots/token")) == -EACCES
               ? 0
               : 2;
}

TEST(tokens_that_only_root_can_read_are_read_at_the_start)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(place_write(&place, "roots/token", "token"), 0);
    assert_int_equal(fchmodat(place.fd, "roots/token", 0600, 0), 0);
    assert_int_equal(as_nobody(read_secret), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
