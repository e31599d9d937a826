#include "process/server.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "config/option_table.h"
#include "process/daemon.h"
#include "process/dictionaries.h"
#include "process/listeners.h"
#include "process/server_priv.h"

#define RUNTIME_DIRECTORY_DEFAULT "/run/sprintd"

/* --- Opening -------------------------------------------------------------- */

static int open_log(struct server *server)
{
    const struct options *options = server->options;
    struct access_log_options log_options = {
        .where = options->access_log,
        .format = options->log_format,
        .overflow = (enum log_overflow)options->log_overflow};
    int err = access_log_open(&server->access_log, &log_options);

    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: --access-log '%s': %s\n", options->access_log,
            strerror(-err));
    return err == -EACCES ? EX_NOPERM : EX_CANTCREAT;
}

static int open_pid_file(struct server *server)
{
    const char *path = server->options->pid_file;
    pid_t holder;
    int err;

    if (!path) {
        pid_file_refuse();
        return EX_OK;
    }
    err = pid_file_open(&server->pid_file, path, &holder);
    if (err == 0)
        return EX_OK;
    if (err == -EWOULDBLOCK)
        fprintf(stderr, "sprintd: --pid-file '%s': process %ld runs already\n",
                path, (long)holder);
    else if (err == -EEXIST)
        fprintf(stderr, "sprintd: --pid-file '%s': that is no pid file\n",
                path);
    else
        fprintf(stderr, "sprintd: --pid-file '%s': %s\n", path,
                err == -EPERM ? "it is another user's" : strerror(-err));
    return err == -EWOULDBLOCK               ? EX_UNAVAILABLE
           : err == -EACCES || err == -EPERM ? EX_NOPERM
                                             : EX_CANTCREAT;
}

/* Finds the path of the control socket. --control names it. Without this
 * option, the socket lies in systemd's folder for the service. Without that
 * folder, it has the default path, but only if there is a configuration file.
 * Returns a status of sysexits.h. */
static int find_control(struct server *server)
{
    const struct options *options = server->options;
    const char *directory = getenv("RUNTIME_DIRECTORY");
    size_t size = sizeof(server->control_path);
    int len = 0;

    if (options->control)
        len = snprintf(server->control_path, size, "%s", options->control);
    else if (directory && directory[0] == '/')
        len = snprintf(server->control_path, size, "%.*s/control",
                       (int)strcspn(directory, ":"), directory);
    else if (options->config && access(RUNTIME_DIRECTORY_DEFAULT, W_OK) == 0)
        len = snprintf(server->control_path, size, "%s/control",
                       RUNTIME_DIRECTORY_DEFAULT);
    if ((size_t)len < size)
        return EX_OK;
    fputs("sprintd: --control: the path is too long for a socket\n", stderr);
    return EX_USAGE;
}

static int open_control(struct server *server)
{
    struct activation *activation = &server->activation;
    struct listener listener = {.fd = -1};
    const char *path = server->control_path;
    int err = 0;

    if (!activation_take_name(activation, &listener, "control")) {
        if (path[0] == '\0')
            return EX_OK;
        if (!activation_take_path(activation, &listener, path))
            err = listener_open_private(&listener, path);
    }
    if (err == 0) {
        server->commands = commands_of_server;
        server->commands.context = server;
        server->control = control_create(&listener, &server->commands);
        if (server->control)
            return EX_OK;
        listener_close(&listener);
        err = -ENOMEM;
    }
    if (!server->options->control) { /* no option asks for the socket */
        log_warning("no control socket: '%s': %s", path, strerror(-err));
        server->control_path[0] = '\0';
        return EX_OK;
    }
    fprintf(stderr, "sprintd: --control '%s': %s%s\n", path, strerror(-err),
            err == -EADDRINUSE ? "; another server has it" : "");
    return err == -EACCES       ? EX_NOPERM
           : err == -EADDRINUSE ? EX_UNAVAILABLE
                                : EX_CANTCREAT;
}

/* --- Starting ------------------------------------------------------------ */

static enum link_mode link_mode_of(const struct options *options)
{
    switch (options->link_rate) {
    case OPTIONS_LINK_OFF:
        return LINK_OFF;
    case OPTIONS_LINK_AUTO:
        return LINK_AUTO;
    default:
        return LINK_RATE;
    }
}

