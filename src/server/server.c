#include "server/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "server/acceptor.h"
#include "server/configuration.h"
#include "server/generation.h"
#include "server/limits.h"
#include "server/listeners.h"
#include "server/option_table.h"
#include "server/statistics.h"

enum {
    PASSWORD_THREADS = 2,
    /* For workers that were told to end at once, but may wait for the log. */
    STOP_MS = LOG_END_MS + 2000
};

struct server {
    struct link_shared link;  /* first: it is aligned to cache lines */
    struct generation *first; /* stays: it has what cannot change */
    struct generation *generation;
    const struct options *options; /* the first one's */
    int argc;
    char **argv; /* read anew by a reload */
    struct limits limits;
    struct listener listeners[OPTIONS_LISTEN_MAX];
    size_t listener_count;
    struct mime *mime;
    struct access_log access_log;
    struct statistics statistics;
    struct worker **workers;
    size_t worker_count;                   /* created */
    size_t started;                        /* of them */
    struct address_count *addresses;       /* NULL: they are not counted */
    struct password_check *password_check; /* NULL: nobody has passwords */
    struct acceptor *acceptor;
    int signal_fd;
    int drained_fd; /* counts workers that have ended */
    size_t ended;   /* of them, seen so far */
};

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

/* Signals come to the main thread by a descriptor; threads started later
 * inherit the mask. */
static int open_signals(struct server *server)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    /* Clients go away in the middle of a sendfile: EPIPE says it. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    /* A log may reach the greatest size of a file (ulimit -f): EFBIG. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    server->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    server->drained_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (server->signal_fd == -1 || server->drained_fd == -1) {
        fprintf(stderr, "sprintd: signals: %s\n", strerror(errno));
        return EX_OSERR;
    }
    return EX_OK;
}

/* --- Workers --------------------------------------------------------------- */

static void on_drained(void *context)
{
    const struct server *server = context;
    uint64_t one = 1;

    if (write(server->drained_fd, &one, sizeof(one)) == -1)
        log_error("eventfd: %s", strerror(errno));
}

/* Each has to be given to a worker, which releases what it holds. */
static struct worker_service service_of(const struct server *server,
                                        struct generation *generation)
{
    struct worker_service service =
        generation_service(generation, server->mime,
                           server->limits.connections_max,
                           server->limits.cached_fds_max);

    service.password_check = server->password_check;
    return service;
}

/* Passwords need threads of their own, from the first that is asked for. */
static int prepare_passwords(struct server *server,
                             const struct generation *generation)
{
    if (server->password_check || !generation_has_passwords(generation))
        return 0;
    return password_check_create(&server->password_check, PASSWORD_THREADS);
}

static struct worker_options worker_options_of(struct server *server)
{
    const struct options *options = server->options;

    return (struct worker_options){
        .service = service_of(server, server->generation),
        .shared_stats = server->statistics.shared,
        .history = server->statistics.history,
        .schedule = (enum sched_policy)options->schedule,
        .starvation_bound = options->starvation_bound,
        .link = &server->link,
        .addresses = server->addresses,
        .access_log = &server->access_log,
        .is_profiled = options->profile,
        .on_drained = on_drained,
        .context = server};
}

static int start_threads(struct server *server)
{
    struct worker_options worker_options = worker_options_of(server);
    size_t count = server->limits.workers;
    struct acceptor_options acceptor_options = {
        .listeners = server->listeners,
        .listener_count = server->listener_count,
        .connections_max = server->limits.connections_max,
        .stats = &server->statistics.shared->acceptor,
        .is_profiled = server->options->profile};
    int err = access_log_start(&server->access_log, count);

    if (err == 0)
        err = prepare_passwords(server, server->generation);
    worker_options.service = service_of(server, server->generation);

    if (err != 0)
        goto say;
    server->workers = calloc(count, sizeof(struct worker *));
    while (server->workers && server->worker_count < count) {
        struct worker *worker;

        worker_options.number = server->worker_count;
        worker_options.stats =
            &server->statistics.shared->workers[server->worker_count];
        worker = worker_create(&worker_options);
        if (!worker)
            break;
        generation_hold(server->generation); /* the worker's own */
        server->workers[server->worker_count++] = worker;
    }
    acceptor_options.workers = server->workers;
    acceptor_options.worker_count = count;
    if (server->worker_count == count)
        server->acceptor = acceptor_create(&acceptor_options);
    while (server->workers && server->acceptor && err == 0 &&
           server->started < count) {
        err = worker_start(server->workers[server->started]);
        if (err == 0)
            server->started++;
    }
    if (server->acceptor && err == 0)
        err = acceptor_start(server->acceptor);
    if (server->acceptor && err == 0)
        return EX_OK;
    acceptor_destroy(server->acceptor);
    server->acceptor = NULL;
say:
    fprintf(stderr, "sprintd: cannot start %zu workers: %s\n", count,
            err != 0 ? strerror(-err) : "out of memory or descriptors");
    return EX_OSERR;
}

