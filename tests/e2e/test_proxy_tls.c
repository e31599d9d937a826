/*
 * Servers behind this one that are asked over TLS: who is believed, what is
 * said when one is not, and that all else is as it is in clear text.
 */
#include "origin.h"
#include "secure.h"
#include "upstream.h"

#include <openssl/ssl.h>
#include <signal.h>

#include "make_certificate.h"

enum { LARGE = 3 << 20, SEED = 19 };

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

/* --- Authorities --------------------------------------------------------- */

static struct made authority;
static const char *authority_file;
static struct secure_server *good; /* believed at 127.0.0.1 and localhost */

static const char *sign(const char *file, const char *names)
{
    return secure_write(file, &(struct making){.subject = "app",
                                               .names = names,
                                               .issuer = &authority});
}

static struct secure_server *serve(const char *file)
{
    return secure_serve(&(struct secure_identity){.certificate = file});
}

E2E_BEGIN(set_up)
{
    static char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/authority.pem", folder());
    authority = make_certificate(&(struct making){.subject = "authority",
                                                  .is_authority = true});
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, authority.x509), 1);
    assert_int_equal(fclose(file), 0);
    authority_file = path;
    good = serve(sign("good.pem", "DNS:localhost,IP:127.0.0.1"));
}

static int tear_down(void **state)
{
    made_free(&authority);
    return harness_end(state);
}

SUITE(.begin = set_up, .end = tear_down, .each_end = origins_after_test);

static const char *believing(void)
{
    return printed("--proxy-tls-ca=%s", authority_file);
}

#define START_BEFORE(at, ...)                                             \
    START("--workers=1", printed("--proxy=/=%s", at), "--request-id=off", \
          believing(), __VA_ARGS__)

/* Whether the server has said so, within a moment. */
static bool has_said(const struct server *server, const char *words)
{
    return eventually(strstr(read_text(server->errors, NULL), words), 5000);
}

static void expect_said(const struct server *server, const char *words)
{
    if (!has_said(server, words))
        flunk("not said: '%s', but: %s", words,
              read_text(server->errors, NULL));
}

/* --- Whom it believes ---------------------------------------------------- */

TEST(a_server_that_is_who_it_should_be_is_asked)
{
    struct origin *origin = origin_start_as("one", good);
    struct server *front = START_BEFORE(origin->at, NULL);
    struct reply *reply;

    expect_body(get(front, "/canary"), "canary\n");
    reply = ask(front, "GET", "/nothing", NULL);
    expect_status(reply, 404);
    origin_check(origin);
}

/* A server's certificate, and what is said of it. */
static void expect_refused(const char *file, const char *option,
                           const char *why)
{
    struct origin *origin = origin_start_as("false", serve(file));
    struct server *front = START_BEFORE(origin->at, option);
    struct reply *reply;

    going_on("%s", why);
    reply = get(front, "/canary");
    expect_status(reply, 502);
    expect_field(reply, "Proxy-Status", "sprintd; error=tls_certificate_error");
    expect_said(front, printed("connect to upstream '127.0.0.1:%u': TLS: %s",
                               origin->port, why));
    assert_int_equal(atomic_load(&origin->counts->requests), 0);
    server_stop(front);
    origins_end();
}

TEST(who_cannot_prove_that_is_not_and_why_is_said)
{
    expect_refused(sign("other.pem", "DNS:other.example,IP:127.0.0.9"), NULL,
                   "its certificate is not for its address");
    expect_refused(sign("named.pem", "DNS:localhost,IP:127.0.0.1"),
                   "--proxy-tls-name=app.example",
                   "its certificate is for another name");
    expect_refused(secure_write("old.pem",
                                &(struct making){.subject = "app",
                                                 .names = "IP:127.0.0.1",
                                                 .issuer = &authority,
                                                 .begins_s = -7200,
                                                 .ends_s = -3600}),
                   NULL, "certificate has expired");
    expect_refused(secure_write("self.pem",
                                &(struct making){.subject = "app",
                                                 .names = "IP:127.0.0.1"}),
                   NULL, "self-signed certificate");
}

TEST(a_name_can_stand_in_for_that_of_the_server)
{
    struct origin *origin =
        origin_start_as("one", serve(sign("app.pem", "DNS:app.example")));
    struct server *front = START_BEFORE(origin->at,
                                        "--proxy-tls-name=app.example");

    expect_body(get(front, "/canary"), "canary\n");
}

