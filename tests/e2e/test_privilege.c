/*
 * Started as root, for another user: what that user can lead astray is opened
 * with that user's rights, and nothing of root's becomes theirs. Run by root
 * only.
 */
#include "client.h"
#include "privileged.h"

#include <sys/stat.h>
#include <sysexits.h>

static void expect_refused(const char *argument, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--bind=127.0.0.1", "--port=0", "--user=nobody", argument,
        site());
    assert_int_not_equal(outcome.status, 0);
    if (!strstr(outcome.err, why))
        flunk("%s: '%s'", argument, outcome.err);
    expect_secret();
    assert_int_equal(access(at("roots/new"), F_OK), -1);
}

TEST(no_option_leads_root_through_the_users_links)
{
    if (geteuid() != 0)
        skip();
    make_secret();
    lead("theirs/link", at("roots/secret"));
    lead("theirs/roots", at("roots"));
    assert_int_equal(link(at("roots/secret"), at("theirs/hard")), 0);
    expect_refused(printed("--access-log=%s", at("theirs/link")), "denied");
    expect_refused(printed("--access-log=%s", at("theirs/hard")), "denied");
    expect_refused(printed("--access-log=%s", at("theirs/roots/new")),
                   "denied");
    expect_refused(printed("--pid-file=%s", at("theirs/link")), "no pid file");
    expect_refused(printed("--pid-file=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--control=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--listen=unix:%s", at("theirs/roots/new")),
                   "denied");
    expect_refused(printed("--kv=/kv=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--kv-token=%s", at("theirs/link")), "denied");
    assert_int_equal(unlink(at("theirs/hard")), 0);
}

static void refuse_dictionaries(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--dictionary=/app.*.js", "--state-directory",
        folder, site());
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, why));
}

/* Whose files are served could choose what root writes there. */
TEST(root_keeps_dictionaries_where_nobody_else_leads)
{
    struct launch launch = {.is_bare = true, .root = ""};

    if (geteuid() != 0)
        skip();
    lead("theirs/dictionaries", at("roots"));
    refuse_dictionaries(at("theirs"), "lead root elsewhere");
    lead("theirs/way", at("roots"));
    refuse_dictionaries(at("theirs/way/made/deep"), "");
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    unlink(at("theirs/dictionaries"));
    refuse_dictionaries(at("theirs"), "");
    (void)rmdir(at("theirs/dictionaries"));
    server_stop(server_start(&launch, (const char *const[]){
                                          "--port=0", "--dictionary=/app.*.js",
                                          "--state-directory", at("roots"),
                                          site(), NULL}));
    assert_int_equal(rmdir(at("roots/dictionaries")), 0);
}

static void refuse_cache(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9", "--proxy-cache",
        folder);
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, why));
}

static void accept_cache(const char *folder)
{
    struct launch launch = {.is_bare = true, .root = ""};

    server_stop(server_start(&launch,
                             (const char *const[]){
                                 "--port=0", "--proxy=/=http://127.0.0.1:9",
                                 "--proxy-cache", folder, NULL}));
}

TEST(root_keeps_a_cache_where_nobody_else_leads)
{
    if (geteuid() != 0)
        skip();
    lead("theirs/cache", at("roots"));
    refuse_cache(at("theirs/cache"), "on the way");
    unlink(at("theirs/cache"));
    lead("theirs/way", at("roots"));
    refuse_cache(at("theirs/way/made"), "");
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    accept_cache(at("roots/cache"));
    assert_int_equal(rmdir(at("roots/cache")), 0);
    make_folder("roots/cache", 0);
    assert_int_equal(chmod(at("roots/cache"), 0777), 0);
    refuse_cache(at("roots/cache"), "chmod go-w");
    /* Root's own group is root. */
    assert_int_equal(chmod(at("roots/cache"), 0775), 0);
    accept_cache(at("roots/cache"));
}