/* --- Running and stopping --------------------------------------------------- */

/* --- Reloading ------------------------------------------------------------- */

/* All workers change, or none. */
static int change_all(const struct server *server,
                      struct generation *generation)
{
    struct worker_service service = service_of(server, generation);
    size_t count = server->worker_count;
    struct worker_change **changes = calloc(count, sizeof(*changes));
    size_t made = 0;

    while (changes && made < count) {
        generation_hold(generation);
        changes[made] = worker_prepare(server->workers[made], &service);
        if (!changes[made]) {
            generation_release(generation);
            break;
        }
        made++;
    }
    for (size_t i = 0; i < made; i++) {
        if (made == count)
            worker_apply(server->workers[i], changes[i]);
        else
            worker_discard(changes[i]);
    }
    free(changes);
    return made == count ? 0 : -ENOMEM;
}

/* Reads the configuration anew and serves by it; when it is faulty, all stays
 * as it is. Says on errors what is wrong. */
static bool reload(struct server *server, FILE *errors)
{
    struct generation *generation = NULL;
    struct options options;
    int status;

    if (configuration_read(&options, server->argc, server->argv, errors) ==
        EX_OK)
        generation = generation_create(&options, errors, &status);
    options_fini(&options);
    if (!generation)
        return false;
    if (prepare_passwords(server, generation) != 0 ||
        change_all(server, generation) != 0) {
        fputs("sprintd: out of memory\n", errors);
        generation_release(generation);
        return false;
    }
    generation_release(server->generation);
    server->generation = generation;
    return true;
}

static void announce(const struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        printf("sprintd: serving %s at %s (%zu worker%s, schedule %s)\n",
               server->options->location.root, server->listeners[i].text,
               server->worker_count, server->worker_count == 1 ? "" : "s",
               option_schedule_name(server->options));
    fflush(stdout);
}

static void command_all(const struct server *server, unsigned commands)
{
    for (size_t i = 0; i < server->started; i++)
        worker_command(server->workers[i], commands);
}

/* Takes the next signal, waiting for it. Whether it asks for an end. */
static bool take_signal(struct server *server)
{
    struct signalfd_siginfo info;

    if (read(server->signal_fd, &info, sizeof(info)) != sizeof(info))
        return errno != EINTR;
    switch (info.ssi_signo) {
    case SIGUSR1:
        access_log_reopen(&server->access_log);
        return false;
    case SIGHUP:
        if (reload(server, stderr))
            log_notice("reloaded");
        else
            log_error("not reloaded: all stays as it is");
        return false;
    case SIGUSR2:
        statistics_report(&server->statistics);
        return false;
    default:
        return true;
    }
}

/* Until a signal asks for an end. */
static void serve(struct server *server)
{
    struct pollfd fd = {.fd = server->signal_fd, .events = POLLIN};
    bool is_over = false;

    while (!is_over)
        is_over = poll(&fd, 1, statistics_tick(&server->statistics)) == 1 &&
                  take_signal(server);
}

/* Waits for a signal that asks for an end, or for all workers to end,
 * timeout_ms at most (-1: for ever). True when there is nothing left to wait
 * for. */
