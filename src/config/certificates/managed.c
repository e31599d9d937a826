#include "config/certificates/managed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/address.h"
#include "base/siphash.h"
#include "config/certificates/state_folder.h"
#include "config/config_check.h"
#include "config/listen_address.h"

enum { NAME_BYTES_MAX = 160 }; /* bytes of a base name */

#define HTTPS_PORT ":443"
#define HTTP_PORT ":80"

/* --- The value of --https ------------------------------------------------ */

/* Makes the text of a listen address, with the address of --bind, or with all
 * addresses. Returns NULL if there is no memory. */
static const char *make_place(struct options *options, const char *scheme,
                              const char *port)
{
    char text[LISTEN_ADDRESS_MAX + 32];
    const char *bind = options->bind;
    bool is_six = bind && strchr(bind, ':');

    snprintf(text, sizeof(text), "%s%s%.*s%s%s", scheme, is_six ? "[" : "",
             LISTEN_ADDRESS_MAX, bind ? bind : "", is_six ? "]" : "", port);
    return arena_text(&options->arena, bytes_of(text));
}

static bool add_place(struct options *options, const char *scheme,
                      const char *port)
{
    const char *place = make_place(options, scheme, port);

    return place && texts_add(&options->listen, &options->arena, place);
}

/* Adds the ports for HTTP and HTTPS, unless options->listen is set. Returns
 * false if there is no memory. */
static bool listen_everywhere(struct options *options)
{
    char port[16];

    if (options->listen.count > 0)
        return true;
    snprintf(port, sizeof(port), ":%u", (unsigned)options->port);
    return add_place(options, "http://",
                     config_origin(options, "port") == ORIGIN_DEFAULT
                         ? HTTP_PORT
                         : port) &&
           add_place(options, "https://", HTTPS_PORT);
}

static bool add_name(struct options *options, struct bytes name)
{
    char *kept = arena_text(&options->arena, name);

    for (char *at = kept; at && *at; at++)
        *at = byte_lower(*at);
    return kept && texts_add(&options->https_names, &options->arena, kept);
}

static bool take_names(struct options *options, const char *text)
{
    const char *at = text;

    while (*at) {
        size_t len = strcspn(at, ",");

        if (len > 0 && !add_name(options, (struct bytes){at, len}))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}

void managed_read_https(struct options *options, struct faults *faults)
{
    const char *told = options->https_told;

    options->https = OPTIONS_HTTPS_OFF;
    if (!told)
        return;
    if (byte_is_digit(told[0]) && told[strspn(told, "0123456789")] == '\0') {
        options->https = strtoul(told, NULL, 10);
        return;
    }
    if (options->site_count > 0) {
        faults_add(faults, config_origin(options, "https"),
                   "https '%.200s': where there are sites, they say their "
                   "names by hosts",
                   told);
        return;
    }
    if (!take_names(options, told) || !listen_everywhere(options))
        faults_add(faults, 0, "out of memory");
    options->location.https_redirect |=
        config_origin(options, "https-redirect") == ORIGIN_DEFAULT;
}

/* --- Names --------------------------------------------------------------- */

/* Whether `name` is public. Internal names are those of RFC 6761, RFC 6762, RFC
 * 8375 and RFC 9476, and those that ICANN has reserved for internal use. */
bool managed_is_public(const char *name)
{
    static const char *const inside[] = {"localhost", "local",   "internal",
                                         "test",      "invalid", "example",
                                         "onion",     "alt",     "arpa",
                                         "lan",       "home",    "corp"};
    const char *last = strrchr(name, '.');

    if (!last)
        return false;
    for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
        if (strcmp(last + 1, inside[i]) == 0)
            return false;
    return true;
}

/* Whether an authority can certify `host`. An authority that the options name
 * may also certify internal names. */
static bool is_askable(const struct options *options, const char *host)
{
    struct address address;
    const char *last = strrchr(host, '.');

    if (host[0] == '[' || address_parse(&address, bytes_of(host)) || !last ||
        strcmp(last, ".localhost") == 0)
        return false;
    return options->acme_directory.count > 0 || managed_is_public(host);
}

void managed_challenges(const struct options *options, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/" MANAGED_LIVE "/" MANAGED_CHALLENGES,
             options->acme_folder);
}

/* --- Certificates -------------------------------------------------------- */

/* Whether TLS is spoken at a listen address. The port of --https does not
 * count, since it uses this machine's own authority. */
static bool is_reached_by_tls(const struct options *options)
{
    struct listen_address place;

    for (size_t i = 0; i < options->listen.count; i++)
        if (listen_address_read(&place, options->listen.items[i]) &&
            place.is_tls)
            return true;
    return false;
}

static const char *make_path(struct options *options, const char *folder,
                             const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 32;
    char *path = arena_take(&options->arena, size);

    if (path)
        snprintf(path, size, "%s/" MANAGED_LIVE "/%s.pem", folder, name);
    return path;
}

