/*
 * tls_policy - reads OpenSSL's own file of settings (openssl.cnf), by which the
 * owner of this machine may, for example, demand the FIPS module or forbid old
 * protocols.
 *
 * OpenSSL reads the file by itself when it is first used. Inside of a sandbox
 * OpenSSL would find no file, and go on without a word. So the file is read
 * before the sandbox is entered, if TLS may ever be spoken. Without TLS,
 * OpenSSL is not set up at all, which saves 2 MiB.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef IO_TLS_TLS_POLICY_H
#define IO_TLS_TLS_POLICY_H

#include "base/bytes.h"

/* Makes OpenSSL read its file. To be called once, while this process may still
 * read any file. Returns false when OpenSSL refuses the file. */
MUST_USE bool tls_policy_read(void);

#endif
