#include "io/tls/tls_priv.h"
#include "unit/engine/conn_fixture.h"

#include "unit/tls_pair.h"

struct secure {
    int fd;
    SSL *ssl;
    size_t len;
    char text[RECEIVED_MAX + 1];
};

static struct secure secure;
static struct secure other;

static void mail(int fd, struct address peer, bool makes_room)
{
    conn_set_open(&set, &(struct mail){.fd = fd,
                                       .peer = peer,
                                       .is_tls = true,
                                       .makes_room = makes_room});
}

/* A client that has said first already, if anything. */
static void secure_begin_with(struct secure *client, const char *first)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                                fds),
                     0);
    client->fd = fds[1];
    client->len = 0;
    client->ssl = SSL_new(pair_client);
    assert_int_equal(send(fds[1], first, strlen(first), 0), strlen(first));
    SSL_set_fd(client->ssl, fds[1]);
    SSL_set_connect_state(client->ssl);
    mail(fds[0], client_peer, false);
}

static void secure_begin(struct secure *client)
{
    secure_begin_with(client, "");
}

static void secure_shake(struct secure *client)
{
    for (int i = 0; i < 20 && SSL_do_handshake(client->ssl) != 1; i++)
        turn();
    assert_int_equal(SSL_do_handshake(client->ssl), 1);
}

static void secure_open(struct secure *client)
{
    secure_begin(client);
    secure_shake(client);
}

static void secure_close(struct secure *client)
{
    SSL_free(client->ssl);
    close(client->fd);
}

static size_t secure_receive(struct secure *client)
{
    size_t before = client->len;
    size_t n;

    while (client->len < RECEIVED_MAX &&
           SSL_read_ex(client->ssl, client->text + client->len,
                       RECEIVED_MAX - client->len, &n) == 1)
        client->len += n;
    client->text[client->len] = '\0';
    return client->len - before;
}

/* SSL_ERROR_WANT_READ: nothing more for now. */
static int secure_settle(struct secure *client)
{
    for (int quiet = 0; quiet < 4; quiet++) {
        turn();
        if (secure_receive(client) > 0)
            quiet = 0;
    }
    return SSL_get_error(client->ssl, 0);
}

static const char *secure_talk(struct secure *client, const char *request)
{
    client->len = 0;
    assert_int_equal(SSL_write(client->ssl, request, (int)strlen(request)),
                     strlen(request));
    (void)secure_settle(client);
    return client->text;
}

static int set_up_tls(void **state)
{
    if (set_up(state) != 0)
        return -1;
    set.shared.tls = pair_context;
    memset(&stats, 0, sizeof(stats));
    return 0;
}

static uint64_t failed(enum stats_tls_failure why)
{
    return counter_read(&stats.tls.failed[why]);
}

/* --- Answers ------------------------------------------------------------- */

TEST(requests_are_answered)
{
    secure_open(&secure);
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(secure_talk(&secure, GET("/small")),
                               "\r\n\r\nsmall body"));
    assert_int_equal(
        set.shared.context.stats->tls.handshakes[STATS_TLS_FULL].value, 1);
    secure_close(&secure);
    turn();
    assert_int_equal(set.count, 0);
}

TEST(large_files_come_whole)
{
    static const enum send_method methods[] = {SEND_AUTO, SEND_MMAP,
                                               SEND_SENDFILE, SEND_READ};

    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        const char *body;

        conn_fixture_fini();
        sites_options.cache.send_method = methods[i];
        assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
        set.shared.tls = pair_context;
        secure_open(&secure);
        body = strstr(secure_talk(&secure, GET("/large")), "\r\n\r\n") + 4;
        assert_int_equal(secure.text + secure.len - body, LARGE_BYTES);
        assert_memory_equal(body, large_bytes, LARGE_BYTES);
        secure_close(&secure);
    }
}

