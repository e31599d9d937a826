#include "io/tls/tls_connector.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "io/tls/tls_trust_priv.h"
#include "make_certificate.h"
#include "suite.h"

/* --- Certificates, and a server that shows them -------------------------- */

static struct made authority;
static struct made stranger; /* an authority that nobody knows */
static struct tls_buffers *buffers;
static struct tls_trust *trust; /* in authority */
static struct tls_connector *connector;
static char fault[TLS_FAULT_MAX];

static struct made make_server(const char *names)
{
    return make_certificate(&(struct making){
        .subject = "app", .names = names, .issuer = &authority});
}

static SSL_CTX *make_context(const struct made *made)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    assert_int_equal(SSL_CTX_use_certificate(ctx, made->x509), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, made->key), 1);
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"test", 4);
    return ctx;
}

static struct tls_trust *make_trust(const struct made *believed)
{
    char *text = made_text(believed);
    struct tls_trust_options options = {.verifies = true,
                                        .authorities = {text, strlen(text)}};
    struct tls_trust *made = NULL;

    assert_int_equal(tls_trust_create(&made, &options, fault), 0);
    free(text);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    authority = make_certificate(&(struct making){.subject = "authority",
                                                  .is_authority = true});
    stranger = make_certificate(&(struct making){.subject = "stranger",
                                                 .is_authority = true});
    buffers = tls_buffers_create();
    trust = make_trust(&authority);
    connector = tls_connector_create(trust, fault);
    return buffers && connector ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tls_connector_destroy(connector);
    tls_trust_release(&trust);
    tls_buffers_destroy(buffers);
    made_free(&authority);
    made_free(&stranger);
    return 0;
}

SUITE(.begin = set_up, .end = tear_down);

/* --- A connection -------------------------------------------------------- */

struct way {
    struct tls *tls;
    SSL *server;
    int fd;
    int far_fd;
};

static void begin(struct way *way, struct tls_target *target, SSL_CTX *ctx)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    *way = (struct way){.fd = fds[0], .far_fd = fds[1]};
    way->tls = tls_connect(buffers, target, way->fd);
    assert_non_null(way->tls);
    way->server = SSL_new(ctx);
    SSL_set_fd(way->server, way->far_fd);
    SSL_set_accept_state(way->server);
}

static void end(struct way *way)
{
    if (way->tls)
        (void)!tls_shut_down(way->tls);
    tls_destroy(way->tls);
    SSL_free(way->server);
    close(way->fd);
    close(way->far_fd);
}

/* What becomes of the handshake. */
static enum io_result shake(struct way *way)
{
    enum io_result result = IO_AGAIN_READ;
    int done = 0;

    for (int i = 0; i < 100; i++) {
        if (result == IO_AGAIN_READ || result == IO_AGAIN_WRITE)
            result = tls_handshake(way->tls);
        if (done != 1)
            done = SSL_do_handshake(way->server);
        if (result != IO_AGAIN_READ && result != IO_AGAIN_WRITE &&
            (done == 1 || result != IO_DONE))
            break;
    }
    return result;
}

/* A message there and back, by which tickets come along. */
static void converse(struct way *way)
{
    struct iovec part = {(void *)(uintptr_t) "hi", 2};
    char data[16];
    size_t len;

    assert_int_equal(tls_send(way->tls, &part, 1, false, &len), IO_DONE);
    assert_int_equal(SSL_read(way->server, data, sizeof(data)), 2);
    assert_int_equal(SSL_write(way->server, "yes", 3), 3);
    assert_int_equal(tls_receive(way->tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 3);
    assert_memory_equal(data, "yes", 3);
}

static struct tls_target *aim(const char *name)
{
    struct tls_target *target = tls_target_create(connector, bytes_of(name));

    assert_non_null(target);
    return target;
}

/* The handshake with a server of that context fails for that reason. */
static void expect_failure(SSL_CTX *ctx, const char *name,
                           enum tls_failure failure, const char *why)
{
    struct tls_target *target = aim(name);
    struct way way;

    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), failure);
    assert_string_equal(tls_why(way.tls), why);
    end(&way);
    begin(&way, target, ctx); /* nor is there anything to resume */
    assert_int_equal(shake(&way), IO_FAILED);
    assert_false(SSL_session_reused(way.server));
    end(&way);
    tls_target_destroy(target);
}

