/*
 * faults - what is wrong with a configuration: all of it, for one report.
 *
 * The first FAULTS_MAX are kept, in the order of their lines; of the others
 * only how many there are.
 *
 * Thread: the main thread's.
 * Owns:   the texts; of the file's name nothing.
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

/* Zeroed, or with a file, is empty. */
struct faults {
    const char *file; /* NULL: there is the command line only */
    /* The files that lines come from, as config_line.h has them; NULL: file is
     * the only one. */
    const struct texts *files;
    const char *kind; /* in front of each text: "warning: "; NULL: nothing */
    struct fault items[FAULTS_MAX];
    size_t count; /* of all; items has no more than FAULTS_MAX */
    struct arena arena;
};

/* line: of the files (config_line.h); 0: the first as a whole; below: the
 * command line, as enum options_origin has it. A longer text is cut; what could
 * move a terminal's cursor becomes '?'. */
__attribute__((format(printf, 3, 4))) void faults_add(struct faults *faults,
                                                      int line,
                                                      const char *format, ...);

enum { FAULT_POSITION_MAX = 200 };

/* How a message on line from names another: "line 5", or "FILE:5". */
void faults_name_line(const struct faults *faults, int line, int from,
                      char name_out[FAULT_POSITION_MAX + 1]);

/* One line each: "FILE:LINE: text" or "sprintd: text". */
void faults_print(const struct faults *faults, FILE *to);

void faults_fini(struct faults *faults);

#endif
