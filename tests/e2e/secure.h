/*
 * secure - either end of TLS, by OpenSSL, and the certificates that are shown.
 *
 * Thread: the test's.
 * Owns:   a connection its SSL, and not the descriptor.
 */
#ifndef E2E_SECURE_H
#define E2E_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct secure; /* opaque */

/* Whether servers are to be asked over TLS wherever a test does not mind:
 * SPRINTD_TLS is set (make e2e-tls). */
bool secure_is_wanted(void);

/* A file below folder() with a certificate for localhost and its key. */
const char *secure_certificate(void);

/* The same of servers behind the one that is tested: SPRINTD_UPSTREAM_TLS
 * (make e2e-upstream-tls). */
bool secure_is_wanted_upstream(void);

/* A file below folder() of that name with what is made, and its key. */
struct making;
const char *secure_write(const char *name, const struct making *making);

/* --- A server's end ------------------------------------------------------ */

struct secure_server; /* opaque; until the program ends */

struct secure_identity {
    const char *certificate; /* a file; NULL: secure_certificate() */
    const char *client_ca; /* a file: clients must be known to it; NULL: any */
    int version_max;       /* TLS1_2_VERSION; 0: any */
};

struct secure_server *secure_serve(const struct secure_identity *identity);

/* Over fd, which is non-blocking: with the handshake, or leaving that to the
 * first call that receives or sends. Ended by secure_end(), it says so to the
 * client. NULL: the handshake has failed, and secure_fault() says why. */
struct secure *secure_take(struct secure_server *server, int fd);
struct secure *secure_adopt(struct secure_server *server, int fd);

/* --- A client's end ------------------------------------------------------ */

/* Does a handshake over fd, which is non-blocking. NULL: there is none, and
 * secure_fault() says why. */
struct secure *secure_begin(int fd);
const char *secure_fault(void);
void secure_end(struct secure *secure); /* NULL is accepted */

/* As recv(2) and send(2) of a socket that does not block. An end of which TLS
 * has no word is ECONNRESET. */
ssize_t secure_receive(struct secure *secure, void *data, size_t len);
ssize_t secure_send(struct secure *secure, const void *data, size_t len);

/* Whether something has been read of the socket and not been asked for. */
bool secure_has_more(const struct secure *secure);

/* Says that nothing more is sent. */
void secure_shut_down(struct secure *secure);

/* "TLSv1.3", and whether it came back by a ticket. Of the next handshakes the
 * ticket of this connection is used; NULL: none is. */
const char *secure_version(const struct secure *secure);
/* What the server has chosen of what was offered; "": nothing. */
const char *secure_protocol(const struct secure *secure);
bool secure_is_resumed(const struct secure *secure);
void secure_keep_ticket(struct secure *secure);

/* Whether it has another ticket than the one that is kept. */
bool secure_has_other_ticket(const struct secure *secure);

/* Of the next handshakes: TLS1_2_VERSION and the like; 0: any. */
void secure_limit_version(int version);

/* Of these, too: the protocol that is offered by ALPN ("h2"; NULL: none). */
void secure_offer(const char *protocol);

/* Of these, too: the name that is asked for ("": none; NULL: localhost), the
 * certificate, in a file with its key, that is shown (NULL: none), and the
 * signatures that are understood, as OpenSSL writes them (NULL: all). */
void secure_ask_for(const char *name);
void secure_show(const char *path);
void secure_accept(const char *algorithms);

/* The common name in the certificate that the server has shown. */
const char *secure_shown(const struct secure *secure);

#endif
