/*
 * certificates_priv - what certificates.c (reads), certificates_sets.c
 * (arranges what was read) and certificates_check.c (tells of it) share.
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATES_PRIV_H
#define CONFIG_CERTIFICATES_CERTIFICATES_PRIV_H

#include "config/certificates/certificates.h"
#include "config/config_site.h"

enum { CERTIFICATES_LIST_MAX = OPTIONS_CERTIFICATES_MAX };

/* What one site shows, or the top where there are no sites. */
struct certificate_site {
    const char *name;
    const struct site_options *site; /* NULL: the top */
    const struct location_options *told;
    int line;        /* the line that names the certificates */
    int client_line; /* the line that names the authorities of clients */
    struct certificate_pair *pairs[CERTIFICATES_LIST_MAX];
    size_t sets[CERTIFICATES_LIST_MAX]; /* of the table, of each pair */
    size_t pair_count;
};

struct certificates {
    struct certificate_files files;
    struct tls_table *table;
    struct certificate_site *sites; /* that have some, in their order */
    size_t site_count;
};

/* What is at hand while certificates are read. */
struct certificate_reading {
    struct certificates *certificates;
    const struct certificates *before;
    const struct options *options;
    struct faults *faults;
    struct faults *warnings;
    bool has_no_memory;
    bool is_partial; /* something was not for whoever tests it to read */
};

/* "site 'x': ", to put before what is wrong with it. */
const char *certificate_words(const struct certificate_site *site,
                              char words[CONFIG_WORDS_MAX + 1]);

/* Makes the table of what all sites have read. */
void certificates_arrange(struct certificate_reading *reading);

#endif
