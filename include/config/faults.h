/*
 * faults - collects all that is wrong with a configuration, for one report.
 *
 * The first FAULTS_MAX are kept, in the order of their lines; the others are
 * only counted.
 *
 * Thread: the main thread's.
 * Owns:   the texts; names of files are borrowed.
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

/* An empty list is zeroed, except for file. */
struct faults {
    const char *file; /* NULL: only the command line */
    /* The names of all files, as config_line.h numbers them; NULL: only
     * file. */
    const struct texts *files;
    const char *kind; /* put before each text, as "warning: "; or NULL */
    struct fault items[FAULTS_MAX];
    size_t count; /* all faults; items has at most FAULTS_MAX of them */
    struct arena arena;
};

/* Adds a fault. line: in the files (config_line.h); 0: the first file as a
 * whole; below 0: the command line, as in enum options_origin. Long texts are
 * cut; bytes that could move a terminal's cursor become '?'. */
__attribute__((format(printf, 3, 4))) void faults_add(struct faults *faults,
                                                      int line,
                                                      const char *format, ...);

enum { FAULT_POSITION_MAX = 200 };

/* Writes the name of a line for a message about line from: "line 5" or
 * "FILE:5". */
void faults_name_line(const struct faults *faults, int line, int from,
                      char name_out[FAULT_POSITION_MAX + 1]);

/* Prints a line for each fault: "FILE:LINE: text" or "sprintd: text". */
void faults_print(const struct faults *faults, FILE *to);

void faults_fini(struct faults *faults);

#endif
