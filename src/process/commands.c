#include <errno.h>
#include <unistd.h>

#include "base/units.h"
#include "base/version.h"
#include "process/cache_command.h"
#include "process/server_priv.h"

enum { REOPEN_WAIT_MS = 2000 };

static enum control_result on_reload(void *context, struct buf *answer)
{
    static const struct bytes name = {"sprintd: ", 9};

    if (reload(context, answer))
        return CONTROL_OK;
    /* `sprintd ctl` itself puts "sprintd: " before the answer. */
    if (answer->len > name.len &&
        memcmp(answer->data, name.data, name.len) == 0) {
        answer->len -= name.len;
        memmove(answer->data, answer->data + name.len, answer->len);
    }
    return CONTROL_ERROR;
}

static const char *state_of(const struct server *server)
{
    if (server->shutdown_mode != SERVER_SERVES)
        return "ending";
    return server->upgrade.is_under_way ? "serving, upgrading" : "serving";
}

static enum control_result on_status(void *context, struct buf *answer)
{
    const struct server *server = context;
    const struct options *options = generation_options(server->generation);
    struct now now;

    now_refresh(&now);
    buf_printf(answer, "sprintd %s, process %ld: %s\n", SPRINTD_VERSION,
               (long)getpid(), state_of(server));
    buf_printf(answer, "uptime: %llu s\n",
               (unsigned long long)((now.mono_ms - server->started_ms) /
                                    MS_PER_S));
    buf_printf(answer, "configuration: %s, reloaded %u times\n",
               options->config ? options->config : "command line",
               server->reloads);
    for (size_t i = 0; i < server->listener_count; i++)
        buf_printf(answer, "listens: %s\n", server->listeners[i].text);
    buf_printf(answer, "workers: %zu\n", server->started - server->ended);
    buf_printf(answer, "sandbox: %s\n", server->sandbox.summary);
    buf_printf(answer, "upgrade: %s\n",
               server->upgrade.fd != -1 ? "possible" : "not possible");
    return CONTROL_OK;
}

/* Stops the server. The answer is sent when the server has ended. */
static enum control_result on_stop(void *context, struct buf *answer)
{
    (void)answer;
    main_loop_end(context, SERVER_STOPS);
    return CONTROL_LATER;
}

static enum control_result on_upgrade(void *context, struct buf *answer)
{
    return main_loop_upgrade(context, answer) == 0 ? CONTROL_LATER
                                                   : CONTROL_ERROR;
}

static enum control_result on_reopen(void *context, struct buf *answer)
{
    struct server *server = context;
    int err;

    access_log_reopen(&server->access_log);
    err = access_log_await_reopen(&server->access_log, REOPEN_WAIT_MS);
    if (err == 0)
        return CONTROL_OK;
    buf_printf(answer, "access log '%s': %s", server->options->access_log,
               err == -ETIMEDOUT
                   ? "what is being written takes long; it follows"
                   : strerror(-err));
    return CONTROL_ERROR;
}

static enum control_result on_report(void *context, struct buf *answer)
{
    struct server *server = context;

    statistics_put_report(&server->statistics, answer);
    return CONTROL_OK;
}

static enum control_result on_cache(void *context, struct bytes words,
                                    struct buf *answer)
{
    const struct server *server = context;

    return cache_command_run(server->cache, words, answer) ? CONTROL_OK
                                                           : CONTROL_ERROR;
}

const struct control_commands commands_of_server = {
    .on = {[CONTROL_RELOAD] = on_reload,
           [CONTROL_STATUS] = on_status,
           [CONTROL_STOP] = on_stop,
           [CONTROL_UPGRADE] = on_upgrade,
           [CONTROL_REOPEN] = on_reopen,
           [CONTROL_REPORT] = on_report},
    .on_cache = on_cache};
