/*
 * acme_hook - runs the operator's command that puts records into the DNS and
 * takes them away (acme-dns-command). The sandbox lets a program start no
 * other: so a process is set aside for the command before the program enters
 * it.
 *
 *   NAME     "_acme-challenge.example.org"
 *   VALUE    what its TXT record shall be
 *   ACTION   "add", or "remove"
 *
 * are in the command's environment. It has two minutes; when it has ended,
 * others have to see the record.
 *
 * Thread: its owner's; waits.
 * Owns:   the process, which ends with this one.
 */
#ifndef ACME_ACME_HOOK_H
#define ACME_ACME_HOOK_H

#include "base/bytes.h"

enum { ACME_HOOK_S = 120, ACME_HOOK_TEXT_MAX = 1024 };

struct acme_hook {
    int fd; /* -1: there is no command */
};

/* command: for sh; NULL: there is none. 0 or -errno. */
MUST_USE int acme_hook_open(struct acme_hook *hook, const char *command);

/* The command's status, 128 + N when it was killed by signal N; or -errno:
 * -ENOENT, there is none. */
MUST_USE int acme_hook_run(const struct acme_hook *hook, const char *action,
                           const char *name, const char *value);
void acme_hook_close(struct acme_hook *hook);

#endif