static const char *name_file(struct options *options, const char *host)
{
    static const struct siphash_key key; /* this key need not be secret */
    struct bytes text = bytes_of(host);
    char cut[NAME_BYTES_MAX + 32];
    char *name;

    if (text.len > NAME_BYTES_MAX)
        snprintf(cut, sizeof(cut), "%.*s_%016llx", NAME_BYTES_MAX, host,
                 (unsigned long long)siphash_of(&key, text).words[0]);
    else
        snprintf(cut, sizeof(cut), "%s", host);
    name = arena_text(&options->arena, bytes_of(cut));
    if (name && *name == '*')
        *name = '_';
    return name;
}

static bool add_certificate(struct options *options,
                            struct location_options *told, const char *site,
                            const struct texts *names)
{
    struct managed_certificate *item;
    struct managed_certificate *items = arena_grow(&options->arena,
                                                   options->managed,
                                                   options->managed_count,
                                                   sizeof(*items));
    const char *name = name_file(options, names->items[0]);
    const char *path = name ? make_path(options, options->acme_folder, name)
                            : NULL;

    if (!items || !path ||
        !texts_add(&told->certificate, &options->arena, path))
        return false;
    options->managed = items;
    item = &items[options->managed_count++];
    *item = (struct managed_certificate){
        .site = site, .name = name, .path = path, .names = *names};
    told->certificate_is_managed = true;
    return true;
}

static bool may_wildcard(const struct options *options)
{
    for (size_t i = 0; i < options->acme_challenge.count; i++)
        if (strncmp(options->acme_challenge.items[i], "dns-", 4) == 0)
            return true;
    return false;
}

static void take_hosts(struct options *options, struct location_options *told,
                       const char *site, const struct texts *hosts, int line,
                       struct faults *faults)
{
    struct texts names = {0};
    bool is_done = true;

    for (size_t i = 0; i < hosts->count && is_done; i++) {
        const char *host = hosts->items[i];

        if (!is_askable(options, host)) {
            told->certificate_is_local = true;
            is_done = texts_add(&options->local_names, &options->arena, host);
            continue;
        }
        if (*host == '*' && !may_wildcard(options))
            faults_add(faults, line,
                       "host '%.200s': authorities give such certificates to "
                       "who shows it by DNS: acme-challenge = dns-01 or "
                       "dns-persist-01; or name a certificate",
                       host);
        is_done = texts_add(&names, &options->arena, host);
    }
    if (names.count > MANAGED_NAMES_MAX)
        faults_add(faults, line,
                   "%zu names are more than one certificate has (%d)",
                   names.count, MANAGED_NAMES_MAX);
    if (is_done && names.count > 0)
        is_done = add_certificate(options, told, site, &names);
    if (!is_done)
        faults_add(faults, 0, "out of memory");
}

/* Finds the folder of managed certificates, and sets options->acme_folder.
 * Returns false if there is no folder, after adding a fault, or no memory. */
static bool find_folder(struct options *options, struct faults *faults)
{
    char folder[PATH_MAX];
    char path[PATH_MAX + sizeof(MANAGED_FOLDER) + 1];

    options->acme_folder = options->acme_folder_told;
    if (options->acme_folder)
        return true;
    if (!state_folder_find(folder, options->state_directory)) {
        faults_add(faults, config_origin(options, "state-directory"),
                   "state-directory: there is no home to keep certificates in, "
                   "or its path is too long: name a folder");
        return false;
    }
    snprintf(path, sizeof(path), "%s/" MANAGED_FOLDER, folder);
    options->acme_folder = arena_text(&options->arena, bytes_of(path));
    return options->acme_folder;
}

/* Returns true if sprintd obtains the certificate of a site with these hosts.
 * `told` has the site's own or inherited options. */
static bool is_left(const struct location_options *told,
                    const struct texts *hosts)
{
    return told->certificate.count == 0 && told->acme != OPTIONS_ACME_OFF &&
           hosts->count > 0;
}

static void check_binding(const struct options *options, struct faults *faults)
{
    for (size_t i = 0; i < options->acme_challenge.count; i++)
        if (strcmp(options->acme_challenge.items[i], "dns-01") == 0 &&
            !options->acme_dns_command)
            faults_add(faults, config_origin(options, "acme-challenge"),
                       "acme-challenge dns-01 needs acme-dns-command");
    if (!options->acme_eab_id != !options->acme_eab_key)
        faults_add(faults,
                   config_origin(options, options->acme_eab_id
                                              ? "acme-eab-id"
                                              : "acme-eab-key"),
                   "acme-eab-id and acme-eab-key belong together");
}

void managed_find(struct options *options, struct faults *faults)
{
    bool is_wanted = is_left(&options->location, &options->https_names);

    for (size_t i = 0; i < options->site_count; i++)
        is_wanted |= is_left(&options->sites[i].options,
                             &options->sites[i].hosts);
    check_binding(options, faults);
    if (!is_wanted || !is_reached_by_tls(options) ||
        !find_folder(options, faults))
        return;
    if (options->site_count == 0)
        take_hosts(options, &options->location, "*", &options->https_names,
                   config_origin(options, "https"), faults);
    for (size_t i = 0; i < options->site_count; i++) {
        struct site_options *site = &options->sites[i];

        if (is_left(&site->options, &site->hosts))
            take_hosts(options, &site->options, site->name, &site->hosts,
                       options->site_origins[i].hosts, faults);
    }
}
