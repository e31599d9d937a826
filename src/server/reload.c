#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "server/configuration.h"
#include "server/listeners.h"
#include "server/option_compare.h"
#include "server/reach.h"
#include "server/server_priv.h"

#define OUTSIDE                                                               \
    "sprintd: '%s' is out of this process's reach: restart, or let 'sprintd " \
    "ctl upgrade' start a process that reaches it\n"

enum { SAY_WAIT_MS = 500 };

/* --- What the sandbox allows ------------------------------------------------ */

static bool can_use(const struct server *server, const char *path,
                    enum path_access access)
{
    return sandbox_allows(&server->sandbox, path, access) ||
           (access == PATH_READ &&
            broker_serves(&server->broker, FILE_READ, path));
}

/* Files that were replaced since may be out of reach, too. */
static bool is_config_readable(const struct server *server, FILE *errors)
{
    const char *config = server->options->config;

    if (!config || can_use(server, config, PATH_READ))
        return true;
    fprintf(errors, OUTSIDE, config);
    return false;
}

/* Why something could not be included, perhaps. */
static void tell_unreachable(const struct server *server,
                             const struct options *options, FILE *errors)
{
    for (size_t i = 0; i < options->include_places.count; i++) {
        const char *place = options->include_places.items[i];

        if (access(place, F_OK) == 0 && !can_use(server, place, PATH_READ))
            fprintf(errors, OUTSIDE, place);
    }
}

/* Whom it can ask was settled when it started. */
static bool may_ask(const struct server *server, const struct options *options,
                    FILE *errors)
{
    const struct sandbox *sandbox = &server->sandbox;
    bool may_connect = sandbox->connects_tcp || !reach_connects(options);
    bool may_look_up = sandbox->sends_udp || !reach_looks_up(options);

    if (!may_connect || !may_look_up)
        fprintf(errors,
                "sprintd: proxy: this process has been started without the "
                "right to %s: restart, or let 'sprintd ctl upgrade' start one "
                "that has it\n",
                may_connect ? "look names up" : "connect to servers");
    return may_connect && may_look_up;
}

static bool is_in_reach(const struct server *server,
                        const struct options *options, FILE *errors)
{
    struct options seen = *options;
    bool is_allowed = true;
    struct reach reach;

    seen.kv = server->options->kv; /* stay as they are, whatever is said now */
    if (!reach_open(&reach, &seen, server->control_path)) {
        fputs("sprintd: out of memory\n", errors);
        is_allowed = false;
    }
    for (size_t i = 0; i < reach.count && is_allowed; i++) {
        const struct sandbox_path *path = &reach.paths[i];

        if (path->access == PATH_READ && access(path->path, F_OK) == -1)
            continue; /* whoever opens it says more */
        is_allowed = can_use(server, path->path, path->access);
        if (!is_allowed)
            fprintf(errors, OUTSIDE, path->path);
    }
    for (size_t i = 0; i < reach.brokered_count && is_allowed; i++) {
        const struct broker_path *path = &reach.brokered[i];

        if (path->need != FILE_LISTEN)
            continue; /* it is seen above, or stays as it is */
        is_allowed = !server->sandbox.has_fence ||
                     broker_serves(&server->broker, FILE_LISTEN, path->path);
        if (!is_allowed)
            fprintf(errors, OUTSIDE, path->path);
    }
    reach_close(&reach);
    return is_allowed;
}

/* --- What does not change ---------------------------------------------------- */

static void tell_unchanged(const struct server *server,
                           const struct options *options, FILE *news)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];

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

/* --- The change -------------------------------------------------------------- */

static bool change_crew(struct server *server, struct generation *generation,
                        FILE *errors)
{
    if (crew_change(server, generation) != 0) {
        fputs("sprintd: out of memory\n", errors);
        return false;
    }
    if (!crew_await(server)) {
        log_notice("a worker is busy: it follows as soon as it is not");
        fputs("a worker is busy: it follows as soon as it is not\n", errors);
    }
    return true;
}

/* The workers first, so that what comes in by a new listener is served as the
 * configuration that has it says. */
static bool serve_by(struct server *server, struct generation *generation,
                     FILE *errors)
{
    const struct options *options = generation_options(generation);
    struct listeners_change change = {.count = 0};

    if (listeners_are_systemds(options, server->is_activated))
        return change_crew(server, generation, errors);
    if (listeners_prepare(&change, server->listeners, server->listener_count,
                          options, errors) != EX_OK)
        return false;
    if (acceptor_prepare(server->acceptor, change.next, change.count) != 0) {
        fputs("sprintd: out of memory\n", errors);
        listeners_discard(&change);
        return false;
    }
    if (!change_crew(server, generation, errors)) {
        listeners_discard(&change);
        return false;
    }
    acceptor_change(server->acceptor);
    listeners_apply(&change, server->listeners, &server->listener_count);
    return true;
}

static bool change(struct server *server, struct options *options, FILE *text)
{
    struct generation *generation;
    int status;

    if (!may_ask(server, options, text) ||
        !is_in_reach(server, options, text) ||
        !confinement_keeps(server, options, text))
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
    server->reloads++;
    return true;
}

static bool reload_to(struct server *server, FILE *text)
{
    struct options options;
    bool is_done = false;

    if (server->wish != SERVER_SERVES || server->upgrade.is_under_way) {
        fprintf(text, "sprintd: %s\n",
                server->wish != SERVER_SERVES ? "the server is ending"
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
