/*
 * Bodies on their way to a server behind a password: nothing of a request gets
 * there before its client is let in, and nothing of an answer comes back.
 */
#include "configured.h"
#include "origin.h"
#include "passwords.h"
#include "upstream.h"

/* It takes some ten milliseconds: a server behind would have answered long
 * before. */
enum { SLOW_COST = 8, QUIET_MS = 100, SMALL = 10 };

struct body {
    const char *name;
    const char *fields;
    size_t len;
    bool is_chunked;
};

static const struct body bodies[] = {
    {"a byte", "", 1, false},
    {"some", "", 60000, false},
    {"lots", "", 200000, false},
    {"chunks", "", 5000, true},
    {"lots of chunks", "", 200000, true},
    {"a byte that asks", "Expect: 100-continue\r\n", 1, false},
    {"lots that ask", "Expect: 100-continue\r\n", 200000, false},
};
enum { BODIES = sizeof(bodies) / sizeof(*bodies) };

static const char *const options[] = {"", "proxy-request-buffer = 0\n"};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

enum asker { NOBODY, WRONG, UNKNOWN, ASKERS };

/* One user for each body, whose password has then to be checked. */
static const char *user_of(size_t body)
{
    return printed("user%zu", body);
}

E2E_BEGIN(start)
{
    site_text("../users", "");
}

static struct server *start_guarded(const char *at, const char *option)
{
    char *users = printed("%s", "");

    for (size_t i = 0; i < BODIES; i++)
        users = printed("%s%s", users,
                        password_line(user_of(i), "right", "$2y$", SLOW_COST));
    site_text("../users", users);
    return start_configured(
        printed("workers = 1\n"
                "request-id = off\n"
                "%s"
                "site all {\n"
                "    auth-file = users\n"
                "    proxy = \"/=%s\"\n"
                "    location /pages {\n"
                "        auth-file = off\n"
                "        cors-origin = \"https://app.example\"\n"
                "    }\n"
                "    location /small { max-body = 10 }\n"
                "    location /moved { redirect = \"/moved/old /secret\" }\n"
                "}\n",
                option, at));
}

static const char *credentials_of(enum asker asker, size_t body)
{
    switch (asker) {
    case NOBODY:
        return "";
    case WRONG:
        return credentials(user_of(body), "wrong");
    case UNKNOWN:
        return credentials("stranger", "right");
    case ASKERS:
        break;
    }
    return credentials(user_of(body), "right");
}

/* The server may refuse the end of it. */
static void send_body(struct client *client, const struct body *body)
{
    char *text = scratch(body->len);

    seeded_fill(1, 0, text, body->len);
    if (!body->is_chunked) {
        (void)client_send(client, text, body->len);
        return;
    }
    for (size_t at = 0; at < body->len; at += 1000)
        if (!client_say(client, "3e8\r\n") ||
            !client_send(client, text + at, 1000) ||
            !client_say(client, "\r\n"))
            return;
    (void)client_say(client, "0\r\n\r\n");
}

static struct client *send_to(const struct server *server, const char *method,
                              const char *path, const struct body *body,
                              const char *fields)
{
    struct client *client = client_open(server);

    client_say(client, "%s %s HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n", method, path,
               fields, body->fields,
               body->is_chunked
                   ? "Transfer-Encoding: chunked\r\n"
                   : printed("Content-Length: %zu\r\n", body->len));
    send_body(client, body);
    return client;
}

static struct client *send_request(const struct server *server,
                                   const char *method, const struct body *body,
                                   const char *fields)
{
    return send_to(server, method, "/echo", body, fields);
}

static void expect_challenge(struct client *client)
{
    struct reply *reply = client_reply(client);

    expect_status(reply, 401);
    assert_non_null(reply_field(reply, "WWW-Authenticate"));
    expect_no_field(reply, "Via");
}

/* --- Who is not let in ---------------------------------------------------- */

static void refuse_all(const struct server *server, const char *method)
{
    for (size_t i = 0; i < BODIES; i++)
        for (enum asker asker = 0; asker < ASKERS; asker++) {
            going_on("%s, %s, asker %d", method, bodies[i].name, (int)asker);
            expect_challenge(send_request(server, method, &bodies[i],
                                          credentials_of(asker, i)));
        }
}

