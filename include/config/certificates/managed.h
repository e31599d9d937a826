/*
 * managed - the certificates that sprintd obtains from an authority: one for
 * each site that has hosts, is reached by TLS, and names no certificate.
 *
 *   STATE/acme/live/NAME.pem    a site's certificate, its chain and its key
 *   STATE/acme/live/challenge/  answers to challenges of the authority
 *
 * The site uses NAME.pem as if the configuration named it. While the file is
 * missing or damaged, the site uses a placeholder. Names that no public
 * authority certifies get a certificate of this machine's own authority
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
    MANAGED_NAMES_MAX = 100 /* names in a certificate; authorities allow 100 */
};

/* Environment variable: the number of a descriptor. sprintd-acme writes to it
 * when there is a new certificate, or when a NAME.told has changed
 * (managed_told.h). */
#define MANAGED_NEWS_VARIABLE "SPRINTD_ACME_NEWS"

#define MANAGED_FOLDER "acme"
#define MANAGED_LIVE "live"
#define MANAGED_CHALLENGES "challenge"

/* The certificate of one site. */
struct managed_certificate {
    const char *site; /* the site's name; "*" if there are no sites */
    const char *name; /* files' base name: the first host, with "_" for '*' */
    const char *path;
    struct texts names;
};

/* Reads the value of --https: a port, or names separated by commas. With names,
 * the server listens at ports 443 and 80, and port 80 redirects to port 443. An
 * invalid value is a fault. */
void managed_read_https(struct options *options, struct faults *faults);

/* Finds all managed certificates, and sets their paths in the options of their
 * sites. */
void managed_find(struct options *options, struct faults *faults);

/* Writes the path of the challenges' folder. options->acme_folder must not be
 * NULL. */
void managed_challenges(const struct options *options, char path[PATH_MAX]);

/* Whether a public authority could certify the name. */
bool managed_is_public(const char *name);

#endif
