/*
 * connector_fixture - a connector that believes one authority, servers with
 * certificates of it, and connections to these through socket pairs.
 */
#ifndef UNIT_IO_TLS_CONNECTOR_FIXTURE_H
#define UNIT_IO_TLS_CONNECTOR_FIXTURE_H

#include <openssl/ssl.h>

#include "io/tls/tls_connector.h"
#include "make_certificate.h"

extern struct made authority; /* that the connector believes */
extern struct made stranger;  /* an authority that it does not know */
extern struct made app;       /* a server, app.example, of authority */
extern struct tls_connector *connector;
extern char fault[TLS_FAULT_MAX];

/* Anew for each test: app's context, and app.example as a target. */
extern SSL_CTX *app_ctx;
extern struct tls_target *app_target;

#define CONNECTOR_SUITE                                          \
    SUITE(.begin = connector_set_up, .end = connector_tear_down, \
          .each_begin = connector_begin_test, .each_end = connector_end_test)

int connector_set_up(void **state);
int connector_tear_down(void **state);
int connector_begin_test(void **state);
int connector_end_test(void **state);

/* Of authority, for these names. The caller frees what is made. */
struct made make_server(const char *names);
SSL_CTX *make_context(const struct made *made);
struct tls_trust *make_trust(const struct made *believed);
struct tls_target *aim(const char *name);

/* A connection, and the server at its other end. */
struct way {
    struct tls *tls;
    SSL *server;
    int fd;
    int far_fd;
};

void way_begin(struct way *way, struct tls_target *target, SSL_CTX *ctx);
void way_end(struct way *way);

/* What becomes of the handshake. */
enum io_result way_shake(struct way *way);

/* A message there and back, by which tickets come along. */
void way_converse(struct way *way);

/* Begins, shakes hands and converses. */
void way_open(struct way *way, struct tls_target *target, SSL_CTX *ctx);

/* The handshake with a server of that context fails for that reason, or
 * succeeds. */
void expect_failure(SSL_CTX *ctx, const char *name, enum tls_failure failure,
                    const char *why);
void expect_success(SSL_CTX *ctx, const char *name);

/* Runs test with a connector that believes other in the place of the usual
 * one. */
void connector_with(struct tls_trust *other, void (*test)(SSL_CTX *ctx),
                    SSL_CTX *ctx);

#endif