TEST(the_system_s_authorities_are_read_before_the_sandbox_closes)
{
    struct origin *origin = origin_start_as("one", good);
    struct server *front;

    setenv("SSL_CERT_FILE", authority_file, 1);
    setenv("SSL_CERT_DIR", "/nonexistent", 1);
    front = START("--workers=1", printed("--proxy=/=%s", origin->at),
                  "--sandbox=strict");
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    expect_body(get(front, "/canary"), "canary\n");
    server_signal(front, SIGHUP); /* it goes on with those */
    expect_body(get(front, "/canary"), "canary\n");
}

TEST(nobody_is_verified_where_that_is_said_and_it_is_said_again)
{
    struct origin *origin = origin_start_as("one", serve(secure_certificate()));
    struct server *front = START("--workers=1",
                                 printed("--proxy=/=%s", origin->at),
                                 "--proxy-tls-verify=off");

    expect_body(get(front, "/canary"), "canary\n");
    expect_said(front, "proxy-tls-verify = off: whoever answers");
}

TEST(files_that_are_no_certificates_are_told_before_it_starts)
{
    static const struct {
        const char *option;
        const char *words;
    } cases[] = {
        {"--proxy-tls-ca=/nonexistent", "proxy-tls-ca '/nonexistent': No such"},
        {"--proxy-tls-ca=/etc/hostname", "has no certificate of an authority"},
        {"--proxy-tls-certificate=/etc/hostname", "proxy-tls-certificate '"},
        {"--proxy-tls-certificate-key=/x", "is the key of no certificate"},
        {"--proxy-tls-name=*.example", "is no name of a host"},
    };
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].option);
        RUN(&outcome, "--port=0", "--proxy=/=https://a", cases[i].option);
        assert_int_not_equal(outcome.status, 0);
        if (!strstr(outcome.err, cases[i].words))
            flunk("not said: '%s', but: %s", cases[i].words, outcome.err);
        RUN(&outcome, "-t", "--proxy=/=https://a", cases[i].option);
        assert_int_not_equal(outcome.status, 0);
        if (!strstr(outcome.err, cases[i].words))
            flunk("not tested: '%s', but: %s", cases[i].words, outcome.err);
    }
}

/* --- What goes wrong ----------------------------------------------------- */

TEST(a_server_that_speaks_no_tls_is_told_so)
{
    struct upstream *upstream = upstream_open();
    struct server *front =
        START_BEFORE(printed("https://127.0.0.1:%u", upstream->port), NULL);
    struct client *client = client_open(front);
    struct client *peer;
    struct reply *reply;

    client_say(client, GET);
    peer = upstream_accept(upstream);
    assert_true(client_take(peer, 1) > 0);
    client_say(peer, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 502);
    expect_field(reply, "Proxy-Status", "sprintd; error=tls_protocol_error");
    expect_said(front, "TLS: the server speaks HTTP without TLS");
}

TEST(a_handshake_that_takes_too_long_is_given_up)
{
    struct upstream *upstream = upstream_open();
    struct server *front = START_BEFORE(printed("https://127.0.0.1:%u",
                                                upstream->port),
                                        "--proxy-connect-timeout=200ms");

    expect_status(get(front, "/"), 504);
    expect_said(front, "TLS: the handshake takes too long");
}

TEST(an_old_version_is_not_spoken)
{
    struct origin *origin =
        origin_start_as("old", secure_serve(&(struct secure_identity){
                                   .certificate = sign("v.pem", "IP:127.0.0.1"),
                                   .version_max = TLS1_1_VERSION}));
    struct server *front = START_BEFORE(origin->at, NULL);

    expect_status(get(front, "/"), 502);
    expect_said(front, "protocol");
}

TEST(another_server_is_asked_when_one_is_not_believed)
{
    struct origin *one =
        origin_start_as("false",
                        serve(secure_write("false.pem",
                                           &(struct making){
                                               .subject = "app",
                                               .names = "IP:127.0.0.1"})));
    struct origin *other = origin_start_as("other", good);
    struct server *front =
        START_BEFORE(printed("%s;weight=9,%s", one->at, other->at),
                     "--proxy-fails=2", "--proxy-fail-window=60s");

    for (int i = 0; i < 8; i++)
        expect_body(get(front, "/name"), "other");
    assert_int_equal(atomic_load(&one->counts->requests), 0);
    expect_said(front, "is left out for a while");
}

TEST(lists_may_mix_both_ways)
{
    struct origin *one = origin_start_as("plain", NULL);
    struct origin *other = origin_start_as("secure", good);
    struct server *front = START_BEFORE(printed("%s,%s", one->at, other->at),
                                        NULL);

    for (int i = 0; i < 4; i++)
        expect_status(get(front, "/name"), 200);
    assert_int_equal(atomic_load(&one->counts->requests), 2);
    assert_int_equal(atomic_load(&other->counts->requests), 2);
}

/* --- A client's certificate ---------------------------------------------- */

