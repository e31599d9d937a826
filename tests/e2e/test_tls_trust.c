/* Whether the programs of a machine trust an authority is openssl's to say. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "process/certificates/local_authority.h"
#include "process/certificates/machine_trust.h"
#include "suite.h"
#include "trusting.h"

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

TRUSTING_SUITE;
