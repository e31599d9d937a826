#include "process/allowed_paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/address.h"
#include "config/certificates/managed.h"
#include "config/listen_address.h"
#include "config/proxy_told.h"
#include "io/resolver.h"
#include "observe/log_sink.h"
#include "process/proxy_cache.h"
#include "process/stores.h"

struct allowed_text {
    struct allowed_text *next;
    char *text;
};

static void add(struct allowed_paths *allowed, const char *path,
                enum path_access access)
{
    struct sandbox_path *paths;

    if (!path || path[0] == '\0')
        return;
    paths = realloc(allowed->paths, (allowed->count + 1) * sizeof(*paths));
    if (!paths) {
        allowed->has_failed = true;
        return;
    }
    allowed->paths = paths;
    paths[allowed->count++] = (struct sandbox_path){.path = path,
                                                    .access = access};
}

/* Lets the broker open, make or remove `path`, since the server itself has no
 * right to do so. */
static void broker(struct allowed_paths *allowed, const char *path,
                   enum file_need need)
{
    struct broker_path *paths;

    if (!path || path[0] == '\0')
        return;
    paths = realloc(allowed->brokered,
                    (allowed->brokered_count + 1) * sizeof(*paths));
    if (!paths) {
        allowed->has_failed = true;
        return;
    }
    allowed->brokered = paths;
    paths[allowed->brokered_count++] = (struct broker_path){.need = need,
                                                            .path = path};
}

/* Adds `path`, and takes over the memory of its text. */
static void add_taken(struct allowed_paths *allowed, char *path,
                      enum path_access access)
{
    struct allowed_text *text = malloc(sizeof(*text));

    if (!text) {
        allowed->has_failed = true;
        free(path);
        return;
    }
    *text = (struct allowed_text){.next = allowed->texts, .text = path};
    allowed->texts = text;
    add(allowed, path, access);
}

/* Cuts the file's name off `path`. Returns the folder if it lies below /etc or
 * /usr/local/etc, where programs have folders of their own. Otherwise returns
 * NULL, since the folder may have other files, which must stay hidden. */
static const char *find_settings_folder(char *path)
{
    static const char *const above[] = {"/etc/", "/usr/local/etc/"};
    char *slash = strrchr(path, '/');

    *slash = '\0';
    for (size_t i = 0; i < sizeof(above) / sizeof(*above); i++)
        if (strncmp(path, above[i], strlen(above[i])) == 0)
            return path;
    return NULL;
}

/* Adds a file that an editor may replace by a new file of the same name. To
 * allow only the present file would not help, so the file's folder is allowed,
 * or the broker opens the file by its name. */
static void add_file(struct allowed_paths *allowed, const char *path)
{
    char *real = path ? realpath(path, NULL) : NULL;
    const char *folder = real ? find_settings_folder(real) : NULL;

    broker(allowed, path, FILE_READ);
    if (folder) {
        add_taken(allowed, real, PATH_READ);
        return;
    }
    if (real)
        add(allowed, path, PATH_READ);
    free(real);
}

/* Whether a directory may have files that are not included. This is assumed of
 * common directories, and of the configuration file's directory, which may be a
 * home directory. */
static bool is_mixed(const char *directory, const char *config)
{
    static const char *const everybodys[] = {
        "/", "/etc", "/usr/local/etc", "/root", "/home", "/tmp", "/var/tmp"};
    char *real = realpath(config, NULL);
    bool has_more = real && !find_settings_folder(real) &&
                    strcmp(*real ? real : "/", directory) == 0;

    free(real);
    for (size_t i = 0; i < sizeof(everybodys) / sizeof(*everybodys); i++)
        has_more |= strcmp(directory, everybodys[i]) == 0;
    return has_more;
}

/* Adds the included files, and the directories in which a later reload may find
 * more files to include. If a directory may have other files, too, the server
 * can only list its names. */
static void add_included(struct allowed_paths *allowed,
                         const struct options *options)
{
    for (size_t i = 1; i < options->files.count; i++)
        add_file(allowed, options->files.items[i]);
    for (size_t i = 0; i < options->include_folders.count; i++) {
        char *folder = realpath(options->include_folders.items[i], NULL);

        if (folder)
            add_taken(allowed, folder,
                      is_mixed(folder, options->config) ? PATH_LIST
                                                        : PATH_READ);
    }
}

static void add_location(struct allowed_paths *allowed,
                         const struct location_options *location)
{
    add(allowed, location->root, PATH_READ);
    add_file(allowed, location->auth_file);
}

/* Adds the certificates of the top or of a site. A site's locations have no
 * certificates of their own. */
static void add_certificates(struct allowed_paths *allowed,
                             const struct location_options *told)
{
    size_t managed = told->certificate_is_managed ? 1 : 0;

    for (size_t i = managed; i < told->certificate.count; i++)
        add_file(allowed, told->certificate.items[i]);
    for (size_t i = 0; i < told->certificate_key.count; i++)
        add_file(allowed, told->certificate_key.items[i]);
    add_file(allowed, told->client_ca);
}

