/*
 * folder_files - whether files of known names in a folder may be opened. That
 * is asked before code opens them which does not ask: the library of a
 * database, above all.
 *
 * Thread: any.
 */
#ifndef CONFINE_FOLDER_FILES_H
#define CONFINE_FOLDER_FILES_H

#include <stdbool.h>

struct folder_files_fault {
    const char *name; /* of the file */
    const char *text; /* what is wrong, and what to do */
    int status;       /* to end with */
};

/* names, ended by NULL, of files in folder, a descriptor or AT_FDCWD. What is
 * not there is no fault. is_roots: root would open them in a folder that only
 * root can write in; then they are root's alone, too. False: fault_out says
 * why. */
bool folder_files_check(int folder, const char *const *names, bool is_roots,
                        struct folder_files_fault *fault_out);

#endif
