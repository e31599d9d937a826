/*
 * machine_trust - whether the programs of this machine trust an authority of
 * ours, as Debian keeps what they trust: a file for each authority that the
 * machine's owner has added, and a bundle of all, which programs read. The
 * bundle is made anew when update-ca-certificates is run, and may be behind.
 *
 * Thread: any; waits for the file system.
 */
#ifndef PROCESS_CERTIFICATES_MACHINE_TRUST_H
#define PROCESS_CERTIFICATES_MACHINE_TRUST_H

#include "io/tls/tls_authority.h"

/* Debian's programs find here what the machine's owner trusts besides. */
#define MACHINE_TRUST_ADDED_PATH \
    "/usr/local/share/ca-certificates/sprintd-local.crt"

/* The file that Debian makes of that one and all others, and that programs
 * read. */
#define MACHINE_TRUST_BUNDLE_PATH "/etc/ssl/certs/ca-certificates.crt"

/* Whether the certificate has been added, for programs to trust it. */
bool machine_trust_has_added(const struct tls_pem *certificate);

/* Whether programs find the certificate in the file that they read. */
bool machine_trust_has_in_bundle(const struct tls_pem *certificate);

#endif
