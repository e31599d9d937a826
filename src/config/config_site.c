#include "config/config_site.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/proxy_rule.h"
#include "http/path.h"

enum {
    HOST_BYTES_MAX = 253, /* RFC 1035 3.1, without the final dot */
    LABEL_BYTES_MAX = 63,
    PATH_BYTES_MAX = 4096
};

/* --- Messages ------------------------------------------------------------ */

void config_words(char words_out[CONFIG_WORDS_MAX + 1],
                  const struct site_options *site,
                  const struct site_location *location)
{
    size_t len = 0;

    words_out[0] = '\0';
    if (site && !config_is_top(site))
        len = (size_t)snprintf(words_out, CONFIG_WORDS_MAX + 1,
                               "site \"%.64s\": ", site->name);
    if (location)
        snprintf(words_out + len, CONFIG_WORDS_MAX + 1 - len,
                 "location \"%s%.64s\": ", location->is_exact ? "= " : "",
                 location->path.len > 0 ? location->path.data : "/");
}

/* --- Locations ------------------------------------------------------------ */

bool config_site_path(const struct config_section *section,
                      struct site_location *location, struct arena *arena,
                      struct faults *faults)
{
    struct bytes raw = section->title;
    char cleaned[PATH_BYTES_MAX];
    struct path path;
    char *kept;

    if (*raw.data == '=') {
        location->is_exact = true;
        raw = bytes_trim((struct bytes){raw.data + 1, raw.len - 1});
    }
    if (raw.len == 0 || raw.len > sizeof(cleaned) || *raw.data != '/')
        config_fault(faults, section, section->line,
                     "its path must begin with '/' and be of at most %d bytes",
                     PATH_BYTES_MAX);
    else if (!path_clean(raw, cleaned, &path))
        config_fault(faults, section, section->line,
                     "nothing can be asked for by such a path");
    else if (!bytes_eq(raw, path.clean))
        config_fault(faults, section, section->line,
                     "its path is not as it is compared: write \"%s%.*s\"",
                     location->is_exact ? "= " : "",
                     (int)(path.clean.len < 200 ? path.clean.len : 200),
                     path.clean.data);
    if (!location->is_exact && raw.len > 0 && raw.data[raw.len - 1] == '/')
        raw.len--;
    kept = arena_text(arena, raw);
    if (kept)
        location->path = (struct bytes){kept, raw.len};
    return kept != NULL;
}

/* --- Hosts ---------------------------------------------------------------- */

static bool is_label(struct bytes label)
{
    if (label.len == 0 || label.len > LABEL_BYTES_MAX || label.data[0] == '-' ||
        label.data[label.len - 1] == '-')
        return false;
    for (size_t i = 0; i < label.len; i++) {
        char c = label.data[i];

        if (!(c >= 'a' && c <= 'z') && !byte_is_digit(c) && c != '-' &&
            c != '_')
            return false;
    }
    return true;
}

/* Whether `text` consists of labels separated by dots. *is_number_out becomes
 * true if the last label is a number, which only addresses have. */