TEST_WITH(nothing_gets_through_without_the_password, NULL, origins_after_test)
{
    struct origin *origin = origin_start("behind");

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(origin->at, options[i]);

        refuse_all(server, "POST");
        refuse_all(server, "DELETE");
        refuse_all(server, "GET");
    }
    pause_ms(QUIET_MS);
    assert_int_equal(atomic_load(&origin->counts->requests), 0);
    assert_int_equal(atomic_load(&origin->counts->connected), 0);
}

/* A server that would say nothing for long, or all at once. */
TEST(nobody_is_asked_for_whom_is_refused)
{
    struct upstream *upstream = upstream_open();

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(upstream->at, options[i]);

        refuse_all(server, "PUT");
        assert_false(upstream_hears(upstream, QUIET_MS));
    }
}

/* A body that comes in pieces, before the verdict and behind it. */
TEST(a_body_that_goes_on_behind_a_refusal_goes_nowhere)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_guarded(upstream->at, "");

    for (enum asker asker = 0; asker < ASKERS; asker++) {
        struct client *client = client_open(server);

        going_on("asker %d", (int)asker);
        client_say(client,
                   "POST / HTTP/1.1\r\nHost: a\r\n%s"
                   "Content-Length: 300000\r\n\r\nabc",
                   credentials_of(asker, 0));
        expect_challenge(client);
        send_body(client, &bodies[2]);
        client_close(client);
    }
    assert_false(upstream_hears(upstream, QUIET_MS));
}

TEST(a_short_body_does_not_end_the_connection)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_guarded(upstream->at, "");
    struct client *client = client_open(server);
    struct client *peer;

    for (enum asker asker = 0; asker < ASKERS; asker++) {
        going_on("asker %d", (int)asker);
        client_say(client,
                   "POST / HTTP/1.1\r\nHost: a\r\n%s"
                   "Content-Length: 3\r\n\r\nabc",
                   credentials_of(asker, 0));
        expect_challenge(client);
    }
    /* One whose end has still to come. */
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 3\r\n\r\na");
    pause_ms(20);
    client_say(client, "bc");
    expect_challenge(client);
    client_say(client,
               "POST / HTTP/1.1\r\nHost: a\r\n%s"
               "Content-Length: 3\r\n\r\nabc",
               credentials_of(ASKERS, 0));
    peer = upstream_accept(upstream);
    assert_non_null(strstr(hear_head(peer), "POST / "));
    expect_hears(peer, "abc");
    expect_hi(peer, client);
}

/* A preflight is answered here: its body is not for the server behind. */
TEST(a_preflight_with_a_body_goes_nowhere)
{
    struct upstream *upstream = upstream_open();

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(upstream->at, options[i]);
        struct client *client = client_open(server);

        for (int again = 0; again < 2; again++) {
            client_say(client, "OPTIONS /pages/x HTTP/1.1\r\nHost: a\r\n"
                               "Origin: https://app.example\r\n"
                               "Access-Control-Request-Method: PUT\r\n"
                               "Content-Length: 3\r\n\r\nabc");
            expect_status(client_reply(client), 204);
        }
        assert_false(upstream_hears(upstream, QUIET_MS));
    }
}

/* --- Who is --------------------------------------------------------------- */

TEST_WITH(all_gets_through_with_the_password, NULL, origins_after_test)
{
    struct origin *origin = origin_start("behind");
    unsigned long requests = 0;

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(origin->at, options[i]);

        for (size_t j = 0; j < 2 * BODIES; j++) { /* unknown; then known */
            const struct body *body = &bodies[j % BODIES];
            struct reply *reply;

            going_on("%s", body->name);
            reply =
                client_reply(send_request(server, "POST", body,
                                          credentials_of(ASKERS, j % BODIES)));
            expect_status(reply, 200);
            expect_seeded(reply, 1, 0, body->len);
            requests++;
        }
    }
    assert_int_equal(atomic_load(&origin->counts->requests), requests);
}

TEST(a_server_that_takes_its_time_gets_each_once)
{
    struct upstream *upstream = upstream_open();

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(upstream->at, options[i]);

        for (size_t j = 0; j < 2; j++) { /* what fits where it waits */
            struct client *client = send_request(server, "POST", &bodies[j],
                                                 credentials_of(ASKERS, j));
            struct client *peer = upstream_accept(upstream);

            going_on("%s", bodies[j].name);
            assert_non_null(strstr(hear_head(peer), "POST /echo "));
            assert_true(client_take(peer, bodies[j].len) == bodies[j].len);
            assert_true(seeded_is(1, 0, client_raw(peer), bodies[j].len));
            assert_false(upstream_hears(upstream, QUIET_MS));
            client_skip(peer, bodies[j].len);
            expect_hi(peer, client);
            client_close(peer);
        }
    }
}

