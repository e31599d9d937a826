#include "process/certificates/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "config/certificates/managed_told.h"
#include "config/config_site.h"
#include "io/tls/tls_kernel.h"
#include "io/tls/tls_policy.h"
#include "process/certificates/local_authority.h"

static void tell(const struct faults *warnings, FILE *errors)
{
    for (size_t i = 0; i < warnings->count && i < FAULTS_MAX; i++)
        log_warning("%s", warnings->items[i].text);
    faults_print(warnings, errors);
}

static int read_certificates(const struct credentials *credentials,
                             const struct certificates *before,
                             struct certificates **certificates_out,
                             FILE *errors)
{
    const struct options *options = credentials->options;
    struct faults faults = {.file = options->config, .files = &options->files};
    struct faults warnings = {
        .file = options->config, .files = &options->files, .kind = "warning: "};
    int err = certificates_create(certificates_out, options,
                                  credentials->tickets, before, &faults,
                                  &warnings);

    faults_print(&faults, errors);
    tell(&warnings, errors);
    if (err == -ENOMEM)
        fputs("sprintd: out of memory\n", errors);
    faults_fini(&faults);
    faults_fini(&warnings);
    return err == 0 ? EX_OK : err == -ENOMEM ? EX_OSERR : EX_CONFIG;
}

/* --- Keys of tickets ----------------------------------------------------- */

/* The keys wait in a pipe until the successor reads them. All keys fit into the
 * pipe, so writing does not block. */
int credentials_hand_on(const struct credentials *credentials)
{
    char state[TLS_TICKETS_STATE_MAX];
    int ends[2];
    ssize_t written;
    size_t len;

    if (!credentials->certificates)
        return -1;
    len = tls_tickets_save(credentials->tickets, state);
    if (len == 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) == -1)
        return -1;
    written = write(ends[1], state, len);
    explicit_bzero(state, sizeof(state));
    close(ends[1]);
    if (written == (ssize_t)len)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* Takes over the ticket keys that the earlier server has handed on, if any. */
static void inherit_tickets(struct tls_tickets *tickets)
{
    const char *text = getenv(CREDENTIALS_TICKETS_VARIABLE);
    char state[TLS_TICKETS_STATE_MAX];
    char *end = NULL;
    long fd = text ? strtol(text, &end, 10) : -1;
    ssize_t len;

    if (!text || *end != '\0' || fd <= STDERR_FILENO || fd > INT_MAX)
        return;
    unsetenv(CREDENTIALS_TICKETS_VARIABLE);
    len = read((int)fd, state, sizeof(state));
    close((int)fd);
    if (len <= 0 ||
        !tls_tickets_restore(tickets, (struct bytes){state, (size_t)len}))
        log_notice("session tickets: no keys were handed on; clients make "
                   "whole handshakes");
    explicit_bzero(state, sizeof(state));
}

static bool open_tickets(struct credentials *credentials,
                         const struct credentials *before)
{
    credentials->tickets = before && before->tickets
                               ? tls_tickets_acquire(before->tickets)
                               : tls_tickets_create((uint64_t)time(NULL));
    if (credentials->tickets && !before)
        inherit_tickets(credentials->tickets);
    return credentials->tickets;
}

/* --- What is told of them ------------------------------------------------ */

static const struct managed_certificate *find_managed(
    const struct options *options, const char *path)
{
    for (size_t i = 0; i < options->managed_count; i++)
        if (options->managed[i].path == path)
            return &options->managed[i];
    return NULL;
}

/* Adds a name to the text facts->names, and cuts the text if it gets too
 * long. */
static void add_name(struct stats_certificate_facts *facts, const char *name)
{
    size_t len = strlen(facts->names);

    snprintf(facts->names + len, sizeof(facts->names) - len, "%s%s",
             len > 0 ? "," : "", name);
}

static void read_facts(const struct options *options,
                       const struct certificate_term *term,
                       struct stats_certificate_facts *facts)
{
    const struct managed_certificate *managed = find_managed(options,
                                                             term->path);
    const char *const *names = term->certificate
                                   ? tls_certificate_names(term->certificate)
                                   : NULL;
    struct managed_told told = {.next_at = 0};

    *facts = (struct stats_certificate_facts){.ends_at = term->ends_at};
    for (; names && *names; names++)
        add_name(facts, *names);
    for (size_t i = 0; !names && managed && i < managed->names.count; i++)
        add_name(facts, managed->names.items[i]);
    if (term->certificate)
        snprintf(facts->issuer, sizeof(facts->issuer), "%s",
                 tls_certificate_issuer(term->certificate));
    if (managed)
        managed_told_read(&told, managed);
    facts->next_at = told.next_at;
    facts->failures = told.failures;
    memcpy(facts->error, told.error, sizeof(told.error));
}

