/*
 * folder_owner - lets root work in another user's folder by becoming that user.
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

/* Opens `folder` (O_PATH), after checking its whole path from the root on. A
 * relative path is checked together with that of the working directory. Returns
 * a descriptor. Returns -EPERM if users other than root and the folder's owner
 * could redirect the path, or another -errno. Once the folder is found, *st_out
 * describes it, even if an error is returned. */
MUST_USE int folder_owner_open(const char *folder, struct stat *st_out,
                               struct safe_folder *about_out);

/* Lets the process, which is root, become that user for good, with the user's
 * groups. Returns EX_OK; or, after one line on stderr, the status with which
 * the process must exit. */
MUST_USE int folder_owner_become(uid_t uid);

#endif
