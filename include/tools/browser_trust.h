/*
 * browser_trust - the authorities that the browsers of a user trust: Firefox
 * and Chromium ask no one but databases of their own (NSS), which certutil
 * writes.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_BROWSER_TRUST_H
#define TOOLS_BROWSER_TRUST_H

#include "io/tls/tls_authority.h"

/* Both say what they did on standard output, and on standard error what they
 * could not. EX_OK, also when there is no browser; or a status of sysexits.h. A
 * database is left alone where others than root and the user of this process
 * have a say in it, or in the way there: EX_NOPERM. */
MUST_USE int browser_trust_add(const struct tls_pem *certificate);
MUST_USE int browser_trust_remove(void);

#endif
