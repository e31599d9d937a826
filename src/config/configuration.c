#include "config/configuration.h"

#include <errno.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "config/certificates/certificates.h"
#include "config/certificates/managed.h"
#include "config/command_line.h"
#include "config/config.h"
#include "config/config_check.h"
#include "config/config_site.h"
#include "config/dictionaries.h"
#include "config/mounts.h"
#include "config/option_table.h"
#include "config/proxies.h"
#include "config/store_rule.h"
#include "io/tls/tls_tickets.h"
#include "observe/log_sink.h"

/* --- Compiling locations -------------------------------------------------- */

/* The section of the configuration that is being checked. */
struct location_check {
    struct options *options;
    struct faults *faults;
    struct location_fault above; /* fault of the section above */
    char words[CONFIG_WORDS_MAX + 1];
};

/* Compiles the options of a location, a site or the top level. An inherited
 * fault is reported only where it was made. */
static struct location_fault compile(const struct location_check *place,
                                     struct location_options *location,
                                     const struct option_origins *origins)
{
    struct location_fault fault = location_compile(location,
                                                   &place->options->arena);
    int line;

    if (!fault.option)
        return fault;
    line = origins->rows[option_number(option_find(bytes_of(fault.option)))];
    if (line == ORIGIN_DEFAULT && fault.option == place->above.option &&
        fault.words == place->above.words)
        return fault;
    faults_add(place->faults, line > 0 ? line : origins->line, "%s%s %s",
               place->words, fault.option, fault.words);
    return fault;
}

static void compile_site(struct location_check *place,
                         struct site_options *site,
                         const struct option_origins *origins)
{
    struct location_fault above = place->above;

    config_words(place->words, site, NULL);
    place->above = compile(place, &site->options, origins);
    for (size_t i = 0; i < site->location_count; i++) {
        struct site_location *location = &site->locations[i];

        config_words(place->words, site, location);
        compile(place, &location->options, &origins->locations[i]);
    }
    place->above = above;
}

static void compile_all(struct options *options, struct faults *faults)
{
    struct location_check place = {.options = options, .faults = faults};

    place.above = compile(&place, &options->location, &options->origins);
    for (size_t i = 0; i < options->site_count; i++)
        compile_site(&place, &options->sites[i], &options->site_origins[i]);
}

/* --- Proxies ------------------------------------------------------------- */

static int line_of(const struct options *options, const char *option)
{
    return options->origins.rows[option_number(option_find(bytes_of(option)))];
}

static void check_kv_tls(const struct options *options, struct faults *faults)
{
    if (options->kv_tls.certificate_key && !options->kv_tls.certificate)
        faults_add(faults, line_of(options, "kv-tls-certificate-key"),
                   "kv-tls-certificate-key is the key of no certificate: "
                   "kv-tls-certificate names that");
}

static void check_proxies(const struct options *options, struct faults *faults)
{
    struct proxy_told told;
    const char *why = proxies_check(options, &told);
    char words[CONFIG_WORDS_MAX + 1];

    if (options->proxy_tls_certificate_key && !options->proxy_tls_certificate)
        faults_add(faults, line_of(options, "proxy-tls-certificate-key"),
                   "proxy-tls-certificate-key is the key of no certificate: "
                   "proxy-tls-certificate names that");
    if (!why)
        return;
    config_words(words, told.site, told.location);
    faults_add(faults, proxy_told_origin(&told), "%sproxy '%.200s' %s", words,
               told.text, why);
}

/* --- Stores -------------------------------------------------------------- */

/* Checks the stores. Their URLs are not shown, since they may contain
 * passwords. */
static void check_stores(const struct options *options, struct faults *faults)
{
    size_t number;
    const char *why = store_rule_check(options, &number);
    const char *text = why ? options->kv.items[number] : "";

    if (why)
        faults_add(faults, line_of(options, "kv"), "kv '%.*s' %s",
                   (int)strcspn(text, "="), text, why);
}

/* --- Locations hidden by mounts ------------------------------------------- */

static void check_location(const struct options *options,
                           const struct site_options *site,
                           const struct site_location *location, int line,
                           struct faults *faults)
{
    struct mount_told mount;
    char words[CONFIG_WORDS_MAX + 1];

