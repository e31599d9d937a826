#include "confine/folder_files.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sysexits.h>

static const struct folder_files_fault irregular = {
    .text = "that is no regular file", .status = EX_DATAERR};

static const struct folder_files_fault foreign = {
    .text = "it is another user's, in a folder of root's: give both to one of "
            "them",
    .status = EX_NOPERM};

static const struct folder_files_fault writable = {
    .text = "others than root can write it, and may have: look at what it "
            "holds, and chmod 600 it",
    .status = EX_NOPERM};

/* Returns what is wrong with a file of the folder; NULL if nothing is. */
static const struct folder_files_fault *find_fault(int folder, const char *name,
                                                   bool is_roots)
{
    struct stat st;

    if (fstatat(folder, name, &st, is_roots ? AT_SYMLINK_NOFOLLOW : 0) == -1)
        return NULL; /* whoever opens a missing file gets the error */
    if (!S_ISREG(st.st_mode))
        return &irregular;
    if (is_roots && st.st_uid != 0)
        return &foreign;
    return is_roots && (st.st_mode & (S_IWGRP | S_IWOTH)) ? &writable : NULL;
}

bool folder_files_check(int folder, const char *const *names, bool is_roots,
                        struct folder_files_fault *fault_out)
{
    for (; *names; names++) {
        const struct folder_files_fault *fault = find_fault(folder, *names,
                                                            is_roots);

        if (!fault)
            continue;
        *fault_out = *fault;
        fault_out->name = *names;
        return false;
    }
    return true;
}
