/*
 * managed - the certificates that nobody names, and an authority is asked for:
 * of each site that has hosts, is reached by TLS, and is told no certificate.
 *
 *   STATE/acme/live/NAME.pem    of one site: certificate, chain and key
 *   STATE/acme/live/challenge/  what an authority looks for meanwhile
 *
 * The site has that file as if it were told, whether or not it is there yet: a
 * placeholder stands for one that is not, or is damaged. Names that no public
 * authority answers for get a certificate of this machine's own authority
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
    MANAGED_NAMES_MAX = 100 /* of one certificate, as authorities have it */
};

/* The number of a descriptor that sprintd-acme has of the server: each message
 * there says that there is another certificate, or that it tells something else
 * of one (managed_told.h). */
#define MANAGED_NEWS_VARIABLE "SPRINTD_ACME_NEWS"

#define MANAGED_FOLDER "acme"
#define MANAGED_LIVE "live"
#define MANAGED_CHALLENGES "challenge"

/* The certificate of one site. */
struct managed_certificate {
    const char *site; /* its name; "*" where there are no sites */
    const char *name; /* of its files: the first host; "_" for a '*' */
    const char *path;
    struct texts names;
};

/* Understands what --https says: a port, or names with commas, which stand for
 * ports 443 and 80 and a redirect. What is wrong with it is a fault. */
void managed_read_https(struct options *options, struct faults *faults);

/* Finds all managed certificates, and has their paths in the options of their
 * sites. */
void managed_find(struct options *options, struct faults *faults);

/* The path of what authorities look for, where there is a folder. */
void managed_challenges(const struct options *options, char path[PATH_MAX]);

/* Whether an authority that is told by nobody could answer for the name. */
bool managed_is_public(const char *name);

#endif
