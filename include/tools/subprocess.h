/*
 * subprocess - runs another program, and waits for its end.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_SUBPROCESS_H
#define TOOLS_SUBPROCESS_H

#include "base/bytes.h"

/* Runs arguments, ended by NULL; the program is looked for in PATH. folder:
 * descriptor of its working directory; -1: this process's. It reads input; its
 * output is discarded, if is_quiet also its standard error. Returns its exit
 * status; */
MUST_USE int subprocess_run(const char *const arguments[], int folder,
                            struct bytes input, bool is_quiet);

#endif
