#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "process/server_priv.h"

enum {
    /* How long to wait for workers that were told to end at once. Such a worker
     * may still wait for the access log, up to LOG_END_MS. */
    STOP_MS = LOG_END_MS + 2000,
    /* How long idle connections stay open after an upgrade. Closing them at
     * once could lose a request that was just sent. Instead, their next answers
     * announce the end. */
    LEAVE_IDLE_MS = 10000,
    RESUME_MS = 100, /* pause between two tries to resume the stores */
    WHY_MAX = 512
};

static uint64_t read_now_ms(void)
{
    struct now now;

    now_refresh(&now);
    return now.mono_ms;
}

void main_loop_end(struct server *server, enum shutdown_mode shutdown_mode)
{
    bool serves = server->shutdown_mode == SERVER_SERVES;

    if (!serves &&
        (server->shutdown_mode != SERVER_LEAVES || server->is_asked)) {
        server->is_hurried = true;
        return;
    }
    if (serves)
        server->shutdown_mode = shutdown_mode;
    else
        server->is_asked = true; /* the first demand to end since an upgrade */
    server->is_patient = shutdown_mode == SERVER_QUITS;
}

/* --- Signals ------------------------------------------------------------- */

/* Blocks the signals, since the main thread reads them from a descriptor.
 * Threads that are started later inherit the signal mask. */
int main_loop_open_signals(struct server *server)
{
    static const int taken[] = {SIGTERM, SIGINT,  SIGQUIT,
                                SIGHUP,  SIGUSR1, SIGUSR2};
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
        sigaddset(&signals, taken[i]);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    /* SIGPIPE is ignored, since sendfile(2) then fails with EPIPE if the client
     * has closed the connection. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    /* SIGXFSZ is ignored, since a write then fails with EFBIG if the log has
     * reached the maximum file size (ulimit -f). */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGWINCH, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    server->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    server->drained_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (server->signal_fd == -1 || server->drained_fd == -1) {
        fprintf(stderr, "sprintd: signals: %s\n", strerror(errno));
        return EX_OSERR;
    }
    return EX_OK;
}

static void upgrade_by_signal(struct server *server)
{
    struct buf why;

    buf_init(&why, NULL, 0, WHY_MAX);
    if (main_loop_upgrade(server, &why) != 0)
        log_error("not upgraded: %.*s", (int)why.len, why.data);
    buf_fini(&why);
}

/* Reloads because of a signal. The reload logs its result. */
static void reload_by_signal(struct server *server)
{
    struct buf text;

    buf_init(&text, NULL, 0, CONTROL_ANSWER_MAX);
    reload(server, &text);
    buf_fini(&text);
}

