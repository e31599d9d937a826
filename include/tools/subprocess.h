/*
 * subprocess - runs another program, and waits for its end.
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_SUBPROCESS_H
#define TOOLS_SUBPROCESS_H

#include "base/bytes.h"

/* Runs a program. `arguments` is a list that ends with NULL and begins with the
 * program's name, which is looked for in PATH. `folder` is a descriptor of the
 * program's working directory, or -1 for this process's. The program reads the
 * text `input`. Its standard output is discarded; if is_quiet, its standard
 * error, too. Returns the program's exit status, 128 plus the number of the
 * signal that ended the program, or -errno. */
MUST_USE int subprocess_run(const char *const arguments[], int folder,
                            struct bytes input, bool is_quiet);

#endif
