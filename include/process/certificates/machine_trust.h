/*
 * machine_trust - finds whether the programs of this machine trust our
 * authority. Debian has a file for each authority that the machine's owner has
 * added, and a bundle of all authorities, which programs read.
 * update-ca-certificates makes the bundle, so the bundle may be out of date.
 *
 * Thread: any; waits for the file system.
 */
#ifndef PROCESS_CERTIFICATES_MACHINE_TRUST_H
#define PROCESS_CERTIFICATES_MACHINE_TRUST_H

#include "io/tls/tls_authority.h"

/* Where Debian keeps authorities that the machine's owner has added. */
#define MACHINE_TRUST_ADDED_PATH \
    "/usr/local/share/ca-certificates/sprintd-local.crt"

/* Debian's bundle of all authorities, which programs read. */
#define MACHINE_TRUST_BUNDLE_PATH "/etc/ssl/certs/ca-certificates.crt"

/* Whether the certificate was added to the machine's authorities. */
bool machine_trust_has_added(const struct tls_pem *certificate);

/* Whether the certificate is in the bundle that programs read. */
bool machine_trust_has_in_bundle(const struct tls_pem *certificate);

#endif
