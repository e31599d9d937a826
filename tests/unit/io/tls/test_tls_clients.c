/*
 * Ways around a certificate that clients have to show: the only set wants one,
 * and shows challenges of authorities, too.
 */
#include "io/tls/tls_context.h"
#include "suite.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/tls/tls.h"
#include "io/tls/tls_challenge.h"
#include "io/tls/tls_context_priv.h"
#include "io/tls/tls_tickets.h"
#include "make_certificate.h"
#include "tree.h"

#define HTTP "\x08http/1.1"
#define CHALLENGE \
    "\x0a"        \
    "acme-tls/1"

static char folder[] = "/tmp/test_tls_clients.XXXXXX";
static struct made authority;
static struct tls_tickets *tickets;
static struct tls_table *table;
static struct tls_context *context;
static struct tls_buffers *buffers;

/* --- The server ---------------------------------------------------------- */

static int make_table(struct tls_certificate *certificate, const char *trusted)
{
    struct tls_set_options options = {.name = "private",
                                      .certificates = &certificate,
                                      .certificate_count = 1,
                                      .client = TLS_CLIENT_REQUIRE,
                                      .client_ca = bytes_of(trusted)};
    char fault[TLS_FAULT_MAX];
    size_t number;

    tickets = tls_tickets_create((uint64_t)time(NULL));
    table = tls_table_create(TLS_PROFILE_INTERMEDIATE, tickets);
    if (!table || !tls_table_set_challenges(table, folder) ||
        tls_table_add(table, &options, &number, fault) != 0)
        return -1;
    context = tls_context_create(table, fault);
    buffers = tls_buffers_create();
    return context && buffers ? 0 : -1;
}

static int make_all(void **state)
{
    struct tls_certificate *certificate;
    char fault[TLS_FAULT_MAX];
    struct made made;
    char *trusted;
    char *text;
    int err;

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    authority = make_certificate(&(struct making){.subject = "Authority",
                                                  .is_authority = true});
    made = make_certificate(&(struct making){.subject = "server",
                                             .names = "DNS:private.example"});
    trusted = made_text(&authority);
    text = made_text_and_key(&made, &made);
    err = tls_certificate_create(&certificate, bytes_of(text), bytes_of(text),
                                 fault);
    if (err == 0) {
        err = make_table(certificate, trusted);
        tls_certificate_release(&certificate);
    }
    free(trusted);
    free(text);
    made_free(&made);
    return err;
}

static int free_all(void **state)
{
    (void)state;
    tls_buffers_destroy(buffers);
    tls_context_destroy(context);
    tls_table_release(&table);
    tls_tickets_release(&tickets);
    made_free(&authority);
    return tree_remove(folder);
}

/* --- Clients ------------------------------------------------------------- */

struct talk {
    SSL_CTX *ctx;
    SSL *client;
    struct tls *tls;
    int fds[2];
    enum io_result result; /* of the server's handshake */
};

/* What a client says, and how it goes on after a HelloRetryRequest. */
struct wish {
    int version; /* 0: any */
    const char *groups;
    const char *protocols;
    const char *then_protocols;
    const char *then_name;
    const struct made *certificate;
    SSL_SESSION *session;
};

static void speak(SSL *client, const char *protocols)
{
    assert_int_equal(SSL_set_alpn_protos(client,
                                         (const unsigned char *)protocols,
                                         (unsigned)strlen(protocols)),
                     0);
}

/* Changes what the client says when it has heard the server's first word. */
static void on_message(int is_written, int version, int type, const void *data,
                       size_t len, SSL *client, void *object)
{
    const struct wish *wish = object;

    (void)version;
    if (is_written || type != SSL3_RT_HANDSHAKE || len == 0 ||
        *(const unsigned char *)data != SSL3_MT_SERVER_HELLO)
        return;
    if (wish->then_protocols)
        speak(client, wish->then_protocols);
    if (wish->then_name)
        SSL_set_tlsext_host_name(client, wish->then_name);
}