static void expect_success(SSL_CTX *ctx, const char *name)
{
    struct tls_target *target = aim(name);
    struct way way;

    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_DONE);
    converse(&way);
    end(&way);
    tls_target_destroy(target);
}

/* --- Whom it believes ---------------------------------------------------- */

TEST(a_server_with_the_name_and_a_known_authority_is_believed)
{
    struct made made = make_server("DNS:app.example,DNS:*.wild.example");
    SSL_CTX *ctx = make_context(&made);

    expect_success(ctx, "app.example");
    expect_success(ctx, "APP.example");
    expect_success(ctx, "app.example.");
    expect_success(ctx, "x.wild.example");
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(another_name_is_not_believed)
{
    struct made made =
        make_server("DNS:app.example,DNS:*.wild.example,DNS:w*.part.example");
    SSL_CTX *ctx = make_context(&made);
    static const char *const others[] = {"app.example.org", "b.example",
                                         "wild.example", "a.b.wild.example",
                                         "www.part.example"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        expect_failure(ctx, others[i], TLS_FAILURE_CERTIFICATE,
                       "its certificate is for another name");
    expect_failure(ctx, "127.0.0.1", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(an_address_is_checked_as_one)
{
    struct made made = make_server("IP:127.0.0.1,IP:::1");
    struct made named = make_server("DNS:127.0.0.1");
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *named_ctx = make_context(&named);

    expect_success(ctx, "127.0.0.1");
    expect_success(ctx, "::1");
    expect_failure(ctx, "127.0.0.2", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    expect_failure(named_ctx, "127.0.0.1", TLS_FAILURE_CERTIFICATE,
                   "its certificate is not for its address");
    SSL_CTX_free(ctx);
    SSL_CTX_free(named_ctx);
    made_free(&made);
    made_free(&named);
}

TEST(what_has_expired_or_not_begun_is_not_believed)
{
    struct made old =
        make_certificate(&(struct making){.subject = "app",
                                          .names = "DNS:app.example",
                                          .issuer = &authority,
                                          .begins_s = -7200,
                                          .ends_s = -3600});
    struct made young =
        make_certificate(&(struct making){.subject = "app",
                                          .names = "DNS:app.example",
                                          .issuer = &authority,
                                          .begins_s = 3600,
                                          .ends_s = 7200});
    SSL_CTX *old_ctx = make_context(&old);
    SSL_CTX *young_ctx = make_context(&young);

    expect_failure(old_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "certificate has expired");
    expect_failure(young_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "certificate is not yet valid");
    SSL_CTX_free(old_ctx);
    SSL_CTX_free(young_ctx);
    made_free(&old);
    made_free(&young);
}

TEST(an_unknown_authority_is_not_believed)
{
    struct made made = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    struct made self = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example"});
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *self_ctx = make_context(&self);

    expect_failure(ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "its certificate is of an unknown authority");
    expect_failure(self_ctx, "app.example", TLS_FAILURE_CERTIFICATE,
                   "self-signed certificate");
    SSL_CTX_free(ctx);
    SSL_CTX_free(self_ctx);
    made_free(&made);
    made_free(&self);
}

/* Runs test with another connector. */
static void with(struct tls_trust *other, void (*test)(SSL_CTX *ctx),
                 SSL_CTX *ctx)
{
    struct tls_connector *usual = connector;

    connector = tls_connector_create(other, fault);
    assert_non_null(connector);
    test(ctx);
    tls_connector_destroy(connector);
    connector = usual;
}

static void ask_app(SSL_CTX *ctx)
{
    expect_success(ctx, "app.example");
}

static void ask_other(SSL_CTX *ctx)
{
    expect_failure(ctx, "other.example", TLS_FAILURE_CERTIFICATE,
                   "its certificate is for another name");
}

TEST(one_that_signed_itself_or_is_named_alone_can_be_believed)
{
    struct made self = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example"});
    struct made leaf = make_server("DNS:app.example");
    const struct made *const believed[] = {&self, &leaf};

    for (size_t i = 0; i < 2; i++) {
        SSL_CTX *ctx = make_context(believed[i]);
        struct tls_trust *other = make_trust(believed[i]);

        with(other, ask_app, ctx);
        with(other, ask_other, ctx);
        tls_trust_release(&other);
        SSL_CTX_free(ctx);
    }
    made_free(&self);
    made_free(&leaf);
}

static void ask_any(SSL_CTX *ctx)
{
    expect_success(ctx, "other.example");
    expect_success(ctx, "127.0.0.1");
}

TEST(whoever_answers_is_believed_where_nobody_is_verified)
{
    struct made made = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    SSL_CTX *ctx = make_context(&made);
    struct tls_trust *none = NULL;

    assert_int_equal(tls_trust_create(&none, &(struct tls_trust_options){0},
                                      fault),
                     0);
    with(none, ask_any, ctx);
    tls_trust_release(&none);
    SSL_CTX_free(ctx);
    made_free(&made);
}

/* --- Where authorities come from ----------------------------------------- */

TEST(a_file_without_a_readable_certificate_is_no_trust)
{
    static const char *const texts[] = {
        "nothing\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"};
    struct tls_trust *made = NULL;

    for (size_t i = 0; i < 2; i++) {
        struct tls_trust_options options = {.verifies = true,
                                            .authorities = bytes_of(texts[i])};

        assert_int_equal(tls_trust_create(&made, &options, fault), -EINVAL);
        assert_null(made);
        assert_non_null(strstr(fault, "has "));
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Both places that OpenSSL knows; what is in both counts once. */
TEST(the_authorities_of_the_system_are_all_read_at_once)
{
    struct tls_trust_options options = {.verifies = true};
    char folder[] = "/tmp/trust.XXXXXX";
    char file[64], hashed[64], other[64];
    char *text = made_text(&authority);
    char *strange = made_text(&stranger);
    struct tls_trust *made = NULL;

    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/bundle.pem", folder);
    snprintf(hashed, sizeof(hashed), "%s/0123abcd.0", folder);
    snprintf(other, sizeof(other), "%s/0123abcd.1", folder);
    setenv("SSL_CERT_FILE", file, 1);
    setenv("SSL_CERT_DIR", folder, 1);
    assert_int_equal(tls_trust_create(&made, &options, fault), -ENOENT);
    assert_non_null(strstr(fault, folder));
    write_text(file, text);
    write_text(hashed, text);
    write_text(other, strange);
    assert_int_equal(tls_trust_create(&made, &options, fault), 0);
    assert_int_equal(sk_X509_num(tls_trust_authorities(made)), 2);
    unlink(file);
    unlink(hashed);
    unlink(other);
    rmdir(folder);
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    tls_trust_release(&made);
    free(text);
    free(strange);
}

/* --- What it says -------------------------------------------------------- */

static char seen_name[64];
static char seen_protocols[64];

static int see_name(SSL *ssl, int *alert, void *object)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

    (void)alert;
    (void)object;
    snprintf(seen_name, sizeof(seen_name), "%s", name ? name : "(none)");
    return SSL_TLSEXT_ERR_OK;
}

static int see_protocols(SSL *ssl, const unsigned char **chosen,
                         unsigned char *chosen_len, const unsigned char *said,
                         unsigned said_len, void *object)
{
    (void)ssl;
    (void)object;
    snprintf(seen_protocols, sizeof(seen_protocols), "%.*s", (int)said_len,
             (const char *)said);
    *chosen = said + 1;
    *chosen_len = said[0];
    return SSL_TLSEXT_ERR_OK;
}

TEST(servers_are_told_a_name_but_no_address_and_http11)
{
    struct made made = make_server("DNS:app.example,IP:127.0.0.1");
    SSL_CTX *ctx = make_context(&made);

    SSL_CTX_set_tlsext_servername_callback(ctx, see_name);
    SSL_CTX_set_alpn_select_cb(ctx, see_protocols, NULL);
    expect_success(ctx, "app.example.");
    assert_string_equal(seen_name, "app.example");
    assert_string_equal(seen_protocols, "\x08http/1.1");
    expect_success(ctx, "127.0.0.1");
    assert_string_equal(seen_name, "(none)");
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(less_than_tls_12_is_not_spoken)
{
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);
    struct tls_target *target = aim("app.example");
    struct way way;

    SSL_CTX_set_min_proto_version(ctx, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(ctx, TLS1_1_VERSION);
    SSL_CTX_set_security_level(ctx, 0);
    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_FAILED);
    assert_non_null(strstr(tls_why(way.tls), "protocol"));
    end(&way);
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_DONE);
    end(&way);
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(a_server_without_tls_is_told_apart)
{
    struct tls_target *target = aim("app.example");
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);
    struct way way;

    begin(&way, target, ctx);
    assert_int_equal(tls_handshake(way.tls), IO_AGAIN_READ);
    assert_int_equal(send(way.far_fd, "HTTP/1.1 400 Bad Request\r\n", 26, 0),
                     26);
    assert_int_equal(tls_handshake(way.tls), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_PLAIN_HTTP);
    assert_string_equal(tls_why(way.tls), "the server speaks HTTP without TLS");
    end(&way);
    begin(&way, target, ctx);
    assert_int_equal(tls_handshake(way.tls), IO_AGAIN_READ);
    assert_int_equal(shutdown(way.far_fd, SHUT_WR), 0);
    assert_int_equal(tls_handshake(way.tls), IO_EOF);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_GONE);
    assert_string_equal(tls_why(way.tls), "ended in the handshake");
    end(&way);
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    made_free(&made);
}

/* --- A client's certificate ---------------------------------------------- */

static struct tls_trust *make_trust_with(const struct made *shown)
{
    char *text = made_text(&authority);
    char *chain = made_text(shown);
    char *key = made_key(shown, NULL);
    struct tls_certificate *certificate = NULL;
    struct tls_trust *made = NULL;

    assert_int_equal(tls_certificate_create(&certificate, bytes_of(chain),
                                            bytes_of(key), fault),
                     0);
    assert_int_equal(tls_trust_create(&made,
                                      &(struct tls_trust_options){
                                          .verifies = true,
                                          .authorities = bytes_of(text),
                                          .certificate = certificate},
                                      fault),
                     0);
    tls_certificate_release(&certificate);
    free(text);
    free(chain);
    free(key);
    return made;
}

TEST(a_server_that_asks_for_a_certificate_gets_it)
{
    struct made made = make_server("DNS:app.example");
    struct made mine = make_certificate(&(struct making){.subject = "front",
                                                         .issuer = &authority});
    struct tls_trust *showing = make_trust_with(&mine);
    SSL_CTX *ctx = make_context(&made);
    struct tls_target *target = aim("app.example");
    char data[16];
    struct way way;
    size_t len;

    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx),
                                         authority.x509),
                     1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       NULL);
    with(showing, ask_app, ctx);
    /* Of TLS 1.3 the client has done its part before the server refuses it. */
    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_DONE);
    (void)SSL_do_handshake(way.server);
    assert_int_equal(tls_receive(way.tls, data, sizeof(data), &len), IO_FAILED);
    assert_string_equal(tls_why(way.tls), "tlsv13 alert certificate required");
    end(&way);
    tls_target_destroy(target);
    tls_trust_release(&showing);
    SSL_CTX_free(ctx);
    made_free(&made);
    made_free(&mine);
}