static void take_signal(struct server *server)
{
    struct signalfd_siginfo info;

    if (read(server->signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    switch (info.ssi_signo) {
    case SIGHUP:
        reload_by_signal(server);
        break;
    case SIGUSR1:
        access_log_reopen(&server->access_log);
        break;
    case SIGUSR2:
        statistics_report(&server->statistics);
        if (server->options->config)
            upgrade_by_signal(server);
        break;
    case SIGQUIT:
        main_loop_end(server, SERVER_QUITS);
        break;
    default:
        main_loop_end(server, SERVER_STOPS);
        break;
    }
}

/* --- Upgrades ------------------------------------------------------------ */

static const char *explain_upgrade(int err)
{
    switch (err) {
    case -EALREADY:
        return "one is under way";
    case -ENOTCONN:
        return "this server was started without --control or --config, or its "
               "launcher has died";
    default:
        return strerror(-err);
    }
}

/* Begins an upgrade. Pauses the stores, since only one process at a time may
 * write to the stores. No process writes until the successor serves. */
static int hand_over(struct server *server)
{
    int fds[OPTIONS_LISTEN_MAX + 1];
    struct upgrade_legacy legacy = {.listener_fds = fds,
                                    .pid_file_fd = server->pid_file.fd};
    bool is_handing_over = server->stores.is_paused;
    int err;

    for (size_t i = 0; i < server->listener_count; i++) {
        fds[legacy.count++] = server->listeners[i].fd;
        legacy.tls_listeners |= (uint32_t)server->listeners[i].is_tls << i;
    }
    if (server->control)
        fds[legacy.count++] = control_listener_fd(server->control);
    legacy.tickets_fd =
        credentials_hand_on(generation_credentials(server->generation));
    stores_pause(&server->stores);
    err = upgrade_begin(&server->upgrade, &legacy);
    if (err != 0 && !is_handing_over)
        stores_resume(&server->stores);
    if (legacy.tickets_fd != -1)
        close(legacy.tickets_fd);
    return err;
}

int main_loop_upgrade(struct server *server, struct buf *why)
{
    int err;

    if (server->shutdown_mode != SERVER_SERVES) {
        buf_put_literal(why, "the server is ending");
        return -ESHUTDOWN;
    }
    err = hand_over(server);
    if (err != 0)
        buf_put(why, bytes_of(explain_upgrade(err)));
    return err;
}

static void finish_upgrade(struct server *server, enum control_result result,
                           const char *text)
{
    if (server->control)
        control_finish(server->control, CONTROL_UPGRADE, result, bytes_of(text),
                       read_now_ms());
}

static void take_news(struct server *server)
{
    struct launcher_news news;
    char text[64];

    switch (upgrade_handle(&server->upgrade, &news)) {
    case UPGRADE_PENDING:
        return;
    case UPGRADE_FAILED:
        /* The number is written again, since the failed successor may have
         * written its own number. */
        if (server->pid_file.fd != -1 && pid_file_write(&server->pid_file) != 0)
            log_warning("--pid-file: its number could not be written again");
        log_error("not upgraded: %s", news.why);
        stores_resume(&server->stores);
        finish_upgrade(server, CONTROL_ERROR, news.why);
        return;
    case UPGRADE_DONE:
        snprintf(text, sizeof(text), "process %ld serves now", (long)news.pid);
        cache_store_leave(server->cache);
        log_notice("upgraded: %s", text);
        notify_main_pid(&server->notify, news.pid);
        notify_close(&server->notify);
        /* The new server has its own steward. */
        steward_close(&server->steward);
        finish_upgrade(server, CONTROL_OK, text);
        if (server->control)
            control_leave(server->control);
        server->is_asked = server->shutdown_mode != SERVER_SERVES;
        server->shutdown_mode = SERVER_LEAVES;
        return;
    }
}

/* --- The loop ------------------------------------------------------------ */

static int min_pause(int pause_ms, int64_t other_ms)
{
    return other_ms < pause_ms ? (int)other_ms : pause_ms;
}

/* Does all tasks that are due. Returns the ms until the next call. */
static int tick(struct server *server, uint64_t now_ms)
{
    int pause_ms = statistics_tick(&server->statistics);
    int watchdog_ms = INT_MAX;

    if (spare_memory_note(&server->spare_memory,
                          statistics_count_open(&server->statistics)))
        malloc_trim(0);

    /* After a failed upgrade, the stores cannot be resumed while the failed
     * successor still has them open. So each tick tries again. */
    if (server->stores.is_paused && !server->upgrade.is_under_way &&
        server->shutdown_mode == SERVER_SERVES &&
        !stores_resume(&server->stores))
        pause_ms = min_pause(pause_ms, RESUME_MS);

    if (server->shutdown_mode == SERVER_SERVES && server->watchdog &&
        watchdog_tick(server->watchdog, now_ms, &watchdog_ms))
        notify_watchdog(&server->notify);
    pause_ms = min_pause(pause_ms, watchdog_ms);
    if (server->shutdown_mode == SERVER_SERVES && !server->upgrade.is_under_way)
        pause_ms = min_pause(pause_ms, renewal_tick(server, now_ms));
    if (server->control)
        pause_ms = min_pause(pause_ms,
                             control_pause_ms(server->control, now_ms));
    return pause_ms;
}

/* Waits at most max_ms for events, and handles them. */
static void turn(struct server *server, int64_t max_ms)
{
    enum { SIGNALS, DRAINED, NEWS, STEWARD, CONTROL };
    struct pollfd fds[CONTROL + CONTROL_FDS_MAX] = {
        [SIGNALS] = {.fd = server->signal_fd, .events = POLLIN},
        [DRAINED] = {.fd = server->drained_fd, .events = POLLIN},
        [NEWS] = {.fd = server->upgrade.fd, .events = POLLIN},
        [STEWARD] = {.fd = server->steward.fd, .events = POLLIN}};
    size_t count = CONTROL;
    int pause_ms = min_pause(tick(server, read_now_ms()), max_ms);
    uint64_t one;

    if (server->control) {
        control_fds(server->control, fds + CONTROL);
        count += CONTROL_FDS_MAX;
    }
    if (poll(fds, count, pause_ms) == -1)
        return;
    if (fds[DRAINED].revents &&
        read(server->drained_fd, &one, sizeof(one)) == sizeof(one))
        server->ended++;
    if (fds[SIGNALS].revents)
        take_signal(server);
    if (fds[NEWS].revents)
        take_news(server);
    if (fds[STEWARD].revents && steward_has_news(&server->steward))
        renewal_take_news(server);
    if (server->control)
        control_handle(server->control, fds + CONTROL, read_now_ms());
}

/* Waits for the end of all workers, and returns true when all have ended.
 * Returns false if, before that, the server must end at once, *is_over becomes
 * true, or timeout_ms have passed while the server drains with a time limit. */
static bool wait_ended(struct server *server, int64_t timeout_ms,
                       const bool *is_over)
{
    uint64_t end_ms = read_now_ms() + (uint64_t)timeout_ms;

    while (server->ended < server->started && !server->is_hurried &&
           !*is_over) {
        uint64_t now_ms = read_now_ms();

        if (now_ms >= end_ms && !server->is_patient)
            break;
        turn(server, server->is_patient ? INT_MAX : (int64_t)(end_ms - now_ms));
    }
    return server->ended == server->started;
}

/* --- The end ------------------------------------------------------------- */

static void close_listeners(struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->shutdown_mode == SERVER_LEAVES)
            listener_leave(&server->listeners[i]);
        else
            listener_close(&server->listeners[i]);
    }
}

