/*
 * tls_schedule_priv - the key schedule of a handshake (RFC 8446 7.1), which
 * OpenSSL asks for.
 *
 * OpenSSL 3.0 looks up the algorithm that makes the secrets by its name, and a
 * program may offer its own algorithm, in a provider. Ours is io/tls/tls_hkdf,
 * which takes a fourth of the time. The secrets that pass here are also needed
 * when the connection is taken over: otherwise OpenSSL tells them only as the
 * text for key logs, digit by digit.
 *
 * A question outside of an entered handshake, or unlike those of TLS 1.3, is
 * left to OpenSSL's own algorithm. If the configuration demands another
 * algorithm (fips=yes), nothing comes here, and connections stay with OpenSSL.
 *
 * Thread: any; a handshake belongs to the thread that has entered it.
 */
#ifndef IO_TLS_TLS_SCHEDULE_PRIV_H
#define IO_TLS_TLS_SCHEDULE_PRIV_H

#include "io/tls/tls_secrets_priv.h"

/* Returns the property query that makes an SSL_CTX use the algorithm offered
 * here. Returns NULL when no handshake can use it. */
const char *tls_schedule_properties(void);

/* Says that this thread works on one handshake until tls_schedule_leave(), and
 * that the keys of the handshake go to `secrets`. `suites` are all
 * TLS_SUITE_COUNT suites of the thread. */
void tls_schedule_enter(const struct tls_suite *suites,
                        struct tls_secrets *secrets);
void tls_schedule_leave(void);

#endif
