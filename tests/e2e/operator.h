/*
 * operator - what somebody who runs a server has at hand: `sprintd ctl`, its
 * pid file, and what it tells a service manager.
 *
 * Thread: the test's.
 */
#ifndef E2E_OPERATOR_H
#define E2E_OPERATOR_H

#include "harness.h"

const char *control_path(void); /* in folder() */
const char *pid_path(void);

/* What an upgrade leaves behind becomes the test's child, so that none of them
 * outlives it: to be called by the group's set-up; and after each test. */
void operator_adopt(void);
int operator_after_test(void **state);
/* A suite's begin: the harness, that, and a canary. */
int operator_begin(void **state);

/* Runs `sprintd ctl --control control_path() command`; its status. */
int ctl(const char *command, struct outcome *outcome);
/* The same, where nothing but success will do; what it printed. */
const char *ctl_ok(const char *command);

pid_t pid_in_file(void);      /* 0: no file, or nothing in it */
bool process_ends(pid_t pid); /* one of those adopted, in time */
bool server_has_said(const struct server *server, const char *part);

/* Listens where a service manager would, and names that in the environment of
 * what is started from now on. */
int manager_open(void);
/* Reads a message, one that has that in it; false: none came in time. */
bool manager_hears(int manager, const char *part, char *message, size_t size);
void manager_close(int manager);

#endif
