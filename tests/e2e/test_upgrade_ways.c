/*
 * What an upgrade reads and runs is nothing that the server, or the user whom
 * it is lowered to, can change: neither the program nor a file of the
 * configuration, be it one that is only included, or would be if it were made.
 */
#include "client.h"
#include "operator.h"

#include <sys/stat.h>
#include <sysexits.h>

enum { NOBODY = 65534, SOON_MS = 10000 };

static const char *at(const char *name)
{
    return printed("%s/%s", folder(), name);
}

static void make(const char *name, uid_t owner)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
    assert_int_equal(chown(at(name), owner, owner), 0);
}

E2E_BEGIN(start)
{
    operator_adopt();
    assert_int_equal(chmod(folder(), 0755), 0);
    if (geteuid() != 0)
        return;
    make("roots", 0);
    make("theirs", NOBODY);
}

/* A link of the user's, in the place of what was there. */
static void lead(const char *name, const char *target)
{
    unlink(at(name));
    assert_int_equal(symlink(target, at(name)), 0);
    assert_int_equal(lchown(at(name), NOBODY, NOBODY), 0);
}

static const char *configure(const char *text)
{
    site_text("../roots/conf", printed("listen = {\"127.0.0.1:0\"}\n"
                                       "root = \"%s\"\nuser = nobody\n%s",
                                       site(), text));
    return at("roots/conf");
}

/* --- As another user ----------------------------------------------------- */

static void expect_too_open(const char *program, const char *config)
{
    struct outcome outcome;

    if (program)
        assert_int_equal(servers_choose(program), 0);
    RUN(&outcome, "--config", config, "--control", control_path());
    servers_choose(getenv("SPRINTD"));
    assert_int_equal(outcome.status, EX_NOPERM);
    if (!strstr(outcome.err, "can be changed by that user"))
        flunk("'%s'", outcome.err);
}

TEST(a_configuration_that_the_user_can_change_is_refused)
{
    const char *conf = configure("");

    if (geteuid() != 0)
        skip();
    site_text("../theirs/conf", read_text(conf, NULL));
    expect_too_open(NULL, at("theirs/conf")); /* by replacing it */
    lead("theirs/conf", conf);
    expect_too_open(NULL, at("theirs/conf"));
    assert_int_equal(chown(conf, NOBODY, 0), 0);
    expect_too_open(NULL, conf);
    assert_int_equal(chown(conf, 0, NOBODY), 0);
    assert_int_equal(chmod(conf, 0660), 0);
    expect_too_open(NULL, conf);
    assert_int_equal(unlink(conf), 0);
}

/* --- What is included ---------------------------------------------------- */

static void folder_of_roots(const char *name)
{
    if (mkdir(at(name), 0755) == -1)
        assert_int_equal(errno, EEXIST);
}

/* Whoever makes such a file says what root does at the next upgrade. */
TEST(an_include_that_the_user_can_add_to_is_refused)
{
    static const char *const patterns[] = {
        "../theirs/*.conf",  "../open/*.conf",       "sites/*/one.conf",
        "sites/link/*.conf", "sites/t*/no/one.conf", "sites/group/./*.conf"};

    if (geteuid() != 0)
        skip();
    folder_of_roots("open");
    assert_int_equal(chmod(at("open"), 01777), 0);
    folder_of_roots("roots/sites");
    folder_of_roots("roots/sites/group");
    assert_int_equal(chown(at("roots/sites/group"), 0, NOBODY), 0);
    assert_int_equal(chmod(at("roots/sites/group"), 0775), 0);
    make("roots/sites/theirs", NOBODY);
    assert_int_equal(symlink("../../theirs", at("roots/sites/link")), 0);
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        print_message("%s\n", patterns[i]);
        expect_too_open(NULL,
                        configure(printed("include \"%s\"\n", patterns[i])));
    }
}

