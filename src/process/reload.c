#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "config/configuration.h"
#include "config/option_compare.h"
#include "process/allowed_paths.h"
#include "process/listeners.h"
#include "process/server_priv.h"

#define OUTSIDE                                                               \
    "sprintd: '%s' is out of this process's reach: restart, or let 'sprintd " \
    "ctl upgrade' start a process that reaches it\n"

enum { SAY_WAIT_MS = 500 };

/* --- What the sandbox allows --------------------------------------------- */

static bool can_use(const struct server *server, const char *path,
                    enum path_access access)
{
    return sandbox_allows(&server->sandbox, path, access) ||
           (access == PATH_READ &&
            broker_serves(&server->broker, FILE_READ, path));
}

/* Whether the configuration can be read. The sandbox may hide a file that was
 * replaced since the start. */
static bool is_config_readable(const struct server *server, FILE *errors)
{
    const char *config = server->options->config;

    if (!config || can_use(server, config, PATH_READ))
        return true;
    fprintf(errors, OUTSIDE, config);
    return false;
}

/* Reports include folders that the sandbox hides, since this may be the reason
 * why a file could not be included. */
static void tell_unreachable(const struct server *server,
                             const struct options *options, FILE *errors)
{
    for (size_t i = 0; i < options->include_folders.count; i++) {
        const char *folder = options->include_folders.items[i];

        if (access(folder, F_OK) == 0 && !can_use(server, folder, PATH_READ))
            fprintf(errors, OUTSIDE, folder);
    }
}

/* Whether the sandbox, which was decided at the start, lets this process reach
 * all upstream servers in the new options. */
static bool may_ask(const struct server *server, const struct options *options,
                    FILE *errors)
{
    const struct sandbox *sandbox = &server->sandbox;
    bool may_connect = sandbox->connects_tcp ||
                       !allowed_paths_connects(options);
    bool may_look_up = sandbox->sends_udp || !allowed_paths_looks_up(options);
    bool may_ask_sockets = sandbox->connects_unix ||
                           !allowed_paths_asks_sockets(options);

    if (!may_connect || !may_look_up || !may_ask_sockets)
        fprintf(errors,
                "sprintd: proxy: this process has been started without the "
                "right to %s: restart, or let 'sprintd ctl upgrade' start one "
                "that has it\n",
                !may_connect       ? "connect to servers"
                : !may_ask_sockets ? "connect to unix sockets"
                                   : "look names up");
    return may_connect && may_look_up && may_ask_sockets;
}

static bool is_in_reach(const struct server *server,
                        const struct options *options, FILE *errors)
{
    struct options seen = *options;
    bool is_allowed = true;
    struct allowed_paths allowed;

    seen.kv = server->options->kv; /* stores do not change at a reload */
    seen.proxy_cache = server->options->proxy_cache;
    if (!allowed_paths_open(&allowed, &seen, server->control_path)) {
        fputs("sprintd: out of memory\n", errors);
        is_allowed = false;
    }
    for (size_t i = 0; i < allowed.count && is_allowed; i++) {
        const struct sandbox_path *path = &allowed.paths[i];

        if (path->access == PATH_READ && access(path->path, F_OK) == -1)
            continue; /* opening the path reports why */
        is_allowed = can_use(server, path->path, path->access);
        if (!is_allowed)
            fprintf(errors, OUTSIDE, path->path);
    }
    for (size_t i = 0; i < allowed.brokered_count && is_allowed; i++) {
        const struct broker_path *path = &allowed.brokered[i];

        if (path->need != FILE_LISTEN)
            continue; /* the path was checked above, or has not changed */
        is_allowed = !server->sandbox.has_landlock ||
                     broker_serves(&server->broker, FILE_LISTEN, path->path);
        if (!is_allowed)
            fprintf(errors, OUTSIDE, path->path);
    }
    allowed_paths_close(&allowed);
    return is_allowed;
}

/* --- What does not change ------------------------------------------------ */

static void tell_unchanged(const struct server *server,
                           const struct options *options, FILE *news)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        if (row->scope != OPTION_START ||
            option_is_equal(server->options, options, row))
            continue;
        log_notice("%s: changed; takes effect at the next start or upgrade",
                   row->name);
        fprintf(news,
                "%s: changed; takes effect at the next start or upgrade\n",
                row->name);
    }
}

/* --- The change ---------------------------------------------------------- */

/* Reports workers that keep the previous configuration. In these workers, a
 * rule that now forbids something may not be in force. */
static void tell_refused(const struct server *server, FILE *errors)
{
    static const char words[] = "workers have no memory for this "
                                "configuration, and serve by the one before: "
                                "a reload tries again";
    size_t count = worker_pool_count_refused(server);

    if (count == 0)
        return;
    log_error("%zu of %zu %s", count, server->worker_count, words);
    fprintf(errors, "%zu of %zu %s\n", count, server->worker_count, words);
}

static bool change_worker_pool(struct server *server,
                               struct generation *generation, FILE *errors)
{
    if (worker_pool_change(server, generation) != 0) {
        fputs("sprintd: out of memory\n", errors);
        return false;
    }
    if (!worker_pool_await(server)) {
        log_notice("a worker is busy: it follows as soon as it is not");
        fputs("a worker is busy: it follows as soon as it is not\n", errors);
    }
    tell_refused(server, errors);
    return true;
}

