/*
 * tls_policy - what the owner of this machine asks of OpenSSL: its own file of
 * settings (openssl.cnf), which may want FIPS's module, say, or no old
 * protocols.
 *
 * OpenSSL reads that by itself when it is first used. Inside of a sandbox it
 * would find no file, and go on without a word. So it is read before, if TLS
 * may ever be spoken. If not, nothing of OpenSSL's is made, as it would take 2
 * MiB.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef IO_TLS_TLS_POLICY_H
#define IO_TLS_TLS_POLICY_H

#include "base/bytes.h"

/* Has OpenSSL read its file, once, while this process may read any file. False:
 * OpenSSL refuses what it read. */
MUST_USE bool tls_policy_read(void);

#endif
