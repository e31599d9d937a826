/* A store that lives in a Redis that is asked over TLS (rediss://): which is
 * who it has to be, or is not believed. */
#include "make_certificate.h"
#include "redis.h"
#include "secure.h"
#include "sse.h"
#include "store.h"

enum { SOON_MS = 15000, CLIENTS = 8 };

static struct redis *start(const char *names, const char *client_ca)
{
    struct redis *redis = redis_make("sesame");

    redis->tls_port = redis_find_port();
    redis->certificate = secure_write(printed("redis-%u.pem", redis->tls_port),
                                      &(struct making){.subject = "redis",
                                                       .names = names,
                                                       .is_authority = true});
    redis->client_ca = client_ca;
    redis_start(redis);
    return redis;
}

static const char *url_of(const struct redis *redis)
{
    return printed("rediss://default:%s@localhost:%u", redis->password,
                   redis->tls_port);
}

TEST(what_is_put_over_tls_is_there)
{
    struct redis *redis = start("DNS:localhost", NULL);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate, "--sandbox", "strict");
    struct client *client;

    store_await(one);
    client = client_open(one);
    (void)store_put(client, "a", "here");
    store_holds(client, "a", "here");
    assert_int_equal(store_ask(client, "DELETE", "a", NULL, NULL)->status, 204);
    assert_int_equal(store_ask(client, "GET", "a", NULL, NULL)->status, 404);
    assert_string_equal(redis_find(redis_ask(redis, "INFO server"), "tcp_port"),
                        printed("%u", redis->port));
}

/* Longer than a record, and than what a socket takes at once. */
TEST(long_values_go_both_ways)
{
    enum { BYTES_LONG = 3000000 };
    struct redis *redis = start("DNS:localhost", NULL);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate, "--kv-max-value",
                                     "4m");
    char *value = malloc(BYTES_LONG + 1);
    struct client *client;

    assert_non_null(value);
    for (size_t i = 0; i < BYTES_LONG; i++)
        value[i] = (char)('a' + i * i % 23);
    value[BYTES_LONG] = '\0';
    store_await(one);
    client = client_open(one);
    for (int i = 0; i < 3; i++) {
        (void)store_put(client, "long", value);
        store_holds(client, "long", value);
    }
    free(value);
}

TEST(many_questions_are_under_way_at_once)
{
    struct redis *redis = start("DNS:localhost", NULL);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate, "--workers=2");
    struct client *clients[CLIENTS];

    store_await(one);
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = client_open(one);
    for (unsigned turn = 0; turn < 50; turn++) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            store_say(clients[i], "PUT", printed("k/%u", i), NULL,
                      printed("%u", turn));
            store_say(clients[i], "GET", printed("k/%u", i), NULL, NULL);
        }
        for (unsigned i = 0; i < CLIENTS; i++) {
            unsigned status = client_reply(clients[i])->status;

            assert_true(status == 201 || status == 204);
            expect_body(client_reply(clients[i]), printed("%u", turn));
        }
    }
}

static bool is_put(struct client *client, const char *value)
{
    unsigned status = store_ask(client, "PUT", "a", NULL, value)->status;

    return status == 201 || status == 204;
}

TEST(an_engine_that_was_killed_comes_back)
{
    struct redis *redis = start("DNS:localhost", NULL);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate);
    struct client *client;

    store_await(one);
    client = client_open(one);
    for (int i = 0; i < 3; i++) {
        redis_kill(redis);
        expect_problem(store_ask(client, "GET", "a", NULL, NULL), 503,
                       "reached");
        redis_start(redis);
        assert_true(eventually(is_put(client, "again"), SOON_MS));
        store_holds(client, "a", "again");
    }
}

TEST(changes_are_heard)
{
    struct redis *redis = start("DNS:localhost", NULL);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate);
    struct client *watcher, *client;
    struct sse_event event;

    (void)redis_ask(redis, "CONFIG SET notify-keyspace-events KEA");
    store_await(one);
    watcher = client_open(one);
    client = client_open(one);
    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{}");
    (void)store_put(client, "a", "x");
    event = sse_next(watcher);
    assert_string_equal(event.name, "put");
}

/* Nothing is told to who is not believed: no password, and no value. */
static void expect_distrust(struct redis *redis, const char *const more[],
                            const char *why)
{
    const char *words[16] = {"--kv", printed("/kv=%s", url_of(redis))};
    struct server *one;
    size_t count = 2;

    while (*more)
        words[count++] = *more++;
    one = server_start(&(struct launch){0}, words);
    if (!eventually(strstr(read_text(one->errors, NULL), why), SOON_MS))
        flunk("'%s' is not said: %s", why, read_text(one->errors, NULL));
    assert_null(strstr(read_text(one->errors, NULL), redis->password));
    assert_int_equal(store_ask_alone(one, "PUT", "a", NULL, "x")->status, 503);
    assert_null(strstr(redis_ask(redis, "INFO commandstats"), "cmdstat_eval"));
    server_stop(one);
}
#define DISTRUST(redis, why, ...) \
    expect_distrust(redis, (const char *const[]){__VA_ARGS__, NULL}, why)

TEST(who_is_not_believed_is_not_asked)
{
    struct redis *redis = start("DNS:localhost", NULL);
    struct redis *other = start("DNS:elsewhere.example", NULL);
    struct redis *careful = start("DNS:localhost", redis->certificate);

    /* The system may have no authorities. */
    setenv("SSL_CERT_FILE", other->certificate, 1);
    DISTRUST(redis, "self-signed certificate", "--workers=1");
    unsetenv("SSL_CERT_FILE");
    DISTRUST(redis, "self-signed certificate", "--kv-tls-ca",
             other->certificate);
    DISTRUST(other, "certificate is for another name", "--kv-tls-ca",
             other->certificate);
    /* It says why, and may reset the connection before that is read. */
    DISTRUST(careful, "cannot be reached", "--kv-tls-ca", careful->certificate);
}

TEST(who_has_to_show_a_certificate_does)
{
    const char *mine = secure_write("mine.pem",
                                    &(struct making){.subject = "sprintd",
                                                     .is_authority = true});
    struct redis *redis = start("DNS:localhost", mine);
    struct server *one = START_STORE(url_of(redis), "--kv-tls-ca",
                                     redis->certificate, "--kv-tls-certificate",
                                     mine, "--sandbox", "strict");
    struct client *client;

    store_await(one);
    client = client_open(one);
    (void)store_put(client, "a", "here");
    store_holds(client, "a", "here");
}

TEST(faulty_files_are_told_before_anything_begins)
{
    struct outcome outcome;

    site_text("../bad.pem", "nothing\n");
    RUN(&outcome, "--kv", "/kv=rediss://localhost:1", "--kv-tls-ca",
        printed("%s/none.pem", folder()), "--port=0");
    assert_int_equal(outcome.status, 66);
    assert_non_null(strstr(outcome.err, "kv-tls-ca '"));
    RUN(&outcome, "-t", "--kv", "/kv=rediss://localhost:1", "--kv-tls-ca",
        printed("%s/bad.pem", folder()));
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "kv-tls-ca '"));
    RUN(&outcome, "-t", "--kv", "/kv=rediss://localhost:1",
        "--kv-tls-certificate-key", printed("%s/bad.pem", folder()));
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "the key of no certificate"));
}

SUITE(.begin = harness_begin_site, .end = redis_end,
      .each_end = redis_after_test);
