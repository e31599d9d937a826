/*
 * folder_files - checks files of known names in a folder before a library, such
 * as a database's, opens them without checks.
 *
 * Thread: any.
 */
#ifndef CONFINE_FOLDER_FILES_H
#define CONFINE_FOLDER_FILES_H

#include <stdbool.h>

struct folder_files_fault {
    const char *name; /* name of the file at fault */
    const char *text; /* what is wrong, and what to do */
    int status;       /* exit status */
};

/* names, ended by NULL, are files in folder, a descriptor or AT_FDCWD. A
 * missing file is no fault. is_roots: root would open them, in a folder that
 * only root can write in; then each must be root's alone, too. False: fault_out
 * says why. */
bool folder_files_check(int folder, const char *const *names, bool is_roots,
                        struct folder_files_fault *fault_out);

#endif
