/*
 * upgrade - hands the listening sockets over to a new server from a new binary.
 *
 * This is the server's side of process/companion/launcher.h. The old server
 * goes on as before until the launcher sends news. If a successor serves, the
 * old server stops accepting and drains. If the new program has failed to
 * start, the old server stays, and can be upgraded again.
 *
 *   upgrade_create()   at the start, before threads, privileges, sandbox
 *   upgrade_begin()    on SIGUSR2 or `ctl upgrade`
 *   upgrade_handle()   reads the launcher's news, when upgrade->fd is readable
 *
 * Thread: used only by the main thread.
 * Owns:   the launcher, and the socket to it.
 */
#ifndef PROCESS_UPGRADE_H
#define PROCESS_UPGRADE_H

#include <limits.h>

#include "process/companion/launcher.h"

struct upgrade {
    int fd; /* to be watched for reading; -1 if upgrades are impossible */
    bool is_under_way;
    pid_t launcher; /* private */
};

/* Finds the path of the running program, or of the file that has replaced it.
 * Returns 0 or -errno. */
MUST_USE int upgrade_find_program(char path[PATH_MAX]);

/* Forks the launcher. At an upgrade, the launcher starts the program that then
 * lies at the path of this program. `arguments`, which end with NULL, are the
 * new program's. Returns 0 or -errno. */
MUST_USE int upgrade_create(struct upgrade *upgrade, char *const *arguments);

/* Like upgrade_create(), but the launcher starts the program at the path
 * `program`. The new server must serve within ready_ms. */
MUST_USE int upgrade_create_for(struct upgrade *upgrade, const char *program,
                                char *const *arguments, int ready_ms);

/* Ends the launcher, and an upgrade that is under way. */
void upgrade_destroy(struct upgrade *upgrade);

/* What a successor gets from this server. */
struct upgrade_legacy {
    const int *listener_fds;
    size_t count;
    uint32_t tls_listeners; /* bit n is set if listener n speaks TLS */
    int pid_file_fd;        /* -1 without a pid file */
    int tickets_fd;         /* -1 if no keys are handed on */
};

/* Makes the launcher start a successor. Returns 0 or -errno; -EALREADY if an
 * upgrade is under way, -ENOTCONN if there is no launcher. */
MUST_USE int upgrade_begin(struct upgrade *upgrade,
                           const struct upgrade_legacy *legacy);

enum upgrade_result {
    UPGRADE_PENDING,
    UPGRADE_DONE, /* news->pid serves; the launcher has ended */
    /* news->why says why; another try is possible unless upgrade->fd is -1 */
    UPGRADE_FAILED
};

enum upgrade_result upgrade_handle(struct upgrade *upgrade,
                                   struct launcher_news *news);

#endif
