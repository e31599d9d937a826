#include <stdio.h>
#include <time.h>

#include "config/certificates/certificates_priv.h"
#include "config/config_site.h"

enum { DATE_MAX = 32, S_PER_DAY = 24 * 3600 };

static void write_date(char date[DATE_MAX], int64_t seconds)
{
    time_t time = (time_t)seconds;
    struct tm tm;

    if (!gmtime_r(&time, &tm) || strftime(date, DATE_MAX, "%F", &tm) == 0)
        snprintf(date, DATE_MAX, "?");
}

static void check_term(const struct certificate_site *site, const char *words,
                       const struct certificate_pair *pair, int64_t now_s,
                       struct faults *warnings)
{
    int64_t ends_at = tls_certificate_ends_at(pair->certificate);
    int64_t begins_at = tls_certificate_begins_at(pair->certificate);
    char date[DATE_MAX];

    write_date(date, now_s < begins_at ? begins_at : ends_at);
    if (now_s < begins_at)
        faults_add(warnings, site->line,
                   "%scertificate '%.200s' does not count before %s", words,
                   pair->chain.path, date);
    else if (ends_at <= now_s)
        faults_add(warnings, site->line,
                   "%scertificate '%.200s' has expired on %s", words,
                   pair->chain.path, date);
    else if (ends_at - now_s < CERTIFICATES_WARN_S)
        faults_add(warnings, site->line,
                   "%scertificate '%.200s' expires on %s, in %lld days", words,
                   pair->chain.path, date,
                   (long long)((ends_at - now_s) / S_PER_DAY));
}

static void check_chain(const struct certificate_site *site, const char *words,
                        const struct certificate_pair *pair,
                        struct faults *warnings)
{
    switch (tls_certificate_chain(pair->certificate)) {
    case TLS_CHAIN_WHOLE:
    case TLS_CHAIN_ALONE: /* the owner knows that it is self-signed */
        return;
    case TLS_CHAIN_DISORDERED:
        faults_add(warnings, site->line,
                   "%scertificate '%.200s': its chain is in the wrong order, "
                   "or has a gap: each must be signed by the next",
                   words, pair->chain.path);
        return;
    case TLS_CHAIN_INCOMPLETE:
        faults_add(warnings, site->line,
                   "%scertificate '%.200s': its chain is incomplete: who has "
                   "signed it is neither in the file nor trusted here, and "
                   "clients may not find the way to a root",
                   words, pair->chain.path);
        return;
    }
}

static void check_names(const struct certificate_site *site, const char *words,
                        struct faults *warnings)
{
    for (size_t i = 0; site->site && i < site->site->hosts.count; i++) {
        const char *host = site->site->hosts.items[i];
        size_t at = 0;

        while (at < site->pair_count &&
               !tls_certificate_covers(site->pairs[at]->certificate,
                                       bytes_of(host)))
            at++;
        if (at == site->pair_count)
            faults_add(warnings, site->line,
                       "%shost '%.100s' is not among the names of certificate "
                       "'%.200s'",
                       words, host, site->pairs[0]->chain.path);
    }
}

/* Returns true if an earlier site has the same pair; both have it from the top
 * level. The pair was then reported with that site. */
static bool is_told_before(const struct certificates *certificates,
                           const struct certificate_site *site,
                           const struct certificate_pair *pair)
{
    for (const struct certificate_site *other = certificates->sites;
         other < site; other++)
        for (size_t i = 0; i < other->pair_count; i++)
            if (other->pairs[i] == pair)
                return true;
    return false;
}

void certificates_check(const struct certificates *certificates, int64_t now_s,
                        struct faults *warnings)
{
    char words[CONFIG_WORDS_MAX + 1];

    for (size_t i = 0; i < certificates->site_count; i++) {
        const struct certificate_site *site = &certificates->sites[i];

        config_words(words, site->site, NULL);
        for (size_t k = 0; k < site->pair_count; k++) {
            if (is_told_before(certificates, site, site->pairs[k]) ||
                site->pairs[k]->is_placeholder)
                continue;
            check_term(site, words, site->pairs[k], now_s, warnings);
            check_chain(site, words, site->pairs[k], warnings);
        }
        if (!site->pairs[0]->is_placeholder)
            check_names(site, words, warnings);
    }
}

bool certificates_term(const struct certificates *certificates, size_t number,
                       struct certificate_term *term_out)
{
    const struct certificate_site *site;

    if (!certificates || number >= certificates->site_count)
        return false;
    site = &certificates->sites[number];
    *term_out = (struct certificate_term){.site = site->name,
                                          .ends_at = INT64_MAX};
    for (size_t i = 0; i < site->pair_count; i++) {
        bool is_placeholder = site->pairs[i]->is_placeholder;
        int64_t ends_at =
            is_placeholder
                ? 0
                : tls_certificate_ends_at(site->pairs[i]->certificate);

        if (ends_at >= term_out->ends_at)
            continue;
        term_out->is_placeholder = is_placeholder;
        term_out->ends_at = ends_at;
        term_out->certificate = is_placeholder ? NULL
                                               : site->pairs[i]->certificate;
        term_out->path = site->pairs[i]->chain.path;
    }
    return true;
}
