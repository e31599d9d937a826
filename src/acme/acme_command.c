#include "acme/acme_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "acme/acme_agent.h"
#include "acme/acme_errand.h"
#include "acme/acme_report.h"
#include "acme/acme_sandbox.h"
#include "base/host_name.h"
#include "base/log.h"
#include "config/configuration.h"
#include "confine/folder_owner.h"
#include "confine/narrow_terminal.h"

enum { REASON_MAX = 10 };

#define CONFIG_DEFAULT "/etc/sprintd/sprintd.conf"

/* --- run ----------------------------------------------------------------- */

/* Tells the server that a certificate has changed. Failures are ignored, since
 * the server also checks by itself. */
static void tell_server(void *context)
{
    int *fd = context;

    if (*fd != -1)
        (void)!send(*fd, "c", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Opens the agent and enters the sandbox. Returns EX_OK; or another exit
 * status, after a line in the log, and then the agent is closed. */
static int begin(struct acme_agent *agent, const struct options *options)
{
    int status;

    if (acme_agent_open(agent, options) != 0)
        return EX_CANTCREAT;
    status = acme_sandbox_enter(options);
    if (status != EX_OK)
        acme_agent_close(agent);
    return status;
}

/* Returns the descriptor for news to the server, which an environment variable
 * names; -1 if it is unset. The variable is removed, so that acme-dns-command
 * does not get it. */
static int take_news(void)
{
    const char *text = getenv(MANAGED_NEWS_VARIABLE);
    int fd = text ? (int)strtol(text, NULL, 10) : -1;

    unsetenv(MANAGED_NEWS_VARIABLE);
    return fd > STDERR_FILENO && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

static int run(const struct options *options)
{
    int fd = take_news();
    struct acme_agent agent;
    int64_t pause_s;
    int status;

    if (options->managed_count == 0) {
        for (;;)
            pause(); /* a reload of the server restarts the program */
    }
    status = begin(&agent, options);
    if (status != EX_OK)
        return status;
    agent.on_change = tell_server;
    agent.context = &fd;
    while ((pause_s = acme_agent_turn(&agent)) >= 0)
        sleep((unsigned)pause_s);
    acme_agent_close(&agent);
    return EX_TEMPFAIL;
}

/* Runs one turn, without telling the server, which notices new files by
 * itself. */
static int run_once(const struct options *options)
{
    struct acme_agent agent;
    int status;

    if (options->managed_count == 0)
        return EX_OK;
    status = begin(&agent, options);
    if (status != EX_OK)
        return status;
    status = acme_agent_turn(&agent) >= 0 && acme_agent_is_well(&agent)
                 ? EX_OK
                 : EX_TEMPFAIL;
    acme_agent_close(&agent);
    return status;
}

/* --- Operators' commands ------------------------------------------------- */

static int status(const struct options *options, const char *word)
{
    (void)word;
    return acme_report_print(options, stdout);
}

/* Revokes the certificate that `word` names: "NAME" or "NAME=REASON". */
static int revoke_one(const struct options *options, const char *word)
{
    size_t len = strcspn(word, "=");
    char name[HOST_NAME_MAX_BYTES + 1];
    unsigned long reason = 0;
    char *end = NULL;

    if (word[len] == '=')
        reason = strtoul(word + len + 1, &end, 10);
    if (len == 0 || len >= sizeof(name) || reason > REASON_MAX ||
        (end && (*end != '\0' || end == word + len + 1))) {
        fprintf(stderr,
                "sprintd-acme: revoke: '%s' is no NAME, and no "
                "NAME=REASON with a reason from 0 to %d\n",
                word, REASON_MAX);
        return EX_USAGE;
    }
    memcpy(name, word, len);
    name[len] = '\0';
    return acme_errand_revoke(options, name, (unsigned)reason);
}

static int roll(const struct options *options, const char *word)
{
    (void)word;
    return acme_errand_roll(options);
}

static int deactivate(const struct options *options, const char *word)
{
    (void)word;
    return acme_errand_deactivate(options);
}

/* Becomes the user `uid` for good. Gives up root's terminal and all descriptors
 * that root's shell had open: by a file in the folder, or by an authority's
 * answer, an attacker might take the process over. */
static int become(uid_t uid)
{
    int err = close_range(STDERR_FILENO + 1, ~0U, 0) == -1
                  ? -errno
                  : narrow_terminal_leave(false);

    if (err == 0)
        return folder_owner_become(uid);
    fprintf(stderr, "sprintd-acme: the terminal: %s\n", strerror(-err));
    return EX_OSERR;
}

/* If run by root, becomes the owner of the state's folder, since only the owner
 * can use it. A missing folder is not created: the server could not use a
 * folder of root. Returns EX_OK, or an exit status after one line on stderr. */
static int become_owner(const char *folder)
{
    struct safe_folder about;
    struct stat st;
    int fd;

    if (geteuid() != 0 || !folder)
        return EX_OK;
    fd = folder_owner_open(folder, &st, &about);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !about.is_loose)
        return st.st_uid == 0 ? EX_OK : become(st.st_uid);
    if (fd == -ENOENT)
        fprintf(stderr,
                "sprintd-acme: '%s' is not there yet: the server makes it\n",
                folder);
    else
        fprintf(stderr, "sprintd-acme: '%s': %s\n", folder,
                fd >= 0 || fd == -EPERM
                    ? "others than root and its owner can write there or on "
                      "the way, and so lead root elsewhere"
                    : strerror(-fd));
    return fd == -ENOENT ? EX_NOINPUT : EX_NOPERM;
}

/* --- All commands -------------------------------------------------------- */

static int run_word(const struct options *options, const char *word)
{
    (void)word;
    return run(options);
}

static int once_word(const struct options *options, const char *word)
{
    (void)word;
    return run_once(options);
}

static const struct {
    const char *name;
    bool has_word;
    /* An operator gives the command: it needs no OPTIONS, and runs as the owner
     * of the state's folder. */
    bool is_asked;
    int (*run)(const struct options *options, const char *word);
} commands[] = {
    {"run", false, false, run_word}, {"once", false, false, once_word},
    {"status", false, true, status}, {"revoke", true, true, revoke_one},
    {"rollover", false, true, roll}, {"deactivate", false, true, deactivate}};

static void print_usage(FILE *to)
{
    fputs(
        "usage: sprintd-acme run|once OPTIONS\n"
        "       sprintd-acme status [OPTIONS]\n"
        "       sprintd-acme revoke NAME[=REASON] [OPTIONS]\n"
        "       sprintd-acme rollover [OPTIONS]\n"
        "       sprintd-acme deactivate [OPTIONS]\n"
        "OPTIONS are the server's; without any, it is --config " CONFIG_DEFAULT
        "\n",
        to);
}

static int refuse(void)
{
    print_usage(stderr);
    return EX_USAGE;
}

static int help(void)
{
    print_usage(stdout);
    return fflush(stdout) == 0 ? EX_OK : EX_IOERR;
}

static int run_command(size_t number, const char *word, int argc, char **argv)
{
    static char config[] = "--config";
    static char path[] = CONFIG_DEFAULT;
    char *otherwise[] = {argv[0], config, path, NULL};
    bool has_options = argc > 1 || !commands[number].is_asked;
    struct options options;
    int result = configuration_read(&options, has_options ? argc : 3,
                                    has_options ? argv : otherwise, stderr);

    log_open((enum log_level)options.log_level);
    if (result == EX_OK && commands[number].is_asked)
        result = become_owner(options.acme_folder);
    if (result == EX_OK)
        result = commands[number].run(&options, word);
    options_fini(&options);
    return result;
}

int acme_command_run(int argc, char **argv)
{
    if (argc > 1 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return help();
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands);
         i++) {
        int words = commands[i].has_word ? 2 : 1;

        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        if (argc <= words)
            return refuse();
        return run_command(i, argv[words], argc - words, argv + words);
    }
    return refuse();
}
