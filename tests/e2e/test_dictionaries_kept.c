/*
 * Deltas against what a client has already: which versions are kept, for whom,
 * and what becomes of a folder that others write in.
 */
#include "configured.h"
#include "versions.h"

TEST(what_is_kept_outlives_the_release_and_the_server)
{
    struct server *server = START_DICT(RULE, "--workers=2");

    publish(client_open(server), 1);
    server_stop(server);
    site_remove("assets/app.1.js");
    version_write("assets/app.2.js", 2);
    server = START_DICT(RULE, "--workers=2");
    expect_reply_delta(await_delta(client_open(server), "/assets/app.2.js", 1),
                       1, 2);
}

TEST(so_many_versions_are_kept_and_those_are_the_newest)
{
    struct client *client = client_open(START_DICT(RULE,
                                                   "--dictionary-versions=2"));

    for (unsigned version = 1; version <= 4; version++)
        publish(client, version);
    assert_true(eventually(count_kept() == 3, MADE_MS));
    assert_null(find_kept(1));
    for (unsigned version = 2; version <= 3; version++)
        expect_reply_delta(await_delta(client, "/assets/app.4.js", version),
                           version, 4);
    version_write("assets/app.0.js", 0);
    for (int i = 0; i < 20; i++) {
        fetch_ok(client, "/assets/app.0.js", TAKES);
        pause_ms(50);
    }
    assert_null(find_kept(0));
    assert_int_equal(count_kept(), 3);
}

TEST(what_is_damaged_is_never_used_and_goes)
{
    struct server *server = START_DICT(RULE, "--workers=1");
    struct client *client = client_open(server);
    const char *path;
    char *text = version_text(1);

    publish(client, 1);
    publish(client, 2);
    path = find_kept(1);
    text[1000] ^= 1;
    save(path, text, LEN);
    version_write("assets/app.3.js", 3);
    expect_reply_delta(await_delta(client, "/assets/app.3.js", 2), 2, 3);
    assert_true(eventually(
        (assert_false(is_delta(fetch_ok(client, "/assets/app.3.js",
                                        printed(TAKES "%s", offer(1))))),
         find_kept(1) == NULL),
        MADE_MS));
    server_stop(server);
    path = find_kept(2);
    save(path, text, LEN / 2);
    server = START_DICT(RULE, "--workers=1");
    assert_true(eventually(find_kept(2) == NULL, MADE_MS));
    assert_false(is_delta(fetch_ok(client_open(server), "/assets/app.3.js",
                                   printed(TAKES "%s", offer(2)))));
}

TEST(strangers_files_in_the_folder_are_left_alone)
{
    struct server *server;
    const char *other;

    assert_int_equal(system(printed("mkdir -p %s/dictionaries", state_place())),
                     0);
    other = printed("%s/dictionaries/README", state_place());
    save(other, "mine\n", 5);
    server = START_DICT(RULE, "--workers=1");
    publish(client_open(server), 1);
    server_stop(server);
    assert_string_equal(read_text(other, NULL), "mine\n");
}

TEST(each_site_has_its_own)
{
    const char *config = printed("state-directory = \"%s\"\n"
                                 "site one {\n hosts = {one.localhost}\n"
                                 " root = www\n"
                                 " dictionary = \"/assets/app.*.js\"\n}\n"
                                 "site two {\n hosts = {two.localhost}\n"
                                 " root = www2\n"
                                 " dictionary = \"/assets/app.*.js\"\n}\n",
                                 state_place());
    struct client *client;
    struct reply *reply;

    version_write("../www/assets/app.1.js", 1);
    version_write("../www/assets/app.2.js", 2);
    version_write("../www2/assets/app.2.js", 2);
    client = client_open(start_configured(config));
    assert_true(eventually((client_ask_host(client, "GET", "one.localhost",
                                            "/assets/app.1.js", NULL),
                            count_kept() == 1),
                           MADE_MS));
    assert_true(eventually((reply =
                                client_ask_host(client, "GET", "one.localhost",
                                                "/assets/app.2.js",
                                                printed(TAKES "%s", offer(1))),
                            is_delta(reply)),
                           MADE_MS));
    for (int i = 0; i < 20; i++) {
        reply = client_ask_host(client, "GET", "two.localhost",
                                "/assets/app.2.js",
                                printed(TAKES "%s", offer(1)));
        expect_status(reply, 200);
        assert_false(is_delta(reply));
        pause_ms(20);
    }
}

VERSIONS_SUITE;
