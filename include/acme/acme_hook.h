/*
 * acme_hook - runs the operator's command that puts records into the DNS and
 * takes them away (acme-dns-command). Since the sandbox forbids starting
 * programs, a process that runs the command is forked before the sandbox is
 * entered.
 *
 *   NAME     "_acme-challenge.example.org"
 *   VALUE    what its TXT record shall be
 *   ACTION   "add", or "remove"
 *
 * are in the command's environment. The command has two minutes; when it ends,
 * the record must be visible to others.
 *
 * Thread: its owner's; waits for the command.
 * Owns:   the process, which ends with this one.
 */
#ifndef ACME_ACME_HOOK_H
#define ACME_ACME_HOOK_H

#include "base/bytes.h"

enum { ACME_HOOK_S = 120, ACME_HOOK_TEXT_MAX = 1024 };

struct acme_hook {
    int fd; /* -1: there is no command */
};

/* command: run by sh; NULL: none. Returns 0 or -errno. */
MUST_USE int acme_hook_open(struct acme_hook *hook, const char *command);

/* Returns the command's exit status, 128 + N if signal N killed it, or -errno:
 * -ENOENT if there is no command. */
MUST_USE int acme_hook_run(const struct acme_hook *hook, const char *action,
                           const char *name, const char *value);
void acme_hook_close(struct acme_hook *hook);

#endif
