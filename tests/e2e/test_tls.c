/*
 * HTTPS: what clients that speak TLS get, and those that do not where it is
 * spoken.
 */
#include "client.h"
#include "secure.h"

#include <openssl/ssl.h>
#include <sys/resource.h>

enum { LARGE = 5 << 20, SEED = 18 };

static struct server *start(void)
{
    return server_start(&(struct launch){.is_tls = true},
                        (const char *const[]){"--workers=2", NULL});
}

TEST(files_come_whole)
{
    struct server *server = start();
    struct client *client = client_open(server);
    struct reply *reply;

    site_seeded("large", SEED, LARGE);
    assert_non_null(client_secured(client));
    assert_string_equal(secure_version(client_secured(client)), "TLSv1.3");
    client_expect_usable(client);
    reply = client_ask(client, "GET", "/large", NULL);
    expect_status(reply, 200);
    expect_seeded(reply, SEED, 0, LARGE);
    client_expect_usable(client);
}

/* How many sockets have had the kernel seal what they send; -1: it has no
 * TLS. */
static long count_kernel(void)
{
    FILE *file = fopen("/proc/net/tls_stat", "r");
    char line[200];
    long count = -1;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "TlsTxSw %ld", &count) == 1)
            break;
    if (file)
        fclose(file);
    return count;
}

static void expect_large(struct server *server)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_expect_usable(client);
    reply = client_ask(client, "GET", "/large", NULL);
    expect_status(reply, 200);
    expect_seeded(reply, SEED, 0, LARGE);
    client_expect_usable(client);
}

TEST(large_files_are_sealed_by_the_kernel_where_it_can)
{
    struct server *server = start();
    long before = count_kernel();

    site_seeded("large", SEED, LARGE);
    expect_large(server);
    if (before == -1) {
        print_message("this kernel has no TLS (CONFIG_TLS)\n");
        skip();
    }
    assert_true(count_kernel() > before);
}

TEST(the_kernel_may_be_kept_out_of_it)
{
    struct server *server =
        server_start(&(struct launch){.is_tls = true},
                     (const char *const[]){"--tls-kernel=off", NULL});

    site_seeded("large", SEED, LARGE);
    expect_large(server);
}

TEST(tls_1_2_is_spoken_too)
{
    struct client *client;

    secure_limit_version(TLS1_2_VERSION);
    client = client_open(start());
    secure_limit_version(0);
    assert_non_null(client_secured(client));
    client_expect_usable(client);
}

TEST(older_versions_are_refused)
{
    struct server *server = start();
    struct client *client = client_open_clear(server);

    secure_limit_version(TLS1_1_VERSION);
    assert_false(client_secure(client));
    secure_limit_version(0);
    client_expect_usable(client_open(server));
}

static const char *protocol_of(struct server *server, const char *offered)
{
    struct client *client;

    secure_offer(offered);
    client = client_open_clear(server);
    if (client_secure(client))
        client_expect_usable(client);
    secure_offer(NULL);
    return client_secured(client) ? secure_protocol(client_secured(client))
                                  : "refused";
}

TEST(who_speaks_nothing_that_is_spoken_here_is_refused)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    struct server *server = server_start(&(struct launch){.is_tls = true},
                                         (const char *const[]){"--http2=off",
                                                               NULL});

    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        secure_limit_version(versions[i]);
        assert_string_equal(protocol_of(server, "http/1.1"), "http/1.1");
        assert_string_equal(protocol_of(server, "http/1.0"), "http/1.0");
        assert_string_equal(protocol_of(server, NULL), "");
        assert_string_equal(protocol_of(server, "h2"), "refused");
        assert_non_null(strstr(secure_fault(), "no application protocol"));
        assert_string_equal(protocol_of(server, "imap"), "refused");
        assert_string_equal(protocol_of(server, "http/1"), "refused");
    }
    secure_limit_version(0);
    client_expect_usable(client_open(server));
}

TEST(a_client_comes_back_by_its_ticket_to_any_worker)
{
    struct server *server = start();
    struct client *client = client_open(server);

    client_expect_usable(client);
    secure_keep_ticket(client_secured(client));
    for (int i = 0; i < 6; i++) {
        client = client_open(server);
        assert_true(secure_is_resumed(client_secured(client)));
        client_expect_usable(client);
    }
    secure_keep_ticket(NULL);
}

TEST(the_end_is_announced)
{
    struct client *client = client_open(start());

    client_say(client, "GET /canary HTTP/1.0\r\n\r\n");
    expect_status(client_reply(client), 200);
    client_expect_orderly_end(client); /* none without close_notify */
}