static void begin(struct talk *talk, struct wish *wish)
{
    *talk = (struct talk){.ctx = SSL_CTX_new(TLS_client_method()),
                          .result = IO_AGAIN_READ};
    if (wish->version != 0) {
        SSL_CTX_set_min_proto_version(talk->ctx, wish->version);
        SSL_CTX_set_max_proto_version(talk->ctx, wish->version);
    }
    if (wish->groups)
        assert_int_equal(SSL_CTX_set1_groups_list(talk->ctx, wish->groups), 1);
    if (wish->certificate) {
        SSL_CTX_use_certificate(talk->ctx, wish->certificate->x509);
        SSL_CTX_use_PrivateKey(talk->ctx, wish->certificate->key);
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
                                talk->fds),
                     0);
    talk->tls = tls_accept(buffers, context, talk->fds[0]);
    talk->client = SSL_new(talk->ctx);
    SSL_set_fd(talk->client, talk->fds[1]);
    SSL_set_tlsext_host_name(talk->client, "private.example");
    if (wish->protocols)
        speak(talk->client, wish->protocols);
    if (wish->session)
        SSL_set_session(talk->client, wish->session);
    SSL_set_msg_callback(talk->client, on_message);
    SSL_set_msg_callback_arg(talk->client, wish);
    SSL_set_connect_state(talk->client);
}

static struct talk talk_as(struct wish *wish)
{
    struct talk talk;

    begin(&talk, wish);
    for (size_t i = 0; i < 10 && talk.result != IO_DONE &&
                       talk.result != IO_EOF && talk.result != IO_FAILED;
         i++) {
        (void)SSL_do_handshake(talk.client);
        talk.result = tls_handshake(talk.tls);
    }
    (void)SSL_do_handshake(talk.client);
    return talk;
}

static void hang_up(struct talk *talk)
{
    SSL_shutdown(talk->client);
    SSL_free(talk->client);
    SSL_CTX_free(talk->ctx);
    tls_destroy(talk->tls);
    close(talk->fds[0]);
    close(talk->fds[1]);
}

/* --- Challenges ---------------------------------------------------------- */

static void put_challenge(void)
{
    struct made made = make_certificate(&(struct making){
        .subject = "challenge", .names = "DNS:private.example"});
    char *text = made_text_and_key(&made, &made);
    char file[TLS_CHALLENGE_FILE_MAX];
    char path[sizeof(folder) + TLS_CHALLENGE_FILE_MAX];
    int fd;

    tls_challenge_file(BYTES("private.example"), file);
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    free(text);
    made_free(&made);
}

/* The server asks for another group, so there is a second ClientHello. */
TEST(who_asked_for_a_challenge_gets_nothing_else)
{
    static const char *const protocols[] = {HTTP, "\x02h2" HTTP, CHALLENGE};
    static const char *const names[] = {NULL, "private.example",
                                        "other.example"};

    put_challenge();
    for (size_t i = 0; i < 9; i++) {
        struct wish wish = {.groups = "P-384:P-256",
                            .protocols = CHALLENGE,
                            .then_protocols = protocols[i / 3],
                            .then_name = names[i % 3]};
        struct talk talk = talk_as(&wish);

        if (talk.result != IO_EOF && talk.result != IO_FAILED)
            fail_msg("%zu: result %d, opened without a certificate", i,
                     (int)talk.result);
        assert_false(tls_knows_client(talk.tls));
        hang_up(&talk);
    }
}

/* As openssl.cnf can have it (Options = -SessionTicket). */
TEST(connections_without_tickets_are_for_no_challenge)
{
    struct made client = make_certificate(&(struct making){
        .subject = "client", .issuer = &authority});
    struct wish wish = {.certificate = &client};
    struct talk talk;

    SSL_CTX_set_options(tls_context_ssl(context), SSL_OP_NO_TICKET);
    talk = talk_as(&wish);
    assert_int_equal(talk.result, IO_DONE);
    assert_true(tls_knows_client(talk.tls));
    hang_up(&talk);
    SSL_CTX_clear_options(tls_context_ssl(context), SSL_OP_NO_TICKET);
    made_free(&client);
}

