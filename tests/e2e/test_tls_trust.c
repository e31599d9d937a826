/* Of the system's authorities a copy is changed, in a mount namespace of the
 * test's own: by root only. Whether they are trusted is openssl's to say. */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include "harness.h"
#include "process/certificates/local_authority.h"
#include "process/certificates/machine_trust.h"
#include "suite.h"

enum { NOBODY = 65534 };

#define TRUSTED_FOLDER "/usr/local/share/ca-certificates"
#define CERTIFICATES "/etc/ssl/certs"

static const char *const hidden[] = {TRUSTED_FOLDER, CERTIFICATES,
                                     "/etc/ca-certificates/update.d"};

static char home[128];
static struct outcome outcome; /* of the last run */

/* --- Places -------------------------------------------------------------- */

static void shell(const char *command)
{
    if (system(command) != 0)
        flunk("%s", command);
}

E2E_BEGIN(set_up)
{
    snprintf(home, sizeof(home), "%s/home", folder());
    setenv("HOME", home, 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("STATE_DIRECTORY");
}

/* Each test has a home of its own. */
static int begin(void **state)
{
    (void)state;
    return mkdir(home, 0755);
}

static int end(void **state)
{
    shell(printed("rm -rf '%s'", home));
    return harness_after_test(state);
}

/* No certificate of the system is hidden but in this process and its children.
 * Skips the test where that cannot be done. */
static void hide_system(void)
{
    static bool is_hidden;

    if (access("/usr/sbin/update-ca-certificates", X_OK) == -1) {
        print_message("skipped: ca-certificates is not installed\n");
        skip();
    }
    if (!is_hidden &&
        (unshare(CLONE_NEWNS) == -1 ||
         mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)) {
        print_message("skipped: there is no mount namespace to be had\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
        if (access(hidden[i], F_OK) == -1)
            continue;
        if (is_hidden && umount(hidden[i]) == -1)
            flunk("umount %s", hidden[i]);
        if (mount("tmpfs", hidden[i], "tmpfs", 0, "mode=0755") == -1)
            flunk("mount %s", hidden[i]);
    }
    is_hidden = true;
}

static void hide_system_as_root(void)
{
    if (geteuid() != 0)
        skip();
    hide_system();
}

/* How another user could lead root elsewhere, and how that ends. */
struct steering {
    const char *steer;
    const char *leave;
};

static void run_at_home(const char *command)
{
    shell(printed("cd '%s' && %s", home, command));
}

/* An authority in name below the home, as a server makes it. */
static const char *make_authority(const char *name)
{
    char *place = printed("%s/%s", home, name);
    struct local_authority_fault fault;
    struct tls_names names = {0};
    struct tls_pem leaf;

    tls_names_add(&names, BYTES("localhost"));
    if (local_authority_make_folder(place, &fault) != 0 ||
        local_authority_leaf(place, geteuid(), &names, time(NULL), &leaf,
                             &fault) != 0)
        flunk("%s", fault.text);
    tls_pem_fini(&leaf);
    return place;
}

static const char *fingerprint_of(const char *place)
{
    static struct tls_authority_facts facts;
    struct local_authority_fault fault;
    struct tls_pem certificate;

    if (local_authority_read(place, &facts, &certificate, &fault) != 0)
        flunk("%s", fault.text);
    tls_pem_fini(&certificate);
    return facts.sha256;
}

/* What the programs of this machine say of what it has signed, be it that they
 * look in the file or in the folder. */
static bool is_trusted(const char *place)
{
    bool by_file = system(printed("openssl verify -no-CApath -no-CAstore "
                                  "-CAfile " CERTIFICATES
                                  "/ca-certificates.crt '%s/localhost.pem' "
                                  ">/dev/null 2>&1",
                                  place)) == 0;
    bool by_folder = system(printed("openssl verify -no-CAfile -no-CAstore "
                                    "-CApath " CERTIFICATES
                                    " '%s/localhost.pem' >/dev/null 2>&1",
                                    place)) == 0;

    assert_int_equal(by_file, by_folder);
    return by_file;
}

static void assert_says(const char *text, const char *what)
{
    if (!strstr(text, what))
        flunk("it says '%s', and not '%s'", text, what);
}

static void assert_status(int status)
{
    if (outcome.status != status)
        flunk("status %d: %s%s", outcome.status, outcome.out, outcome.err);
}

/* Runs "sprintd tls" with these arguments, and expects that it ends so. */
#define EXPECT(status, ...)                \
    do {                                   \
        RUN(&outcome, "tls", __VA_ARGS__); \
        assert_status(status);             \
    } while (0)

/* --- Showing ------------------------------------------------------------- */

TEST(without_an_authority_it_says_how_one_is_made)
{
    EXPECT(66, "show");
    assert_says(outcome.err, "/.local/share/sprintd/tls'");
    assert_says(outcome.err, "sprintd --https PORT");
    EXPECT(66, "trust", printed("%s/nowhere", home));
}

TEST(an_authority_is_shown_and_not_trusted)
{
    const char *place = make_authority(".local/share/sprintd/tls");

    EXPECT(0, "show");
    assert_says(outcome.out, "sprintd local authority");
    assert_says(outcome.out, printed("%s/authority.crt\n", place));
    assert_says(outcome.out,
                printed("SHA-256      %s\n", fingerprint_of(place)));
    assert_says(outcome.out, "not by the programs of this machine");
    assert_says(outcome.out, printed("sprintd tls trust '%s'\n", place));
    assert_string_equal(outcome.err, "");
}

TEST(a_folders_name_gives_no_orders)
{
    const char *place = make_authority("a';\033[2J");

    EXPECT(0, "show", place);
    assert_null(strchr(outcome.out, '\033'));
    assert_says(outcome.out, "/a'\\'';?[2J'\n");
}

TEST(what_is_damaged_is_told)
{
    const char *place = make_authority("tls");

    shell(printed("cp '%s/localhost.pem' '%s/authority.crt'", place, place));
    EXPECT(65, "trust", place);
    assert_says(outcome.err, "its certificate is no authority for servers");
}

TEST(a_wrong_command_line_is_told)
{
    EXPECT(64, NULL);
    EXPECT(64, "trust", "a", "b", "c");
    EXPECT(64, "untrust", "a");
    assert_says(outcome.err, "usage: sprintd tls show [FOLDER]");
}

/* --- The system ---------------------------------------------------------- */

TEST(programs_trust_it_when_told_and_not_any_longer)
{
    const char *place = make_authority("tls");
    struct stat st;

    hide_system();
    assert_false(is_trusted(place));
    /* Again, since what is left of the first time could be in the way. */
    for (int i = 0; i < 2; i++) {
        EXPECT(0, "trust", place);
        assert_says(outcome.out, fingerprint_of(place));
        assert_says(outcome.out, "the programs of this machine trust it: ");
        assert_true(is_trusted(place));
        assert_int_equal(stat(MACHINE_TRUST_ADDED_PATH, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0644);
        assert_null(strstr(read_text(MACHINE_TRUST_ADDED_PATH, NULL), "KEY"));
        RUN(&outcome, "tls", "show", place);
        assert_says(outcome.out, "by the programs of this machine: /usr");
        EXPECT(0, "untrust");
        assert_says(outcome.out, "trust it no longer");
        assert_false(is_trusted(place));
        assert_int_equal(access(MACHINE_TRUST_ADDED_PATH, F_OK), -1);
        /* A link that is left leads to whatever comes next by that name. */
        shell("test -z \"$(find " CERTIFICATES " -xtype l)\"");
    }
    EXPECT(0, "untrust");
    assert_says(outcome.out, "the programs of this machine trust none");
}

TEST(an_authority_makes_room_for_another)
{
    const char *first = make_authority("first");
    const char *second = make_authority("second");

    hide_system();
    EXPECT(0, "trust", first);
    EXPECT(0, "trust", second);
    assert_says(outcome.out, "and not the one before");
    assert_true(is_trusted(second));
    assert_false(is_trusted(first));
    EXPECT(0, "trust", second);
    assert_says(outcome.out, "trust it already");
}

static void set_read_only(bool is_read_only)
{
    assert_int_equal(mount(NULL, CERTIFICATES, NULL,
                           MS_REMOUNT | (is_read_only ? MS_RDONLY : 0), NULL),
                     0);
}

/* Whatever stands between, it is not forgotten that programs trust it yet. */
TEST(an_update_that_has_failed_is_done_again)
{
    const char *place = make_authority("tls");

    hide_system();
    set_read_only(true);
    RUN(&outcome, "tls", "trust", place);
    set_read_only(false);
    assert_status(71);
    assert_false(is_trusted(place));
    EXPECT(0, "trust", place);
    assert_true(is_trusted(place));
    for (int i = 0; i < 2; i++) {
        set_read_only(true);
        RUN(&outcome, "tls", "untrust");
        set_read_only(false);
        assert_status(71);
        assert_says(outcome.err, "may trust it yet");
        RUN(&outcome, "tls", "show", place);
        assert_says(outcome.out, "by the programs of this machine still");
    }
    EXPECT(0, "untrust");
    assert_false(is_trusted(place));
    RUN(&outcome, "tls", "untrust");
    assert_says(outcome.out, "the programs of this machine trust none");
    shell("test -z \"$(ls " TRUSTED_FOLDER ")\"");
}

TEST(who_is_not_root_is_told_what_root_has_to_do)
{
    const struct launch launch = {
        .root = "", .as_nobody = true, .is_bare = true};
    const char *place = make_authority("tls");

    hide_system();
    if (geteuid() == 0)
        shell(printed("chown -R %d '%s'", NOBODY, home));
    server_run(&launch, (const char *const[]){"tls", "trust", place, NULL},
               &outcome);
    assert_status(77);
    assert_says(outcome.err, printed("sudo sprintd tls trust '%s'\n", place));
    assert_false(is_trusted(place));
}

TEST(who_may_not_read_it_is_told)
{
    const struct launch launch = {
        .root = "", .as_nobody = true, .is_bare = true};
    const char *place = make_authority("tls");

    if (geteuid() != 0)
        skip();
    server_run(&launch, (const char *const[]){"tls", "show", place, NULL},
               &outcome);
    assert_status(77);
}

/* The environment of another user is kept by sudo and su. */
TEST(an_authority_of_another_user_is_trusted_only_by_both_names)
{
    const char *place = make_authority("data/sprintd/tls");

    hide_system_as_root();
    setenv("XDG_DATA_HOME", printed("%s/data", home), 1);
    shell(printed("chown -R %d '%s/data'", NOBODY, home));
    RUN(&outcome, "tls", "trust");
    unsetenv("XDG_DATA_HOME");
    assert_status(77);
    assert_says(outcome.err, printed("'%s' is of user 'nobody'", place));
    assert_says(outcome.err, "name its folder");
    assert_false(is_trusted(place));
    EXPECT(77, "trust", place);
    assert_says(outcome.err, "and that user behind it");
    EXPECT(77, "trust", place, "root");
    assert_says(outcome.err, "not of the one named");
    assert_false(is_trusted(place));
    RUN(&outcome, "tls", "show", place);
    assert_says(outcome.out,
                printed("sprintd tls trust '%s' %d\n", place, NOBODY));
    EXPECT(0, "trust", place, "nobody");
    assert_says(outcome.out, "it is of user 'nobody'");
    assert_true(is_trusted(place));
}

TEST(who_has_become_root_by_sudo_need_not_be_named)
{
    const char *place = make_authority("tls");

    hide_system_as_root();
    shell(printed("chown -R %d '%s'", NOBODY, place));
    setenv("SUDO_UID", "12345", 1);
    EXPECT(77, "trust", place);
    setenv("SUDO_UID", "65534", 1);
    RUN(&outcome, "tls", "trust", place);
    unsetenv("SUDO_UID");
    assert_status(0);
    assert_true(is_trusted(place));
}

TEST(an_authority_that_others_can_put_there_is_not_trusted)
{
    static const struct steering cases[] = {
        {"chown 12345 data", "chown 0 data"},
        {"chmod 1777 data/sprintd/tls", "chmod 700 data/sprintd/tls"},
        {"chmod 777 data", "chmod 755 data"},
        {"chmod 666 data/sprintd/tls/authority.crt",
         "chmod 600 data/sprintd/tls/authority.crt"},
        {"mv data own && ln -s own data && chmod 1777 . && chown -h 12345 data",
         "chmod 755 . && rm data && mv own data"}};
    const char *place = make_authority("data/sprintd/tls");

    hide_system_as_root();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (int is_named = 0; is_named < 2; is_named++) {
            going_on("%s, %d", cases[i].steer, is_named);
            run_at_home(cases[i].steer);
            setenv("XDG_DATA_HOME", printed("%s/data", home), 1);
            RUN(&outcome, "tls", "trust", is_named ? place : NULL);
            unsetenv("XDG_DATA_HOME");
            run_at_home(cases[i].leave);
            assert_status(77);
            assert_false(is_trusted(place));
        }
    }
    going_on("%s", "");
    EXPECT(0, "trust", place);
    assert_null(strstr(outcome.out, "of user"));
}

/* --- Browsers ------------------------------------------------------------ */

/* A database as a browser makes it; skips where there is no certutil. */
static const char *make_database(const char *name)
{
    char *database = printed("%s/%s", home, name);

    if (access("/usr/bin/certutil", X_OK) == -1) {
        print_message("skipped: libnss3-tools is not installed\n");
        skip();
    }
    shell(printed("mkdir -p '%s' && certutil -N -d 'sql:%s' --empty-password",
                  database, database));
    return database;
}

static bool lists_it(const char *database)
{
    return system(printed("certutil -L -d 'sql:%s' | grep -q "
                          "'^sprintd local authority  *C,, *$'",
                          database)) == 0;
}

TEST(browsers_trust_it_when_told_and_not_any_longer)
{
    const char *chromium = make_database(".pki/nssdb");
    const char *firefox = make_database(".mozilla/firefox/x.[default]");
    const char *first = make_authority("first");
    const char *second = make_authority("second");

    hide_system();
    EXPECT(0, "trust", first);
    EXPECT(0, "trust", second);
    assert_says(outcome.out, printed("'%s' trusts it", firefox));
    assert_true(lists_it(chromium));
    assert_true(lists_it(firefox));
    /* The second, and it alone. */
    shell(printed("certutil -V -u V -d 'sql:%s' -n 'sprintd local authority' "
                  ">/dev/null; "
                  "certutil -L -a -d 'sql:%s' -n 'sprintd local authority' | "
                  "tr -d '\\r' | cmp - '%s/authority.crt'",
                  firefox, firefox, second));
    EXPECT(0, "untrust");
    assert_says(outcome.out, printed("'%s' trusts it no longer", chromium));
    assert_false(lists_it(chromium));
    assert_false(lists_it(firefox));
    RUN(&outcome, "tls", "untrust");
    assert_says(outcome.out, "no browser of this user trusts one");
}

TEST(without_certutil_it_says_what_to_install)
{
    char *path = printed("%s", getenv("PATH"));

    make_database(".pki/nssdb");
    hide_system();
    setenv("PATH", "/usr/sbin:/sbin", 1);
    RUN(&outcome, "tls", "untrust");
    setenv("PATH", path, 1);
    assert_status(69);
    assert_says(outcome.err, "libnss3-tools");
}

TEST(a_browser_of_another_user_is_left_alone)
{
    const char *database = make_database(".pki/nssdb");
    const char *place = make_authority("tls");

    hide_system_as_root();
    shell(printed("chown -R %d '%s/.pki'", NOBODY, home));
    EXPECT(77, "trust", place);
    assert_says(outcome.err, "is another user's");
    assert_false(lists_it(database));
    /* Nor where only the way there is another's, who could lead it away. */
    shell(printed("chown -R 0 '%s/.pki' && chown %d '%s'", home, NOBODY, home));
    EXPECT(77, "trust", place);
    assert_false(lists_it(database));
}

/* Else certutil would run as root what pkcs11.txt of another user names, or
 * write where a link leads. */
TEST(a_browser_that_others_can_steer_is_left_alone)
{
    static const struct steering cases[] = {
        {"chmod 1777 . && chown 65534 .pki", "chmod 755 . && chown 0 .pki"},
        {"chmod 1777 .pki/nssdb", "chmod 700 .pki/nssdb"},
        {"chmod 777 .pki", "chmod 700 .pki"},
        {"mv .pki own && ln -s own .pki && chmod 1777 . && "
         "chown -h 65534 .pki",
         "rm .pki && mv own .pki && chmod 755 ."},
        {"chown 65534 .pki/nssdb/pkcs11.txt", "chown 0 .pki/nssdb/pkcs11.txt"},
        {"chmod 666 .pki/nssdb/pkcs11.txt", "chmod 600 .pki/nssdb/pkcs11.txt"},
        {"ln .pki/nssdb/cert9.db other", "rm other"},
        {"mv .pki/nssdb/key4.db other && ln -s ../../other .pki/nssdb/key4.db",
         "mv other .pki/nssdb/key4.db"},
        {"touch .pki/nssdb/cert9.db-journal && "
         "chown 65534 .pki/nssdb/cert9.db-journal",
         "rm .pki/nssdb/cert9.db-journal"}};
    const char *database = make_database(".pki/nssdb");
    const char *place = make_authority("tls");

    hide_system_as_root();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].steer);
        run_at_home(cases[i].steer);
        RUN(&outcome, "tls", "trust", place);
        run_at_home(cases[i].leave);
        assert_status(77);
        assert_says(outcome.err, "has to run this");
        assert_false(lists_it(database));
        EXPECT(0, "untrust");
    }
    going_on("%s", "");
    EXPECT(0, "trust", place);
    assert_true(lists_it(database));
}

SUITE(.begin = set_up, .end = harness_end, .each_begin = begin,
      .each_end = end);
