#include "unit/io/tls/connector_fixture.h"

#include <sys/socket.h>

#include "suite.h"

/* --- Certificates, and a server that shows them -------------------------- */

struct made authority;
struct made stranger;
struct made app;
SSL_CTX *app_ctx;
struct tls_target *app_target;
struct tls_connector *connector;
char fault[TLS_FAULT_MAX];

static struct tls_buffers *buffers;
static struct tls_trust *trust; /* in authority */

struct made make_server(const char *names)
{
    return make_certificate(&(struct making){
        .subject = "app", .names = names, .issuer = &authority});
}

SSL_CTX *make_context(const struct made *made)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    assert_int_equal(SSL_CTX_use_certificate(ctx, made->x509), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, made->key), 1);
    SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"test", 4);
    return ctx;
}

struct tls_trust *make_trust(const struct made *believed)
{
    char *text = made_text(believed);
    struct tls_trust_options options = {.verifies = true,
                                        .authorities = {text, strlen(text)}};
    struct tls_trust *made = NULL;

    assert_int_equal(tls_trust_create(&made, &options, fault), 0);
    free(text);
    return made;
}

int connector_set_up(void **state)
{
    (void)state;
    authority = make_certificate(&(struct making){.subject = "authority",
                                                  .is_authority = true});
    stranger = make_certificate(&(struct making){.subject = "stranger",
                                                 .is_authority = true});
    buffers = tls_buffers_create();
    trust = make_trust(&authority);
    connector = tls_connector_create(trust, fault);
    app = make_server("DNS:app.example");
    return buffers && connector ? 0 : -1;
}

int connector_tear_down(void **state)
{
    (void)state;
    tls_connector_destroy(connector);
    tls_trust_release(&trust);
    tls_buffers_destroy(buffers);
    made_free(&authority);
    made_free(&stranger);
    made_free(&app);
    return 0;
}

int connector_begin_test(void **state)
{
    (void)state;
    app_ctx = make_context(&app);
    app_target = aim("app.example");
    return 0;
}

int connector_end_test(void **state)
{
    (void)state;
    tls_target_destroy(app_target);
    SSL_CTX_free(app_ctx);
    return 0;
}

/* --- A connection -------------------------------------------------------- */

void way_begin(struct way *way, struct tls_target *target, SSL_CTX *ctx)
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

void way_end(struct way *way)
{
    if (way->tls)
        (void)!tls_shut_down(way->tls);
    tls_destroy(way->tls);
    SSL_free(way->server);
    close(way->fd);
    close(way->far_fd);
}

enum io_result way_shake(struct way *way)
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

void way_converse(struct way *way)
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

void way_open(struct way *way, struct tls_target *target, SSL_CTX *ctx)
{
    way_begin(way, target, ctx);
    assert_int_equal(way_shake(way), IO_DONE);
    way_converse(way);
}

struct tls_target *aim(const char *name)
{
    struct tls_target *target = tls_target_create(connector, bytes_of(name));

    assert_non_null(target);
    return target;
}

void expect_failure(SSL_CTX *ctx, const char *name, enum tls_failure failure,
                    const char *why)
{
    struct tls_target *target = aim(name);
    struct way way;

    way_begin(&way, target, ctx);
    assert_int_equal(way_shake(&way), IO_FAILED);
    assert_int_equal(tls_failure(way.tls), failure);
    assert_string_equal(tls_why(way.tls), why);
    way_end(&way);
    way_begin(&way, target, ctx); /* nor is there anything to resume */
    assert_int_equal(way_shake(&way), IO_FAILED);
    assert_false(SSL_session_reused(way.server));
    way_end(&way);
    tls_target_destroy(target);
}

void expect_success(SSL_CTX *ctx, const char *name)
{
    struct tls_target *target = aim(name);
    struct way way;

    way_open(&way, target, ctx);
    way_end(&way);
    tls_target_destroy(target);
}

void connector_with(struct tls_trust *other, void (*test)(SSL_CTX *ctx),
                    SSL_CTX *ctx)
{
    struct tls_connector *usual = connector;

    connector = tls_connector_create(other, fault);
    assert_non_null(connector);
    test(ctx);
    tls_connector_destroy(connector);
    connector = usual;
}
