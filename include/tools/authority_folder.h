/*
 * authority_folder - checks the folder of an authority that shall be trusted:
 * its owner, and who can change the folder's content.
 *
 * Whoever can change the folder can pose as any web site to those who trust the
 * authority. So only root and the folder's owner may be able to change it
 * (safe_path.h). The owner must be root, the user of this process, the user who
 * called sudo, or the user named on the command line. The owner matters because
 * a folder that the command line does not name comes from the environment,
 * which may be another user's (sudo, su).
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   nothing.
 */
#ifndef TOOLS_AUTHORITY_FOLDER_H
#define TOOLS_AUTHORITY_FOLDER_H

#include "process/certificates/local_authority.h"

struct authority_folder {
    const char *path;
    bool is_named;     /* given on the command line */
    const char *owner; /* another allowed owner: a name or number, or NULL */
};

/* Opens the folder and sets *owner_out to the folder's owner. Returns a
 * descriptor for finding entries in the folder, -EPERM when users other than
 * root and the owner can change the folder, or another -errno. */
MUST_USE int authority_folder_open(const struct authority_folder *folder,
                                   uid_t *owner_out,
                                   struct local_authority_fault *fault);

/* Whether `owner` is the user who runs this program, or root. */
bool authority_folder_is_own(uid_t owner);

#endif