static void add_roots(struct allowed_paths *allowed,
                      const struct options *options)
{
    if (options->site_count == 0) {
        add_location(allowed, &options->location);
        add_certificates(allowed, &options->location);
    }
    for (size_t i = 0; i < options->site_count; i++) {
        const struct site_options *site = &options->sites[i];

        add_location(allowed, &site->options);
        add_certificates(allowed, &site->options);
        for (size_t k = 0; k < site->location_count; k++)
            add_location(allowed, &site->locations[k].options);
    }
}

/* Adds the files needed to look up names. Unix sockets of upstream servers need
 * no path here, since Landlock does not restrict connecting to them. */
static void add_resolver(struct allowed_paths *allowed,
                         const struct options *options)
{
    for (size_t i = 0; allowed_paths_connects(options) && resolver_paths[i];
         i++) {
        add(allowed, resolver_paths[i], PATH_READ);
        if (!allowed->has_failed)
            allowed->paths[allowed->count - 1].may_be_missing = true;
    }
}

/* Adds the folder with managed certificates and challenges. The accounts' keys
 * lie elsewhere, and stay hidden. */
static void add_managed(struct allowed_paths *allowed,
                        const struct options *options)
{
    const char *folder = options->acme_folder;
    size_t size = folder ? strlen(folder) + sizeof("/" MANAGED_LIVE) : 0;
    char *path = folder ? malloc(size) : NULL;

    if (!path) {
        allowed->has_failed |= folder != NULL;
        return;
    }
    snprintf(path, size, "%s/" MANAGED_LIVE, folder);
    add_taken(allowed, path, PATH_READ);
}

bool allowed_paths_open(struct allowed_paths *allowed,
                        const struct options *options, const char *control_path)
{
    *allowed = (struct allowed_paths){0};
    add_roots(allowed, options);
    if (allowed_paths_is_everywhere(options))
        add(allowed, "/", PATH_READ);
    add_file(allowed, options->config);
    add_included(allowed, options);
    add_file(allowed, options->ticket_file);
    add_file(allowed, options->kv_token);
    add_file(allowed, options->proxy_cache_token);
    add_file(allowed, options->proxy_tls_ca);
    add_file(allowed, options->proxy_tls_certificate);
    add_file(allowed, options->proxy_tls_certificate_key);
    if (options->access_log && log_sink_is_file(options->access_log))
        broker(allowed, options->access_log, FILE_APPEND);
    broker(allowed, options->pid_file, FILE_PID);
    add_resolver(allowed, options);
    add(allowed, options->https_folder, PATH_WRITE);
    add_managed(allowed, options);
    add(allowed, options->dictionary_folder, PATH_WRITE);
    for (size_t i = 0; i < options->kv.count; i++)
        add(allowed, store_rule_folder(options->kv.items[i]), PATH_WRITE);
    add(allowed, proxy_cache_folder(options), PATH_WRITE);
    broker(allowed, control_path, FILE_LISTEN);
    for (size_t i = 0; i < options->listen.count; i++)
        broker(allowed, listen_address_path(options->listen.items[i]),
               FILE_LISTEN);
    return !allowed->has_failed;
}

void allowed_paths_close(struct allowed_paths *allowed)
{
    free(allowed->paths);
    free(allowed->brokered);
    while (allowed->texts) {
        struct allowed_text *next = allowed->texts->next;

        free(allowed->texts->text);
        free(allowed->texts);
        allowed->texts = next;
    }
    *allowed = (struct allowed_paths){0};
}

bool allowed_paths_is_everywhere(const struct options *options)
{
    if (options->site_count == 0)
        return options->location.follow_symlinks;
    for (size_t i = 0; i < options->site_count; i++) {
        const struct site_options *site = &options->sites[i];

        if (site->options.follow_symlinks)
            return true;
        for (size_t k = 0; k < site->location_count; k++)
            if (site->locations[k].options.follow_symlinks)
                return true;
    }
    return false;
}

/* Whether is_such() is true for any server of a proxy. */
static bool has_server(const struct options *options,
                       bool (*is_such)(const struct proxy_rule_server *server))
{
    struct proxy_told told = {.options = options};
    struct proxy_rule rule;

    while (proxy_told_next(&told)) {
        if (proxy_told_read(&told, &rule))
            continue;
        for (size_t k = 0; k < rule.count; k++)
            if (is_such(&rule.servers[k]))
                return true;
    }
    return false;
}

static bool has_port(const struct proxy_rule_server *server)
{
    return server->socket.len == 0;
}

static bool has_name(const struct proxy_rule_server *server)
{
    struct address address;

    return has_port(server) && !address_parse(&address, server->host);
}

bool allowed_paths_connects(const struct options *options)
{
    return has_server(options, has_port);
}

bool allowed_paths_looks_up(const struct options *options)
{
    return has_server(options, has_name);
}

static bool has_socket(const struct proxy_rule_server *server)
{
    return !has_port(server);
}

bool allowed_paths_asks_sockets(const struct options *options)
{
    return has_server(options, has_socket);
}