/* --- Sessions ------------------------------------------------------------ */

/* Whether the next connection to the target resumes. */
static bool resumes(struct tls_target *target, SSL_CTX *ctx)
{
    struct tls_facts facts;
    struct way way;

    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_DONE);
    converse(&way);
    tls_tell(way.tls, &facts);
    assert_int_equal(facts.is_resumed, SSL_session_reused(way.server));
    end(&way);
    return facts.is_resumed;
}

TEST(the_next_connection_resumes_and_another_targets_does_not)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);

    for (size_t i = 0; i < 2; i++) {
        struct tls_target *target = aim("app.example");
        struct tls_target *other = aim("app.example");

        SSL_CTX_set_max_proto_version(ctx, versions[i]);
        assert_false(resumes(target, ctx));
        assert_true(resumes(target, ctx));
        assert_true(resumes(target, ctx));
        assert_false(resumes(other, ctx));
        tls_target_destroy(target);
        tls_target_destroy(other);
    }
    SSL_CTX_free(ctx);
    made_free(&made);
}

TEST(a_server_that_has_forgotten_gets_a_full_handshake)
{
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *restarted = make_context(&made);
    struct tls_target *target = aim("app.example");

    assert_false(resumes(target, ctx));
    assert_false(resumes(target, restarted));
    assert_true(resumes(target, restarted));
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    SSL_CTX_free(restarted);
    made_free(&made);
}

