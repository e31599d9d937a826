/*
 * Deltas against what a client has already: what --dictionary may say, where,
 * and when it counts.
 */
#include "configured.h"
#include "operator.h"
#include "versions.h"

TEST(a_file_can_be_the_dictionary_of_others)
{
    struct client *client =
        client_open(START("--dictionary=words:/docs/*.html=/docs.words",
                          state_argument(), "--workers=1"));
    struct reply *reply;

    version_write("docs.words", 1);
    version_write("docs/page.html", 2);
    assert_true(eventually((reply = fetch_ok(client, "/docs.words", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    expect_field(reply, "Use-As-Dictionary",
                 "match=\"/docs/*.html\", id=\"words\"");
    expect_no_field(reply, "Link");
    reply = fetch_ok(client, "/docs/page.html", TAKES);
    expect_field(reply, "Link",
                 "</docs.words>; rel=\"compression-dictionary\"");
    expect_no_field(reply, "Use-As-Dictionary");
    reply = await_delta(client, "/docs/page.html", 1);
    expect_reply_delta(reply, 1, 2);
    expect_field(reply, "Link",
                 "</docs.words>; rel=\"compression-dictionary\"");
}

TEST(a_location_has_rules_of_its_own_of_whole_paths)
{
    struct client *client;
    struct reply *reply;

    version_write("../www/app.1.js", 1);
    version_write("../www/app.2.js", 2);
    client = client_open(start_configured(
        printed("state-directory = \"%s\"\n"
                "root = www\n"
                "compress = off\n"
                "location /alias {\n root = www\n strip-prefix = yes\n"
                " dictionary = \"/alias/app.*.js\"\n}\n",
                state_place())));
    assert_true(eventually((reply = client_ask_host(client, "GET", "localhost",
                                                    "/alias/app.1.js", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    expect_field(reply, "Use-As-Dictionary", "match=\"/alias/app.*.js\"");
    assert_true(eventually(is_delta(client_ask_host(client, "GET", "localhost",
                                                    "/alias/app.2.js",
                                                    printed(TAKES "%s",
                                                            offer(1)))),
                           MADE_MS));
    reply = client_ask_host(client, "GET", "localhost", "/app.1.js", TAKES);
    expect_no_field(reply, "Use-As-Dictionary");
    expect_no_field(reply, "Vary");
}

TEST(what_an_answer_is_told_to_be_is_left)
{
    struct client *client =
        client_open(START_DICT(RULE, "--header-set=Cache-Control: "
                                     "max-age=9, no-transform"));

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    for (int i = 0; i < 40; i++) {
        assert_false(is_delta(fetch_ok(client, "/assets/app.2.js",
                                       printed(TAKES "%s", offer(1)))));
        pause_ms(50);
    }
}

TEST(nonsense_is_refused)
{
    static const char *const wrong[] = {
        "--dictionary=app.js",    "--dictionary=",
        "--dictionary=/a?.js",    "--dictionary=/a=b",
        "--dictionary=/a=/b*",    "--dictionary=:/a",
        "--dictionary=/a=",       "--dictionary-versions=0",
        "--dictionary-versions=8"};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "-t", wrong[i]);
        going_on("%s", wrong[i]);
        assert_int_equal(outcome.status, 64);
    }
}

TEST(a_folder_that_cannot_be_is_said_at_the_start)
{
    struct outcome outcome;

    save(printed("%s/state", folder()), "", 0);
    server_run(&(struct launch){0},
               (const char *const[]){RULE, state_argument(), NULL}, &outcome);
    assert_int_equal(outcome.status, 73);
    assert_non_null(strstr(outcome.err, "--state-directory"));
}

/* --- Reloading ----------------------------------------------------------- */

static const char *text_with(const char *rule)
{
    return printed("root = www\nstate-directory = \"%s\"\n"
                   "control = \"%s\"\n%s",
                   state_place(), control_path(), rule);
}

TEST(rules_change_by_a_reload_but_the_first_takes_a_restart)
{
    struct server *server;
    struct client *client;
    struct outcome outcome;
    struct reply *reply;

    version_write("../www/a/app.1.js", 1);
    server = start_configured(text_with(""));
    (void)configuration(text_with("dictionary = \"/a/*.js\"\n"));
    assert_int_not_equal(ctl("reload", &outcome), 0);
    assert_non_null(strstr(outcome.err, "started without"));
    client = client_open(server);
    expect_no_field(fetch_ok(client, "/a/app.1.js", TAKES),
                    "Use-As-Dictionary");
    server_stop(server);
    server = start_configured(text_with("dictionary = \"/b/*.js\"\n"));
    (void)configuration(text_with("dictionary = \"/a/*.js\"\n"));
    assert_int_equal(ctl("reload", &outcome), 0);
    reply = client_ask_host(client_open(server), "GET", "localhost",
                            "/a/app.1.js", TAKES);
    expect_field(reply, "Use-As-Dictionary", "match=\"/a/*.js\"");
}

VERSIONS_SUITE;
