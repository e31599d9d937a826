/*
 * root_files - opens and makes files as root for a server that will change its
 * user.
 *
 * A server started as root with --user uses files as that user from
 * identity_begin() on: the kernel then refuses whatever that user may not have,
 * wherever symlinks lead. Some places, such as /run and /var/log, are root's.
 * There, and only if nobody but root can redirect the path (safe_path.h), root
 * does it:
 *
 *   FILE_READ            a regular file with one name, of root's or the user's
 *   FILE_APPEND          the same, or a device or a FIFO; one that is not there
 *                        is made, and is the user's
 *   FILE_PID             the same, but what is made stays root's
 *   FILE_PRIVATE         a regular file with one name, of root's or the user's
 *   FILE_LISTEN          makes the socket, which stays root's
 *   FILE_LISTEN_PRIVATE  makes the socket, which is the user's
 *   FILE_REMOVE          a socket or a regular file
 *
 * Only what root has just made itself (O_EXCL) is given to another owner.
 *
 * Thread: the main thread, before there is another: each thread has its own
 *         file system ids.
 */
#ifndef CONFINE_ROOT_FILES_H
#define CONFINE_ROOT_FILES_H

#include "base/file_broker.h"
#include "confine/identity.h"

/* From now until root_files_end(), file_broker_ask() asks this module. Does
 * nothing unless identity_begin() has changed the user. */
void root_files_begin(const struct identity *identity);
void root_files_end(void);

/* Makes a folder (0700) owned by the user. 0 or -errno; -EEXIST: it exists. */
MUST_USE int root_files_make_folder(const struct identity *identity,
                                    const char *path);

/* Makes the folder and all that is missing above it; what only root can make
 * stays root's. There is no result: later uses find out whether it is there. */
void root_files_make_folders(const struct identity *identity,
                             const char *folder);

/* Whether root, if the server stays root, may make a folder: the existing part
 * of its path is judged as below, but /tmp and the like are accepted. */
MUST_USE int root_files_check_way(const char *folder);

/* Whether root, if the server stays root, may keep files in an existing folder.
 * 0; -EPERM: others than root can write there or on the way, and so redirect
 * root; or another -errno. For other users, the kernel judges, and the result
 * is 0. */
MUST_USE int root_files_check_folder(const char *folder);

/* Checks the path, makes the folder if it is missing, and checks it. Returns 0
 * if files may be kept there, or -errno, for which root_files_explain() has the
 * reason and what to do. */
MUST_USE int root_files_settle_folder(const struct identity *identity,
                                      const char *folder);
const char *root_files_explain(int err);

#endif
