/* Whether browsers trust an authority is their database's to say. */
#include "suite.h"
#include "trusting.h"

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

TRUSTING_SUITE;