    if (!mounts_find(options, location->path, &mount))
        return;
    config_words(words, site, location);
    faults_add(faults, line,
               "%slies in what %s serves below '%.*s' in every site alike, and "
               "nothing of it would count there",
               words, mount.option, (int)mount.prefix.len, mount.prefix.data);
}

/* Reports locations that no request can reach. Access rules in them would have
 * no effect. */
static void check_locations(const struct options *options,
                            struct faults *faults)
{
    for (size_t i = 0; i < options->site_count; i++) {
        const struct site_options *site = &options->sites[i];

        for (size_t j = 0; j < site->location_count; j++)
            check_location(options, site, &site->locations[j],
                           options->site_origins[i].locations[j].line, faults);
    }
}

/* --- Files that the server writes ---------------------------------------- */

/* Checks that a file that the server writes is not a file of its configuration.
 * Otherwise text from clients would be read as options, perhaps by root. Device
 * and inode are compared, since a file may have several names. */
static void check_written(const struct options *options, const char *name,
                          const char *path, struct faults *faults)
{
    struct stat written, read;

    if (!path || stat(path, &written) == -1 || !S_ISREG(written.st_mode))
        return;
    for (size_t i = 0; i < options->files.count; i++) {
        const char *file = options->files.items[i];

        if (stat(file, &read) == -1 || read.st_dev != written.st_dev ||
            read.st_ino != written.st_ino)
            continue;
        faults_add(faults, config_origin(options, name),
                   "%s '%.300s' is a file of the configuration: '%.300s'", name,
                   path, file);
        return;
    }
}

static void check_all_written(const struct options *options,
                              struct faults *faults)
{
    const char *log = options->access_log;

    if (log && log_sink_is_file(log))
        check_written(options, "access-log", log, faults);
    check_written(options, "pid-file", options->pid_file, faults);
}

/* --- Certificates -------------------------------------------------------- */

/* Checks the certificates. Problems that only clients notice, and that do not
 * stop the server from starting, are printed as warnings. */
static void check_certificates(const struct options *options,
                               struct faults *faults, struct faults *warnings)
{
    struct tls_tickets *tickets = tls_tickets_create(0);
    struct certificates *certificates = NULL;
    int err = tickets ? certificates_create(&certificates, options, tickets,
                                            NULL, faults, warnings)
                      : -ENOMEM;

    if (certificates)
        certificates_check(certificates, time(NULL), warnings);
    if (err == -ENOMEM)
        faults_add(faults, 0, "out of memory");
    certificates_destroy(certificates);
    tls_tickets_release(&tickets);
}

/* Looks at what the options name, as --test does. */
static void check_all_named(const struct options *options,
                            struct faults *faults, FILE *errors)
{
    struct faults warnings = {
        .file = options->config, .files = &options->files, .kind = "warning: "};

    config_check(options, faults, &warnings);
    check_certificates(options, faults, &warnings);
    faults_print(&warnings, errors);
    faults_fini(&warnings);
}

/* --- The root ------------------------------------------------------------ */

/* Drops the default root if it does not exist and something else is served. */
static void forget_missing_root(struct options *options)
{
    const char *root = options->location.root;

    if (config_origin(options, "root") == ORIGIN_DEFAULT && root &&
        access(root, F_OK) == -1 && errno == ENOENT &&
        config_has_other_task(options))
        options->location.root = NULL;
}

int configuration_read(struct options *options, int argc, char **argv,
                       FILE *errors)
{
    struct faults faults = {0};
    bool is_sound;

    if (command_line_read(options, argc, argv, errors) != 0)
        return EX_USAGE;
    if (options->wants_help || options->wants_version)
        return EX_OK;
    if (options->config)
        config_load(options, &faults);
    forget_missing_root(options);
    managed_read_https(options, &faults);
    managed_find(options, &faults);
    compile_all(options, &faults);
    dictionaries_find(options, &faults);
    check_kv_tls(options, &faults);
    check_proxies(options, &faults);
    check_stores(options, &faults);
    check_locations(options, &faults);
    check_all_written(options, &faults);
    if (options->wants_test)
        check_all_named(options, &faults, errors);
    faults_print(&faults, errors);
    is_sound = faults.count == 0;
    faults_fini(&faults);
    if (is_sound)
        return EX_OK;
    return options->config || options->wants_test ? EX_CONFIG : EX_USAGE;
}
