/* Certificates of an authority, when the disk that they are kept on is full, or
 * can only be read. For root: it is one of a few pages, and of our own. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "acme.h"

static struct pebble *pebble;
static struct acme_place place;

static bool can_mount;

/* Nobody else sees what is mounted here; where "/" is no mount of its own, as
 * below chroot(2), it is private already. */
static int begin(void **state)
{
    if (acme_begin(state) != 0)
        return -1;
    can_mount = geteuid() == 0 && unshare(CLONE_NEWNS) == 0;
    if (can_mount)
        (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return 0;
}

static int after(void **state)
{
    pebble_stop(pebble);
    pebble = NULL;
    if (can_mount)
        (void)umount2(acme_folder(), MNT_DETACH);
    return acme_after(state);
}

/* Skips, or starts all, with a certificate. */
static struct server *start(void)
{
    struct server *server;
    const char *root;

    if (!can_mount)
        print_message("skipped: nothing may be mounted\n");
    if (!can_mount || !pebble_is_there())
        skip();
    pebble = pebble_start(&(struct pebble_options){0});
    place = acme_place_of(pebble);
    root = pebble_root(pebble);
    assert_true(mkdir(acme_folder(), 0700) == 0 || errno == EEXIST);
    assert_int_equal(mount("sprintd-test", acme_folder(), "tmpfs", 0,
                           "size=256k,mode=0700"),
                     0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_is_trusted(&place, "sprintd.example.net", root),
                           20000));
    return server;
}

static bool is_trusted(void)
{
    return acme_is_trusted(&place, "sprintd.example.net", pebble_root(pebble));
}

/* It is due; then there is not a byte left. */
static void fill(void)
{
    const char *rest = printed("%s/rest", acme_folder());

    assert_int_equal(
        system(printed("sed -i -e 's/^window-from .*/window-from 1000/' -e "
                       "'s/^window-until .*/window-until 2000/' '%s'",
                       acme_record())),
        0);
    assert_int_not_equal(system(printed("cat /dev/zero >'%s' 2>/dev/null",
                                        rest)),
                         0);
}

TEST(a_full_disk_is_told_and_nothing_is_ordered)
{
    struct server *server = start();
    const char *before = printed("%s", read_text(acme_live(), NULL));

    server_stop(server);
    fill();
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "No space left on device"),
                           20000));
    assert_true(is_trusted());
    pause_ms(1500); /* it has tried once more */
    assert_string_equal(read_text(acme_live(), NULL), before);
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    assert_int_equal(unlink(printed("%s/rest", acme_folder())), 0);
    assert_true(eventually(pebble_count(pebble, "Added order") == 2, 30000));
    assert_true(eventually(strcmp(read_text(acme_live(), NULL), before) != 0,
                           10000));
    assert_true(is_trusted());
    server_stop(server);
}

TEST(a_disk_that_can_only_be_read_is_told_and_served_from)
{
    struct server *server = start();

    server_stop(server);
    assert_int_equal(mount(NULL, acme_folder(), NULL, MS_REMOUNT | MS_RDONLY,
                           NULL),
                     0);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "Read-only file system"),
                           20000));
    assert_true(is_trusted());
    assert_int_equal(pebble_count(pebble, "Added order"), 1);
    server_stop(server);
}

SUITE(.begin = begin, .end = harness_end, .each_end = after);
