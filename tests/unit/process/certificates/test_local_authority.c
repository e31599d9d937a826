#include "process/certificates/local_authority.h"
#include "process/certificates/machine_trust.h"
#include "suite.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "process/certificates/local_names.h"
#include "unit/place.h"

enum { DAY_S = 24 * 3600, STARTS = 8 };

static const int64_t now_s = 1800000000;

static struct place place;
static struct tls_names names;
static struct local_authority_fault fault;
static char folder[PATH_MAX];

static int set_up(void **state)
{
    (void)state;
    fault.text[0] = '\0';
    names.count = 0;
    tls_names_add(&names, BYTES("localhost"));
    if (place_open(&place) != 0)
        return -1;
    snprintf(folder, sizeof(folder), "%s/a/b/tls", place.name);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return place_close(&place);
}

static int find_leaf(int64_t when_s, struct tls_pem *leaf_out)
{
    int err = local_authority_make_folder(folder, &fault);

    return err == 0 ? local_authority_leaf(folder, geteuid(), &names, when_s,
                                           leaf_out, &fault)
                    : err;
}

static struct tls_pem leaf_at(int64_t when_s)
{
    struct tls_pem leaf = {0};

    if (find_leaf(when_s, &leaf) != 0)
        fail_msg("%s", fault.text);
    assert_non_null(leaf.text);
    return leaf;
}

static bool is_same(const struct tls_pem *a, const struct tls_pem *b)
{
    return bytes_eq((struct bytes){a->text, a->len},
                    (struct bytes){b->text, b->len});
}

/* Whether the authority that lies there has signed it. */
static bool is_approved(const struct tls_pem *leaf, int64_t when_s)
{
    char text[8192];
    const char *why;
    struct tls_authority *authority;
    int fd = openat(place.fd, "a/b/tls/authority.pem", O_RDONLY);
    ssize_t len = read(fd, text, sizeof(text));
    bool is_good;

    assert_true(len > 0);
    close(fd);
    authority = tls_authority_load((struct bytes){text, (size_t)len}, &why);
    assert_non_null(authority);
    is_good = tls_authority_approves(authority,
                                     (struct bytes){leaf->text, leaf->len},
                                     &names, when_s);
    tls_authority_destroy(authority);
    return is_good;
}