/* Creates the launcher before the environment changes and rights are given up,
 * since the launcher must have the environment and the rights of the start. */
static int create_launcher(struct server *server)
{
    int err;

    if (server->control_path[0] == '\0' && !server->options->config)
        return EX_OK;
    err = upgrade_create(&server->upgrade, server->argv);
    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: the launcher of upgrades: %s\n", strerror(-err));
    return EX_OSERR;
}

/* Opens all sockets and files that have names outside of the process. */
static int open_places(struct server *server)
{
    const struct options *options = server->options;
    int status;

    if ((status = activation_open(&server->activation)) != EX_OK ||
        (status = open_pid_file(server)) != EX_OK ||
        (status = open_log(server)) != EX_OK ||
        (status = open_control(server)) != EX_OK)
        return status;
    server->is_activated = server->activation.is_systemds;
    status = listeners_open(server->listeners, &server->listener_count, options,
                            &server->activation);
    if (status != EX_OK)
        return status;
    generation_lead_to(server->generation,
                       listeners_https_port(server->listeners,
                                            server->listener_count, options));
    return listeners_check(server->listeners, server->listener_count,
                           generation_credentials(server->generation)
                               ->certificates,
                           stderr);
}

static int count_addresses(struct server *server)
{
    /* By default, one address may have 1/PARTS of all connections. */
    enum { PARTS = 4 };
    size_t all = server->limits.connections_max;
    uint64_t said = server->options->address_connections_max;
    size_t most = said > 0 ? (size_t)said : (all + PARTS - 1) / PARTS;
    int err = address_count_create(&server->addresses, (uint32_t)most,
                                   said == 0, all + server->limits.workers);

    if (err != 0)
        fprintf(stderr, "sprintd: max-connections-per-address: %s\n",
                strerror(-err));
    return err == 0 ? EX_OK : EX_OSERR;
}

static int open_insides(struct server *server)
{
    const struct options *options = server->options;
    size_t proxy_count;

    (void)proxies_list(generation_proxies(server->generation), &proxy_count);
    if (limits_plan(&server->limits, (size_t)options->workers,
                    server->listener_count, (size_t)options->connections_max,
                    proxy_count > 0) != 0)
        return EX_OSERR;
    if (options->proxy_cache)
        limits_share_files(&server->limits);
    server->mime = mime_create("/etc/mime.types");
    if (!server->mime ||
        !statistics_open(&server->statistics, options, server->limits.workers,
                         &server->access_log, &server->stores) ||
        link_shared_init(&server->link, link_mode_of(options),
                         options->link_rate / 8, server->limits.workers) != 0) {
        fputs("sprintd: out of memory\n", stderr);
        return EX_OSERR;
    }
    server->statistics.upstreams =
        proxies_upstreams(generation_proxies(server->generation));
    return count_addresses(server);
}

/* Takes the first steps, before the server uses any file that the options
 * name. */
static int prepare(struct server *server)
{
    int status;

    if ((status = find_control(server)) != EX_OK ||
        (status = create_launcher(server)) != EX_OK)
        return status;
    notify_open(&server->notify);
    return privileges_begin(server);
}

static int set_up(struct server *server)
{
    struct now now;
    int status;

    if ((status = open_places(server)) != EX_OK ||
        (status = main_loop_open_signals(server)) != EX_OK ||
        (status = open_insides(server)) != EX_OK ||
        (status = stores_make_places(&server->stores, server->options,
                                     &server->identity)) != EX_OK ||
        (status = proxy_cache_make_place(server->options, &server->identity)) !=
            EX_OK ||
        (status = dictionaries_open(&server->dictionaries, server->options,
                                    &server->identity)) != EX_OK ||
        (status = privileges_drop(server)) != EX_OK ||
        (status = worker_pool_start(server)) != EX_OK)
        return status;
    now_refresh(&now);
    server->started_ms = now.mono_ms;
    if (server->notify.watchdog_ms > 0)
        server->watchdog = watchdog_create(server->statistics.shared,
                                           server->notify.watchdog_ms,
                                           now.mono_ms);
    return EX_OK;
}

/* Returns what the server serves, for a message: the root, the configuration
 * file, or a description. */
static const char *name_served(const struct options *options)
{
    if (options->site_count == 0 && options->location.root)
        return options->location.root;
    if (options->config)
        return options->config;
    if (options->location.proxy.count > 0)
        return "a proxy";
    return options->kv.count > 0 ? "a key-value store" : "no files";
}

