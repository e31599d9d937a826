/*
 * system_trust - the authorities that the programs of this machine trust, as
 * Debian keeps them: a file below /usr/local, and update-ca-certificates, which
 * puts what is there among the others.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_SYSTEM_TRUST_H
#define TOOLS_SYSTEM_TRUST_H

#include "io/tls/tls_authority.h"

/* Each says what it did on standard output, or on standard error why it could
 * not. EX_OK, or a status of sysexits.h. folder: where the authority comes
 * from; owner: what has to be said behind that. An authority that is trusted
 * already gives way. */
MUST_USE int system_trust_add(const struct tls_pem *certificate,
                              const char *folder, const char *owner);
MUST_USE int system_trust_remove(void);

#endif