/* More than is read at once: what is left makes no event. */
TEST(pipelines_longer_than_what_is_read_at_once_go_on)
{
    enum { COUNT = 1500 };
    static char requests[COUNT * 64];
    size_t answers = 0;

    for (int i = 0; i < COUNT; i++)
        memcpy(requests + (size_t)i * strlen(GET("/small")), GET("/small"),
               sizeof(GET("/small")));
    secure_open(&secure);
    (void)secure_talk(&secure, requests);
    for (const char *at = secure.text; (at = strstr(at, "small body")); at++)
        answers++;
    assert_int_equal(answers, COUNT);
    secure_close(&secure);
}

TEST(the_end_is_announced)
{
    secure_open(&secure);
    secure_talk(&secure, "GET /small HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(secure.text, "small body"));
    assert_int_equal(secure_settle(&secure), SSL_ERROR_ZERO_RETURN);
    secure_close(&secure);
}

/* The kernel's, which cannot be changed; here it sends what it is given. */
TEST(a_connection_whose_key_is_worn_ends_with_its_next_answer)
{
    static const char request[] = GET("/small");
    struct tls *tls;
    char text[4096];
    ssize_t n;

    secure_open(&secure);
    assert_has(secure_talk(&secure, request), "HTTP/1.1 200 ");
    assert_has_not(secure.text, "\r\nConnection: close\r\n");
    tls = only_conn()->session.transport.tls;
    tls->taken->by_kernel = true;
    tls->taken->out.sequence = TLS_RECORDS_DUE;
    assert_int_equal(SSL_write(secure.ssl, request, sizeof(request) - 1),
                     sizeof(request) - 1);
    for (int i = 0; i < 4; i++)
        turn();
    n = recv(secure.fd, text, sizeof(text) - 1, 0);
    assert_true(n > 0);
    text[n] = '\0';
    assert_has(text, "HTTP/1.1 200 ");
    assert_has(text, "\r\nConnection: close\r\n");
    assert_int_equal(only_conn()->state, CONN_LINGERING);
    secure_close(&secure);
    turn();
}

TEST(an_answer_that_breaks_off_is_not_announced_as_ended)
{
    int error;

    secure_open(&secure);
    assert_true(SSL_write(secure.ssl, GET("/large"),
                          (int)strlen(GET("/large"))) > 0);
    for (int i = 0; i < 3; i++)
        turn();
    assert_int_equal(place_write(&place, "large", "short"), 0);
    error = secure_settle(&secure);
    assert_true(error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL);
    secure_close(&secure);
}

TEST(the_log_tells_of_the_connection)
{
    conn_fixture_fini();
    log_options.format = "%{tls_version} %{tls_group} %{tls_sni} "
                         "%{tls_resumed}";
    assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
    set.shared.tls = pair_context;
    secure_begin(&secure);
    SSL_set_tlsext_host_name(secure.ssl, "localhost");
    secure_shake(&secure);
    secure_talk(&secure, GET("/small"));
    secure_close(&secure);
    turn();
    assert_string_equal(read_log(), "TLSv1.3 x25519 localhost false\n");
}

/* --- Handshakes ---------------------------------------------------------- */

TEST(a_few_handshakes_go_on_in_a_turn)
{
    enum { COUNT = 7 };
    static struct secure many[COUNT];
    int first = 0;
    int turns = 0;

    for (int i = 0; i < COUNT; i++) {
        secure_begin(&many[i]);
        assert_int_equal(SSL_do_handshake(many[i].ssl), -1);
    }
    while (first < COUNT) {
        int answered = 0;
        char byte;

        conn_set_turn(&set);
        turns++;
        for (int i = 0; i < COUNT; i++)
            answered += recv(many[i].fd, &byte, 1, MSG_PEEK) == 1;
        assert_true(answered - first <= 2);
        assert_int_equal(set.shared.has_work, answered < COUNT);
        first = answered;
    }
    assert_int_equal(turns, (COUNT + 1) / 2);
    for (int i = 0; i < COUNT; i++) {
        secure_shake(&many[i]);
        secure_close(&many[i]);
    }
}

TEST(a_handshake_that_takes_too_long_is_ended)
{
    char byte;

    secure_begin(&secure);
    (void)SSL_do_handshake(secure.ssl);
    turn();
    pass(2900);
    assert_int_equal(set.count, 1);
    pass(200);
    assert_int_equal(set.count, 0);
    assert_int_equal(failed(STATS_TLS_TIMEOUT), 1);
    while (recv(secure.fd, &byte, 1, 0) > 0)
        ;
    assert_int_equal(recv(secure.fd, &byte, 1, 0), 0);
    secure_close(&secure);
}

TEST(who_speaks_plain_http_is_told_in_clear_text)
{
    char text[1000] = "";

    secure_begin_with(&secure, GET("/small"));
    turn();
    assert_true(recv(secure.fd, text, sizeof(text) - 1, 0) > 0);
    assert_non_null(strstr(text, "HTTP/1.1 400 Bad Request\r\n"));
    assert_non_null(strstr(text, "https://"));
    assert_int_equal(strlen(strstr(text, "\r\n\r\n") + 4),
                     atol(strstr(text, "Content-Length: ") + 16));
    assert_int_equal(recv(secure.fd, text, 1, 0), 0);
    assert_int_equal(failed(STATS_TLS_PLAIN_HTTP), 1);
    secure_close(&secure);
    turn();
    assert_int_equal(set.count, 0);
}

TEST(garbage_is_closed_and_counted)
{
    secure_begin_with(&secure, "\x16\x03\x01garbage, and more of it");
    turn();
    turn();
    close(secure.fd);
    turn();
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(failed(STATS_TLS_OTHER) + failed(STATS_TLS_GONE) +
                         failed(STATS_TLS_VERSION),
                     1);
    SSL_free(secure.ssl);
}

TEST(whoever_waits_in_the_handshake_makes_room)
{
    char byte;
    int fds[2];

    secure_begin(&secure);
    turn();
    now.mono_ms += 10;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    mail(fds[0], client_peer, true);
    assert_int_equal(set.count, 1);
    assert_int_equal(recv(secure.fd, &byte, 1, 0), 0);
    secure_close(&secure);
    close(fds[1]);
}

TEST(without_room_nothing_is_said_in_clear_text)
{
    char byte;
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    mail(fds[0], client_peer, true);
    assert_int_equal(recv(fds[1], &byte, 1, 0), 0);
    close(fds[1]);
}

TEST(drain_lets_handshakes_end_that_have_begun)
{
    secure_begin(&secure);
    (void)SSL_do_handshake(secure.ssl);
    turn();
    secure_begin(&other);
    turn();
    assert_int_equal(set.count, 2);
    conn_set_drain(&set);
    turn();
    assert_int_equal(set.count, 1);
    secure_shake(&secure);
    assert_non_null(strstr(secure_talk(&secure, GET("/small")),
                           "Connection: close"));
    secure_close(&secure);
    secure_close(&other);
}

TEST(a_proxy_introduces_before_tls)
{
    set.proxies_introduce = true;
    proxies = (struct cidrs){.count = 1}; /* and unix sockets are trusted */
    secure_begin_with(&secure,
                      "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n");
    secure_shake(&secure);
    assert_non_null(strstr(secure_talk(&secure, GET("/small")), "small body"));
    secure_close(&secure);
    turn();
    assert_non_null(strstr(read_log(), "192.0.2.7 "));
    set.proxies_introduce = false;
    proxies = (struct cidrs){.count = 0};
}

TEST(half_of_an_introduction_is_waited_for)
{
    static const char rest[] = "192.0.2.7 198.51.100.1 56324 443\r\n";

    set.proxies_introduce = true;
    proxies = (struct cidrs){.count = 1};
    secure_begin_with(&secure, "PROXY TCP4 ");
    turn();
    assert_false(set.shared.has_work);
    assert_int_equal(send(secure.fd, rest, strlen(rest), 0), strlen(rest));
    (void)SSL_do_handshake(secure.ssl);
    pass(1000);
    secure_shake(&secure);
    assert_non_null(strstr(secure_talk(&secure, GET("/small")), "small body"));
    secure_close(&secure);
    set.proxies_introduce = false;
    proxies = (struct cidrs){.count = 0};
}

SUITE(.begin = pair_set_up, .end = pair_tear_down, .each_begin = set_up_tls,
      .each_end = tear_down);
