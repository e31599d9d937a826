#include "server/safe_path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/xattr.h>

#include <cmocka.h>

#include "../place.h"

enum { NOBODY = 65534, OTHER = 12345 };

static struct place place;
static const struct identity nobody = {.changes = true,
                                       .uid = NOBODY,
                                       .gid = NOBODY,
                                       .groups = {NOBODY, OTHER},
                                       .group_count = 2};

static int make(const char *name, unsigned uid, unsigned gid, mode_t mode)
{
    bool is_folder = name[strlen(name) - 1] == '/';

    if (is_folder ? mkdirat(place.fd, name, 0700) != 0
                  : place_write(&place, name, "text") != 0)
        return -1;
    return fchownat(place.fd, name, uid, gid, 0) == 0 &&
                   fchmodat(place.fd, name, mode, 0) == 0
               ? 0
               : -1;
}

static int link_to(const char *target, const char *name)
{
    return symlinkat(target, place.fd, name);
}

static int set_up(void **state)
{
    (void)state;
    if (geteuid() != 0)
        return 0;
    return place_open(&place) != 0 || fchmod(place.fd, 0755) != 0 ||
                   make("roots/", 0, 0, 0755) != 0 ||
                   make("roots/file", 0, 0, 0644) != 0 ||
                   make("theirs/", NOBODY, NOBODY, 0755) != 0 ||
                   make("theirs/file", 0, 0, 0644) != 0 ||
                   make("theirs/deep/", 0, 0, 0755) != 0 ||
                   make("theirs/deep/file", 0, 0, 0644) != 0 ||
                   make("others/", OTHER, OTHER, 0755) != 0 ||
                   make("others/file", OTHER, OTHER, 0644) != 0 ||
                   make("group/", 0, OTHER, 0775) != 0 ||
                   make("group/file", 0, 0, 0644) != 0 ||
                   make("open/", 0, 0, 0777) != 0 ||
                   make("open/file", 0, 0, 0644) != 0 ||
                   make("sticky/", 0, 0, 01777) != 0 ||
                   make("sticky/file", 0, 0, 0644) != 0 ||
                   make("sticky/roots/", 0, 0, 0755) != 0 ||
                   make("sticky/roots/file", 0, 0, 0644) != 0 ||
                   make("sticky/theirs/", NOBODY, NOBODY, 0755) != 0 ||
                   link_to("../roots", "sticky/link") != 0 ||
                   link_to("file", "roots/link") != 0 ||
                   link_to("../theirs/file", "roots/out") != 0 ||
                   link_to("../roots", "theirs/in") != 0 ||
                   link_to("loop", "roots/loop") != 0 ||
                   link_to("not-there", "roots/dangling") != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return geteuid() == 0 ? place_close(&place) : 0;
}

/* 0 or -errno of walking there; the end's name is as given. */
static int walk(const char *path, const struct identity *who, const char *end)
{
    struct safe_path at;
    int err = safe_path_open(&at, path, who);

    if (err != 0)
        return err;
    if (end)
        assert_string_equal(at.name, end);
    safe_path_close(&at);
    return 0;
}

static void only_who_cannot_write_on_the_way_is_kept_out(void **state)
{
    static const struct {
        const char *path;
        int by_anybody, by_nobody;
        const char *end;
    } cases[] = {
        {"roots/file", 0, 0, "file"},
        {"roots//./file", 0, 0, "file"},
        {"roots/../roots/file", 0, 0, "file"},
        {"roots/new", 0, 0, "new"},
        {"roots/link", 0, 0, "file"},
        {"roots/dangling", 0, 0, "not-there"},
        {"roots/loop", -ELOOP, -ELOOP, NULL},
        {"roots/no/new", -ENOENT, -ENOENT, NULL},
        {"roots/file/new", -ENOTDIR, -ENOTDIR, NULL},
        {"roots/", 0, 0, "roots"},
        {"roots/.", -EISDIR, -EISDIR, NULL},
        {"theirs/file", -EPERM, -EPERM, NULL},
        {"theirs/new", -EPERM, -EPERM, NULL},
        {"theirs/deep/file", -EPERM, -EPERM, NULL},
        {"theirs/in/file", -EPERM, -EPERM, NULL},
        {"theirs/../roots/file", -EPERM, -EPERM, NULL},
        {"roots/out", -EPERM, -EPERM, NULL},
        {"others/file", -EPERM, 0, "file"},
        {"group/file", -EPERM, -EPERM, NULL},
        {"open/file", -EPERM, -EPERM, NULL},
        {"sticky/file", -EPERM, -EPERM, NULL},
        {"sticky/new", -EPERM, -EPERM, NULL},
        {"sticky/no/new", -EPERM, -EPERM, NULL},
        {"sticky/link/file", -EPERM, -EPERM, NULL},
        {"sticky/theirs/new", -EPERM, -EPERM, NULL},
        {"sticky/roots/file", 0, 0, "file"},
    };

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(fchdir(place.fd), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *whole = place_path(&place, cases[i].path);

        print_message("%s\n", cases[i].path);
        assert_int_equal(walk(whole, NULL, cases[i].end), cases[i].by_anybody);
        assert_int_equal(walk(whole, &nobody, cases[i].end),
                         cases[i].by_nobody);
        assert_int_equal(walk(cases[i].path, NULL, cases[i].end),
                         cases[i].by_anybody);
    }
    assert_int_equal(chdir("/"), 0);
}

/* What such a link leads to is whatever somebody has opened. */
static void links_of_open_files_are_refused(void **state)
{
    static const char *const paths[] = {"/proc/self/fd/0", "/dev/fd/0",
                                        "/dev/stdin", "/proc/self/root/etc/x"};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        assert_int_equal(walk(paths[i], NULL, NULL), -EPERM);
}

