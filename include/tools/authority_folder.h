/*
 * authority_folder - the folder of an authority that shall be trusted: whose it
 * is, and who else has a say in what lies there.
 *
 * Anybody who has can be any web site for those who trust the authority. So it
 * must be nobody but root and the folder's owner (safe_path.h); and the owner
 * is root, the user of this process or the one it was started for by sudo,
 * unless that user is named, too. Where the folder is not, the environment has
 * said where it is, which may be another user's (sudo, su).
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   nothing.
 */
#ifndef TOOLS_AUTHORITY_FOLDER_H
#define TOOLS_AUTHORITY_FOLDER_H

#include "process/certificates/local_authority.h"

struct authority_folder {
    const char *path;
    bool is_named; /* on the command line */
    const char
        *owner; /* whose it may be, besides: a name or a number, or NULL */
};

/* A descriptor, to find entries in, and in *owner_out whose it is; -EPERM:
 * others have a say; or another -errno. */
MUST_USE int authority_folder_open(const struct authority_folder *folder,
                                   uid_t *owner_out,
                                   struct local_authority_fault *fault);

/* Whether the folder's owner is the user who runs this, or root. */
bool authority_folder_is_own(uid_t owner);

#endif