/* Serves a new configuration. The workers change before the acceptor, so that
 * connections at new listeners are served under the new configuration. */
static bool serve_by(struct server *server, struct generation *generation,
                     FILE *errors)
{
    const struct options *options = generation_options(generation);
    struct listeners_change change = {.count = 0};

    if (listeners_are_systemds(options, server->is_activated)) {
        generation_lead_to(generation,
                           listeners_https_port(server->listeners,
                                                server->listener_count,
                                                options));
        return listeners_check(server->listeners, server->listener_count,
                               generation_credentials(generation)->certificates,
                               errors) == EX_OK &&
               change_worker_pool(server, generation, errors);
    }
    if (listeners_prepare(&change, server->listeners, server->listener_count,
                          options, errors) != EX_OK)
        return false;
    generation_lead_to(generation, listeners_https_port(change.next,
                                                        change.count, options));
    if (acceptor_prepare(server->acceptor, change.next, change.count) != 0) {
        fputs("sprintd: out of memory\n", errors);
        listeners_discard(&change);
        return false;
    }
    if (!change_worker_pool(server, generation, errors)) {
        listeners_discard(&change);
        return false;
    }
    acceptor_change(server->acceptor);
    listeners_apply(&change, server->listeners, &server->listener_count);
    return true;
}

/* Whether managed certificates stay in the same folder. The program that
 * obtains certificates was started with the server, and still uses the folder
 * that the options named then. A server that started without managed
 * certificates has no such program. */
static bool keeps_managed(const struct server *server,
                          const struct options *options, FILE *errors)
{
    const struct options *first = server->options;
    const char *folder = first->acme_folder;

    if (options->managed_count > 0 && first->managed_count == 0 && folder &&
        first->acme_start) {
        fputs("sprintd: certificates of authorities: this process has been "
              "started without the program that gets them: restart, or let "
              "'sprintd ctl upgrade' start one that has it\n",
              errors);
        return false;
    }
    if (!options->acme_folder ||
        (folder && strcmp(folder, options->acme_folder) == 0))
        return true;
    fprintf(errors,
            "sprintd: certificates of authorities: this process has been "
            "started without '%s': restart, or let 'sprintd ctl upgrade' start "
            "one that has it\n",
            options->acme_folder);
    return false;
}

/* Whether the dictionaries stay in the same folder. Another folder can be
 * neither made nor used, since it was not named at the start. */
static bool keeps_dictionaries(const struct server *server,
                               const struct options *options, FILE *errors)
{
    const char *folder = server->options->dictionary_folder;

    if (!options->dictionary_folder ||
        (folder && strcmp(folder, options->dictionary_folder) == 0))
        return true;
    fprintf(errors,
            "sprintd: dictionary: this process has been started without '%s': "
            "restart, or let 'sprintd ctl upgrade' start one that has it\n",
            options->dictionary_folder);
    return false;
}

static bool change(struct server *server, struct options *options, FILE *text)
{
    struct generation *generation;
    int status;

    if (!keeps_managed(server, options, text) ||
        !keeps_dictionaries(server, options, text) ||
        !may_ask(server, options, text) ||
        !is_in_reach(server, options, text) ||
        !privileges_stay_dropped(server, options, text))
        return false;
    generation = generation_create(options, server->generation, text, &status);
    if (!generation)
        return false;
    if (!serve_by(server, generation, text)) {
        generation_release(generation);
        return false;
    }
    tell_unchanged(server, generation_options(generation), text);
    log_set_lightest((enum log_level)generation_options(generation)->log_level);
    server->statistics.upstreams =
        proxies_upstreams(generation_proxies(generation));
    generation_release(server->generation);
    server->generation = generation;
    steward_reload(&server->steward);
    server->reloads++;
    return true;
}

static bool reload_to(struct server *server, FILE *text)
{
    struct options options;
    bool is_done = false;

    if (server->shutdown_mode != SERVER_SERVES ||
        server->upgrade.is_under_way) {
        fprintf(text, "sprintd: %s\n",
                server->shutdown_mode != SERVER_SERVES
                    ? "the server is ending"
                    : "an upgrade is under way");
        return false;
    }
    if (!is_config_readable(server, text))
        return false;
    if (configuration_read(&options, server->argc, server->argv, text) == EX_OK)
        is_done = change(server, &options, text);
    else
        tell_unreachable(server, &options, text);
    options_fini(&options);
    return is_done;
}

bool reload(struct server *server, struct buf *text)
{
    char *kept = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&kept, &len);
    bool is_done = false;

    notify_reloading(&server->notify);
    if (to)
        is_done = reload_to(server, to);
    if (!to || fclose(to) != 0)
        buf_put_literal(text, "sprintd: out of memory\n");
    buf_put(text, (struct bytes){kept, len});
    free(kept);
    notify_ready(&server->notify, is_done ? "Serving, reloaded"
                                          : "Serving; a reload was refused");
    if (is_done) {
        log_notice("reloaded");
        return true;
    }
    log_put_text(text->data, text->len, SAY_WAIT_MS);
    log_error("not reloaded: all stays as it is");
    return false;
}
