#include "server/reach.h"

#include <stdlib.h>

#include "base/address.h"
#include "io/resolver.h"
#include "observe/log_sink.h"
#include "server/proxy_told.h"
#include "server/stores.h"

struct reach_text {
    struct reach_text *next;
    char *text;
};

static void add(struct reach *reach, const char *path, enum path_access access)
{
    struct sandbox_path *paths;

    if (!path || path[0] == '\0')
        return;
    paths = realloc(reach->paths, (reach->count + 1) * sizeof(*paths));
    if (!paths) {
        reach->has_failed = true;
        return;
    }
    reach->paths = paths;
    paths[reach->count++] = (struct sandbox_path){.path = path,
                                                  .access = access};
}

/* Whoever opens it, or makes and removes it, for a server that may not. */
static void broker(struct reach *reach, const char *path, enum file_need need)
{
    struct broker_path *paths;

    if (!path || path[0] == '\0')
        return;
    paths = realloc(reach->brokered,
                    (reach->brokered_count + 1) * sizeof(*paths));
    if (!paths) {
        reach->has_failed = true;
        return;
    }
    reach->brokered = paths;
    paths[reach->brokered_count++] = (struct broker_path){.need = need,
                                                          .path = path};
}

/* Takes path over. */
static void add_taken(struct reach *reach, char *path, enum path_access access)
{
    struct reach_text *text = malloc(sizeof(*text));

    if (!text) {
        reach->has_failed = true;
        free(path);
        return;
    }
    *text = (struct reach_text){.next = reach->texts, .text = path};
    reach->texts = text;
    add(reach, path, access);
}

/* A program's own folder below those for settings; its path, which is cut from
 * path's. NULL: it lies elsewhere, maybe among what is nobody's business. */
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

/* Editors replace a file by another of its name, which is another file: what
 * stays is its directory, or the broker, who goes by the name. */
static void add_file(struct reach *reach, const char *path)
{
    char *real = path ? realpath(path, NULL) : NULL;
    const char *folder = real ? find_settings_folder(real) : NULL;

    broker(reach, path, FILE_READ);
    if (folder) {
        add_taken(reach, real, PATH_READ);
        return;
    }
    if (real)
        add(reach, path, PATH_READ);
    free(real);
}

/* Whether a directory has more in it than what is included: it is everybody's,
 * or that of the first file, which may be a home. */
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

/* What is included, and where more of that may be when it is read again: of a
 * directory with other files the names are enough to see that. */
static void add_included(struct reach *reach, const struct options *options)
{
    for (size_t i = 1; i < options->files.count; i++)
        add_file(reach, options->files.items[i]);
    for (size_t i = 0; i < options->include_places.count; i++) {
        char *place = realpath(options->include_places.items[i], NULL);

        if (place)
            add_taken(reach, place,
                      is_mixed(place, options->config) ? PATH_LIST : PATH_READ);
    }
}

static void add_location(struct reach *reach,
                         const struct location_options *location)
{
    add(reach, location->root, PATH_READ);
    add_file(reach, location->auth_file);
}

static void add_roots(struct reach *reach, const struct options *options)
{
    if (options->site_count == 0)
        add_location(reach, &options->location);
    for (size_t i = 0; i < options->site_count; i++) {
        const struct site_options *site = &options->sites[i];

        add_location(reach, &site->options);
        for (size_t k = 0; k < site->location_count; k++)
            add_location(reach, &site->locations[k].options);
    }
}

/* Not sockets of servers, which are only connected to. */
static void add_resolver(struct reach *reach, const struct options *options)
{
    for (size_t i = 0; reach_connects(options) && resolver_paths[i]; i++) {
        add(reach, resolver_paths[i], PATH_READ);
        if (!reach->has_failed)
            reach->paths[reach->count - 1].may_be_missing = true;
    }
}

bool reach_open(struct reach *reach, const struct options *options,
                const char *control_path)
{
    *reach = (struct reach){0};
    add_roots(reach, options);
    if (reach_is_everywhere(options))
        add(reach, "/", PATH_READ);
    add_file(reach, options->config);
    add_included(reach, options);
    add_file(reach, options->kv_token);
    if (options->access_log && log_sink_is_file(options->access_log))
        broker(reach, options->access_log, FILE_APPEND);
    broker(reach, options->pid_file, FILE_PID);
    add_resolver(reach, options);
    for (size_t i = 0; i < options->kv.count; i++)
        add(reach, stores_folder(options->kv.items[i]), PATH_WRITE);
    broker(reach, control_path, FILE_LISTEN);
    for (size_t i = 0; i < options->listen.count; i++)
        if (strncmp(options->listen.items[i], "unix:", 5) == 0)
            broker(reach, options->listen.items[i] + 5, FILE_LISTEN);
    return !reach->has_failed;
}

void reach_close(struct reach *reach)
{
    free(reach->paths);
    free(reach->brokered);
    while (reach->texts) {
        struct reach_text *next = reach->texts->next;

        free(reach->texts->text);
        free(reach->texts);
        reach->texts = next;
    }
    *reach = (struct reach){0};
}

bool reach_is_everywhere(const struct options *options)
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

/* Whether some server of a proxy is of that kind. */
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

bool reach_connects(const struct options *options)
{
    return has_server(options, has_port);
}

bool reach_looks_up(const struct options *options)
{
    return has_server(options, has_name);
}
