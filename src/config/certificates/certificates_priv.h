/*
 * certificates_priv - definitions for certificates.c (reads),
 * certificates_sets.c (arranges what was read) and certificates_check.c (checks
 * and reports).
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATES_PRIV_H
#define CONFIG_CERTIFICATES_CERTIFICATES_PRIV_H

#include "config/certificates/certificates.h"
#include "config/config_site.h"

enum { CERTIFICATES_LIST_MAX = OPTIONS_CERTIFICATES_MAX };

/* The certificates of one site, or of the top if there are no sites. */
struct certificate_site {
    const char *name;
    const struct site_options *site; /* NULL for the top */
    const struct location_options *told;
    int line;        /* the line that names the certificates */
    int client_line; /* the line that names the authorities of clients */
    struct certificate_pair *pairs[CERTIFICATES_LIST_MAX];
    size_t sets[CERTIFICATES_LIST_MAX]; /* each pair's set in the table */
    size_t pair_count;
};

struct certificates {
    struct certificate_files files;
    struct tls_table *table;
    struct certificate_site *sites; /* sites with certificates, in order */
    size_t site_count;
};

/* The data needed while certificates are read. */
struct certificate_reading {
    struct certificates *certificates;
    const struct certificates *before;
    const struct options *options;
    struct faults *faults;
    struct faults *warnings;
    bool has_no_memory;
    bool is_partial; /* --test's user could not read something */
};

/* Returns "site 'x': ", to be put before a message about the site. */
const char *certificate_words(const struct certificate_site *site,
                              char words[CONFIG_WORDS_MAX + 1]);

/* Makes the table from the certificates of all sites. */
void certificates_arrange(struct certificate_reading *reading);

#endif
