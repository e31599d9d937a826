/*
 * folder_owner - makes root work in another user's folder as that user.
 *
 * The folder's owner can replace any file in it by a symlink, and a user who
 * can write in a folder above it can lead root to another folder. So only root
 * and the owner may be able to change where the path leads (safe_path.h), and
 * root becomes the owner before it looks into the folder.
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef CONFINE_FOLDER_OWNER_H
#define CONFINE_FOLDER_OWNER_H

#include "confine/safe_path.h"

/* Opens folder (O_PATH), whose path is checked from the root on, with all that
 * is above the working directory. Returns a descriptor; -EPERM: others than
 * root and its owner could redirect the path; or another -errno. *st_out is the
 * folder's, once it has been found. */
MUST_USE int folder_owner_open(const char *folder, struct stat *st_out,
                               struct safe_folder *about_out);

/* Makes root that user for good, with that user's groups. Returns EX_OK, or an
 * exit status after one line on stderr: then the process must not go on. */
MUST_USE int folder_owner_become(uid_t uid);

#endif
