/*
 * tls_return_priv - how long clients that have shown a certificate may come
 * back by tickets, for tls_context.c.
 *
 * A ticket says who the client is, and the client's certificate is not looked
 * at again. Each visit gives a client of TLS 1.3 a new ticket. So the client
 * could come back for ever, long after its certificate has expired. Therefore
 * a ticket opens nothing once the certificate has expired, or once a given time
 * has passed since the last whole handshake (RFC 8446 4.6.1). Then the client
 * shows its certificate again.
 */
#ifndef IO_TLS_TLS_RETURN_PRIV_H
#define IO_TLS_TLS_RETURN_PRIV_H

struct ssl_ctx_st;

enum { TLS_RETURN_S = 24 * 3600 };

/* Limits the tickets of all connections made of `ctx`, whatever set they
 * get. */
void tls_return_limit(struct ssl_ctx_st *ctx);

#endif
