/*
 * subprocess - runs another program, and waits for its end.
 *
 * Thread: the main one, in a process that does nothing else.
 */
#ifndef TOOLS_SUBPROCESS_H
#define TOOLS_SUBPROCESS_H

#include "base/bytes.h"

/* What arguments, ended by NULL, begin with is looked for in PATH. It works in
 * folder, a descriptor; -1: where this process does. It reads input, and what
 * it prints is lost; is_quiet: its complaints too. Its exit status; 128 + N
 * after signal N; -ENOENT: there is no such program; or another -errno. */
MUST_USE int subprocess_run(const char *const arguments[], int folder,
                            struct bytes input, bool is_quiet);

#endif
