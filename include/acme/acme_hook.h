/*
 * acme_hook - runs the operator's command that adds records to the DNS and
 * removes them (acme-dns-command). The sandbox forbids starting programs, so a
 * process that runs the command is forked before the sandbox is entered.
 *
 * The command gets in its environment:
 *
 *   NAME     the record's name, such as "_acme-challenge.example.org"
 *   VALUE    the text of its TXT record
 *   ACTION   "add" or "remove"
 *
 * The command has two minutes. When it ends, the record must be visible to
 * others.
 *
 * Thread: the owner's; functions wait for the command.
 * Owns:   the forked process, which ends with this one.
 */
#ifndef ACME_ACME_HOOK_H
#define ACME_ACME_HOOK_H

#include "base/bytes.h"

enum { ACME_HOOK_S = 120, ACME_HOOK_TEXT_MAX = 1024 };

struct acme_hook {
    int fd; /* -1: there is no command */
};

/* Forks the process that will run `command` by sh; NULL forks nothing. Returns
 * 0 or -errno. */
MUST_USE int acme_hook_open(struct acme_hook *hook, const char *command);

/* Runs the command. Returns its exit status, or 128 + N if signal N killed it.
 * Returns -ENOENT if acme_hook_open() got no command, or another -errno. */
MUST_USE int acme_hook_run(const struct acme_hook *hook, const char *action,
                           const char *name, const char *value);
void acme_hook_close(struct acme_hook *hook);

#endif