/* --- Tickets ------------------------------------------------------------- */

/* How far the clock of this program is ahead. */
static time_t ahead_s;

time_t time(time_t *seconds_out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds_out)
        *seconds_out = now.tv_sec + ahead_s;
    return now.tv_sec + ahead_s;
}

/* Takes a client's latest ticket, which comes with the first reply. */
static SSL_SESSION *take_session(struct talk *talk)
{
    static const char hello[] = "hello";
    struct iovec part = {(void *)(uintptr_t)hello, sizeof(hello)};
    char text[sizeof(hello)];
    size_t sent;

    assert_int_equal(tls_send(talk->tls, &part, 1, false, &sent), IO_DONE);
    assert_int_equal(SSL_read(talk->client, text, sizeof(text)), sizeof(text));
    return SSL_get1_session(talk->client);
}

/* Whether a client of that certificate is let in at that hour; it then comes
 * back by a newer ticket. */
static bool comes_in(struct wish *wish, time_t hour, bool *is_resumed_out)
{
    struct tls_facts facts;
    struct talk talk;
    bool is_in;

    ahead_s = hour * 3600;
    talk = talk_as(wish);
    is_in = talk.result == IO_DONE;
    if (is_in) {
        assert_true(tls_knows_client(talk.tls));
        tls_tell(talk.tls, &facts);
        *is_resumed_out = facts.is_resumed;
        SSL_SESSION_free(wish->session);
        wish->session = take_session(&talk);
    }
    hang_up(&talk);
    ahead_s = 0;
    return is_in;
}

static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

TEST(no_ticket_outlives_the_clients_certificate)
{
    struct made client = make_certificate(&(struct making){.subject = "client",
                                                           .issuer = &authority,
                                                           .begins_s = -3600,
                                                           .ends_s = 3 * 3600});
    bool is_resumed;

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.version = versions[i], .certificate = &client};

        assert_true(comes_in(&wish, 0, &is_resumed));
        assert_false(is_resumed);
        assert_true(comes_in(&wish, 2, &is_resumed));
        assert_true(is_resumed);
        assert_false(comes_in(&wish, 4, &is_resumed));
        SSL_SESSION_free(wish.session);
    }
    made_free(&client);
}

TEST(no_connection_outlives_the_clients_certificate)
{
    struct made client = make_certificate(&(struct making){.subject = "client",
                                                           .issuer = &authority,
                                                           .begins_s = -3600,
                                                           .ends_s = 3 * 3600});

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.version = versions[i], .certificate = &client};
        struct talk talk = talk_as(&wish);

        assert_int_equal(talk.result, IO_DONE);
        assert_false(tls_client_has_expired(talk.tls));
        assert_false(tls_is_worn(talk.tls));
        ahead_s = 4 * 3600;
        assert_true(tls_client_has_expired(talk.tls));
        assert_true(tls_is_worn(talk.tls));
        ahead_s = 0;
        hang_up(&talk);
    }
    made_free(&client);
}

/* Each visit gives it a newer ticket. */
TEST(who_comes_back_shows_a_certificate_once_a_day)
{
    struct made client = make_certificate(&(struct making){
        .subject = "client", .issuer = &authority});
    bool is_resumed;

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.version = versions[i], .certificate = &client};

        assert_true(comes_in(&wish, 0, &is_resumed));
        for (time_t hour = 10; hour <= 50; hour += 10) {
            assert_true(comes_in(&wish, hour, &is_resumed));
            if (is_resumed != (hour % 30 != 0))
                fail_msg("version %zu, hour %d", i, (int)hour);
        }
        SSL_SESSION_free(wish.session);
    }
    made_free(&client);
}

SUITE(.begin = make_all, .end = free_all);
