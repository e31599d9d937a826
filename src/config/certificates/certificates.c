#include "config/certificates/certificates_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/certificates/managed.h"
#include "config/config_site.h"
#include "config/listen_address.h"
#include "config/option_table.h"
#include "io/tls/tls_kernel.h"

static int line_of(const struct option_origins *origins,
                   const struct options *options, const char *name)
{
    size_t number = option_number(option_find(bytes_of(name)));

    return origins && origins->rows[number] != ORIGIN_DEFAULT
               ? origins->rows[number]
               : options->origins.rows[number];
}

/* --- Files --------------------------------------------------------------- */

/* Returns the key files for a site's certificates: those named beside the
 * certificates. If the site names certificates but no keys, the result is
 * empty, and the keys are in the certificates' files. */
static struct texts keys_of(const struct certificate_reading *reading,
                            const struct location_options *told)
{
    const struct location_options *top = &reading->options->location;
    bool is_inherited = told != top &&
                        told->certificate_key.items ==
                            top->certificate_key.items &&
                        told->certificate.items != top->certificate.items;

    return is_inherited ? (struct texts){0} : told->certificate_key;
}

/* Returns true if the user of --test may not read a file; `err` is the error.
 * This is no fault, since the server may start with more rights. */
static bool is_for_others(const struct certificate_reading *reading, int err)
{
    return reading->options->wants_test && (err == -EACCES || err == -EPERM);
}

static void read_pair(struct certificate_reading *reading,
                      struct certificate_site *site, const char *chain,
                      const char *key)
{
    struct certificates *certificates = reading->certificates;
    const struct certificates *before = reading->before;
    struct certificate_pair *pair;
    char words[CONFIG_WORDS_MAX + 1];
    char fault[TLS_FAULT_MAX];
    const char *path;
    int err = certificate_files_read_pair(&certificates->files,
                                          before ? &before->files : NULL, chain,
                                          key, &pair, &path, fault);

    if (err == -ENOMEM) {
        reading->has_no_memory = true;
    } else if (is_for_others(reading, err)) {
        reading->is_partial = true;
        faults_add(reading->warnings, site->line,
                   "%s%s '%.200s' is not for you to read: it is not checked",
                   certificate_words(site, words),
                   path == chain ? "certificate" : "certificate-key", path);
    } else if (err != 0) {
        faults_add(reading->faults, site->line, "%s%s '%.200s' %s",
                   certificate_words(site, words),
                   path == chain ? "certificate" : "certificate-key", path,
                   fault);
    } else {
        site->pairs[site->pair_count++] = pair;
        if (pair->is_kept)
            faults_add(reading->warnings, site->line,
                       "%scertificate '%.200s' or its key cannot be read again "
                       "with the rights that are left: it stays as it was; "
                       "'sprintd ctl upgrade' starts a server that reads it",
                       certificate_words(site, words), chain);
    }
}

/* Adds the names that the managed certificate at `path` is to have. They become
 * the names of its placeholder. */
static void find_names(const struct certificate_reading *reading,
                       const char *path, struct tls_names *names)
{
    const struct options *options = reading->options;

    for (size_t i = 0; i < options->managed_count; i++) {
        const struct managed_certificate *item = &options->managed[i];

        for (size_t k = 0; item->path == path && k < item->names.count; k++) {
            const char *name = item->names.items[k];

            tls_names_add(names, bytes_of(name + (*name == '*' ? 2 : 0)));
        }
    }
}

static void read_managed(struct certificate_reading *reading,
                         struct certificate_site *site, const char *path)
{
    const struct certificates *before = reading->before;
    struct tls_names names = {0};
    struct certificate_pair *pair;
    char words[CONFIG_WORDS_MAX + 1];
    char fault[TLS_FAULT_MAX];

    find_names(reading, path, &names);
    if (certificate_files_read_managed(&reading->certificates->files,
                                       before ? &before->files : NULL, path,
                                       &names, &pair, fault) != 0) {
        reading->has_no_memory = true;
        return;
    }
    site->pairs[site->pair_count++] = pair;
    if (fault[0] != '\0' && !reading->options->wants_test)
        faults_add(reading->warnings, site->line,
                   "%scertificate '%.200s' %s: %s",
                   certificate_words(site, words), path, fault,
                   pair->is_placeholder
                       ? "a placeholder stands in for it until there is "
                         "another"
                       : "the one that was read before stays");
}

