/*
 * Locations behind a password: whoever has it comes in, whoever has not never
 * does, and nobody else waits while it is being checked.
 */
#include <signal.h>

#include "configured.h"
#include "passwords.h"

/* Takes long enough for much else to happen: tens of milliseconds. */
enum { SLOW_COST = 10, VERY_SLOW_COST = 13 };

#define CHALLENGE "Basic realm=\"the \\\"members\\\"\", charset=\"UTF-8\""

static struct server *server;

static const char passwords_conf[] =
    "workers = 1\n"
    "site all {\n"
    "    root = www\n"
    "    location /private {\n"
    "        auth-file = users\n"
    "        auth-realm = 'the \"members\"'\n"
    "        autoindex = yes\n"
    "        header-set = \"X-Private: yes\"\n"
    "        error-page = \"401 /401.html\"\n"
    "        cors-origin = \"https://app.example\"\n"
    "        redirect = \"/private/old /private/f\"\n"
    "    }\n"
    "    location /private/open { }\n"
    "}\n";

E2E_BEGIN(start)
{
    site_text("../www/canary", "canary\n");
    site_text("../www/a", "a");
    site_text("../www/b", "b");
    site_text("../www/401.html", "<p>who are you?");
    site_text("../www/private/f", "secret");
    site_text("../www/private/open/f", "open");
    site_seeded("../www/private/large", 1, 3000000);
    site_text("../users",
              printed("# users\n%s%s%s%s%s",
                      password_line("joe", "open sesame", "$2y$", 0),
                      password_line("slow", "patience", "$2y$", SLOW_COST),
                      password_line("other", "as well", "$2b$", SLOW_COST),
                      password_line("sha", "two five six", "$5$", 0),
                      password_line("sha512", "p\xC3\xA4ss:word", "$6$", 0)));
    server = start_configured(passwords_conf);
}

static struct reply *ask_secret(const char *user, const char *password)
{
    return ask(server, "GET", "/private/f", credentials(user, password));
}

static void expect_refused(const struct reply *reply)
{
    expect_status(reply, 401);
    expect_field(reply, "WWW-Authenticate", CHALLENGE);
    expect_field(reply, "X-Private", "yes");
    expect_body(reply, "<p>who are you?");
}

/* --- Right and wrong ------------------------------------------------------ */

TEST(the_right_password_opens)
{
    static const char *const users[][2] = {{"joe", "open sesame"},
                                           {"slow", "patience"},
                                           {"sha", "two five six"},
                                           {"sha512", "p\xC3\xA4ss:word"}};

    for (size_t i = 0; i < 4; i++) {
        for (int again = 0; again < 2; again++) {
            struct reply *reply = ask_secret(users[i][0], users[i][1]);

            going_on("%s", users[i][0]);
            expect_status(reply, 200);
            expect_body(reply, "secret");
            expect_field(reply, "X-Private", "yes");
        }
    }
    /* A space or two, and any case: RFC 9110 11.4 and 11.1. */
    expect_body(ask(server, "GET", "/private/f",
                    "authorization: bAsIc  am9lOm9wZW4gc2VzYW1l\r\n"),
                "secret");
}

TEST(all_else_is_refused)
{
    static const char *const fields[] = {
        NULL,
        "Authorization:\r\n",
        "Authorization: Basic\r\n",
        "Authorization: Basic \r\n",
        "Authorization: Basic am9l\r\n",                /* joe: no colon */
        "Authorization: Basic am9lOg==\r\n",            /* no password */
        "Authorization: Basic Om9wZW4=\r\n",            /* no user */
        "Authorization: Basic am9lOm9wZW4gc2VzYW1\r\n", /* not padded */
        "Authorization: Basic am9lOm9wZW4gc2VzYW1l=\r\n",
        "Authorization: Basic am9lOm9wZW4gc2VzYW1l, x\r\n",
        "Authorization: Basic am9l Om9wZW4gc2VzYW1l\r\n",
        "Authorization: Basic joe:open sesame\r\n",
        "Authorization: Basic am9lOm9wZW4AIHNlc2FtZQ==\r\n", /* NUL */
        "Authorization: Basicam9lOm9wZW4gc2VzYW1l\r\n",
        "Authorization: Bearer am9lOm9wZW4gc2VzYW1l\r\n",
        "Authorization: Digest username=\"joe\"\r\n",
        "Proxy-Authorization: Basic am9lOm9wZW4gc2VzYW1l\r\n",
        "Cookie: Authorization=Basic am9lOm9wZW4gc2VzYW1l\r\n",
        "Authorization: Basic am9lOm9wZW4gc2VzYW1l\r\n"
        "Authorization: Basic am9lOm9wZW4gc2VzYW1l\r\n",
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        going_on("%s", fields[i] ? fields[i] : "nothing");
        expect_refused(client_ask(client, "GET", "/private/f", fields[i]));
        client_expect_usable(client);
    }
}

