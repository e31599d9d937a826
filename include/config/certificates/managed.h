/*
 * managed - the certificates that sprintd obtains from an authority: those of
 * each site that has hosts, is reached by TLS, and names no certificate.
 *
 *   STATE/acme/live/NAME.pem    of one site: certificate, chain and key
 *   STATE/acme/live/challenge/  what an authority looks for meanwhile
 *
 * The site uses that file as if the configuration named it, even before it
 * exists: a placeholder stands for a missing or damaged one. Names that no
 * public authority certifies get a certificate of this machine's own authority
 * (process/certificates/local_https.h).
 *
 * Thread: the main thread's.
 * Owns:   nothing: all lies in the arena of the options.
 */
#ifndef CONFIG_CERTIFICATES_MANAGED_H
#define CONFIG_CERTIFICATES_MANAGED_H

#include <limits.h>

#include "config/faults.h"
#include "config/options.h"

enum {
    MANAGED_NAMES_MAX = 100 /* in one certificate: the authorities' limit */
};

/* Environment variable: the descriptor by which sprintd-acme sends a message to
 * the server whenever there is a new certificate, or new information about one
 * (managed_told.h). */
#define MANAGED_NEWS_VARIABLE "SPRINTD_ACME_NEWS"

#define MANAGED_FOLDER "acme"
#define MANAGED_LIVE "live"
#define MANAGED_CHALLENGES "challenge"

/* The certificate of one site. */
struct managed_certificate {
    const char *site; /* its name; "*" without any sites */
    const char *name; /* base name of its files: first host, '*' as "_" */
    const char *path;
    struct texts names;
};

/* Reads the value of --https: a port, or names with commas, which stand for
 * ports 443 and 80 with a redirect. An invalid value is a fault. */
void managed_read_https(struct options *options, struct faults *faults);

/* Finds all managed certificates, and enters their paths into the sites'
 * options. */
void managed_find(struct options *options, struct faults *faults);

/* Writes the path of the challenges' folder; there must be an acme_folder. */
void managed_challenges(const struct options *options, char path[PATH_MAX]);

/* Whether a public authority could certify the name. */
bool managed_is_public(const char *name);

#endif
