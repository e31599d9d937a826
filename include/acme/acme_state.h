/*
 * acme_state - what is kept between runs, below STATE/acme
 * (config/certificates/managed.h):
 *
 *   live/NAME.pem          a certificate, its chain and its key, for the server
 *   live/NAME.told         what the server shows of it (managed_told.h)
 *   live/challenge/        what an authority asks the server for meanwhile
 *   orders/NAME            how a certificate stands (acme_record.h)
 *   orders/NAME.key        the key of an order that is under way
 *   accounts/ID/           with each authority: key.pem, and url
 *   lock                   who is at work
 *
 * The folder is its owner's alone; where its mode is 2750, the server is
 * another user, of the folder's group, who may read what is in live. A file
 * comes to its name when it is whole and on the disk, so that a process that
 * dies at any point leaves nothing broken; the next one finds what was begun,
 * and goes on with it.
 *
 * Thread: its owner's; waits for the file system.
 * Owns:   the descriptors.
 */
#ifndef ACME_ACME_STATE_H
#define ACME_ACME_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "io/small_file.h"

enum {
    ACME_FILE_MAX = 1 << 20,
    ACME_ID_MAX = 32,
    /* After so long a lock is void whose owner, on another machine, is silent.
     */
    ACME_LOCK_S = 300,
    ACME_LOCK_RENEW_S = 60
};

enum acme_folder {
    ACME_FOLDER_LIVE,
    ACME_FOLDER_CHALLENGES,
    ACME_FOLDER_ORDERS,
    ACME_FOLDER_ACCOUNTS,
    ACME_FOLDERS
};

struct acme_state {
    const char *path; /* borrowed */
    int fds[ACME_FOLDERS];
    int fd; /* of the folder itself */
    int lock;
    uid_t owner;
    bool is_shared; /* with a group, who reads what is live */
    int64_t locked_s;
    char mark[96]; /* what the lock says when it is this process's */
};

enum { ACME_STATE_FAULT_MAX = PATH_MAX + 128 };

/* Opens the folder, and makes what is missing. 0; or -errno, where fault says
 * why and there is nothing to close. */
MUST_USE int acme_state_open(struct acme_state *state, const char *path,
                             char fault[ACME_STATE_FAULT_MAX]);
void acme_state_close(struct acme_state *state);

/* Whether the folder that was opened still has its name: nobody has removed it,
 * or put another one in its place. */
bool acme_state_is_there(const struct acme_state *state);

/* Files of one of these folders; name has no slash. 0 or -errno. A text that
 * was read is given back by small_file_fini(). */
MUST_USE int acme_state_read(const struct acme_state *state,
                             enum acme_folder folder, const char *name,
                             struct small_file *file);
MUST_USE int acme_state_write(const struct acme_state *state,
                              enum acme_folder folder, const char *name,
                              struct bytes text);
void acme_state_remove(const struct acme_state *state, enum acme_folder folder,
                       const char *name);

/* The same for files of an account's folder, which is made when it is missing.
 * 0 or -errno. */
MUST_USE int acme_state_read_account(const struct acme_state *state,
                                     const char *id, const char *name,
                                     struct small_file *file);
MUST_USE int acme_state_write_account(const struct acme_state *state,
                                      const char *id, const char *name,
                                      struct bytes text);
/* Puts one file in the place of another. */
void acme_state_promote(const struct acme_state *state, const char *id,
                        const char *name, const char *to);
/* Takes a file out of the way, and does not lose it. */
void acme_state_set_aside(const struct acme_state *state, const char *id,
                          const char *name);

/* Takes away what is left of those who were killed: challenges, and files that
 * were not whole yet. */
void acme_state_sweep(const struct acme_state *state);

/* Makes this process the one that is at work, or lets it stay that. 0; -EAGAIN:
 * another is; or -errno. */
MUST_USE int acme_state_lock(struct acme_state *state, int64_t now_s);

#endif
