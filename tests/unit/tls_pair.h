/*
 * tls_pair - a server's end of a TLS connection over a socket pair, and a
 * client of OpenSSL's whose bytes pass through the test's hands.
 *
 *   client <--> memory <-- pair_push(), pair_pull() --> socket <--> struct tls
 */
#ifndef UNIT_TLS_PAIR_H
#define UNIT_TLS_PAIR_H

#include <errno.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/tls/tls.h"
#include "io/tls/tls_priv.h"
#include "io/tls/tls_tickets.h"
#include "make_certificate.h"
#include "suite.h"

struct pair {
    struct tls *tls;
    int fd;     /* the server's */
    int far_fd; /* the client's */
    SSL *client;
    BIO *in; /* what the client reads, and what it has written */
    BIO *out;
    size_t pushed;
    size_t pulled;
};

extern struct tls_buffers *pair_buffers;
extern struct tls_table *pair_table;
extern struct tls_context *pair_context;
extern SSL_CTX *pair_client;

struct pair_secret {
    unsigned char bytes[TLS_SECRET_MAX];
    size_t len;
};

/* Of the connection that was made last: what its client tells. */
extern struct pair_secret pair_client_secret;
extern struct pair_secret pair_server_secret;

/* For all tests of a program. */
int pair_set_up(void **state);

int pair_tear_down(void **state);
void pair_begin(struct pair *pair);
void pair_begin_on(struct pair *pair, int fd, int far_fd); /* takes both */
void pair_end(struct pair *pair);

/* Hands at most so much of what the client has written to the server. Returns
 * how much. */
size_t pair_push(struct pair *pair, size_t most);

/* The other way. */
size_t pair_pull(struct pair *pair, size_t most);

/* The whole handshake. Pieces of the client's are of so many bytes. */
void pair_shake(struct pair *pair, size_t piece);

void pair_open(struct pair *pair);

/* The client says a text, which comes to the server's socket. */
void pair_say(struct pair *pair, const char *text);

/* What the client gets; *len: room, and then how much of it. */
void pair_read(struct pair *pair, char *data, size_t *len);

/* A session of a connection that was opened and has ended, to come back by. */
SSL_SESSION *pair_make_session(void);

/* The client, which has not yet said anything, comes back; takes the session. */
void pair_begin_again(struct pair *pair, SSL_SESSION *session);

/* A direction of a connection that was taken over, as its client has it. */
void pair_begin_direction(struct tls_direction *direction, struct pair *pair,
                          const struct pair_secret *secret, bool seals);

/* Ends an SSL_CTX option of one test. */
void pair_limit_version(int least, int most);

#endif
