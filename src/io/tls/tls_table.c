#include "io/tls/tls_table_priv.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/tls/tls_name.h"
#include "io/tls/tls_tickets.h"

enum { AUTHORITIES_MAX = 1000 };

struct set_name {
    char *name; /* "example.org", "*.example.org" */
    size_t set;
};

struct tls_table {
    atomic_uint refs;
    enum tls_profile profile;
    bool offers_http2;
    bool uses_kernel;
    struct tls_tickets *tickets;
    char *challenges; /* folder of challenges; NULL: none */
    struct tls_set **sets;
    size_t set_count;
    struct set_name *names; /* sorted by their text */
    size_t name_count;
};

/* --- Coming and going ---------------------------------------------------- */

struct tls_table *tls_table_create(enum tls_profile profile,
                                   struct tls_tickets *tickets)
{
    struct tls_table *table = calloc(1, sizeof(*table));

    if (!table)
        return NULL;
    atomic_init(&table->refs, 1);
    table->profile = profile;
    table->tickets = tls_tickets_acquire(tickets);
    return table;
}

bool tls_table_set_challenges(struct tls_table *table, const char *folder)
{
    free(table->challenges);
    table->challenges = strdup(folder);
    return table->challenges;
}

const char *tls_table_challenges(const struct tls_table *table)
{
    return table->challenges;
}

struct tls_table *tls_table_acquire(struct tls_table *table)
{
    atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
    return table;
}

static void destroy_set(struct tls_set *set)
{
    for (size_t i = 0; i < set->certificate_count; i++)
        tls_certificate_release(&set->certificates[i]);
    sk_X509_pop_free(set->authorities, X509_free);
    free(set->name);
    free(set);
}

void tls_table_release(struct tls_table **table_ref)
{
    struct tls_table *table = *table_ref;

    *table_ref = NULL;
    if (!table ||
        atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < table->set_count; i++)
        destroy_set(table->sets[i]);
    for (size_t i = 0; i < table->name_count; i++)
        free(table->names[i].name);
    free(table->challenges);
    tls_tickets_release(&table->tickets);
    free(table->sets);
    free(table->names);
    free(table);
}

/* --- Sets ---------------------------------------------------------------- */

static int read_authorities(struct tls_set *set, struct bytes text,
                            char fault[TLS_FAULT_MAX])
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    X509 *x509;
    int err = 0;

    set->authorities = sk_X509_new_null();
    if (!bio || !set->authorities)
        err = -ENOMEM;
    while (err == 0 && (x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        if (sk_X509_num(set->authorities) < AUTHORITIES_MAX &&
            sk_X509_push(set->authorities, x509) > 0)
            continue;
        X509_free(x509);
        err = -ENOMEM;
    }
    BIO_free(bio);
    if (err == 0 &&
        (sk_X509_num(set->authorities) == 0 ||
         ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)) {
        snprintf(fault, TLS_FAULT_MAX, "%s",
                 sk_X509_num(set->authorities) == 0
                     ? "has no certificate of an authority in it (PEM)"
                     : "has a certificate that cannot be read");
        err = -EINVAL;
    }
    ERR_clear_error();
    return err;
}

/* Sets set->session_name. Sets with the same name, rules and authorities get
 * the same session name, also in another process and after a reload. A session
 * can be resumed with any of them. */
static void name_sessions(struct tls_set *set,
                          const struct tls_set_options *options)
{
    unsigned char texts[2 * SHA256_DIGEST_LENGTH + 1];

    SHA256((const unsigned char *)options->name, strlen(options->name), texts);
    SHA256((const unsigned char *)options->client_ca.data,
           options->client_ca.len, texts + SHA256_DIGEST_LENGTH);
    texts[2 * SHA256_DIGEST_LENGTH] = (unsigned char)options->client;
    SHA256(texts, sizeof(texts), set->session_name);
}

static int fill_set(struct tls_set *set, const struct tls_set_options *options,
                    char fault[TLS_FAULT_MAX])
{
    set->client = options->client;
    set->name = strdup(options->name);
    if (!set->name)
        return -ENOMEM;
    for (size_t i = 0; i < options->certificate_count; i++)
        set->certificates[set->certificate_count++] =
            tls_certificate_acquire(options->certificates[i]);
    name_sessions(set, options);
    return options->client == TLS_CLIENT_NONE
               ? 0
               : read_authorities(set, options->client_ca, fault);
}

int tls_table_add(struct tls_table *table,
                  const struct tls_set_options *options, size_t *number_out,
                  char fault[TLS_FAULT_MAX])
{
    struct tls_set **sets = realloc(table->sets, (table->set_count + 1) *
                                                     sizeof(struct tls_set *));
    struct tls_set *set = calloc(1, sizeof(*set));
    int err = -ENOMEM;

    fault[0] = '\0';
    if (sets)
        table->sets = sets;
    if (sets && set &&
        (table->set_count == TLS_SETS_MAX || options->certificate_count == 0 ||
         options->certificate_count > TLS_SET_CERTIFICATES_MAX)) {
        snprintf(fault, TLS_FAULT_MAX, "has too many certificates, or none");
        err = -EINVAL;
    } else if (sets && set) {
        err = fill_set(set, options, fault);
    }
    if (err != 0) {
        if (set)
            destroy_set(set);
        return err;
    }
    set->table = table;
    set->number = table->set_count;
    *number_out = table->set_count;
    table->sets[table->set_count++] = set;
    return 0;
}