static unsigned mode_of(const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(place.fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode & 07777;
}

/* --- Making, keeping ----------------------------------------------------- */

TEST(what_is_made_is_its_owners_alone)
{
    struct tls_pem leaf = leaf_at(now_s);

    assert_true(is_approved(&leaf, now_s));
    assert_int_equal(mode_of("a"), 0700);
    assert_int_equal(mode_of("a/b/tls"), 0700);
    assert_int_equal(mode_of("a/b/tls/authority.pem"), 0600);
    assert_int_equal(mode_of("a/b/tls/authority.crt"), 0600);
    assert_int_equal(mode_of("a/b/tls/localhost.pem"), 0600);
    tls_pem_fini(&leaf);
}

TEST(the_next_start_takes_what_is_there)
{
    struct tls_pem first = leaf_at(now_s);
    struct tls_pem second = leaf_at(now_s + DAY_S);

    assert_true(is_same(&first, &second));
    tls_pem_fini(&first);
    tls_pem_fini(&second);
}

TEST(a_leaf_is_renewed_in_time_by_the_same_authority)
{
    struct tls_pem first = leaf_at(now_s);
    struct tls_pem second = leaf_at(now_s + 61 * DAY_S);
    struct tls_pem third = leaf_at(now_s + 61 * DAY_S);

    assert_false(is_same(&first, &second));
    assert_true(is_same(&second, &third));
    assert_true(is_approved(&second, now_s + 61 * DAY_S));
    tls_pem_fini(&first);
    tls_pem_fini(&second);
    tls_pem_fini(&third);
}

TEST(a_leaf_is_renewed_for_a_new_name)
{
    struct tls_pem first = leaf_at(now_s);
    struct tls_pem second;

    tls_names_add(&names, BYTES("192.0.2.1"));
    assert_false(is_approved(&first, now_s));
    second = leaf_at(now_s);
    assert_true(is_approved(&second, now_s));
    tls_pem_fini(&first);
    tls_pem_fini(&second);
}

TEST(a_damaged_leaf_is_made_anew)
{
    struct tls_pem leaf = leaf_at(now_s);

    tls_pem_fini(&leaf);
    assert_int_equal(place_write(&place, "a/b/tls/localhost.pem", "x"), 0);
    leaf = leaf_at(now_s);
    assert_true(is_approved(&leaf, now_s));
    tls_pem_fini(&leaf);
}

TEST(servers_that_start_at_once_have_one_authority)
{
    int started[2];
    char go;

    assert_int_equal(pipe(started), 0);
    for (int i = 0; i < STARTS; i++) {
        pid_t pid = fork();

        assert_true(pid != -1);
        if (pid == 0) {
            struct tls_pem leaf;

            close(started[1]);
            if (read(started[0], &go, 1) != 0 || find_leaf(now_s, &leaf) != 0)
                _exit(1);
            _exit(is_approved(&leaf, now_s) ? 0 : 2);
        }
    }
    close(started[0]);
    close(started[1]); /* all of them read an end now */
    for (int i = 0; i < STARTS; i++) {
        int status;

        assert_true(wait(&status) != -1);
        assert_int_equal(status, 0);
    }
}

/* --- Refusing ------------------------------------------------------------ */

static void assert_refused(int err, const char *why)
{
    struct tls_pem leaf;

    assert_int_equal(find_leaf(now_s, &leaf), err);
    assert_non_null(strstr(fault.text, why));
}

TEST(a_damaged_authority_is_told_and_left)
{
    struct tls_pem leaf = leaf_at(now_s);
    char text[16];

    tls_pem_fini(&leaf);
    assert_int_equal(place_write(&place, "a/b/tls/authority.pem", "damaged"),
                     0);
    assert_refused(-EINVAL, "authority.pem': there is no whole certificate");
    assert_int_equal(read(openat(place.fd, "a/b/tls/authority.pem", O_RDONLY),
                          text, sizeof(text)),
                     7);
}

TEST(an_authority_that_has_ended_is_told)
{
    struct tls_pem leaf = leaf_at(now_s - 3650LL * DAY_S);

    tls_pem_fini(&leaf);
    assert_refused(-EINVAL, "it has ended");
}

TEST(a_folder_that_others_may_enter_is_refused)
{
    struct tls_pem leaf = leaf_at(now_s);

    tls_pem_fini(&leaf);
    assert_int_equal(chmod(folder, 0750), 0);
    assert_refused(-EACCES, "others may look into it");
}

TEST(a_link_in_the_place_of_the_folder_is_refused)
{
    assert_int_equal(mkdirat(place.fd, "a", 0700), 0);
    assert_int_equal(mkdirat(place.fd, "a/b", 0700), 0);
    assert_int_equal(mkdirat(place.fd, "elsewhere", 0700), 0);
    assert_int_equal(symlinkat("../../elsewhere", place.fd, "a/b/tls"), 0);
    assert_refused(-ENOTDIR, "tls'");
}

TEST(root_is_not_led_elsewhere)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdirat(place.fd, "a", 0755), 0);
    assert_int_equal(fchownat(place.fd, "a", 65534, 65534, 0), 0);
    assert_refused(-EPERM, "lead root elsewhere");
    assert_int_equal(faccessat(place.fd, "a/b", F_OK, 0), -1);
}

TEST(an_authority_that_others_can_write_signs_nothing)
{
    struct tls_pem leaf = leaf_at(now_s);
    struct stat st;

    tls_pem_fini(&leaf);
    assert_int_equal(fchmodat(place.fd, "a/b/tls/authority.pem", 0660, 0), 0);
    assert_refused(-EACCES, "others can write it");
    assert_int_equal(fchmodat(place.fd, "a/b/tls/authority.pem", 0644, 0), 0);
    leaf = leaf_at(now_s);
    tls_pem_fini(&leaf);
    assert_int_equal(fstatat(place.fd, "a/b/tls/authority.pem", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* --- Where, what --------------------------------------------------------- */

TEST(the_folder_is_where_systemd_or_the_desktop_says)
{
    char found[PATH_MAX];

    setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("HOME", "/home/somebody", 1);
    assert_int_equal(local_authority_find_folder(found, &fault), 0);
    assert_string_equal(found, "/var/lib/one/tls");
    unsetenv("STATE_DIRECTORY");
    assert_int_equal(local_authority_find_folder(found, &fault), 0);
    assert_string_equal(found, "/data/sprintd/tls");
    setenv("XDG_DATA_HOME", "relative", 1); /* which XDG says to ignore */
    assert_int_equal(local_authority_find_folder(found, &fault), 0);
    assert_string_equal(found, "/home/somebody/.local/share/sprintd/tls");
}

TEST(only_the_certificate_is_read_for_others)
{
    struct tls_authority_facts facts;
    struct tls_pem certificate;
    struct tls_pem leaf;

    assert_int_equal(local_authority_read(folder, &facts, &certificate, &fault),
                     -ENOENT);
    leaf = leaf_at(now_s);
    assert_int_equal(local_authority_read(folder, &facts, &certificate, &fault),
                     0);
    assert_non_null(strstr(facts.name, "sprintd local authority"));
    assert_null(strstr(certificate.text, "KEY"));
    assert_false(machine_trust_has_added(&certificate));
    tls_pem_fini(&certificate);
    tls_pem_fini(&leaf);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