/* The number of a site is also the number of its facts in credentials->stats,
 * since a generation's sites do not change when files are read again. */
void credentials_note(struct credentials *credentials)
{
    struct stats_certificate_facts facts;
    struct certificate_term term;

    for (size_t i = 0; i < credentials->stats.count; i++)
        if (certificates_term(credentials->certificates, i, &term)) {
            read_facts(credentials->options, &term, &facts);
            stats_certificates_set(&credentials->stats, i, &facts);
        }
}

static bool open_stats(struct credentials *credentials)
{
    struct stats_certificates *stats = &credentials->stats;
    struct certificate_term term;
    size_t count = 0;

    while (certificates_term(credentials->certificates, count, &term))
        count++;
    if (!stats_certificates_open(stats, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        (void)certificates_term(credentials->certificates, i, &term);
        stats_certificates_name(stats, i, term.site);
    }
    credentials_note(credentials);
    return true;
}

/* --- Coming and going ---------------------------------------------------- */

/* Makes the file of --https if it is wanted. To be called before certificates
 * are read. Returns a status of sysexits.h. */
static int open_https(struct credentials *credentials, struct options *options,
                      const struct credentials *before, FILE *errors)
{
    int status;

    if (!local_https_is_wanted(options))
        return EX_OK;
    credentials->https = calloc(1, sizeof(*credentials->https));
    if (!credentials->https) {
        fputs("sprintd: out of memory\n", errors);
        return EX_OSERR;
    }
    status = local_https_open(credentials->https, options,
                              before ? before->https : NULL, errors);
    if (status == EX_OK && !local_https_put(credentials->https, options)) {
        fputs("sprintd: out of memory\n", errors);
        status = EX_OSERR;
    }
    return status;
}

/* Makes the folder of managed certificates, in which the server only reads. If
 * this fails, clients get placeholders, and sprintd-acme reports the failure.
 * If the server does not start sprintd-acme, the program may run as another
 * user, who then makes the folder. */
static void make_managed_folder(const struct options *options)
{
    struct local_authority_fault fault;
    char path[PATH_MAX];

    managed_challenges(options, path);
    if (!options->acme_start && access(path, X_OK) == 0)
        return;
    if (local_authority_make_folder(path, &fault) != 0)
        log_error("certificates of authorities have no place: %s", fault.text);
}

static void tell_kernel(const struct credentials *credentials)
{
    if (!credentials->certificates)
        return;
    if (credentials->options->tls_kernel == OPTIONS_TLS_KERNEL_OFF)
        log_info("TLS: the kernel is not asked to encrypt");
    else if (tls_kernel_is_there())
        log_info("TLS: the kernel encrypts large files");
    else
        log_info("TLS: the kernel has none (CONFIG_TLS)");
}

int credentials_open(struct credentials *credentials, struct options *options,
                     const struct credentials *before, FILE *errors)
{
    int status;

    *credentials = (struct credentials){.options = options};
    if (!before && config_may_speak_tls(options) && !tls_policy_read()) {
        fputs("sprintd: OpenSSL refuses its own settings (openssl.cnf)\n",
              errors);
        return EX_CONFIG;
    }
    if (!open_tickets(credentials, before)) {
        fputs("sprintd: out of memory\n", errors);
        return EX_OSERR;
    }
    if (options->acme_folder && !before)
        make_managed_folder(options);
    status = open_https(credentials, options, before, errors);
    if (status == EX_OK)
        status = read_certificates(credentials,
                                   before ? before->certificates : NULL,
                                   &credentials->certificates, errors);
    if (status == EX_OK && !before)
        tell_kernel(credentials);
    if (status == EX_OK && !open_stats(credentials)) {
        fputs("sprintd: out of memory\n", errors);
        status = EX_OSERR;
    }
    return status;
}

void credentials_close(struct credentials *credentials)
{
    stats_certificates_close(&credentials->stats);
    certificates_destroy(credentials->certificates);
    tls_tickets_release(&credentials->tickets);
    free(credentials->https);
    *credentials = (struct credentials){0};
}

struct tls_table *credentials_table(const struct credentials *credentials)
{
    return credentials->certificates
               ? certificates_table(credentials->certificates)
               : NULL;
}

int credentials_read(const struct credentials *credentials,
                     struct certificates **certificates_out, FILE *errors)
{
    return read_certificates(credentials, credentials->certificates,
                             certificates_out, errors);
}

struct certificates *credentials_replace(struct credentials *credentials,
                                         struct certificates *certificates)
{
    struct certificates *replaced = credentials->certificates;

    credentials->certificates = certificates;
    credentials_note(credentials);
    return replaced;
}
