/*
 * faults - what is wrong with a configuration: all of it, for one report.
 *
 * The first FAULTS_MAX are kept, in the order of their lines; of the others
 * only how many there are.
 *
 * Thread: the main thread's.
 * Owns:   the texts; of the file's name nothing.
 */
#ifndef SERVER_FAULTS_H
#define SERVER_FAULTS_H

#include <stdio.h>

#include "base/arena.h"

enum { FAULTS_MAX = 1000, FAULT_BYTES_MAX = 512 };

struct fault {
    int line;
    const char *text;
};

/* Zeroed, or with a file, is empty. */
struct faults {
    const char *file; /* NULL: there is the command line only */
    struct fault items[FAULTS_MAX];
    size_t count; /* of all; items has no more than FAULTS_MAX */
    struct arena arena;
};

/* line: of the file; 0: the file as a whole; below: the command line, as
 * enum options_origin has it. A longer text is cut; what could move a
 * terminal's cursor becomes '?'. */
__attribute__((format(printf, 3, 4))) void faults_add(struct faults *faults,
                                                      int line,
                                                      const char *format, ...);

/* One line each: "FILE:LINE: text" or "sprintd: text". */
void faults_print(const struct faults *faults, FILE *to);

void faults_fini(struct faults *faults);

#endif
