/*
 * HTTP/2: streams that have rested, as many of their connection wait for an
 * upstream server: whatever becomes of them, they are as they were.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "h2_client.h"
#include "upstream.h"

enum {
    RESTING = 60, /* more than forty do */
    MANY = 30,    /* fields: more than there is room for at first */
    PATIENCE_MS = 300
};

#define H2_PROXY(upstream, ...) PROXY(upstream, "--http2=all", __VA_ARGS__)

struct waiting {
    struct h2 *h2;
    uint32_t streams[RESTING];
    struct client *peers[RESTING]; /* what has come to the upstream of each */
    const char *heads[RESTING];
};

static const char *const *fields_of(int number)
{
    static const char *fields[2 * (MANY + 3) + 1];
    size_t count = 0;

    fields[count++] = "te";
    fields[count++] = "trailers";
    fields[count++] = "x-number";
    fields[count++] = printed("n%d", number);
    fields[count++] = "referer";
    fields[count++] = printed("http://from/%d", number);
    for (int i = 0; number % 2 && i < MANY; i++) {
        fields[count++] = printed("x-more-%d", i);
        fields[count++] = "more";
    }
    fields[count] = NULL;
    return fields;
}

static void ask_all(struct waiting *waiting, const struct server *server)
{
    waiting->h2 = h2_open(server);
    for (int i = 0; i < RESTING; i++)
        waiting->streams[i] = h2_ask(waiting->h2, "GET", printed("/%d", i),
                                     fields_of(i), false);
    h2_sync(waiting->h2);
}

/* Whose head that is, and that all of it is there. */
static int number_of(const char *head)
{
    int number = (int)strtol(head + sizeof("GET /") - 1, NULL, 10);

    if (strncmp(head, "GET /", 5) != 0 || number < 0 || number >= RESTING ||
        !strcasestr(head, printed("\r\nx-number: n%d\r\n", number)) ||
        !strcasestr(head, printed("\r\nreferer: http://from/%d\r\n", number)) ||
        !strcasestr(head, "x-more-29: more") != (number % 2 == 0))
        flunk("'%s'", head);
    return number;
}

static void accept_one(struct waiting *waiting, struct client *peer)
{
    const char *head = hear_head(peer);
    int number = number_of(head);

    waiting->peers[number] = peer;
    waiting->heads[number] = head;
}

/* All have come to the upstream, and wait for it. */
static void accept_all(struct waiting *waiting, const struct upstream *upstream)
{
    for (int i = 0; i < RESTING; i++)
        accept_one(waiting, upstream_accept(upstream));
    h2_sync(waiting->h2);
}

static void answer(struct waiting *waiting, int number)
{
    client_say(waiting->peers[number],
               OK "Transfer-Encoding: chunked\r\nTrailer: X-Behind\r\n\r\n"
                  "4\r\nbody\r\n0\r\nX-Behind: n%d\r\n\r\n",
               number);
}

static void expect_answer(struct waiting *waiting, int number)
{
    struct h2_reply *reply = h2_wait(waiting->h2, waiting->streams[number]);
    const char *behind = h2_field(&reply->trailers, "x-behind");

    going_on("number %d", number);
    expect_h2(reply, 200);
    expect_h2_body(reply, "body");
    if (!behind || strcmp(behind, printed("n%d", number)) != 0)
        flunk("trailer '%s'", behind ? behind : "");
}

static void answer_all(struct waiting *waiting)
{
    for (int i = 0; i < RESTING; i++)
        answer(waiting, i);
    for (int i = 0; i < RESTING; i++)
        expect_answer(waiting, i);
}

/* --- Answers ------------------------------------------------------------- */

TEST(those_that_rest_are_answered)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;

    ask_all(&waiting, H2_PROXY(upstream, NULL));
    accept_all(&waiting, upstream);
    answer_all(&waiting);
}

