/*
 * certified - servers with certificates of the test's making, and clients that
 * come to them by name.
 *
 * Thread: the test's.
 * Owns:   the files, in folder().
 */
#ifndef E2E_CERTIFIED_H
#define E2E_CERTIFIED_H

#include "client.h"
#include "make_certificate.h"

/* A file of that name below folder() with a certificate, its chain up to NULL,
 * and its key; another takes its place at once. Its path. */
const char *certificate_write(const char *name, const struct made *const *chain,
                              const struct made *key);

/* Makes one, and writes it. */
const char *certify(const char *name, const struct making *making);

/* Starts the server under a configuration, which says where it listens. */
struct server *serve_certified(const char *text, const char *argument);

/* The port of another listener, by the line that the server prints of it. */
struct server *next_listener(const struct server *server);

/* A connection that asks for name; NULL where no handshake comes about. */
struct client *come_as(const struct server *server, const char *name);

/* Asks over such a connection, for host. */
struct reply *ask_as(const struct server *server, const char *name,
                     const char *host, const char *target);

/* The common name that a client is shown who asks for name. */
const char *shown_to(const struct server *server, const char *name);

#endif