/* Drains: waits for the answers under way, but no longer than --drain-timeout
 * allows. Returns whether all workers have ended. */
static bool drain(struct server *server)
{
    int64_t drain_ms =
        (int64_t)generation_options(server->generation)->drain_ms;
    int64_t idle_ms = 0;

    if (server->shutdown_mode == SERVER_LEAVES) {
        idle_ms = drain_ms / 2 < LEAVE_IDLE_MS ? drain_ms / 2 : LEAVE_IDLE_MS;
        worker_pool_command(server, WORKER_LEAVE);
        if (wait_ended(server, idle_ms, &server->is_asked))
            return true;
        if (server->is_asked)
            idle_ms = 0;
    }
    worker_pool_command(server, WORKER_DRAIN);
    return wait_ended(server, drain_ms - idle_ms, &server->is_hurried);
}

static void end(struct server *server)
{
    /* A successor may have begun to serve just before this server was told to
     * end. The sockets are then the successor's, and must not be shut down. */
    if (server->shutdown_mode != SERVER_LEAVES)
        take_news(server);
    if (server->shutdown_mode != SERVER_LEAVES) {
        /* The launcher must end, since it might start a successor. */
        upgrade_destroy(&server->upgrade);
        notify_stopping(&server->notify, "Finishing what is under way");
    }
    stats_shared_drain(server->statistics.shared);
    access_log_end_soon(&server->access_log);
    worker_pool_close_door(server);
    close_listeners(server);
    if (drain(server))
        return;
    log_notice("not drained: breaking off what is still being sent");
    worker_pool_command(server, WORKER_STOP);
    server->is_hurried = server->is_patient = false;
    if (!wait_ended(server, STOP_MS, &server->is_hurried)) {
        log_error("workers do not end: leaving them");
        _exit(EX_OK);
    }
}

void main_loop_run(struct server *server)
{
    while (server->shutdown_mode == SERVER_SERVES)
        turn(server, INT_MAX);
    end(server);
}
