/*
 * root_files - what root does with files for a server that will be another.
 *
 * Started as root with --user, the server uses files as that user from the
 * moment it knows whom (identity_begin()): the kernel then refuses whatever
 * that user may not have, wherever symlinks lead and whoever put them there.
 * Some places are root's, /run and /var/log among them; there, and only where
 * nobody but root can lead the path elsewhere (safe_path.h), root does it:
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
 * Only what has just been made, and could not be there before (O_EXCL), gets
 * another owner.
 *
 * Thread: the main thread, before there is another: file system ids are each
 *         thread's own.
 */
#ifndef CONFINE_ROOT_FILES_H
#define CONFINE_ROOT_FILES_H

#include "base/file_broker.h"
#include "confine/identity.h"

/* From this call until root_files_end() file_broker_ask() asks this module.
 * Does nothing unless identity_begin() has changed something. */
void root_files_begin(const struct identity *identity);
void root_files_end(void);

/* Makes a folder (0700) that is the user's. 0 or -errno; -EEXIST. */
MUST_USE int root_files_make_folder(const struct identity *identity,
                                    const char *path);

/* Makes the folder and all that is missing above it, which stays root's where
 * it is root that has to make it. Whether it is there is seen when it is
 * used. */
void root_files_make_folders(const struct identity *identity,
                             const char *folder);

/* Whether root, where the server stays that, may make a folder: what is there
 * of the way to it is judged as below, /tmp and the like aside. */
MUST_USE int root_files_check_way(const char *folder);

/* Whether root, where the server stays that, may keep things in a folder that
 * is there: 0; -EPERM: others than root can write there or on the way, and so
 * lead root elsewhere; or another -errno. A user who is not root is judged
 * by the kernel. */
MUST_USE int root_files_check_folder(const char *folder);

/* Does all of that: makes the folder, if it is not there and the way to it is
 * safe. 0: it is one to keep things in; or -errno, of which
 * root_files_explain() says why and what to do. */
MUST_USE int root_files_settle_folder(const struct identity *identity,
                                      const char *folder);
const char *root_files_explain(int err);

#endif
