/*
 * folder_files - checks files with known names in a folder, before a library,
 * such as a database's, opens them without checks of its own.
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

/* Checks the files with these names (NULL ends the list) in `folder`, which is
 * a descriptor or AT_FDCWD. A missing file is no fault. `is_roots` means that
 * root would open the files, in a folder where only root can write: then each
 * file must also belong to root, and be writable only for root. Returns false,
 * with the reason in fault_out, if a file has a fault. */
bool folder_files_check(int folder, const char *const *names, bool is_roots,
                        struct folder_files_fault *fault_out);

#endif