static bool wait_drained(struct server *server, int64_t timeout_ms)
{
    struct now now;
    uint64_t end_ms;

    now_refresh(&now);
    end_ms = now.mono_ms + (uint64_t)timeout_ms;
    while (server->ended < server->started) {
        struct pollfd fds[] = {{.fd = server->drained_fd, .events = POLLIN},
                               {.fd = server->signal_fd, .events = POLLIN}};
        uint64_t one;
        int pause_ms = statistics_tick(&server->statistics);

        now_refresh(&now);
        if (timeout_ms >= 0 && now.mono_ms >= end_ms)
            return false;
        if (timeout_ms >= 0 && end_ms - now.mono_ms < (uint64_t)pause_ms)
            pause_ms = (int)(end_ms - now.mono_ms);
        if (poll(fds, 2, pause_ms) < 1)
            continue;
        if (fds[0].revents &&
            read(server->drained_fd, &one, sizeof(one)) == sizeof(one))
            server->ended++;
        if (fds[1].revents && take_signal(server))
            return server->ended == server->started;
    }
    return true;
}

static void stop(struct server *server)
{
    stats_shared_drain(server->statistics.shared);
    access_log_hurry(&server->access_log);
    if (server->acceptor)
        acceptor_stop(server->acceptor);
    for (size_t i = 0; i < server->listener_count; i++)
        listener_close(&server->listeners[i]);
    command_all(server, WORKER_DRAIN);
    if (!wait_drained(server, (int64_t)server->options->drain_ms)) {
        log_notice("not drained: breaking off what is still being sent");
        command_all(server, WORKER_STOP);
        if (!wait_drained(server, STOP_MS)) {
            log_error("workers do not end: leaving them");
            _exit(EX_OK);
        }
    }
}

static void tear_down(struct server *server, bool has_served)
{
    for (size_t i = 0; i < server->listener_count; i++)
        listener_close(&server->listeners[i]);
    acceptor_destroy(server->acceptor);
    if (server->started > 0 && !server->acceptor)
        command_all(server, WORKER_STOP);
    for (size_t i = 0; i < server->started; i++)
        worker_join(server->workers[i]);
    if (server->password_check)
        password_check_stop(server->password_check);
    if (has_served && statistics_reports_exit(server->options))
        statistics_report(&server->statistics); /* all is counted now */
    for (size_t i = 0; i < server->worker_count && server->workers; i++)
        worker_destroy(server->workers[i]);
    free(server->workers);
    password_check_destroy(server->password_check);
    address_count_destroy(server->addresses);
    mime_destroy(server->mime);
    access_log_close(&server->access_log);
    link_shared_fini(&server->link);
    statistics_close(&server->statistics);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    if (server->drained_fd >= 0)
        close(server->drained_fd);
}

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

static int count_addresses(struct server *server)
{
    uint64_t most = server->options->address_connections_max;
    int err = 0;

    if (most > 0)
        err = address_count_create(&server->addresses, (uint32_t)most,
                                   server->limits.connections_max);
    if (err != 0)
        fprintf(stderr, "sprintd: max-connections-per-address: %s\n",
                strerror(-err));
    return err == 0 ? EX_OK : EX_OSERR;
}

static int set_up(struct server *server)
{
    const struct options *options = server->options;
    int status;

    if ((status = open_log(server)) != EX_OK ||
        (status = listeners_open(server->listeners, &server->listener_count,
                                 options)) != EX_OK ||
        (status = open_signals(server)) != EX_OK)
        return status;
    if (limits_plan(&server->limits, (size_t)options->workers,
                    server->listener_count,
                    (size_t)options->connections_max) != 0)
        return EX_OSERR;
    server->mime = mime_create("/etc/mime.types");
    if (!server->mime ||
        !statistics_open(&server->statistics, options, server->limits.workers,
                         &server->access_log) ||
        link_shared_init(&server->link, link_mode_of(options),
                         options->link_rate / 8, server->limits.workers) != 0) {
        fputs("sprintd: out of memory\n", stderr);
        return EX_OSERR;
    }
    return count_addresses(server) == EX_OK ? start_threads(server) : EX_OSERR;
}

int server_run(struct options *options, int argc, char **argv)
{
    struct server server = {.argc = argc,
                            .argv = argv,
                            .access_log = {.sink = {.fd = -1}},
                            .signal_fd = -1,
                            .drained_fd = -1};
    int status;

    log_open((enum log_level)options->log_level);
    server.first = server.generation = generation_create(options, stderr,
                                                         &status);
    if (!server.first)
        return status;
    generation_hold(server.first);
    server.options = generation_options(server.first);
    status = set_up(&server);
    if (status == EX_OK) {
        announce(&server);
        serve(&server);
        stop(&server);
    }
    tear_down(&server, status == EX_OK);
    generation_release(server.generation);
    generation_release(server.first);
    return status;
}