static void nothing_and_too_much_lead_nowhere(void **state)
{
    static char text[2 * PATH_MAX];

    (void)state;
    assert_int_equal(walk("", NULL, NULL), -ENOENT);
    assert_int_equal(walk("/", NULL, NULL), -EISDIR);
    memset(text, 'a', sizeof(text) - 1);
    assert_int_equal(walk(text, NULL, NULL), -ENAMETOOLONG);
    text[0] = '/';
    text[NAME_MAX + 2] = '\0';
    assert_int_equal(walk(text, NULL, NULL), -ENAMETOOLONG);
}

static void a_working_directory_counts_as_part_of_the_way(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chdir(place_path(&place, "theirs")), 0);
    assert_int_equal(walk("file", NULL, NULL), -EPERM);
    assert_int_equal(walk("../roots/file", NULL, NULL), -EPERM);
    assert_int_equal(chdir("/"), 0);
}

static void who_can_write_is_owner_group_or_anybody(void **state)
{
    static const struct {
        unsigned uid, gid, mode;
        bool by_anybody, by_nobody;
    } cases[] = {{0, 0, 0644, false, false},     {0, 0, 0664, true, false},
                 {0, OTHER, 0644, false, false}, {0, OTHER, 0664, true, true},
                 {0, 777, 0664, true, false},    {0, 0, 0646, true, true},
                 {NOBODY, 0, 0444, true, true},  {OTHER, 0, 0600, true, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct safe_path at = {.st = {.st_uid = cases[i].uid,
                                      .st_gid = cases[i].gid,
                                      .st_mode = cases[i].mode}};

        assert_int_equal(safe_path_is_writable(&at, NULL), cases[i].by_anybody);
        assert_int_equal(safe_path_is_writable(&at, &nobody),
                         cases[i].by_nobody);
        at.has_acl = true; /* whom it lets write is not looked for */
        assert_int_equal(safe_path_is_writable(&at, &nobody),
                         cases[i].by_nobody || (cases[i].mode & 020));
    }
}

/* An ACL of root's group, which NOBODY is not in, that lets NOBODY write. False:
 * the file system has none. */
static bool let_nobody_write(const char *name)
{
    static const struct {
        uint16_t tag, rights;
        uint32_t id;
    } entries[] = {{0x01, 7, UINT32_MAX}, /* the owner */
                   {0x02, 7, NOBODY},     /* a user that is named */
                   {0x04, 5, UINT32_MAX}, /* the group */
                   {0x10, 7, UINT32_MAX}, /* the mask */
                   {0x20, 5, UINT32_MAX}};
    struct {
        uint32_t version;
        char entries[sizeof(entries)];
    } acl = {.version = 2};

    memcpy(acl.entries, entries, sizeof(entries));
    if (setxattr(place_path(&place, name), "system.posix_acl_access", &acl,
                 sizeof(acl), 0) == 0)
        return true;
    assert_int_equal(errno, ENOTSUP);
    return false;
}

static void whom_an_acl_lets_write_is_kept_out(void **state)
{
    const char *file;
    struct safe_path at;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(make("listed/", 0, 0, 0755), 0);
    assert_int_equal(make("roots/listed", 0, 0, 0644), 0);
    if (!let_nobody_write("listed") || !let_nobody_write("roots/listed")) {
        print_message("this file system has no ACLs\n");
        skip();
    }
    assert_int_equal(walk(place_path(&place, "listed/new"), NULL, NULL),
                     -EPERM);
    assert_int_equal(walk(place_path(&place, "listed/new"), &nobody, NULL),
                     -EPERM);
    file = place_path(&place, "roots/listed");
    assert_int_equal(safe_path_open(&at, file, &nobody), 0);
    assert_true(safe_path_is_writable(&at, &nobody));
    assert_true(safe_path_is_writable(&at, NULL));
    safe_path_close(&at);
}

/* --- Judged by somebody else ------------------------------------------------- */

static bool is_not_theirs(void *context, int fd)
{
    struct stat st;

    ++*(unsigned *)context;
    return fstat(fd, &st) == 0 && st.st_uid != NOBODY;
}

static void every_directory_on_the_way_is_seen(void **state)
{
    static const struct {
        const char *path;
        int result;
        unsigned count; /* of directories below the place */
    } cases[] = {{"roots/file", 0, 1},
                 {"roots/new", 0, 1},
                 {"sticky/roots/file", 0, 2},
                 {"sticky/link/file", 0, 3}, /* sticky, its parent, roots */
                 {"roots/no/new", -ENOENT, 1},
                 {"theirs/in/file", -EPERM, 1},
                 {"roots/out", -EPERM, 3}};

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(fchdir(place.fd), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned count = 0;

        print_message("%s\n", cases[i].path);
        assert_int_equal(safe_path_walk(cases[i].path, is_not_theirs, &count),
                         cases[i].result);
        assert_int_equal(count, 1 + cases[i].count);
    }
    assert_int_equal(chdir("/"), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_who_cannot_write_on_the_way_is_kept_out),
        cmocka_unit_test(links_of_open_files_are_refused),
        cmocka_unit_test(nothing_and_too_much_lead_nowhere),
        cmocka_unit_test(a_working_directory_counts_as_part_of_the_way),
        cmocka_unit_test(who_can_write_is_owner_group_or_anybody),
        cmocka_unit_test(whom_an_acl_lets_write_is_kept_out),
        cmocka_unit_test(every_directory_on_the_way_is_seen)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