TEST(an_included_file_that_the_user_can_change_is_refused)
{
    const char *conf = configure("include \"more/*.conf\"\n");
    const char *one = at("roots/more/one.conf");

    if (geteuid() != 0)
        skip();
    folder_of_roots("roots/more");
    site_text("../roots/more/one.conf", "workers = 1\n");
    assert_int_equal(chown(one, NOBODY, 0), 0);
    expect_too_open(NULL, conf);
    site_text("../theirs/one.conf", "workers = 1\n");
    lead("roots/more/one.conf", at("theirs/one.conf"));
    expect_too_open(NULL, conf);
    assert_int_equal(unlink(one), 0);
}

TEST(an_include_of_roots_is_upgraded)
{
    const char *conf = configure("include \"./kept/*.conf\"\n"
                                 "include \"kept/*/one.conf\"\n");
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", conf, "--control",
                                     control_path(), NULL};
    struct server *one;

    if (geteuid() != 0)
        skip();
    folder_of_roots("roots/kept");
    folder_of_roots("roots/kept/deep");
    site_text("../roots/kept/one.conf", "header-set = {\"X-One: 1\"}\n");
    site_text("../roots/kept/deep/one.conf", "workers = 1\n");
    one = server_start(&launch, arguments);
    assert_string_equal(reply_field(get(one, "/canary"), "X-One"), "1");
    ctl_ok("upgrade");
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    assert_string_equal(reply_field(get(one, "/canary"), "X-One"), "1");
    ctl_ok("stop");
}

static void refuse_upgrade(const struct server *server)
{
    struct outcome outcome;

    RUN(&outcome, "ctl", "--control", control_path(), "upgrade");
    assert_int_not_equal(outcome.status, 0);
    expect_status(get(server, "/canary"), 200);
}

/* Whoever has taken the server over chooses to whom an upgrade says what is
 * wrong; here it is the words of a file that root alone can read. */
TEST(an_upgrade_does_not_tell_what_the_user_may_not_read)
{
    const char *conf = configure("include \"late/*.conf\"\n");
    const char *late = at("roots/late/one.conf");
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", conf, "--control",
                                     control_path(), NULL};
    struct server *one;

    if (geteuid() != 0)
        skip();
    folder_of_roots("roots/late");
    site_text("../roots/hidden", "hush hush\n");
    assert_int_equal(chmod(at("roots/hidden"), 0600), 0);
    one = server_start(&launch, arguments);
    site_text("../roots/late/one.conf",
              printed("include \"%s\"\n", at("roots/hidden")));
    assert_int_equal(chown(late, NOBODY, NOBODY), 0);
    refuse_upgrade(one);
    assert_true(server_has_said(one, "others than root can change"));
    assert_false(server_has_said(one, "hush"));
    assert_int_equal(chown(late, 0, 0), 0);
    refuse_upgrade(one);
    assert_true(server_has_said(one, "'hush' is unknown"));
    assert_int_equal(unlink(late), 0);
}

TEST(a_program_that_the_user_can_change_is_refused)
{
    size_t len;
    char *program = read_text(getenv("SPRINTD"), &len);

    if (geteuid() != 0)
        skip();
    site_write("../theirs/program", program, len);
    assert_int_equal(chmod(at("theirs/program"), 0755), 0);
    expect_too_open(at("theirs/program"), configure(""));
}

/* --- In the sandbox ------------------------------------------------------ */

static bool has_landlock(void)
{
    struct server *one = START("--control", control_path());
    const char *text = ctl_ok("status");

    server_stop(one);
    return strstr(text, "sandbox: Landlock");
}

/* Writes the file, of a server whose store is in-store/. */
static const char *configure_store(const char *name, const char *text)
{
    site_text(printed("../%s", name),
              printed("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n"
                      "kv = {\"/kv=%s\"}\n%s",
                      site(), at("in-store"), text));
    return at(name);
}

static void expect_in_store(const char *config)
{
    struct outcome outcome;

    RUN(&outcome, "--config", config);
    assert_int_equal(outcome.status, EX_CONFIG);
    if (!strstr(outcome.err, "lies in a store's folder"))
        flunk("'%s'", outcome.err);
}