/* A server that cannot prove who it is any more is not believed for a session
 * that another began. */
TEST(a_session_does_not_vouch_for_another_server)
{
    struct made made = make_server("DNS:app.example");
    struct made false_one = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    SSL_CTX *ctx = make_context(&made);
    SSL_CTX *false_ctx = make_context(&false_one);
    struct tls_target *target = aim("app.example");
    struct way way;

    assert_false(resumes(target, ctx));
    begin(&way, target, false_ctx);
    assert_int_equal(shake(&way), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_CERTIFICATE);
    end(&way);
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    SSL_CTX_free(false_ctx);
    made_free(&made);
    made_free(&false_one);
}

/* --- The end ------------------------------------------------------------- */

TEST(an_end_without_a_word_is_told_from_one_with)
{
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);
    struct tls_target *target = aim("app.example");

    for (int is_said = 0; is_said < 2; is_said++) {
        char data[16];
        struct way way;
        size_t len;

        begin(&way, target, ctx);
        assert_int_equal(shake(&way), IO_DONE);
        converse(&way);
        if (is_said)
            assert_int_equal(SSL_shutdown(way.server), 0);
        assert_int_equal(shutdown(way.far_fd, SHUT_WR), 0);
        assert_int_equal(tls_receive(way.tls, data, sizeof(data), &len),
                         IO_EOF);
        assert_int_equal(tls_was_cut(way.tls), !is_said);
        if (is_said)
            assert_null(tls_why(way.tls));
        else
            assert_string_equal(tls_why(way.tls), "ended without close_notify");
        end(&way);
    }
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    made_free(&made);
}

