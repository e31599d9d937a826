#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "config/certificates/state_folder.h"
#include "config/configuration.h"
#include "config/listen_address.h"
#include "config/option_table.h"
#include "confine/narrow_terminal.h"
#include "confine/root_files.h"
#include "confine/safe_path.h"
#include "process/allowed_paths.h"
#include "process/companion/printer.h"
#include "process/server_priv.h"

/* --- What an upgrade reads and runs -------------------------------------- */

/* Judges a path. Returns EX_OK, or a status of sysexits.h after writing one
 * line to `errors`. */
typedef int way_judge(const struct server *server, const char *path,
                      FILE *errors);

/* Calls `judge` for each file of the configuration, and for each pattern of
 * paths at which a new file would be included. Returns the first status other
 * than EX_OK, or EX_OK. */
static int judge_files(const struct server *server,
                       const struct options *options, way_judge *judge,
                       FILE *errors)
{
    const struct texts *const lists[] = {&options->files,
                                         &options->include_ways};
    int status = EX_OK;

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        for (size_t k = 0; k < lists[i]->count && status == EX_OK; k++)
            status = judge(server, lists[i]->items[k], errors);
    return status;
}

static int judge_ways(const struct server *server, way_judge *judge)
{
    char program[PATH_MAX];
    int status = judge_files(server, server->options, judge, stderr);

    if (status != EX_OK || server->upgrade.fd == -1 ||
        upgrade_find_program(program) != 0)
        return status;
    return judge(server, program, stderr);
}

/* --- As root, for another user ------------------------------------------- */

/* Fails if the user of --user can change the file `path`. Root reads or runs
 * this file again at an upgrade, and that user may order an upgrade. */
static int expect_unchangeable(const struct server *server, const char *path,
                               FILE *errors)
{
    struct safe_path at;
    int err = safe_path_open(&at, path, &server->identity);

    if (err == 0) {
        if (at.exists && safe_path_is_writable(&at, &server->identity))
            err = -EPERM;
        safe_path_close(&at);
    }
    if (err == 0 || err == -ENOENT) /* the user cannot create the file */
        return EX_OK;
    if (err != -EPERM)
        fprintf(errors, "sprintd: --user: '%s': %s\n", path, strerror(-err));
    else
        fprintf(errors,
                "sprintd: --user: '%s' can be changed by that user, who would "
                "become root by it: give it, and the directories on its way, "
                "to root\n",
                path);
    return EX_NOPERM;
}

/* Makes standard descriptors write-only if they are terminals, puts a printer
 * before them, and leaves the session's terminal. Otherwise the unprivileged
 * user could read what root types. An attacker who takes the server over could
 * send control sequences to the terminal. If no sandbox prevents the use of
 * /dev/tty, the attacker could even type for root. */
static int leave_terminals(const struct identity *identity)
{
    int err = narrow_terminal_leave(false);

    if (err == 0)
        err = printer_open(identity);
    if (err == 0)
        return EX_OK;
    fprintf(stderr, "sprintd: --user: the terminal: %s\n", strerror(-err));
    return EX_OSERR;
}

/* Stores the path of the state folder while the process is root, since the user
 * of --user may have another home directory. If needed, the folder is made for
 * this user. */
static int settle_state(const struct server *server)
{
    const struct options *options = server->options;
    char folder[PATH_MAX];

    if (!server->identity.changes ||
        !state_folder_find(folder, options->state_directory))
        return EX_OK;
    if (options->acme_folder || options->dictionary_folder)
        root_files_make_folders(&server->identity, folder);
    if (setenv(STATE_FOLDER_VARIABLE, folder, 1) == 0)
        return EX_OK;
    fputs("sprintd: out of memory\n", stderr);
    return EX_OSERR;
}

int privileges_begin(struct server *server)
{
    const struct options *options = server->options;
    const struct identity *identity = &server->identity;
    int status = identity_find(&server->identity, options->user,
                               options->group);
    bool drops_root = identity->changes && geteuid() == 0 && identity->uid != 0;

    if (status == EX_OK && drops_root)
        status = judge_ways(server, expect_unchangeable);
    if (status == EX_OK && drops_root)
        status = leave_terminals(identity);
    if (status == EX_OK)
        status = identity_begin(identity);
    if (status != EX_OK)
        return status;
    root_files_begin(identity);
    return settle_state(server);
}

/* --- The sandbox --------------------------------------------------------- */

/* Whether the server may open unix sockets. For root only where it needs them:
 * whoever took the server over could else have a service, such as the system's
 * bus, run a command for root. Stores on other machines may be at sockets. */
static bool may_open_sockets(const struct options *options)
{
    return geteuid() != 0 || allowed_paths_asks_sockets(options) ||
           store_rule_any_is_remote(options) ||
           (options->access_log && log_sink_is_syslog(options->access_log));
}

static struct sandbox_options options_of_sandbox(
    const struct server *server, const struct allowed_paths *allowed)
{
    const struct options *options = server->options;
    size_t row = option_number(option_find(BYTES("sandbox")));

    return (struct sandbox_options){
        .mode = (enum sandbox_mode)options->sandbox,
        .is_default = options->origins.rows[row] == ORIGIN_DEFAULT,
        .paths = allowed->paths,
        .path_count = allowed->count,
        .connects_tcp = allowed_paths_connects(options) ||
                        store_rule_any_is_remote(options),
        .connects_abstract = server->notify.is_abstract,
        .connects_unix = may_open_sockets(options),
        .sends_udp = allowed_paths_looks_up(options)};
}