TEST(a_server_that_asks_for_a_certificate_gets_it)
{
    struct secure_server *asking = secure_serve(&(struct secure_identity){
        .certificate = sign("asking.pem", "IP:127.0.0.1"),
        .client_ca = authority_file});
    struct origin *origin = origin_start_as("asking", asking);
    const char *mine = sign("mine.pem", "DNS:front");
    struct server *front =
        START_BEFORE(origin->at, printed("--proxy-tls-certificate=%s", mine));
    struct server *without = START_BEFORE(origin->at, NULL);

    expect_body(get(front, "/canary"), "canary\n");
    expect_status(get(without, "/canary"), 502);
    expect_said(without, "TLS: tlsv13 alert certificate required");
}

/* --- Connections and sessions -------------------------------------------- */

static uint64_t count_of(const struct server *front, const char *family)
{
    const struct reply *reply = get(front, "/_s/metrics");
    const char *line = memmem(reply->body, reply->body_len,
                              printed("\nsprintd_upstream_%s{", family),
                              strlen(family) + 19);
    const char *value = line ? strchr(line, '}') : NULL;

    return value ? strtoull(value + 1, NULL, 10) : UINT64_MAX;
}

TEST(connections_are_kept_and_sessions_resumed)
{
    struct origin *origin = origin_start_as("one", good);
    struct server *front = START_BEFORE(origin->at, "--status=/_s");

    for (int i = 0; i < 5; i++)
        expect_body(get(front, "/canary"), "canary\n");
    assert_int_equal(atomic_load(&origin->counts->connected), 1);
    assert_int_equal(count_of(front, "tls_handshakes_total"), 1);
    assert_int_equal(count_of(front, "tls_resumed_total"), 0);
    server_stop(front);
    front = START_BEFORE(origin->at, "--status=/_s", "--proxy-keepalive=0");
    for (int i = 0; i < 5; i++)
        expect_body(get(front, "/canary"), "canary\n");
    assert_int_equal(count_of(front, "tls_handshakes_total"), 5);
    assert_int_equal(count_of(front, "tls_resumed_total"), 4);
    assert_int_equal(count_of(front, "tls_handshakes_failed_total"), 0);
}

/* It has new keys for tickets then. */
TEST(a_server_that_is_there_again_is_asked_again)
{
    struct origin *origin = origin_start_as("one", good);
    struct server *front = START_BEFORE(origin->at, "--status=/_s");

    expect_body(get(front, "/canary"), "canary\n");
    origin_crash(origin);
    origin_again(origin);
    expect_body(get(front, "/canary"), "canary\n");
    assert_int_equal(count_of(front, "failures_total"), 0);
}

/* An idle connection that ends just when it is used: the session was resumed
 * over it, and is for the next. */
TEST(a_stale_connection_is_replaced_and_resumes)
{
    struct upstream *upstream = upstream_secure(upstream_open(), good);
    struct server *front = START_BEFORE(upstream->at, NULL);
    struct client *client = client_open(front);
    struct client *peer;

    for (int i = 0; i < 3; i++) {
        client_say(client, GET);
        if (i > 0) { /* over the kept one, which then ends without an answer */
            (void)hear_head(peer);
            client_close(peer);
        }
        peer = upstream_accept(upstream);
        assert_int_equal(secure_is_resumed(client_secured(peer)), i > 0);
        (void)hear_head(peer);
        expect_hi(peer, client);
    }
}

static void copy_to(const char *path, const char *from)
{
    size_t len;
    const char *text = read_text(from, &len);
    FILE *file = fopen(path, "w");

    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
        flunk("no '%s'", path);
}

/* Trust is the configuration's: a connection that was made under another is
 * used no more. */
TEST(a_reload_with_another_trust_uses_no_connection_of_the_last)
{
    struct origin *origin = origin_start_as("one", good);
    const char *trust = printed("%s/trust.pem", folder());
    struct server *front;

    copy_to(trust, authority_file);
    front = START("--workers=1", printed("--proxy=/=%s", origin->at),
                  printed("--proxy-tls-ca=%s", trust));
    expect_body(get(front, "/canary"), "canary\n");
    expect_body(get(front, "/canary"), "canary\n");
    assert_int_equal(atomic_load(&origin->counts->connected), 1);
    copy_to(trust, secure_certificate());
    server_signal(front, SIGHUP);
    if (!eventually(get(front, "/canary")->status == 502, 5000))
        flunk("it is believed on: %s", read_text(front->errors, NULL));
    expect_said(front, "TLS: its certificate is of an unknown authority");
}

/* --- Bodies -------------------------------------------------------------- */