static void read_pairs(struct certificate_reading *reading,
                       struct certificate_site *site)
{
    const struct texts *chains = &site->told->certificate;
    struct texts keys = keys_of(reading, site->told);
    char words[CONFIG_WORDS_MAX + 1];

    if (keys.count != 0 && keys.count != chains->count) {
        faults_add(reading->faults, site->line,
                   "%scertificate-key: %zu keys for %zu certificates; name one "
                   "for each, or none",
                   certificate_words(site, words), keys.count, chains->count);
        return;
    }
    if (site->told->certificate_is_managed && chains->count > 0)
        read_managed(reading, site, chains->items[0]);
    for (size_t i = site->pair_count; i < chains->count; i++)
        read_pair(reading, site, chains->items[i],
                  keys.count > 0 ? keys.items[i] : chains->items[i]);
}

/* --- Keys of tickets ----------------------------------------------------- */

static void read_tickets(struct certificate_reading *reading)
{
    const struct options *options = reading->options;
    const struct certificates *before = reading->before;
    struct certificate_files *files = &reading->certificates->files;
    const char *path = options->ticket_file;
    int line = line_of(NULL, options, "tls-ticket-file");
    char fault[TLS_FAULT_MAX];
    int err = path ? certificate_files_read_tickets(files,
                                                    before ? &before->files
                                                           : NULL,
                                                    path, fault)
                   : 0;

    if (err == -ENOMEM)
        reading->has_no_memory = true;
    else if (is_for_others(reading, err))
        faults_add(reading->warnings, line,
                   "tls-ticket-file '%.200s' is not for you to read: it is not "
                   "checked",
                   path);
    else if (err != 0)
        faults_add(reading->faults, line, "tls-ticket-file '%.200s' %s", path,
                   fault);
    else if (files->tickets.is_kept)
        faults_add(reading->warnings, line,
                   "tls-ticket-file '%.200s' cannot be read again with the "
                   "rights that are left: its keys stay as they were; 'sprintd "
                   "ctl upgrade' starts a server that reads it",
                   path);
}

/* --- All sites ----------------------------------------------------------- */

static void take_site(struct certificate_reading *reading, const char *name,
                      const struct site_options *site,
                      const struct location_options *told,
                      const struct option_origins *origins)
{
    struct certificates *certificates = reading->certificates;
    struct certificate_site *item =
        &certificates->sites[certificates->site_count];
    char words[CONFIG_WORDS_MAX + 1];

    *item = (struct certificate_site){
        .name = name,
        .site = site,
        .told = told,
        .line = line_of(origins, reading->options, "certificate"),
        .client_line = line_of(origins, reading->options, "client-ca"),
        .sets = {SIZE_MAX}};
    if (told->certificate.count > 0) {
        certificates->site_count++;
        read_pairs(reading, item);
    } else if (told->client_ca) {
        faults_add(reading->faults, item->client_line,
                   "%sclient-ca has no certificate to go with: clients show "
                   "theirs by https alone",
                   certificate_words(item, words));
    } else if (told->certificate_key.count > 0) {
        faults_add(reading->faults,
                   line_of(origins, reading->options, "certificate-key"),
                   "%scertificate-key has no certificate to go with",
                   certificate_words(item, words));
    }
}

static bool take_sites(struct certificate_reading *reading)
{
    const struct options *options = reading->options;
    size_t count = options->site_count > 0 ? options->site_count : 1;

    reading->certificates->sites =
        calloc(count, sizeof(*reading->certificates->sites));
    if (!reading->certificates->sites)
        return false;
    if (options->site_count == 0)
        take_site(reading, "*", NULL, &options->location, NULL);
    for (size_t i = 0; i < options->site_count; i++)
        take_site(reading, options->sites[i].name, &options->sites[i],
                  &options->sites[i].options, &options->site_origins[i]);
    return true;
}

/* Makes one worker's context, only to check that OpenSSL accepts the whole
 * table. */
static void try_table(struct certificate_reading *reading)
{
    char fault[TLS_FAULT_MAX];
    struct tls_context *context =
        tls_context_create(reading->certificates->table, fault);

    if (!context)
        faults_add(reading->faults, reading->certificates->sites[0].line,
                   "certificates: OpenSSL refuses them: %s", fault);
    tls_context_destroy(context);
}