/* Nobody has heard their heads before they rest. */
TEST(those_that_rest_while_they_are_connected_say_all_they_would_have)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;
    int heard = 0;

    upstream_clog(upstream);
    ask_all(&waiting, H2_PROXY(upstream, "--proxy-connect-timeout=30"));
    if (listen(client_socket(upstream->listener), 1024) == -1)
        flunk("listen: %s", strerror(errno));
    while (heard < RESTING) {
        struct client *peer = upstream_accept(upstream);

        if (!client_hears(peer, PATIENCE_MS))
            continue; /* one of those that have clogged it */
        accept_one(&waiting, peer);
        heard++;
    }
    answer_all(&waiting);
}

TEST(what_comes_before_their_answers_goes_on)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;
    struct h2_reply *reply;

    ask_all(&waiting, H2_PROXY(upstream, NULL));
    accept_all(&waiting, upstream);
    client_say(waiting.peers[3],
               "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    reply = h2_reply(waiting.h2, waiting.streams[3]);
    while (reply->early_count == 0)
        h2_settle(waiting.h2, 10);
    assert_int_equal(reply->early[0], 103);
    answer_all(&waiting);
}

/* Connections that were kept are closed by the upstream, as they may be. */
TEST(those_that_rest_are_asked_again_where_that_is_due)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;
    struct server *server = H2_PROXY(upstream, "--proxy-keepalive=100");

    ask_all(&waiting, server);
    accept_all(&waiting, upstream);
    answer_all(&waiting);
    h2_close(waiting.h2);
    ask_all(&waiting, server);
    for (int i = 0; i < RESTING; i++) {
        (void)number_of(hear_head(waiting.peers[i]));
        if (i % 3 == 0)
            client_close(waiting.peers[i]);
    }
    h2_sync(waiting.h2);
    for (int i = 0; i < RESTING; i += 3)
        (void)number_of(hear_head(upstream_accept(upstream)));
}

/* --- Other ends ---------------------------------------------------------- */

TEST(an_upstream_that_leaves_is_told_of)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;

    ask_all(&waiting, H2_PROXY(upstream, NULL));
    accept_all(&waiting, upstream);
    for (int i = 0; i < RESTING; i++)
        client_close(waiting.peers[i]);
    for (int i = 0; i < RESTING; i++)
        expect_h2(h2_wait(waiting.h2, waiting.streams[i]), 502);
    h2_sync(waiting.h2);
}

TEST(the_log_tells_all_of_those_that_are_given_up)
{
    const char *path = printed("%s/rest.log", folder());
    struct upstream *upstream = upstream_open();
    struct server *server = H2_PROXY(upstream, "--access-log", path);
    static struct waiting waiting;
    const char *log;

    ask_all(&waiting, server);
    accept_all(&waiting, upstream);
    for (int i = 0; i < RESTING; i++)
        h2_reset(waiting.h2, waiting.streams[i], NGHTTP2_CANCEL);
    h2_sync(waiting.h2);
    h2_close(waiting.h2);
    server_stop(server);
    log = read_text(path, NULL);
    for (int i = 0; i < RESTING; i++)
        if (!strstr(log, printed("\"GET /%d HTTP/2.0\"", i)) ||
            !strstr(log, printed("\"http://from/%d\"", i)))
            flunk("%d is not told of: %s", i, log);
}

TEST(a_body_that_is_late_is_refused)
{
    struct upstream *upstream = upstream_open();
    static struct waiting waiting;
    uint32_t late;

    ask_all(&waiting,
            H2_PROXY(upstream, "--body-timeout=1", "--proxy-request-buffer=0"));
    accept_all(&waiting, upstream);
    late = h2_ask(waiting.h2, "POST", "/late",
                  H2_WITH("content-length", "10", "accept",
                          "application/problem+json"),
                  true);
    assert_true(h2_body(waiting.h2, late, "half", 4, true));
    (void)upstream_accept(upstream);
    expect_h2(h2_wait(waiting.h2, late), 408);
    answer_all(&waiting);
}

SUITE(.begin = h2_begin, .end = harness_end);
