#include "config/certificates/certificates_priv.h"

#include <errno.h>
#include <stdio.h>

#include "config/config_site.h"

const char *certificate_words(const struct certificate_site *site,
                              char words[CONFIG_WORDS_MAX + 1])
{
    config_words(words, site->site, NULL);
    return words;
}

/* --- Authorities --------------------------------------------------------- */

static const struct certificate_authority *read_authority(
    struct certificate_reading *reading, const struct certificate_site *site)
{
    const struct certificates *before = reading->before;
    struct certificate_authority *authority = NULL;
    char words[CONFIG_WORDS_MAX + 1];
    char fault[TLS_FAULT_MAX];
    int err;

    if (!site->told->client_ca)
        return NULL;
    err = certificate_files_read_authority(&reading->certificates->files,
                                           before ? &before->files : NULL,
                                           site->told->client_ca, &authority,
                                           fault);
    if (err == -ENOMEM)
        reading->has_no_memory = true;
    else if (err != 0)
        faults_add(reading->faults, site->client_line,
                   "%sclient-ca '%.200s' %s", certificate_words(site, words),
                   site->told->client_ca, fault);
    return authority;
}

/* --- Sets ---------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool has_name(const struct tls_certificate *certificate,
                     const char *wanted)
{
    const char *const *names = tls_certificate_names(certificate);

    while (*names && !is_same_text(*names, wanted))
        names++;
    return *names != NULL;
}

static bool has_names_of(const struct tls_certificate *one,
                         const struct tls_certificate *other)
{
    const char *const *names = tls_certificate_names(other);

    while (*names && has_name(one, *names))
        names++;
    return !*names;
}

/* Whether both certificates have the same names, in any order: authorities
 * differ in how they order them. */
static bool have_same_names(const struct tls_certificate *one,
                            const struct tls_certificate *other)
{
    return has_names_of(one, other) && has_names_of(other, one);
}

/* Whether the pair with the number `pair` can join the set that begins with the
 * pair `leader`: it has the same names, and its kind of key is new to the
 * set. */
static bool fits_beside(const struct certificate_site *site, size_t leader,
                        size_t pair, const size_t *leaders)
{
    const struct tls_certificate *certificate = site->pairs[pair]->certificate;

    if (!have_same_names(site->pairs[leader]->certificate, certificate))
        return false;
    for (size_t i = leader; i < pair; i++)
        if (leaders[i] == leader &&
            is_same_text(tls_certificate_kind(site->pairs[i]->certificate),
                         tls_certificate_kind(certificate)))
            return false;
    return true;
}

/* Finds each pair's leader, which is the first pair of its set. */
static void find_leaders(const struct certificate_site *site, size_t *leaders)
{
    for (size_t i = 0; i < site->pair_count; i++) {
        leaders[i] = i;
        for (size_t k = 0; k < i && leaders[i] == i; k++)
            if (leaders[k] == k && fits_beside(site, k, i, leaders))
                leaders[i] = k;
    }
}

static void add_set(struct certificate_reading *reading,
                    struct certificate_site *site, size_t leader,
                    const size_t *leaders,
                    const struct certificate_authority *authority)
{
    struct tls_certificate *members[CERTIFICATES_LIST_MAX];
    char name[FAULT_BYTES_MAX];
    char words[CONFIG_WORDS_MAX + 1];
    char fault[TLS_FAULT_MAX];
    struct tls_set_options options = {
        .name = name,
        .certificates = members,
        .client = authority ? (enum tls_client)site->told->client_certificate
                            : TLS_CLIENT_NONE,
        .client_ca = bytes_of(authority ? authority->text : "")};
    size_t number = 0;
    int err;

    snprintf(name, sizeof(name), "%s#%zu", site->name, leader);
    for (size_t i = leader; i < site->pair_count; i++)
        if (leaders[i] == leader)
            members[options.certificate_count++] = site->pairs[i]->certificate;
    err = tls_table_add(reading->certificates->table, &options, &number, fault);
    if (err == -ENOMEM)
        reading->has_no_memory = true;
    else if (err != 0)
        faults_add(reading->faults, site->client_line,
                   "%sclient-ca '%.200s' %s", certificate_words(site, words),
                   site->told->client_ca ? site->told->client_ca : "", fault);
    for (size_t i = leader; i < site->pair_count; i++)
        if (leaders[i] == leader)
            site->sets[i] = number;
}

