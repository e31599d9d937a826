/*
 * upgrade - hands the listening sockets over to a new server from a new binary.
 *
 * This is the server's side of process/companion/launcher.h. The old server
 * goes on as before until the launcher sends news. When there is a successor,
 * the old server stops accepting and drains; when the new program has failed to
 * start, the old server stays, and can be upgraded again.
 *
 *   upgrade_create()   at the start, before threads, privileges, sandbox
 *   upgrade_begin()    on SIGUSR2 or `ctl upgrade`
 *   upgrade_handle()   reads the news, when upgrade->fd is readable
 *
 * Thread: the main thread's.
 * Owns:   the launcher, and the socket to it.
 */
#ifndef PROCESS_UPGRADE_H
#define PROCESS_UPGRADE_H

#include <limits.h>

#include "process/companion/launcher.h"

struct upgrade {
    int fd; /* watched for reading; -1: upgrades are impossible */
    bool is_under_way;
    pid_t launcher; /* private */
};

/* Finds the path of the running program, or of its replacement. Returns 0 or
 * -errno. */
MUST_USE int upgrade_find_program(char path[PATH_MAX]);

/* Forks the launcher, which will start this program, at its present path, with
 * these arguments (ended by NULL). Returns 0 or -errno. */
MUST_USE int upgrade_create(struct upgrade *upgrade, char *const *arguments);

/* Like upgrade_create(); the given program must serve within ready_ms. */
MUST_USE int upgrade_create_for(struct upgrade *upgrade, const char *program,
                                char *const *arguments, int ready_ms);

/* Ends the launcher, and any upgrade that is under way. */
void upgrade_destroy(struct upgrade *upgrade);

/* What a successor gets from this server. */
struct upgrade_legacy {
    const int *listener_fds;
    size_t count;
    uint32_t tls_listeners; /* bits: which listeners speak TLS */
    int pid_file_fd;        /* -1: none */
    int tickets_fd;         /* -1: none */
};

/* Makes the launcher start a successor. Returns 0 or -errno: -EALREADY: an
 * upgrade is under way; -ENOTCONN: there is no launcher. */
MUST_USE int upgrade_begin(struct upgrade *upgrade,
                           const struct upgrade_legacy *legacy);

enum upgrade_result {
    UPGRADE_PENDING,
    UPGRADE_DONE,  /* news->pid serves; the launcher has ended */
    UPGRADE_FAILED /* news->why says why; upgrade->fd is -1 if no other try is
                      possible */
};

enum upgrade_result upgrade_handle(struct upgrade *upgrade,
                                   struct launcher_news *news);

#endif
