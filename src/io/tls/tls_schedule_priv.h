/*
 * tls_schedule_priv - the key schedule of a handshake (RFC 8446 7.1), for
 * OpenSSL, which asks for it.
 *
 * OpenSSL 3.0 finds the algorithm that makes each secret by its name, and lets
 * a provider of the program's offer one. Ours is io/tls/tls_hkdf, which takes a
 * fourth of the time. And the secrets that pass here need not be asked for when
 * the connection is taken over: otherwise OpenSSL tells them only as the text
 * for key logs, digit by digit.
 *
 * What is not of a handshake that has entered, or is unlike those of TLS 1.3,
 * is left to the algorithm that was there. Where that is told to be another one
 * (fips=yes), nothing comes here, and connections remain OpenSSL's.
 *
 * Thread: any; a handshake is that of the thread that has entered it.
 */
#ifndef IO_TLS_TLS_SCHEDULE_PRIV_H
#define IO_TLS_TLS_SCHEDULE_PRIV_H

#include "io/tls/tls_secrets_priv.h"

/* The property, in OpenSSL's words, that an SSL_CTX prefers whose handshakes
 * come here. NULL: none do. */
const char *tls_schedule_properties(void);

/* Lets this thread be in one handshake until tls_schedule_leave(): its keys are
 * written to secrets. suites: all TLS_SUITE_COUNT of the thread. */
void tls_schedule_enter(const struct tls_suite *suites,
                        struct tls_secrets *secrets);
void tls_schedule_leave(void);

#endif