TEST(large_bodies_go_both_ways)
{
    struct origin *origin = origin_start_as("one", good);
    struct server *front = START_BEFORE(origin->at, NULL);
    struct client *client = client_open(front);
    char *body = scratch(LARGE);
    static const char *const framings[] = {"bytes", "chunks", "close"};
    struct reply *reply;

    for (size_t i = 0; i < 3; i++) {
        going_on("%s", framings[i]);
        reply = get(front, printed("/%s/%d/%d", framings[i], SEED, LARGE));
        expect_status(reply, 200);
        expect_seeded(reply, SEED, 0, LARGE);
    }
    going_on("upload");
    seeded_fill(SEED, 0, body, LARGE);
    client_say(client,
               "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
               LARGE);
    assert_true(client_send(client, body, LARGE));
    reply = client_reply(client);
    expect_status(reply, 200);
    expect_seeded(reply, SEED, 0, LARGE);
    origin_check(origin);
}

/* A body that ends with its connection is whole only if TLS says so. */
TEST(a_body_that_was_cut_off_is_told_and_is_none)
{
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        struct upstream *upstream = upstream_secure(upstream_open(), good);
        struct server *front = START_BEFORE(upstream->at, NULL);
        struct client *client = client_open(front);
        struct client *peer;
        struct reply *reply = NULL;

        going_on("cut: %d", is_cut);
        peer = upstream_asked(upstream, client, GET);
        client_say(peer, OK "Connection: close\r\n\r\nhalf of it");
        assert_true(client_hears(client, patience(5000)));
        pause_ms(20);
        if (is_cut)
            client_cut(peer);
        else
            client_close(peer);
        if (is_cut) {
            assert_int_not_equal(client_try(client, false, &reply),
                                 CLIENT_REPLY);
            expect_said(front, "closed the connection without a whole answer: "
                               "TLS: ended without close_notify");
        } else {
            expect_body(client_reply(client), "half of it");
        }
        server_stop(front);
    }
}

TEST(a_body_with_a_length_needs_no_word_of_the_end)
{
    struct upstream *upstream = upstream_secure(upstream_open(), good);
    struct server *front = START_BEFORE(upstream->at, NULL);
    struct client *client = client_open(front);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    client_say(peer, OK "Content-Length: 2\r\nConnection: close\r\n\r\nhi");
    client_cut(peer);
    expect_body(client_reply(client), "hi");
    peer = upstream_asked(upstream, client, GET);
    expect_hi(peer, client);
}

TEST(a_websocket_is_a_tunnel)
{
    struct upstream *upstream = upstream_secure(upstream_open(), good);
    struct server *front = START_BEFORE(upstream->at, NULL);
    struct client *client = client_open(front);
    struct client *peer;

    peer =
        upstream_asked(upstream, client,
                       "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                       "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    client_say(peer, "HTTP/1.1 101 Switching Protocols\r\n"
                     "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
                     "\r\n\r\nfirst");
    if (!strstr(hear_head(client), " 101 "))
        flunk("no tunnel");
    expect_hears(client, "first");
    client_say(client, "ping");
    expect_hears(peer, "ping");
    client_say(peer, "pong");
    expect_hears(client, "pong");
    client_half_close(client); /* the other way goes on */
    client_expect_end(peer);
    client_say(peer, "last");
    expect_hears(client, "last");
    client_close(peer);
    (void)hear_end(client);
}

/* --- Sockets, probes ----------------------------------------------------- */

TEST(unix_sockets_can_be_asked_over_tls)
{
    struct upstream *upstream = upstream_secure(upstream_open_unix(), good);
    struct server *front = START_BEFORE(upstream->at, NULL);
    struct client *client = client_open(front);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    expect_hi(peer, client);
}

TEST(probes_go_over_tls)
{
    struct origin *origin = origin_start_as("one", good);
    struct origin *false_one =
        origin_start_as("false",
                        serve(secure_write("probed.pem",
                                           &(struct making){
                                               .subject = "app",
                                               .names = "IP:127.0.0.1"})));
    struct server *front =
        START_BEFORE(printed("%s,%s", origin->at, false_one->at),
                     "--proxy-probe=/health", "--proxy-probe-interval=50ms",
                     "--proxy-probe-fall=1", "--proxy-fails=0");

    expect_said(front, "is down: probe: TLS: self-signed certificate");
    assert_true(eventually(atomic_load(&origin->counts->probes) >= 3, 5000));
    assert_int_equal(atomic_load(&false_one->counts->probes), 0);
    atomic_store(&origin->counts->is_ill, true);
    expect_said(front, "is down: probe: status 503");
    atomic_store(&origin->counts->is_ill, false);
    expect_said(front, "is up: its probes succeed");
    expect_body(get(front, "/name"), "one");
    origin_check(origin);
}
