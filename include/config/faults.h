/*
 * faults - collects all errors in a configuration, for one report.
 *
 * The first FAULTS_MAX faults are kept, in the order of their lines; further
 * ones are only counted.
 *
 * Thread: the main thread's.
 * Owns:   the texts. The names of files are borrowed.
 */
#ifndef CONFIG_FAULTS_H
#define CONFIG_FAULTS_H

#include <stdio.h>

#include "base/texts.h"

enum { FAULTS_MAX = 1000, FAULT_BYTES_MAX = 512 };

struct fault {
    int line;
    const char *text;
};

/* A list of faults. In an empty list, all members but `file` and `files` are
 * zero. */
struct faults {
    const char *file; /* first file; NULL: only the command line was read */
    /* The names of all files, numbered as in config_line.h. NULL if `file` is
     * the only one. */
    const struct texts *files;
    const char *kind; /* a word before each text, as "warning: "; or NULL */
    struct fault items[FAULTS_MAX];
    size_t count; /* number of all faults; `items` has only the first */
    struct arena arena;
};

/* Adds a fault. `line` is its line (config_line.h); 0 means the first file as a
 * whole, and a negative number the command line (enum options_origin). Long
 * texts are cut; bytes that could move a terminal's cursor become '?'. */
__attribute__((format(printf, 3, 4))) void faults_add(struct faults *faults,
                                                      int line,
                                                      const char *format, ...);

enum { FAULT_POSITION_MAX = 200 };

/* Writes the name of a line, for a message about the line `from`: "line 5" if
 * both lines are in the same file, else "FILE:5". */
void faults_name_line(const struct faults *faults, int line, int from,
                      char name_out[FAULT_POSITION_MAX + 1]);

/* Prints a line for each fault: "FILE:LINE: text" or "sprintd: text". */
void faults_print(const struct faults *faults, FILE *to);

void faults_fini(struct faults *faults);

#endif
