#include "confine/safe_path.h"

#include <sys/xattr.h>

#include "suite.h"
#include "unit/place.h"

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
                   make("roots-group/", 0, 0, 0775) != 0 ||
                   make("roots-group/file", 0, 0, 0664) != 0 ||
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

TEST(only_who_cannot_write_on_the_way_is_kept_out)
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
        {"roots-group/file", 0, 0, "file"},
        {"open/file", -EPERM, -EPERM, NULL},
        {"sticky/file", -EPERM, -EPERM, NULL},
        {"sticky/new", -EPERM, -EPERM, NULL},
        {"sticky/no/new", -EPERM, -EPERM, NULL},
        {"sticky/link/file", -EPERM, -EPERM, NULL},
        {"sticky/theirs/new", -EPERM, -EPERM, NULL},
        {"sticky/roots/file", 0, 0, "file"},
    };

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

TEST(a_folder_is_opened_by_its_owners_ways)
{
    static const struct {
        const char *path;
        int by_root, by_nobody; /* 0 or -errno: who leads there but root */
        bool is_loose, is_anybodys;
    } cases[] = {
        {"roots", 0, 0, false, false},
        {"roots/", 0, 0, false, false},
        {"roots/.", 0, 0, false, false},
        {"roots/file", -ENOTDIR, -ENOTDIR, false, false},
        {"roots/new", -ENOENT, -ENOENT, false, false},
        {"theirs", -EPERM, 0, false, false},
        {"theirs/", -EPERM, 0, false, false},
        {"theirs/deep", -EPERM, 0, false, false},
        {"theirs/in", -EPERM, 0, false, false},
        {"theirs/../roots", -EPERM, 0, false, false},
        {"others", -EPERM, -EPERM, false, false},
        {"others/.", -EPERM, -EPERM, false, false},
        {"others/../theirs", -EPERM, -EPERM, false, false},
        {"others/theirs", -EPERM, -EPERM, false, false},
        {"others/roots", -EPERM, -EPERM, false, false},
        {"group", -EPERM, -EPERM, false, false},
        {"roots-group", 0, 0, false, false},
        {"open", -EPERM, -EPERM, false, false},
        {"sticky", 0, 0, true, false},
        {"sticky/new", -EPERM, -EPERM, false, false},
        {"sticky/link", -EPERM, -EPERM, false, false},
        {"sticky/roots", 0, 0, false, false},
        {"sticky/theirs", -EPERM, 0, false, true},
        {"sticky/theirs/../roots", -EPERM, 0, false, true},
    };

    if (geteuid() != 0)
        skip();
    assert_int_equal(link_to("../theirs", "others/theirs"), 0);
    assert_int_equal(link_to("../roots", "others/roots"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *path = place_path(&place, cases[i].path);

        for (int by_nobody = 0; by_nobody < 2; by_nobody++) {
            int expected = by_nobody ? cases[i].by_nobody : cases[i].by_root;
            struct stat there, opened;
            struct safe_folder about;
            int fd = safe_path_open_folder(path, by_nobody ? NOBODY : 0,
                                           &about);

            print_message("%s\n", cases[i].path);
            assert_int_equal(fd < 0 ? fd : 0, expected);
            if (fd < 0)
                continue;
            assert_int_equal(about.is_loose, cases[i].is_loose);
            assert_int_equal(about.is_anybodys, cases[i].is_anybodys);
            assert_int_equal(fstat(fd, &opened), 0);
            assert_int_equal(stat(path, &there), 0);
            assert_int_equal(opened.st_ino, there.st_ino);
            assert_int_equal(fchdir(fd), 0);
            close(fd);
        }
    }
    assert_int_equal(chdir("/"), 0);
}

/* What such a link leads to is whatever somebody has opened. */
TEST(links_of_open_files_are_refused)
{
    static const char *const paths[] = {"/proc/self/fd/0", "/dev/fd/0",
                                        "/dev/stdin", "/proc/self/root/etc/x"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        assert_int_equal(walk(paths[i], NULL, NULL), -EPERM);
}

TEST(nothing_and_too_much_lead_nowhere)
{
    static char text[2 * PATH_MAX];

    assert_int_equal(walk("", NULL, NULL), -ENOENT);
    assert_int_equal(walk("/", NULL, NULL), -EISDIR);
    memset(text, 'a', sizeof(text) - 1);
    assert_int_equal(walk(text, NULL, NULL), -ENAMETOOLONG);
    text[0] = '/';
    text[NAME_MAX + 2] = '\0';
    assert_int_equal(walk(text, NULL, NULL), -ENAMETOOLONG);
}

TEST(a_working_directory_counts_as_part_of_the_way)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(chdir(place_path(&place, "theirs")), 0);
    assert_int_equal(walk("file", NULL, NULL), -EPERM);
    assert_int_equal(walk("../roots/file", NULL, NULL), -EPERM);
    assert_int_equal(chdir("/"), 0);
}

TEST(who_can_write_is_owner_group_or_anybody)
{
    static const struct {
        unsigned uid, gid, mode;
        bool by_anybody, by_nobody;
    } cases[] = {{0, 0, 0644, false, false},     {0, 0, 0664, false, false},
                 {0, OTHER, 0644, false, false}, {0, OTHER, 0664, true, true},
                 {0, 777, 0664, true, false},    {0, 0, 0646, true, true},
                 {NOBODY, 0, 0444, true, true},  {OTHER, 0, 0600, true, false}};

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

/* An ACL of root's group, which NOBODY is not in, that lets NOBODY write.
 * False: the file system has none. */
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

TEST(whom_an_acl_lets_write_is_kept_out)
{
    const char *file;
    struct safe_path at;

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

/* --- Judged by somebody else --------------------------------------------- */

static bool is_not_theirs(void *context, int fd)
{
    struct stat st;

    ++*(unsigned *)context;
    return fstat(fd, &st) == 0 && st.st_uid != NOBODY;
}

TEST(every_directory_on_the_way_is_seen)
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

SUITE(.begin = set_up, .end = tear_down);