/* Looks for another site that inherits the same list of certificates, and lets
 * both share the sets. Sites that ask clients for certificates do not share.
 * Returns false if there is no site to share with. */
static bool share_sets(const struct certificate_reading *reading,
                       struct certificate_site *site)
{
    const struct certificates *certificates = reading->certificates;

    if (site->told->client_ca)
        return false;
    for (size_t i = 0; i < certificates->site_count; i++) {
        const struct certificate_site *other = &certificates->sites[i];

        if (other == site || other->told->client_ca ||
            other->told->certificate.items != site->told->certificate.items ||
            other->sets[0] == SIZE_MAX)
            continue;
        memcpy(site->sets, other->sets, sizeof(site->sets));
        return true;
    }
    return false;
}

static void add_sets(struct certificate_reading *reading,
                     struct certificate_site *site)
{
    const struct certificate_authority *authority;
    size_t leaders[CERTIFICATES_LIST_MAX] = {0};

    if (site->pair_count == 0 || site->sets[0] != SIZE_MAX ||
        share_sets(reading, site))
        return;
    authority = read_authority(reading, site);
    if (site->told->client_ca && !authority)
        return;
    find_leaders(site, leaders);
    for (size_t i = 0; i < site->pair_count; i++)
        if (leaders[i] == i)
            add_set(reading, site, i, leaders, authority);
}

/* --- Names --------------------------------------------------------------- */

static void add_name(struct certificate_reading *reading, size_t set,
                     struct bytes name)
{
    if (!tls_table_name(reading->certificates->table, set, name))
        reading->has_no_memory = true;
}

/* Gives each host the first set that covers it. */
static void name_hosts(struct certificate_reading *reading,
                       const struct certificate_site *site)
{
    for (size_t i = 0; site->site && i < site->site->hosts.count; i++) {
        struct bytes host = bytes_of(site->site->hosts.items[i]);
        size_t at = 0;

        while (at < site->pair_count &&
               !tls_certificate_covers(site->pairs[at]->certificate, host))
            at++;
        add_name(reading, site->sets[at < site->pair_count ? at : 0], host);
    }
}

/* Whether requests for `name` lead to another site, which asks clients for
 * certificates. */
static bool leads_to_others(const struct certificate_reading *reading,
                            const struct certificate_site *site,
                            struct bytes name)
{
    const struct tls_set *set =
        tls_table_find_site(reading->certificates->table, name);

    for (size_t i = 0; set && i < site->pair_count; i++)
        if (site->sets[i] == tls_set_number(set))
            return false;
    return set && tls_set_asks(set);
}

/* Adds the names in a site's certificates. Such a name chooses a set only if no
 * host is equal to it, nor covers it by "*." for a site that asks clients for
 * certificates. Otherwise clients would be asked for a certificate of this site
 * and let into that one. */
static void name_certificates(struct certificate_reading *reading,
                              const struct certificate_site *site)
{
    for (size_t i = 0; i < site->pair_count; i++)
        for (const char *const *name =
                 tls_certificate_names(site->pairs[i]->certificate);
             *name; name++)
            if (!leads_to_others(reading, site, bytes_of(*name)))
                add_name(reading, site->sets[i], bytes_of(*name));
}

/* --- The table ----------------------------------------------------------- */

/* Returns the site for unknown hosts, or else the first site with a
 * certificate. */
static struct certificate_site *find_default(const struct certificate_reading
                                                 *reading)
{
    const struct certificates *certificates = reading->certificates;

    for (size_t i = 0; i < certificates->site_count; i++)
        if (!certificates->sites[i].site ||
            certificates->sites[i].site->hosts.count == 0)
            return &certificates->sites[i];
    return &certificates->sites[0];
}

void certificates_arrange(struct certificate_reading *reading)
{
    struct certificates *certificates = reading->certificates;
    struct certificate_site *first = find_default(reading);

    add_sets(reading, first);
    for (size_t i = 0; i < certificates->site_count; i++)
        add_sets(reading, &certificates->sites[i]);
    if (reading->faults->count > 0 || reading->has_no_memory)
        return;
    for (size_t i = 0; i < certificates->site_count; i++)
        name_hosts(reading, &certificates->sites[i]);
    name_certificates(reading, first);
}