static void announce_listeners(const struct server *server)
{
    const struct options *options = server->options;
    const struct local_https *https =
        generation_credentials(server->generation)->https;

    for (size_t i = 0; i < server->listener_count; i++)
        printf("sprintd: serving %s at %s (%zu worker%s, schedule %s)\n",
               name_served(options), server->listeners[i].text,
               server->worker_count, server->worker_count == 1 ? "" : "s",
               option_schedule_name(options));
    if (https)
        local_https_tell(https, stdout);
}

/* Tells all waiting processes that the server serves. */
static void announce(struct server *server)
{
    int err = server->pid_file.fd == -1 ? 0 : pid_file_write(&server->pid_file);

    if (err != 0)
        log_warning("--pid-file '%s': %s", server->pid_file.path,
                    strerror(-err));
    announce_listeners(server);
    fflush(stdout);
    activation_close(&server->activation, true);
    notify_ready(&server->notify, "Serving");
    if (server->options->daemon)
        daemon_close_standard();
    readiness_tell(&server->readiness, EX_OK);
}

/* --- Ending -------------------------------------------------------------- */

/* Closes the listeners and other outside resources. `leaves` is true if this
 * server is a successor that failed, so that the earlier server still uses the
 * sockets. */
static void close_places(struct server *server, bool leaves)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (leaves)
            listener_leave(&server->listeners[i]);
        else
            listener_close(&server->listeners[i]);
    }
    pid_file_close(&server->pid_file);
    upgrade_destroy(&server->upgrade);
    notify_close(&server->notify);
    if (leaves && server->control)
        control_leave(server->control);
    control_destroy(server->control);
    steward_close(&server->steward);
    broker_close(&server->broker);
}

static void tear_down(struct server *server, bool has_served)
{
    worker_pool_join(server);
    if (has_served && statistics_reports_exit(server->options))
        statistics_report(&server->statistics); /* all counts are final now */
    worker_pool_free(server);
    activation_close(&server->activation, false);
    access_log_close(&server->access_log);
    close_places(server, !has_served && server->readiness.is_successor);
    watchdog_destroy(server->watchdog);
    sandbox_close(&server->sandbox);
    mime_destroy(server->mime);
    link_shared_fini(&server->link);
    statistics_close(&server->statistics);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    if (server->drained_fd >= 0)
        close(server->drained_fd);
    sem_destroy(&server->changed);
}

static int run(struct server *server)
{
    int status;

    sem_init(&server->changed, 0, 0);
    status = set_up(server);
    if (status == EX_OK) {
        announce(server);
        malloc_trim(0); /* returns memory that only the start needed */
        main_loop_run(server);
    }
    tear_down(server, status == EX_OK);
    generation_release(server->generation);
    return status;
}

int server_run(struct options *options, int argc, char **argv)
{
    struct server server = {.argc = argc,
                            .argv = argv,
                            .options = options,
                            .access_log = {.sink = {.fd = -1}},
                            .signal_fd = -1,
                            .drained_fd = -1,
                            .upgrade = {.fd = -1},
                            .notify = {.fd = -1},
                            .pid_file = {.fd = -1},
                            .broker = {.fd = -1},
                            .steward = {.fd = -1},
                            .sandbox = {.landlock = {.fd = -1}}};
    int status = EX_OK;
    int err;

    log_open((enum log_level)options->log_level);
    stray_descriptors_note(&server.stray_descriptors);
    readiness_inherit(&server.readiness);
    if (options->daemon && !server.readiness.is_successor &&
        (err = daemon_leave(&server.readiness)) != 0) {
        fprintf(stderr, "sprintd: --daemon: %s\n", strerror(-err));
        return EX_OSERR;
    }
    status = prepare(&server);
    if (status == EX_OK)
        server.first = server.generation = generation_create(options, NULL,
                                                             stderr, &status);
    if (server.first) {
        generation_hold(server.first);
        server.options = generation_options(server.first);
        status = run(&server);
        generation_release(server.first);
    }
    upgrade_destroy(&server.upgrade);
    notify_close(&server.notify);
    stray_descriptors_close(&server.stray_descriptors);
    readiness_tell(&server.readiness, status);
    return status;
}