/* --- Names --------------------------------------------------------------- */

/* Returns the place of the first name that is not less than `name`. */
static size_t place_of(const struct tls_table *table, struct bytes name)
{
    size_t low = 0;
    size_t high = table->name_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_order(bytes_of(table->names[middle].name), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct tls_set *find_exactly(const struct tls_table *table,
                                          struct bytes name)
{
    size_t at = place_of(table, name);

    return at < table->name_count &&
                   bytes_eq(bytes_of(table->names[at].name), name)
               ? table->sets[table->names[at].set]
               : NULL;
}

bool tls_table_name(struct tls_table *table, size_t set, struct bytes host)
{
    char normal[TLS_NAME_MAX + 1];
    struct bytes name = tls_name_normalise(host, normal);
    size_t at = place_of(table, name);
    struct set_name *names;
    char *copy;

    if (name.len == 0 || find_exactly(table, name))
        return true;
    names = realloc(table->names, (table->name_count + 1) * sizeof(*names));
    if (!names)
        return false;
    table->names = names;
    copy = strndup(name.data, name.len);
    if (!copy)
        return false;
    memmove(names + at + 1, names + at,
            (table->name_count - at) * sizeof(*names));
    names[at] = (struct set_name){.name = copy, .set = set};
    table->name_count++;
    return true;
}

/* Finds the set for all names below a domain. `above` is the domain with a dot
 * before it, such as ".example.org". */
static const struct tls_set *find_below(const struct tls_table *table,
                                        struct bytes above)
{
    char pattern[TLS_NAME_MAX + 2];

    if (above.len == 0 || above.len > TLS_NAME_MAX)
        return NULL;
    pattern[0] = '*';
    memcpy(pattern + 1, above.data, above.len);
    return find_exactly(table, (struct bytes){pattern, above.len + 1});
}

/* Finds the set for `host`. If `deep` is true, "*." stands for any number of
 * labels, as it does in sites' hosts. */
static const struct tls_set *find(const struct tls_table *table,
                                  struct bytes host, bool deep)
{
    char normal[TLS_NAME_MAX + 1];
    struct bytes name = tls_name_normalise(host, normal);
    const struct tls_set *set = NULL;

    /* Neither names nor hosts of sites begin with a dot. */
    if (name.len == 0 || name.data[0] == '.')
        return NULL;
    set = find_exactly(table, name);
    for (size_t i = 0; !set && (i == 0 || deep); i++) {
        struct bytes above = tls_name_above(name);

        if (above.len < 2)
            return NULL;
        set = find_below(table, above);
        name = (struct bytes){above.data + 1, above.len - 1};
    }
    return set;
}

const struct tls_set *tls_table_find(const struct tls_table *table,
                                     struct bytes host)
{
    const struct tls_set *set = find(table, host, false);

    return set ? set : table->sets[0];
}

const struct tls_set *tls_table_find_site(const struct tls_table *table,
                                          struct bytes host)
{
    return find(table, host, true);
}

static bool covers(const struct tls_set *set, struct bytes host)
{
    for (size_t i = 0; i < set->certificate_count; i++)
        if (tls_certificate_covers(set->certificates[i], host))
            return true;
    return false;
}

/* Whether two sets, even of different tables, are the same. Their session names
 * are equal exactly if their rules are equal. */
static bool is_same(const struct tls_set *one, const struct tls_set *other)
{
    return one == other ||
           (one && memcmp(one->session_name, other->session_name,
                          sizeof(one->session_name)) == 0);
}

/* Finds the host's set first as a request finds its site, where "*." stands for
 * any number of labels. So a site that asks for certificates is found for each
 * of its hosts. */
bool tls_table_serves(const struct tls_table *table, const struct tls_set *set,
                      struct bytes host)
{
    const struct tls_set *own;

    if (table->set_count == 1 && table->sets[0]->client == TLS_CLIENT_NONE)
        return true;
    own = tls_table_find_site(table, host);
    if (!own)
        own = table->sets[0];
    if (is_same(set, own))
        return true;
    if (!set)
        return own->client != TLS_CLIENT_REQUIRE;
    if (own->client != TLS_CLIENT_NONE)
        return false;
    own = find(table, host, false);
    return !own || is_same(set, own) || covers(set, host);
}

bool tls_set_asks(const struct tls_set *set)
{
    return set->client != TLS_CLIENT_NONE;
}

size_t tls_set_number(const struct tls_set *set)
{
    return set->number;
}

/* --- For tls_context.c --------------------------------------------------- */

size_t tls_table_set_count(const struct tls_table *table)
{
    return table->set_count;
}

const struct tls_set *tls_table_set(const struct tls_table *table,
                                    size_t number)
{
    return table->sets[number];
}

void tls_table_offer_http2(struct tls_table *table)
{
    table->offers_http2 = true;
}

bool tls_table_offers_http2(const struct tls_table *table)
{
    return table->offers_http2;
}

void tls_table_use_kernel(struct tls_table *table)
{
    table->uses_kernel = true;
}

bool tls_set_uses_kernel(const struct tls_set *set)
{
    return set->table->uses_kernel;
}

enum tls_profile tls_table_profile(const struct tls_table *table)
{
    return table->profile;
}

struct tls_tickets *tls_table_tickets(const struct tls_table *table)
{
    return table->tickets;
}
