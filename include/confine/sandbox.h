/*
 * sandbox - shuts the process up in what it needs: files (landlock_domain) and
 * system calls (seccomp_filter).
 *
 *            refused file    refused call         kernel cannot
 *   off      -               -                    -
 *   on       EACCES          EPERM                does without, and says so
 *   strict   EACCES          killed by SIGSYS     does not start
 *
 * Builds with a sanitizer or with coverage have none and say so, in whatever
 * mode: their run-time parts open files and trace processes as they please.
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
    bool may_be_missing; /* nothing is said then */
};

struct sandbox_options {
    enum sandbox_mode mode;
    bool is_default; /* nobody chose it: what the kernel lacks is no news */
    const struct sandbox_path *paths;
    size_t path_count;
    bool connects_tcp;      /* answers come from other servers */
    bool connects_abstract; /* NOTIFY_SOCKET begins with '@' */
    bool sends_udp;         /* names are looked up: io/resolver.h */
};

enum { SANDBOX_SUMMARY_MAX = 224 };

struct sandbox {
    struct landlock_domain landlock;
    bool has_landlock;
    bool has_filter;
    bool connects_tcp;                 /* whether TCP connections can be made */
    bool sends_udp;                    /* whether UDP can be sent */
    char summary[SANDBOX_SUMMARY_MAX]; /* what is in force, in one line */
};

/* Whether this build has a sandbox. */
bool sandbox_is_built_in(void);

/* Enters it; what is in force is a message of level info, or, when somebody
 * asked for more than there is, a notice. /dev/null is always in reach. A path
 * that cannot be reached is said and stays out. EX_OK; strictly also
 * EX_UNAVAILABLE, after a line that says why: do not start then. */
MUST_USE int sandbox_enter(struct sandbox *sandbox,
                           const struct sandbox_options *options);

/* Whether path can be used so from inside. When not, only a new process can:
 * by a restart or an upgrade. */
bool sandbox_allows(const struct sandbox *sandbox, const char *path,
                    enum path_access access);

/* Frees memory. Nobody gets out by that. */
void sandbox_close(struct sandbox *sandbox);

#endif