static void refuse_store(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", printed("--kv=/kv=%s", at(folder)), site());
    assert_int_equal(outcome.status, EX_NOPERM);
    if (!strstr(outcome.err, why))
        flunk("%s: '%s'", folder, outcome.err);
}

static void accept_store(const char *folder)
{
    struct launch launch = {.is_bare = true, .root = ""};

    server_stop(server_start(&launch,
                             (const char *const[]){
                                 "--port=0", printed("--kv=/kv=%s", at(folder)),
                                 site(), NULL}));
}

TEST(root_keeps_a_store_where_nobody_else_leads)
{
    const char *why = "lead root elsewhere";

    if (geteuid() != 0)
        skip();
    lead("theirs/store", at("roots"));
    refuse_store("theirs/store", why);
    unlink(at("theirs/store"));
    refuse_store("theirs/store", why);
    lead("theirs/way", at("roots"));
    refuse_store("theirs/way/made", why);
    assert_int_equal(access(at("theirs/store"), F_OK), -1);
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    assert_int_equal(access(at("roots/data.mdb"), F_OK), -1);
    make_folder("roots/kept", NOBODY);
    refuse_store("roots/kept", why);
    assert_int_equal(chown(at("roots/kept"), 0, OTHER), 0);
    assert_int_equal(chmod(at("roots/kept"), 0770), 0);
    refuse_store("roots/kept", "chmod go-w");
    /* Who is in that is root. */
    assert_int_equal(chown(at("roots/kept"), 0, 0), 0);
    accept_store("roots/kept");
    accept_store("roots/fresh");
}

/* LMDB follows links, and believes what it reads. */
TEST(root_opens_no_files_of_others_in_its_store)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "sprintd.lock"};

    if (geteuid() != 0)
        skip();
    accept_store("roots/files");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *file = at(printed("roots/files/%s", names[i]));

        assert_int_equal(chown(file, NOBODY, NOBODY), 0);
        refuse_store("roots/files", "another user's");
        assert_int_equal(chown(file, 0, 0), 0);
        assert_int_equal(chmod(file, 0622), 0);
        refuse_store("roots/files", "others than root can write it");
        assert_int_equal(chmod(file, 0600), 0);
    }
    accept_store("roots/files");
}

TEST(a_root_is_looked_for_as_the_user)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    lead("theirs/www", at("private/www"));
    RUN(&outcome, "--port=0", "--user=nobody", at("theirs/www"));
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, "Permission denied"));
}

TEST(root_gives_away_no_folder_but_the_last)
{
    struct server *one;
    struct stat st;

    if (geteuid() != 0)
        skip();
    one = START("--user=nobody", "--dictionary=/app.*.js", "--state-directory",
                at("roots/some/where/state"));
    expect_status(get(one, "/canary"), 200);
    server_stop(one);
    assert_int_equal(stat(at("roots/some"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(at("roots/some/where"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(at("roots/some/where/state"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(stat(at("roots/some/where/state/dictionaries"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
}

TEST(places_of_roots_work_as_ever)
{
    struct stat st;
    struct server *one;

    if (geteuid() != 0)
        skip();
    one = START("--user=nobody",
                printed("--access-log=%s", at("roots/access.log")),
                "--pid-file", at("roots/pid"), "--control", control_path(),
                printed("--kv=/kv=%s", at("roots/data")));
    expect_status(get(one, "/canary"), 200);
    assert_int_equal(stat(at("roots/access.log"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(stat(at("roots/data"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(stat(at("roots/pid"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(control_path(), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    ctl_ok("status");
    server_stop(one);
}

TEST(a_log_of_roots_is_written_and_stays_roots)
{
    struct stat st;
    struct server *one;

    if (geteuid() != 0)
        skip();
    site_text("../roots/old.log", "");
    one = START("--user=nobody",
                printed("--access-log=%s", at("roots/old.log")));
    get(one, "/canary");
    server_stop(one);
    assert_int_equal(stat(at("roots/old.log"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_true(st.st_size > 0);
}

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
