/*
 * sandbox - confines the process to what it needs: files (landlock_domain) and
 * system calls (seccomp_filter).
 *
 *            refused file    refused call         feature missing in the kernel
 *   off      -               -                    -
 *   on       EACCES          EPERM                is done without, and logged
 *   strict   EACCES          killed by SIGSYS     prevents the start
 *
 * Builds with a sanitizer or coverage have no sandbox in any mode, and log
 * this, since their run-time libraries open files and trace processes.
 *
 * Thread: the main thread's; entered before there is a second one.
 */
#ifndef CONFINE_SANDBOX_H
#define CONFINE_SANDBOX_H

#include "confine/landlock_domain.h"

enum sandbox_mode { SANDBOX_OFF, SANDBOX_ON, SANDBOX_STRICT };

enum { SANDBOX_PATHS_MAX = 4096 };

struct sandbox_path {
    const char *path;
    enum path_access access;
    bool may_be_missing; /* nothing is logged if the path is missing */
};

struct sandbox_options {
    enum sandbox_mode mode;
    bool is_default; /* nobody chose the mode: log no missing feature */
    const struct sandbox_path *paths;
    size_t path_count;
    bool connects_tcp;      /* the server asks other servers */
    bool connects_abstract; /* NOTIFY_SOCKET names an abstract socket */
    bool connects_unix;     /* unix sockets are opened */
    bool sends_udp;         /* names are looked up (io/resolver.h) */
};

enum { SANDBOX_SUMMARY_MAX = 224 };

struct sandbox {
    struct landlock_domain landlock;
    bool has_landlock;
    bool has_filter;
    bool connects_tcp;                 /* TCP connections are allowed */
    bool connects_unix;                /* unix sockets are allowed */
    bool sends_udp;                    /* sending UDP is allowed */
    char summary[SANDBOX_SUMMARY_MAX]; /* what is in force, in one line */
};

/* Whether this build has a sandbox. */
bool sandbox_is_built_in(void);

/* Enters the sandbox and logs what is in force: as info, or as a notice if the
 * operator asked for more than is possible. /dev/null is always in reach. A
 * path that cannot be opened is logged and left out. Returns EX_OK. In strict
 * mode it may return EX_UNAVAILABLE, after a line with the reason; then the
 * server must not start. */
MUST_USE int sandbox_enter(struct sandbox *sandbox,
                           const struct sandbox_options *options);

/* Whether the sandbox allows this access to `path`. If not, only a new process
 * can get the access, after a restart or an upgrade. */
bool sandbox_allows(const struct sandbox *sandbox, const char *path,
                    enum path_access access);

/* Frees memory; the process stays confined. */
void sandbox_close(struct sandbox *sandbox);

#endif
