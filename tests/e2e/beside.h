/*
 * beside - processes beside the test: one that kills, and one that answers.
 *
 * Each ends with the test at the latest. Thread: the test's, which has no
 * other.
 */
#ifndef E2E_BESIDE_H
#define E2E_BESIDE_H

#include "harness.h"

/* Kills a process after that time, and ends: to be waited for. */
pid_t kill_after_us(pid_t pid, unsigned us);

/* Accepts connections at a free port, and answers one after the other by
 * answer(), which does not close them; until it is killed. */
pid_t serve_beside(unsigned *port_out, void (*answer)(int fd));

#endif