/* Reports options that need a certificate, if none is named and none is
 * obtained automatically. */
static void expect_certificates(struct certificate_reading *reading)
{
    const struct options *options = reading->options;
    const struct texts *listen = &options->listen;
    struct listen_address place;

    if (options->https != OPTIONS_HTTPS_OFF || options->local_names.count > 0)
        return;
    if (options->ticket_file)
        faults_add(reading->faults, line_of(NULL, options, "tls-ticket-file"),
                   "tls-ticket-file has no certificate to go with");
    for (size_t i = 0; i < listen->count; i++)
        if (listen_address_read(&place, listen->items[i]) && place.is_tls) {
            faults_add(reading->faults,
                       line_of(NULL, reading->options, "listen"),
                       "listen '%.200s' needs a certificate: --certificate "
                       "FILE",
                       listen->items[i]);
            return;
        }
}

static void read_all(struct certificate_reading *reading)
{
    if (!take_sites(reading)) {
        reading->has_no_memory = true;
        return;
    }
    if (reading->faults->count > 0)
        return;
    if (reading->certificates->site_count == 0) {
        expect_certificates(reading);
        return;
    }
    if (reading->is_partial)
        return;
    certificates_arrange(reading);
    if (reading->faults->count == 0 && !reading->has_no_memory)
        try_table(reading);
}

static bool set_challenges(struct tls_table *table,
                           const struct options *options)
{
    char path[PATH_MAX];

    if (!options->acme_folder)
        return true;
    managed_challenges(options, path);
    return tls_table_set_challenges(table, path);
}

static bool make_table(struct certificate_reading *reading,
                       struct tls_tickets *tickets)
{
    struct tls_tickets *told = reading->certificates->files.tickets.tickets;
    struct tls_table *table =
        tls_table_create((enum tls_profile)reading->options->tls_profile,
                         told ? told : tickets);

    reading->certificates->table = table;
    if (table && reading->options->http2 != OPTIONS_HTTP2_OFF)
        tls_table_offer_http2(table);
    if (table && reading->options->tls_kernel == OPTIONS_TLS_KERNEL_AUTO &&
        tls_kernel_is_there())
        tls_table_use_kernel(table);
    return table && set_challenges(table, reading->options);
}

int certificates_create(struct certificates **certificates_out,
                        const struct options *options,
                        struct tls_tickets *tickets,
                        const struct certificates *before,
                        struct faults *faults, struct faults *warnings)
{
    struct faults own = {.file = options->config, .files = &options->files};
    struct certificate_reading reading = {
        .certificates = calloc(1, sizeof(struct certificates)),
        .before = before,
        .options = options,
        .faults = &own,
        .warnings = warnings};
    bool is_told = false;
    int err;

    *certificates_out = NULL;
    if (reading.certificates)
        read_tickets(&reading);
    if (!reading.certificates || !make_table(&reading, tickets))
        reading.has_no_memory = true;
    else
        read_all(&reading);
    for (size_t i = 0; i < own.count && i < FAULTS_MAX; i++)
        faults_add(faults, own.items[i].line, "%s", own.items[i].text);
    is_told = own.count == 0 && !reading.has_no_memory &&
              reading.certificates->site_count > 0;
    if (is_told)
        *certificates_out = reading.certificates;
    else
        certificates_destroy(reading.certificates);
    err = reading.has_no_memory ? -ENOMEM : own.count > 0 ? -EINVAL : 0;
    faults_fini(&own);
    return err;
}

void certificates_destroy(struct certificates *certificates)
{
    if (!certificates)
        return;
    tls_table_release(&certificates->table);
    certificate_files_fini(&certificates->files);
    free(certificates->sites);
    free(certificates);
}

struct tls_table *certificates_table(const struct certificates *certificates)
{
    return certificates->table;
}

uint64_t certificates_look(const struct certificates *certificates)
{
    return certificate_files_look(&certificates->files);
}

const char *certificates_find_closed(const struct certificates *certificates)
{
    return certificate_files_find_closed(&certificates->files);
}

bool certificates_are_old(const struct certificates *certificates)
{
    return certificate_files_are_old(&certificates->files);
}
