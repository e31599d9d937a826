/*
 * root_files - opens and creates files as root, for a server that will change
 * its user.
 *
 * A server started as root with --user uses files as that user from
 * identity_begin() on: the kernel then refuses whatever the user has no right
 * to, wherever symlinks lead. Some folders, such as /run and /var/log, belong
 * to root. In such a folder, root acts for the user, provided that nobody but
 * root can redirect the path (safe_path.h):
 *
 *   FILE_READ            a regular file with a single name (no hard links) that
 *                        belongs to root or the user
 *   FILE_APPEND          the same, or a device or a FIFO; a missing file is
 *                        created and given to the user
 *   FILE_PID             as FILE_READ; a missing file is created, and is root's
 *   FILE_PRIVATE         as FILE_READ
 *   FILE_LISTEN          creates the socket, which stays root's
 *   FILE_LISTEN_PRIVATE  creates the socket and gives it to the user
 *   FILE_REMOVE          a socket or a regular file
 *
 * Only files that root has just created itself (O_EXCL) change their owner.
 *
 * Thread: the main thread, before there is another: each thread has its own
 *         file system ids.
 */
#ifndef CONFINE_ROOT_FILES_H
#define CONFINE_ROOT_FILES_H

#include "base/file_broker.h"
#include "confine/identity.h"

/* From now until root_files_end(), this module is the broker that
 * file_broker_ask() asks. Does nothing unless identity_begin() has changed the
 * user. */
void root_files_begin(const struct identity *identity);
void root_files_end(void);

/* Creates a folder (0700) that belongs to the user. Returns 0, -EEXIST if it
 * exists already, or another -errno. */
MUST_USE int root_files_make_folder(const struct identity *identity,
                                    const char *path);

/* Creates the folder, and first all missing folders above it. Folders above it
 * that only root can create stay root's. There is no result: whoever uses the
 * folder later finds out whether it exists. */
void root_files_make_folders(const struct identity *identity,
                             const char *folder);

/* Checks whether a server that stays root may create the folder. The existing
 * part of its path is judged as by root_files_check_folder(), except that the
 * folder may lie directly in a folder like /tmp. Returns 0 or -errno. */
MUST_USE int root_files_check_way(const char *folder);

/* Checks whether a server that stays root may keep files in an existing folder.
 * Returns 0 if it may. Returns -EPERM if users other than root can write in the
 * folder or in one above it, since they could redirect root. Returns another
 * -errno on failure. A process without root's rights gets 0, since the kernel
 * limits it already. */
MUST_USE int root_files_check_folder(const char *folder);

/* Checks the path, creates the folder if it is missing, and checks the folder.
 * Returns 0 if files may be kept there; or -errno, for which
 * root_files_explain() returns the reason and what to do. */
MUST_USE int root_files_settle_folder(const struct identity *identity,
                                      const char *folder);
const char *root_files_explain(int err);

#endif
