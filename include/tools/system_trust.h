/*
 * system_trust - the authorities that this machine's programs trust. Our
 * authority is added in Debian's way: as a file below /usr/local, which
 * update-ca-certificates adds to the other authorities.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_SYSTEM_TRUST_H
#define TOOLS_SYSTEM_TRUST_H

#include "io/tls/tls_authority.h"

/* Both functions print what they did to standard output, or the reason for a
 * failure to standard error. They return EX_OK or a status of sysexits.h. To a
 * user who is not root, they suggest a command for root, in which `folder` and
 * `owner` are the arguments. Adding replaces an authority that was trusted
 * earlier. */
MUST_USE int system_trust_add(const struct tls_pem *certificate,
                              const char *folder, const char *owner);
MUST_USE int system_trust_remove(void);

#endif
