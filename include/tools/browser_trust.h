/*
 * browser_trust - the authorities that a user's browsers trust: Firefox and
 * Chromium use databases of their own (NSS), which certutil writes.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_BROWSER_TRUST_H
#define TOOLS_BROWSER_TRUST_H

#include "io/tls/tls_authority.h"

/* Both functions print what they did to standard output, and what failed to
 * standard error. They return EX_OK, even without a browser, or a status of
 * sysexits.h. EX_NOPERM means that a database was left alone, since users other
 * than root and this process's user can change the database or its path. */
MUST_USE int browser_trust_add(const struct tls_pem *certificate);
MUST_USE int browser_trust_remove(void);

#endif
