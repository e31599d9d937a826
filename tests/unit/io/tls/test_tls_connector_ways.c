#include <sys/socket.h>

#include "io/tls/tls_connector.h"
#include "suite.h"
#include "unit/io/tls/connector_fixture.h"

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
    struct way way;

    SSL_CTX_set_min_proto_version(app_ctx, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(app_ctx, TLS1_1_VERSION);
    SSL_CTX_set_security_level(app_ctx, 0);
    way_begin(&way, app_target, app_ctx);
    assert_int_equal(way_shake(&way), IO_FAILED);
    assert_non_null(strstr(tls_why(way.tls), "protocol"));
    way_end(&way);
    SSL_CTX_set_max_proto_version(app_ctx, TLS1_2_VERSION);
    way_begin(&way, app_target, app_ctx);
    assert_int_equal(way_shake(&way), IO_DONE);
    way_end(&way);
}

TEST(a_server_without_tls_is_told_apart)
{
    struct way way;

    way_begin(&way, app_target, app_ctx);
    assert_int_equal(tls_handshake(way.tls), IO_AGAIN_READ);
    assert_int_equal(send(way.far_fd, "HTTP/1.1 400 Bad Request\r\n", 26, 0),
                     26);
    assert_int_equal(tls_handshake(way.tls), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_PLAIN_HTTP);
    assert_string_equal(tls_why(way.tls), "the server speaks HTTP without TLS");
    way_end(&way);
    way_begin(&way, app_target, app_ctx);
    assert_int_equal(tls_handshake(way.tls), IO_AGAIN_READ);
    assert_int_equal(shutdown(way.far_fd, SHUT_WR), 0);
    assert_int_equal(tls_handshake(way.tls), IO_EOF);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_GONE);
    assert_string_equal(tls_why(way.tls), "ended in the handshake");
    way_end(&way);
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

static void ask_app(SSL_CTX *ctx)
{
    expect_success(ctx, "app.example");
}

TEST(a_server_that_asks_for_a_certificate_gets_it)
{
    struct made mine = make_certificate(&(struct making){.subject = "front",
                                                         .issuer = &authority});
    struct tls_trust *showing = make_trust_with(&mine);
    char data[16];
    struct way way;
    size_t len;

    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(app_ctx),
                                         authority.x509),
                     1);
    SSL_CTX_set_verify(app_ctx,
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    connector_with(showing, ask_app, app_ctx);
    /* Of TLS 1.3 the client has done its part before the server refuses it. */
    way_begin(&way, app_target, app_ctx);
    assert_int_equal(way_shake(&way), IO_DONE);
    (void)SSL_do_handshake(way.server);
    assert_int_equal(tls_receive(way.tls, data, sizeof(data), &len), IO_FAILED);
    assert_string_equal(tls_why(way.tls), "tlsv13 alert certificate required");
    way_end(&way);
    tls_trust_release(&showing);
    made_free(&mine);
}

/* --- Sessions ------------------------------------------------------------ */

/* Whether the next connection to the target resumes. */
static bool resumes(struct tls_target *target, SSL_CTX *ctx)
{
    struct tls_facts facts;
    struct way way;

    way_open(&way, target, ctx);
    tls_tell(way.tls, &facts);
    assert_int_equal(facts.is_resumed, SSL_session_reused(way.server));
    way_end(&way);
    return facts.is_resumed;
}

TEST(the_next_connection_resumes_and_another_targets_does_not)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

    for (size_t i = 0; i < 2; i++) {
        struct tls_target *target = aim("app.example");
        struct tls_target *other = aim("app.example");

        SSL_CTX_set_max_proto_version(app_ctx, versions[i]);
        assert_false(resumes(target, app_ctx));
        assert_true(resumes(target, app_ctx));
        assert_true(resumes(target, app_ctx));
        assert_false(resumes(other, app_ctx));
        tls_target_destroy(target);
        tls_target_destroy(other);
    }
}

TEST(a_server_that_has_forgotten_gets_a_full_handshake)
{
    SSL_CTX *restarted = make_context(&app);

    assert_false(resumes(app_target, app_ctx));
    assert_false(resumes(app_target, restarted));
    assert_true(resumes(app_target, restarted));
    SSL_CTX_free(restarted);
}

/* A server that cannot prove who it is any more is not believed for a session
 * that another began. */
TEST(a_session_does_not_vouch_for_another_server)
{
    struct made false_one = make_certificate(&(struct making){
        .subject = "app", .names = "DNS:app.example", .issuer = &stranger});
    SSL_CTX *false_ctx = make_context(&false_one);
    struct way way;

    assert_false(resumes(app_target, app_ctx));
    way_begin(&way, app_target, false_ctx);
    assert_int_equal(way_shake(&way), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), TLS_FAILURE_CERTIFICATE);
    way_end(&way);
    SSL_CTX_free(false_ctx);
    made_free(&false_one);
}

/* --- The end ------------------------------------------------------------- */

TEST(an_end_without_a_word_is_told_from_one_with)
{
    for (int is_said = 0; is_said < 2; is_said++) {
        char data[16];
        struct way way;
        size_t len;

        way_open(&way, app_target, app_ctx);
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
        way_end(&way);
    }
}

/* The server has answered, and closed with something unread: a reset. What is
 * said to it cannot be sent, but its answer can be read. */
TEST(what_was_said_before_a_reset_is_heard)
{
    struct iovec part = {(void *)(uintptr_t) "more", 4};
    char data[16];
    struct way way;
    size_t len;

    way_open(&way, app_target, app_ctx);
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
    way_end(&way);
}

CONNECTOR_SUITE;