TEST(a_wrong_user_or_password_is_refused)
{
    static const char *const users[][2] = {
        {"joe", "open sesam"},   {"joe", "open sesame "},
        {"joe", "Open sesame"},  {"Joe", "open sesame"},
        {"joe ", "open sesame"}, {"nobody", "x"},
        {"# users", "x"},        {"sha", "open sesame"},
        {"joe", "patience"},     {"sha512", "p\xC3\xA4ss"},
    };
    const char *lots = printed("%0300d", 1);

    for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
        going_on("%s:%s", users[i][0], users[i][1]);
        expect_refused(ask_secret(users[i][0], users[i][1]));
    }
    expect_refused(ask_secret("joe", lots));
    expect_refused(ask_secret(lots, "open sesame"));
}

TEST(what_is_open_inside_asks_nobody)
{
    struct reply *reply;

    expect_body(get(server, "/private/open/f"), "open");
    expect_refused(get(server, "/private/open/../f"));
    expect_refused(get(server, "/private/lost"));
    expect_refused(get(server, "/private/"));
    expect_refused(get(server, "/x/..//private/%66"));
    /* Browsers send no password with a preflight. */
    reply = ask(server, "OPTIONS", "/private/f",
                "Origin: https://app.example\r\n"
                "Access-Control-Request-Method: GET\r\n");
    expect_status(reply, 204);
    expect_field(reply, "Access-Control-Allow-Origin", "https://app.example");
    expect_refused(ask(server, "OPTIONS", "/private/f", NULL));
}

TEST(a_place_of_a_site_behind_a_password_can_be_open)
{
    struct server *one =
        start_configured("root = www\n"
                         "auth-file = users\n"
                         "site all {\n"
                         "    location /private/open { auth-file = off }\n"
                         "    location /private { auth-realm = other }\n"
                         "}\n");
    struct reply *reply;

    expect_body(get(one, "/private/open/f"), "open");
    reply = get(one, "/a");
    expect_status(reply, 401);
    expect_field(reply, "WWW-Authenticate",
                 "Basic realm=\"restricted\", charset=\"UTF-8\"");
    reply = get(one, "/private/f");
    expect_field(reply, "WWW-Authenticate",
                 "Basic realm=\"other\", charset=\"UTF-8\"");
    expect_body(ask(one, "GET", "/a", credentials("joe", "open sesame")), "a");
}

/* --- Every kind of answer, after waiting ---------------------------------- */

/* Each under a password that has not been asked yet: the server starts anew. */
TEST(all_that_can_be_answered_can_be_answered_late)
{
    static const struct {
        const char *method;
        const char *target;
        const char *fields;
        unsigned status;
    } cases[] = {
        {"GET", "/private/f", "", 200},
        {"HEAD", "/private/f", "", 200},
        {"GET", "/private/f", "Connection: close\r\n", 200},
        {"GET", "/private/f", "Range: bytes=1-2\r\n", 206},
        {"GET", "/private/f", "Range: bytes=0-0,2-2\r\n", 206},
        {"GET", "/private/f", "Range: bytes=9-\r\n", 416},
        {"GET", "/private/f", "If-None-Match: *\r\n", 304},
        {"GET", "/private/large", "", 200},
        {"GET", "/private/", "", 200},
        {"HEAD", "/private/", "", 200},
        {"GET", "/private", "", 301},
        {"GET", "/private/old", "", 308},
        {"GET", "/private/lost", "", 404},
        {"PUT", "/private/f", "", 405},
        {"OPTIONS", "/private/f", "", 204},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct server *one = start_configured_at(NULL, passwords_conf,
                                                 "--server-timing");
        struct reply *reply;
        const char *timing;

        going_on("%s %s %s", cases[i].method, cases[i].target, cases[i].fields);
        reply = ask(one, cases[i].method, cases[i].target,
                    printed("%s%s", credentials("slow", "patience"),
                            cases[i].fields));
        expect_status(reply, cases[i].status);
        expect_field(reply, "X-Private", "yes");
        timing = reply_field(reply, "Server-Timing");
        if (!timing || strncmp(timing, "queue;dur=", 10) != 0)
            flunk("Server-Timing is '%s'", timing ? timing : "not there");
        if (reply->length == 3000000)
            expect_seeded(reply, 1, 0, 3000000);
        server_stop(one);
    }
}

TEST(bodies_come_with_passwords_too)
{
    struct server *one = start_configured(passwords_conf);
    struct client *client = client_open(one);
    const char *slow = credentials("slow", "patience");
    const char *other = credentials("other", "as well");

    client_say(client,
               "POST /private/f HTTP/1.1\r\nHost: a\r\n%s"
               "Content-Length: 5\r\n\r\nGET /"
               "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
               "POST /private/f HTTP/1.1\r\nHost: a\r\n%s"
               "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
               "GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
               slow, other);
    expect_status(client_reply(client), 405);
    expect_body(client_reply(client), "a");
    expect_status(client_reply(client), 405);
    expect_body(client_reply(client), "b");
    client_say(client,
               "POST /private/f HTTP/1.1\r\nHost: a\r\n%s"
               "Content-Length: 5\r\n\r\nGET /"
               "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
               credentials("slow", "wrong"));
    expect_refused(client_reply(client));
    expect_body(client_reply(client), "a");
}

