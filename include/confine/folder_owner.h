/*
 * folder_owner - as whom root works in a folder that may be another user's: as
 * its owner.
 *
 * The folder's owner can put symlinks in the place of any file in it, and a
 * user who can write on the way there leads root to a folder of their choice.
 * So nobody but root and the owner may have a say in which folder it is
 * (safe_path.h), and root becomes the owner before it looks into it.
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   nothing; changes the process.
 */
#ifndef CONFINE_FOLDER_OWNER_H
#define CONFINE_FOLDER_OWNER_H

#include "confine/safe_path.h"

/* Opens folder (O_PATH) by its way from the root on: who owns what is above the
 * working directory has a say, too. A descriptor; -EPERM: others than root and
 * its owner could lead it elsewhere; or another -errno. *st_out is the
 * folder's, once it has been found. */
MUST_USE int folder_owner_open(const char *folder, struct stat *st_out,
                               struct safe_folder *about_out);

/* Makes root that user, for good, with the groups that user has. EX_OK, or a
 * status after one line on stderr: then the process must not go on. */
MUST_USE int folder_owner_become(uid_t uid);

#endif