static int check_links(const struct options *options)
{
    bool is_everywhere = allowed_paths_is_everywhere(options);

    if (is_everywhere && options->sandbox == SANDBOX_STRICT) {
        fputs("sprintd: --sandbox strict: --follow-symlinks may lead "
              "anywhere; --sandbox on lets it\n",
              stderr);
        return EX_USAGE;
    }
    if (is_everywhere && options->sandbox != SANDBOX_OFF)
        log_info("sandbox: --follow-symlinks: every file can be read");
    return EX_OK;
}

static bool is_out_of_reach(void *context, int fd)
{
    const struct sandbox *sandbox = context;
    char path[sizeof("/proc/self/fd/") + 11];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return !sandbox_allows(sandbox, path, PATH_WRITE);
}

/* Fails if the sandbox allows the server to change the file `path`, since an
 * attacker who takes the server over could then leave the sandbox by an
 * upgrade. */
static int expect_out_of_reach(const struct server *server, const char *path,
                               FILE *errors)
{
    struct sandbox sandbox = server->sandbox;

    if (!sandbox_allows(&sandbox, path, PATH_WRITE) &&
        safe_path_walk(path, is_out_of_reach, &sandbox) != -EPERM)
        return EX_OK;
    fprintf(errors,
            "sprintd: --kv: '%s' lies in a store's folder, or its way leads "
            "through one, where the server could change it: give the store a "
            "folder of its own\n",
            path);
    return EX_CONFIG;
}

static int check_upgrade(const struct server *server)
{
    return server->sandbox.has_landlock && server->upgrade.fd != -1
               ? judge_ways(server, expect_out_of_reach)
               : EX_OK;
}

bool privileges_stay_dropped(const struct server *server,
                             const struct options *options, FILE *errors)
{
    return !server->sandbox.has_landlock || server->upgrade.fd == -1 ||
           judge_files(server, options, expect_out_of_reach, errors) == EX_OK;
}

/* Whether the configuration has a listener at `path`. Runs in the broker's
 * process. The server cannot change the files that this function reads. */
static bool is_configured(void *context, const char *path)
{
    const struct server *server = context;
    FILE *errors = fopen("/dev/null", "we");
    struct options options;
    bool is_there = false;

    if (!errors)
        return false;
    if (configuration_read(&options, server->argc, server->argv, errors) ==
        EX_OK)
        for (size_t i = 0; i < options.listen.count; i++) {
            const char *other = listen_address_path(options.listen.items[i]);

            is_there |= other && strcmp(other, path) == 0;
        }
    options_fini(&options);
    fclose(errors);
    return is_there;
}

/* Starts the broker. Without a sandbox, the broker is needed only if the server
 * was root, and only for the pid file: root opened the file for writing, and
 * only a process that has this descriptor can write to the file. */
static int start_broker(struct server *server,
                        const struct allowed_paths *allowed)
{
    struct broker_path pid_file = {FILE_PID, server->options->pid_file};
    struct broker_options options = {.paths = allowed->brokered,
                                     .count = allowed->brokered_count,
                                     .number_fd = -1,
                                     .is_configured = is_configured,
                                     .context = server};
    int err;

    if (server->pid_file.fd != -1)
        options.number_fd = server->pid_file.number_fd;
    if (server->options->sandbox == SANDBOX_OFF || !sandbox_is_built_in()) {
        if (options.number_fd == -1 || !server->identity.changes)
            return 0;
        options.paths = &pid_file;
        options.count = 1;
    }
    err = broker_open(&server->broker, &options);
    if (err == 0)
        pid_file_close_number(&server->pid_file);
    return err;
}

static int enter_sandbox(struct server *server,
                         const struct allowed_paths *allowed)
{
    struct sandbox_options options = options_of_sandbox(server, allowed);
    int status = check_links(server->options);
    int err;

    if (status != EX_OK)
        return status;
    err = start_broker(server, allowed);
    if (err != 0) {
        fprintf(stderr, "sprintd: the broker of files: %s\n", strerror(-err));
        return EX_OSERR;
    }
    status = sandbox_enter(&server->sandbox, &options);
    return status == EX_OK ? check_upgrade(server) : status;
}

/* Starts the steward. If the start fails, the server uses the certificates that
 * exist. */
static void start_steward(struct server *server)
{
    int err;

    if (server->options->managed_count == 0 || !server->options->acme_start)
        return;
    err = steward_open(&server->steward, server->argv);
    if (err == -ENOENT)
        log_error("certificates of authorities: there is no " STEWARD_PROGRAM
                  " beside this program: nobody gets them");
    else if (err != 0)
        log_error("certificates of authorities: " STEWARD_PROGRAM
                  " beside this program: %s: nobody gets them; the server's "
                  "user has to be able to run it",
                  strerror(-err));
}

int privileges_drop(struct server *server)
{
    struct allowed_paths allowed;
    int status;

    root_files_end();
    stray_descriptors_close(&server->stray_descriptors);
    status = identity_assume(&server->identity);
    if (status != EX_OK)
        return status;
    start_steward(server);
    if (allowed_paths_open(&allowed, server->options, server->control_path)) {
        status = enter_sandbox(server, &allowed);
    } else {
        fputs("sprintd: out of memory\n", stderr);
        status = EX_OSERR;
    }
    allowed_paths_close(&allowed);
    return status;
}
