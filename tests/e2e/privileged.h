/*
 * privileged - folders of several users, for tests that root runs: what one of
 * them has must not become another's.
 *
 *   roots/    root's, for all to read      private/  root's alone
 *   theirs/   NOBODY's                     others/   OTHER's
 *
 * Thread: the test's.
 */
#ifndef E2E_PRIVILEGED_H
#define E2E_PRIVILEGED_H

#include "operator.h"

enum { NOBODY = 65534, OTHER = 12345, SOON_MS = 10000 };

/* For SUITE(): makes them, if root runs this; www has a canary, and private/www
 * an index of the secret. */
int privileged_begin(void **state);

const char *at(const char *name); /* its path, in folder() */

void make_folder(const char *name, uid_t owner);

/* What others would like to have, in roots/secret; its path. */
const char *make_secret(void);
/* It is there yet, and root's alone. */
void expect_secret(void);

/* A link of NOBODY's, in the place of what was there. */
void lead(const char *name, const char *target);

/* O_RDONLY, O_WRONLY or O_RDWR: how the process has it open. */
unsigned long access_of(pid_t pid, int fd);

/* Of the process's controlling terminal; 0: it has none. */
long terminal_of(pid_t pid);

/* Counts what the process has open of that file; whether any of it writes. */
unsigned count_open(pid_t pid, const char *path, bool *writes_out);

/* The number that a pid file holds. */
pid_t number_in(const char *path);

#endif