/* What others have in memory keeps its body from being read on, for as long as
 * nobody may be asked. */
TEST(who_is_let_in_when_memory_is_short_is_heard)
{
    enum { KEPT = 65000, CROWD = 16 * 1024 * 1024 / KEPT };
    struct upstream *upstream = upstream_open();
    struct server *server = start_guarded(upstream->at, "");
    char *text = scratch(KEPT);
    struct client *client, *peer;

    memset(text, 'x', KEPT);
    for (size_t i = 0; i < CROWD; i++) {
        client = client_open(server);
        client_say(client, "POST /pages/x HTTP/1.1\r\nHost: a\r\n"
                           "Content-Length: 10000000\r\n\r\n");
        client_send(client, text, KEPT);
    }
    assert_false(upstream_hears(upstream, QUIET_MS));
    for (enum asker asker = 0; asker < ASKERS; asker++)
        expect_challenge(send_request(server, "POST", &bodies[1],
                                      credentials_of(asker, 1)));
    assert_false(upstream_hears(upstream, QUIET_MS));
    client = send_request(server, "POST", &bodies[1],
                          credentials_of(ASKERS, 1));
    peer = upstream_accept(upstream);
    assert_non_null(strstr(hear_head(peer), "POST /echo "));
    assert_true(client_take(peer, bodies[1].len) == bodies[1].len);
    assert_true(seeded_is(1, 0, client_raw(peer), bodies[1].len));
    client_skip(peer, bodies[1].len);
    expect_hi(peer, client);
}

/* Whoever goes before the verdict has asked nobody. */
TEST(a_client_that_goes_while_it_waits_asked_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_guarded(upstream->at, "");

    for (size_t i = 0; i < BODIES; i++) {
        struct client *client = send_request(server, "POST", &bodies[0],
                                             credentials_of(ASKERS, i));

        client_reset(client);
    }
    assert_false(upstream_hears(upstream, 5 * QUIET_MS));
}

/* Where it leads may be nobody's business. */
TEST(a_redirect_is_told_after_the_password)
{
    static const char *const bodies_of[] = {"", "Content-Length: 1\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = start_guarded(upstream->at, "");

    for (size_t i = 0; i < 2; i++) {
        struct client *client = client_open(server);
        struct reply *reply;

        client_say(client, "POST /moved/old HTTP/1.1\r\nHost: a\r\n%s\r\n%s",
                   bodies_of[i], i == 0 ? "" : "x");
        reply = client_reply(client);
        expect_status(reply, 401);
        expect_no_field(reply, "Location");
        client_close(client);
    }
}

static void refuse_long(const struct server *server, const char *method)
{
    for (size_t j = 0; j < 3 * BODIES; j++) {
        const struct body *body = &bodies[j % BODIES];
        enum asker asker = j < BODIES ? NOBODY : ASKERS; /* unknown; known */

        if (body->len <= SMALL)
            continue;
        going_on("%s, %s, asker %d", method, body->name, (int)asker);
        for (; asker < ASKERS; asker++)
            expect_challenge(send_to(server, method, "/small", body,
                                     credentials_of(asker, j % BODIES)));
        if (j >= BODIES)
            expect_status(client_reply(send_to(server, method, "/small", body,
                                               credentials_of(ASKERS,
                                                              j % BODIES))),
                          413);
    }
}

/* How much a place takes is told to whom is let in, and to nobody else. */
TEST(a_body_is_too_long_for_whom_is_let_in)
{
    struct upstream *upstream = upstream_open();

    for (size_t i = 0; i < OPTIONS; i++) {
        struct server *server = start_guarded(upstream->at, options[i]);

        refuse_long(server, "POST");
        server_stop(server);
        server = start_guarded(upstream->at, options[i]);
        refuse_long(server, "GET");
        server_stop(server);
        /* Without a buffer the server behind is asked before the first chunk
         * is there. */
        if (i == 0)
            assert_false(upstream_hears(upstream, QUIET_MS));
    }
}

E2E_SUITE(start);