TEST(a_store_does_not_take_the_configuration_in)
{
    if (!has_landlock())
        skip();
    expect_in_store(configure_store("in-store/conf", ""));
    expect_in_store(configure_store("conf", "include \"in-store/*.conf\"\n"));
    expect_in_store(configure_store("conf", "include \"in-s*/a.conf\"\n"));
    site_text("../in-store/one", "workers = 1\n");
    expect_in_store(configure_store("conf", "include \"in-store/one\"\n"));
}

TEST(no_way_to_a_configuration_leads_through_a_store)
{
    if (!has_landlock())
        skip();
    site_text("../in-store/one", "workers = 1\n");
    unlink(at("in-store/link"));
    assert_int_equal(symlink(configure_store("conf", ""), at("in-store/link")),
                     0);
    expect_in_store(at("in-store/link"));
    unlink(at("outer"));
    assert_int_equal(symlink("in-store/link", at("outer")), 0);
    expect_in_store(at("outer"));
    expect_in_store(at("in-store/../conf"));
}

/* An upgrade would open a log for whoever writes there, before it looks. */
TEST(a_reload_takes_no_configuration_from_a_store)
{
    const char *conf = configure_store("conf", "");
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", conf, "--control",
                                     control_path(), NULL};
    struct server *one;
    struct outcome outcome;

    if (!has_landlock())
        skip();
    one = server_start(&launch, arguments);
    site_text("../conf",
              printed("listen = {\"127.0.0.1:%u\"}\nroot = \"%s\"\n"
                      "kv = {\"/kv=%s\"}\ninclude \"in-store/*.conf\"\n",
                      one->port, site(), at("in-store")));
    RUN(&outcome, "ctl", "--control", control_path(), "reload");
    assert_int_not_equal(outcome.status, 0);
    if (!strstr(outcome.err, "lies in a store's folder"))
        flunk("'%s'", outcome.err);
    expect_status(get(one, "/canary"), 200);
}

/* --- What is written ----------------------------------------------------- */

static void expect_not_written(const char *option, const char *path)
{
    const char *conf = at("written");
    struct outcome outcome;

    site_text("../written",
              printed("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n"
                      "include \"more.conf\"\n%s = \"%s\"\n",
                      site(), option, path));
    RUN(&outcome, "--config", conf);
    assert_int_equal(outcome.status, EX_CONFIG);
    if (!strstr(outcome.err, "is a file of the configuration"))
        flunk("%s %s: '%s'", option, path, outcome.err);
    assert_string_equal(read_text(at("more.conf"), NULL), "");
}

TEST(nothing_is_written_into_the_configuration)
{
    static const char *const names[] = {"written", "more.conf", "more.link",
                                        "more.hard"};

    site_text("../more.conf", "");
    assert_int_equal(symlink("more.conf", at("more.link")), 0);
    assert_int_equal(link(at("more.conf"), at("more.hard")), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        expect_not_written("access-log", at(names[i]));
        expect_not_written("pid-file", at(names[i]));
    }
}

TEST(a_configuration_that_was_replaced_is_read_again)
{
    const char *conf = at("conf");
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", conf, "--control",
                                     control_path(), NULL};
    struct server *one;

    site_text("../conf",
              printed("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site()));
    one = server_start(&launch, arguments);
    for (int i = 0; i < 2; i++) {
        site_text("../conf.new", printed("listen = {\"127.0.0.1:%u\"}\n"
                                         "root = \"%s\"\n"
                                         "header-set = {\"X-Time: %d\"}\n",
                                         one->port, site(), i));
        assert_int_equal(rename(at("conf.new"), conf), 0);
        ctl_ok("reload");
        assert_true(eventually(strcmp(reply_field(get(one, "/canary"),
                                                  "X-Time"),
                                      i == 0 ? "0" : "1") == 0,
                               SOON_MS));
    }
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