static bool is_name(const char *text, bool *is_number_out)
{
    for (;;) {
        size_t len = strcspn(text, ".");

        if (!is_label((struct bytes){text, len}))
            return false;
        *is_number_out = strspn(text, "0123456789") == len;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

/* Returns what is wrong with `host`, which is in lower case; NULL if nothing
 * is. An IPv6 address is rewritten in the form that is used for comparing. */
static const char *judge_host(char *host)
{
    size_t len = strlen(host);
    bool is_number = false;
    struct in6_addr six;
    struct in_addr four;

    if (len == 0 || len > HOST_BYTES_MAX)
        return "is empty or too long";
    if (host[0] == '[') {
        char *close = strchr(host, ']');

        if (close && close[1] == ':')
            return "has a port: sites are found by name alone";
        if (!close || close[1] != '\0')
            return "is no [IPv6 address]";
        *close = '\0';
        if (inet_pton(AF_INET6, host + 1, &six) != 1)
            return "is no [IPv6 address]";
        /* Needs at most INET6_ADDRSTRLEN bytes, which the caller has
         * provided. */
        inet_ntop(AF_INET6, &six, host + 1, INET6_ADDRSTRLEN);
        memcpy(host + strlen(host), "]", 2);
        return NULL;
    }
    if (inet_pton(AF_INET6, host, &six) == 1)
        return "is an IPv6 address without its '[' and ']'";
    if (strchr(host, ':'))
        return "has a port: sites are found by name alone";
    if (strncmp(host, "*.", 2) == 0)
        return is_name(host + 2, &is_number) && !is_number
                   ? NULL
                   : "has no name behind its '*.'";
    if (strchr(host, '*'))
        return "has a '*' elsewhere than in '*.' at its beginning";
    if (!is_name(host, &is_number))
        return "is no host name";
    return is_number && inet_pton(AF_INET, host, &four) != 1
               ? "is no IPv4 address"
               : NULL;
}

bool config_site_host(const struct config_section *section, int line,
                      const char *text, struct site_options *site,
                      struct arena *arena, struct faults *faults)
{
    /* An IPv6 address may become longer when it is rewritten. */
    size_t len = strlen(text);
    char *host = arena_take(arena, len + INET6_ADDRSTRLEN + 2);
    const char *why;

    if (!host)
        return false;
    for (size_t i = 0; i < len; i++)
        host[i] = byte_lower(text[i]);
    why = judge_host(host);
    if (!why && site->hosts.count == CONFIG_HOSTS_MAX)
        why = "is one too many";
    if (why) {
        config_fault(faults, section, line, "host '%.100s' %s", text, why);
        return true;
    }
    return texts_add(&site->hosts, arena, host);
}

/* --- Duplicates ----------------------------------------------------------- */

/* The name of a host or location, for sorting. Equal names become neighbours,
 * in their original order. */
struct named {
    struct bytes name;
    size_t number; /* number of the site or location */
    size_t order;
    bool is_exact;
};

static int compare(const void *a, const void *b)
{
    const struct named *one = a;
    const struct named *other = b;
    int way = bytes_order(one->name, other->name);

    if (way == 0)
        way = (int)one->is_exact - (int)other->is_exact;
    return way != 0 ? way
                    : (one->order > other->order) - (one->order < other->order);
}

static bool are_same(const struct named *one, const struct named *other)
{
    return bytes_eq(one->name, other->name) && one->is_exact == other->is_exact;
}

static size_t count_hosts(const struct options *options)
{
    size_t count = 0;

    for (size_t i = 0; i < options->site_count; i++)
        count += options->sites[i].hosts.count;
    return count;
}

static void tell_host(const struct options *options, const struct named *before,
                      const struct named *host, struct faults *faults)
{
    int line = options->site_origins[host->number].hosts;
    char position[FAULT_POSITION_MAX + 1];

    faults_name_line(faults, options->site_origins[before->number].hosts, line,
                     position);
    faults_add(faults, line, "site \"%.64s\": host '%s' is on %s already",
               options->sites[host->number].name, host->name.data, position);
}

/* Reports duplicate hosts of all sites. Returns false if there is no memory. */
static bool check_hosts(const struct options *options, struct faults *faults)
{
    size_t count = count_hosts(options);
    struct named *hosts = calloc(count + 1, sizeof(*hosts));
    size_t at = 0;

    if (!hosts)
        return false;
    for (size_t i = 0; i < options->site_count; i++) {
        const struct texts *texts = &options->sites[i].hosts;

        for (size_t j = 0; j < texts->count; j++, at++)
            hosts[at] = (struct named){
                .name = bytes_of(texts->items[j]), .number = i, .order = at};
    }
    qsort(hosts, count, sizeof(*hosts), compare);
    for (at = 1; at < count; at++)
        if (are_same(&hosts[at - 1], &hosts[at]))
            tell_host(options, &hosts[at - 1], &hosts[at], faults);
    free(hosts);
    return true;
}

static void check_paths(const struct site_options *site,
                        const struct option_origins *origins,
                        struct faults *faults)
{
    struct named paths[CONFIG_LOCATIONS_MAX];
    char words[CONFIG_WORDS_MAX + 1];
    char position[FAULT_POSITION_MAX + 1];
    size_t count = site->location_count;

    config_words(words, site, NULL);
    for (size_t i = 0; i < count; i++)
        paths[i] = (struct named){.name = site->locations[i].path,
                                  .number = i,
                                  .order = i,
                                  .is_exact = site->locations[i].is_exact};
    qsort(paths, count, sizeof(paths[0]), compare);
    for (size_t i = 1; i < count; i++) {
        int line = origins->locations[paths[i].number].line;

        if (!are_same(&paths[i - 1], &paths[i]))
            continue;
        faults_name_line(faults, origins->locations[paths[i - 1].number].line,
                         line, position);
        faults_add(faults, line, "%sthe location is on %s already", words,
                   position);
    }
}

/* --- Sites and locations with nothing to do ------------------------------- */

/* Whether a location with these options has an answer other than a proxy's. */
static bool has_task(const struct location_options *options)
{
    return options->root || options->respond || options->status_page ||
           options->redirect.count > 0;
}

/* Whether a proxy in `list` serves paths below `path`, or `path` itself. Then a
 * location at `path` has something to do: its options apply to requests for
 * that proxy. */
static bool touches(const struct texts *list, struct bytes path)
{
    struct proxy_rule rule;

    for (size_t i = 0; i < list->count; i++)
        if (!proxy_rule_read(&rule, bytes_of(list->items[i])) &&
            (path_leads(rule.prefix, path) || path_leads(path, rule.prefix)))
            return true;
    return false;
}

static bool has_proxy(const struct site_location *location,
                      const struct site_options *site)
{
    return location->options.proxy.count > 0 &&
           location->options.proxy.items != site->options.proxy.items;
}

/* Whether a proxy answers in a location, or below it. */
static bool is_proxied(const struct site_location *location,
                       const struct site_options *site)
{
    if (has_proxy(location, site))
        return true;
    if (location->options.proxy.items != site->options.proxy.items)
        return false; /* an empty list cancels the list of the site */
    for (size_t i = 0; i < site->location_count; i++)
        if (!site->locations[i].is_exact &&
            has_proxy(&site->locations[i], site) &&
            path_leads(site->locations[i].path, location->path))
            return true;
    return touches(&site->options.proxy, location->path);
}

static void check_tasks(const struct site_options *site,
                        const struct option_origins *origins,
                        struct faults *faults)
{
    char words[CONFIG_WORDS_MAX + 1];

    if (!has_task(&site->options) && site->options.proxy.count == 0 &&
        site->location_count == 0) {
        config_words(words, site, NULL);
        faults_add(faults, origins->line,
                   "%shas nothing to do: give it a root or a proxy", words);
    }
    for (size_t i = 0; i < site->location_count; i++) {
        const struct site_location *location = &site->locations[i];

        if (has_task(&location->options) || is_proxied(location, site))
            continue;
        config_words(words, site, location);
        faults_add(faults, origins->locations[i].line,
                   "%shas nothing to do: give it a root or a proxy", words);
    }
}

bool config_has_other_task(const struct options *options)
{
    struct location_options others = options->location;

    others.root = NULL;
    return has_task(&others) || others.proxy.count > 0 ||
           options->kv.count > 0 || options->status.len > 0;
}

bool config_may_speak_tls(const struct options *options)
{
    return options->config || options->https_told || options->acme_folder ||
           options->location.certificate.count > 0 ||
           config_has_other_task(options);
}

void config_site_check(const struct options *options, struct faults *faults)
{
    if (options->site_count == 0 && !options->location.root &&
        !config_has_other_task(options) && faults->count == 0)
        faults_add(faults, 0,
                   "has nothing to serve: give it 'root = DIRECTORY', a proxy "
                   "or a site");
    if (!check_hosts(options, faults))
        faults_add(faults, 0, "out of memory");
    for (size_t i = 0; i < options->site_count; i++) {
        check_paths(&options->sites[i], &options->site_origins[i], faults);
        check_tasks(&options->sites[i], &options->site_origins[i], faults);
    }
}