TEST(plain_http_is_told_so)
{
    struct client *client = client_open_clear(start());
    struct reply *reply = client_ask(client, "GET", "/canary", NULL);

    expect_status(reply, 400);
    assert_non_null(strstr(reply->body, "https://"));
    client_expect_orderly_end(client);
}

/* A target in absolute form (RFC 9112 3.2.2), which says how it wants to
 * come. */
static unsigned ask_absolutely(struct client *client, const char *scheme,
                               const char *fields)
{
    client_say(client,
               "GET %s://localhost/canary HTTP/1.1\r\n"
               "Host: other\r\n%s\r\n",
               scheme, fields);
    return client_reply(client)->status;
}

TEST(a_target_that_names_another_scheme_is_misdirected)
{
    struct server *server = start();
    struct server *clear = START(NULL);

    if (clear->is_tls)
        skip(); /* all servers are to speak it */

    assert_int_equal(ask_absolutely(client_open(server), "https", ""), 200);
    assert_int_equal(ask_absolutely(client_open(server), "HTTPS", ""), 200);
    assert_int_equal(ask_absolutely(client_open(server), "http", ""), 421);
    assert_int_equal(ask_absolutely(client_open(clear), "http", ""), 200);
    assert_int_equal(ask_absolutely(client_open(clear), "https", ""), 421);
}

TEST(of_a_proxy_in_front_it_is_the_scheme_that_this_one_tells)
{
    struct server *server = START("--trusted-proxies=127.0.0.1");
    const char *told = "X-Forwarded-Proto: https\r\n";

    if (server->is_tls)
        skip();

    assert_int_equal(ask_absolutely(client_open(server), "https", told), 200);
    assert_int_equal(ask_absolutely(client_open(server), "http", told), 421);
    assert_int_equal(ask_absolutely(client_open(START(NULL)), "https", told),
                     421);
}

TEST(garbage_does_no_harm)
{
    struct server *server = start();
    struct client *client = client_open_clear(server);

    client_send(client, RAW("\x16\x03\x01\0\x05garbage and more of it"));
    (void)client_take(client, 1000); /* an alert, if anything */
    client_expect_usable(client_open(server));
}

/* The first message of a handshake. */
static size_t write_hello(unsigned char *to, int size)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    int len;

    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
    (void)SSL_do_handshake(ssl);
    len = BIO_read(out, to, size);
    SSL_free(ssl);
    SSL_CTX_free(context);
    assert_true(len > 0);
    return (size_t)len;
}

TEST(memory_of_handshakes_that_have_ended_is_given_back)
{
    enum { COUNT = 1500, HELLO_MAX = 4096, MIB = 1 << 20 };
    struct server *server =
        server_start(&(struct launch){.is_tls = true},
                     (const char *const[]){"--workers=1", "--header-timeout=60",
                                           NULL});
    struct client **clients = scratch(COUNT * sizeof(*clients));
    unsigned char hello[HELLO_MAX];
    size_t len = write_hello(hello, sizeof(hello));
    struct rlimit limit;
    uint64_t before;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 3 * COUNT || is_sanitized())
        skip(); /* a sanitizer keeps what is freed */
    client_expect_usable(client_open(server));
    before = server_own_memory(server);
    for (size_t i = 0; i < COUNT; i++) {
        clients[i] = client_open_clear(server);
        assert_true(client_send(clients[i], hello, len));
    }
    assert_true(eventually(server_own_memory(server) > before + 24 * MIB,
                           5000));
    pause_ms(1500); /* it counts them once a second */
    for (size_t i = 0; i < COUNT; i++)
        client_close(clients[i]);
    assert_true(eventually(server_own_memory(server) < before + 8 * MIB, 5000));
    client_expect_usable(client_open(server));
}

TEST(redirects_and_status_know_of_it)
{
    struct server *server =
        server_start(&(struct launch){.is_tls = true},
                     (const char *const[]){"--redirect",
                                           "/old $scheme://h/new 301",
                                           "--status=/_s", NULL});
    struct reply *reply = get(server, "/old");

    expect_status(reply, 301);
    expect_field(reply, "Location", "https://h/new");
    reply = get(server, "/_s/metrics");
    expect_status(reply, 200);
    assert_non_null(strstr(reply->body,
                           "sprintd_tls_handshakes_total{kind=\"full\"} 2"));
}

static int begin(void **state)
{
    int result = harness_begin(state);

    if (result == 0)
        site_text("canary", "canary\n");
    return result;
}

E2E_SUITE(begin);