/* It has answered, and closed with something unread: a reset. What is said to
 * it cannot be sent, but its answer can be read. */
TEST(what_was_said_before_a_reset_is_heard)
{
    struct made made = make_server("DNS:app.example");
    SSL_CTX *ctx = make_context(&made);
    struct tls_target *target = aim("app.example");
    struct iovec part = {(void *)(uintptr_t) "more", 4};
    char data[16];
    struct way way;
    size_t len;

    begin(&way, target, ctx);
    assert_int_equal(shake(&way), IO_DONE);
    converse(&way);
    assert_int_equal(SSL_write(way.server, "no", 2), 2);
    assert_int_equal(shutdown(way.far_fd, SHUT_RDWR), 0);
    assert_int_equal(tls_send(way.tls, &part, 1, false, &len), IO_FAILED);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(tls_send(way.tls, &part, 1, false, &len), IO_FAILED);
    assert_int_equal(tls_receive(way.tls, data, sizeof(data), &len), IO_DONE);
    assert_int_equal(len, 2);
    assert_memory_equal(data, "no", 2);
    assert_int_equal(tls_receive(way.tls, data, sizeof(data), &len), IO_EOF);
    assert_int_equal(tls_shut_down(way.tls), IO_DONE);
    end(&way);
    tls_target_destroy(target);
    SSL_CTX_free(ctx);
    made_free(&made);
}
