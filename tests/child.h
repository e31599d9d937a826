/*
 * child - a process of the test's own.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/types.h>

/* As fork(), of a child that does not outlive the test, whatever becomes of it.
 * Where there is no child, the test fails. */
pid_t child_fork(void);

#endif