TEST(a_body_too_long_to_be_read_ends_the_connection)
{
    struct client *client = client_open(server);

    client_say(client,
               "POST /private/f HTTP/1.1\r\nHost: a\r\n%s"
               "Content-Length: 100000\r\n\r\n",
               credentials("slow", "still wrong"));
    expect_refused(client_reply(client));
    client_expect_end(client);
}

TEST(http_1_0_gets_its_answer_and_the_end)
{
    static const char *const users[][2] = {{"slow", "patience"},
                                           {"slow", "nonsense"}};

    for (int i = 0; i < 2; i++) {
        struct server *one = start_configured(passwords_conf);
        struct client *client = client_open(one);

        client_say(client, "GET /private/f HTTP/1.0\r\n%s\r\n",
                   credentials(users[i][0], users[i][1]));
        expect_status(client_reply(client), i == 0 ? 200 : 401);
        client_expect_orderly_end(client);
        client = client_open(one); /* a listing ends with the connection */
        client_say(client, "GET /private/ HTTP/1.0\r\n%s\r\n",
                   credentials("other", "as well"));
        expect_status(client_reply(client), 200);
        client_expect_orderly_end(client);
        server_stop(one);
    }
}

/* --- Order ---------------------------------------------------------------- */

TEST(answers_keep_their_order)
{
    const char *slow = credentials("slow", "patience");
    const char *other = credentials("other", "as well");
    const char *wrong = credentials("slow", "not it");
    const char *text =
        printed("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n"
                "GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n"
                "HEAD /private/large HTTP/1.1\r\nHost: a\r\n%s\r\n"
                "GET /private/open/f HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n"
                "GET /canary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                slow, wrong, other, wrong);

    for (int way = 0; way < 3; way++) {
        struct server *one = start_configured(passwords_conf);
        struct client *client = client_open(one);
        struct reply *reply;

        if (way == 0)
            client_send(client, text, strlen(text));
        else if (way == 1)
            client_drip(client, text, strlen(text));
        else
            for (size_t at = 0; at < strlen(text); at += 97)
                client_send(client, text + at, strnlen(text + at, 97));
        expect_body(client_reply(client), "a");
        expect_body(client_reply(client), "secret");
        expect_body(client_reply(client), "b");
        expect_refused(client_reply(client));
        reply = client_reply_to_head(client);
        expect_status(reply, 200);
        assert_int_equal(reply->length, 3000000);
        expect_body(client_reply(client), "open");
        expect_refused(client_reply(client));
        expect_body(client_reply(client), "canary\n");
        client_expect_end(client);
        server_stop(one);
    }
}

TEST(many_may_wait_on_one_connection)
{
    struct client *client = client_open(server);
    enum { COUNT = 40 };

    for (unsigned i = 0; i < COUNT; i++)
        client_say(client,
                   "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n"
                   "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                   credentials("joe",
                               i % 2 ? "open sesame" : printed("wrong %u", i)));
    for (unsigned i = 0; i < COUNT; i++) {
        expect_status(client_reply(client), i % 2 ? 200 : 401);
        expect_body(client_reply(client), "a");
    }
}

/* --- Going away, stopping ------------------------------------------------- */

TEST(a_client_may_go_while_its_password_is_checked)
{
    size_t before = server_descriptors(server);

    for (unsigned i = 0; i < 30; i++) {
        struct client *client = client_open(server);

        client_say(client,
                   "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n"
                   "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n",
                   credentials("slow", printed("gone %u", i)),
                   credentials("slow", "patience"));
        if (i % 3 == 0)
            client_reset(client);
        else if (i % 3 == 1)
            client_close(client);
        else
            client_half_close(client);
    }
    clients_close();
    client_expect_usable(client_open(server));
    clients_close();
    assert_true(eventually(server_descriptors(server) <= before, 10000));
    expect_body(ask_secret("slow", "patience"), "secret");
}

TEST(who_is_being_checked_is_answered_before_the_end)
{
    struct server *one;
    struct client *client;

    site_text("../users",
              password_line("late", "at last", "$2y$", VERY_SLOW_COST));
    one = start_configured(passwords_conf);
    client = client_open(one);
    client_say(client, "GET /private/f HTTP/1.1\r\nHost: a\r\n%s\r\n",
               credentials("late", "at last"));
    /* The one worker has read the other as well then. */
    client_expect_usable(client_open(one));
    client_expect_usable(client_open(one));
    server_signal(one, SIGTERM);
    expect_body(client_reply(client), "secret");
    client_expect_end(client);
    assert_int_equal(server_wait(one, patience(10000)), 0);
}

E2E_SUITE(start);
