/*
 * acme_state - the files kept between runs, below STATE/acme
 * (config/certificates/managed.h):
 *
 *   live/NAME.pem          a certificate, its chain and its key, for the server
 *   live/NAME.told         what the server shows about it (managed_told.h)
 *   live/challenge/        answers to current challenges
 *   orders/NAME            the state of a certificate (acme_record.h)
 *   orders/NAME.key        the key of the current order
 *   accounts/ID/           one for each authority: key.pem and url
 *   lock                   names the process that is working
 *
 * Only the folder's owner can use it, with one exception: if the folder has
 * mode 2750, its group may read the files in live, for a server that runs as
 * another user. A file gets its final name only when it is complete and on
 * disk. So a process that dies at any point leaves nothing broken, and the next
 * process continues its work.
 *
 * Thread: the owner's; functions wait for the file system.
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
    /* A lock of another machine is void when its owner has not renewed it for
     * this time. */
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
    int fd; /* the folder at `path` */
    int lock;
    uid_t owner;
    bool is_shared; /* the group may read the files in live */
    int64_t locked_s;
    char mark[96]; /* text of this process's lock */
};

enum { ACME_STATE_FAULT_MAX = PATH_MAX + 128 };

/* Opens the folder, and creates missing parts. Returns 0; or -errno with the
 * reason in `fault`, and then acme_state_close() is not needed. */
MUST_USE int acme_state_open(struct acme_state *state, const char *path,
                             char fault[ACME_STATE_FAULT_MAX]);
void acme_state_close(struct acme_state *state);

/* Whether the opened folder still has its name, and was not removed or
 * replaced. */
bool acme_state_is_there(const struct acme_state *state);

/* Read, write and remove a file of one folder; `name` has no slash. Reading and
 * writing return 0 or -errno. The caller uses small_file_fini() to free what
 * was read. */
MUST_USE int acme_state_read(const struct acme_state *state,
                             enum acme_folder folder, const char *name,
                             struct small_file *file);
MUST_USE int acme_state_write(const struct acme_state *state,
                              enum acme_folder folder, const char *name,
                              struct bytes text);
void acme_state_remove(const struct acme_state *state, enum acme_folder folder,
                       const char *name);

/* Read and write a file of an account's folder, which is created if it is
 * missing. Both functions return 0 or -errno. */
MUST_USE int acme_state_read_account(const struct acme_state *state,
                                     const char *id, const char *name,
                                     struct small_file *file);
MUST_USE int acme_state_write_account(const struct acme_state *state,
                                      const char *id, const char *name,
                                      struct bytes text);
/* Renames the file `name` of an account's folder to `to`; an older file `to` is
 * replaced. Returns 0 or -errno. */
MUST_USE int acme_state_promote(const struct acme_state *state, const char *id,
                                const char *name, const char *to);
/* Renames a file of an account's folder to NAME.damaged, so that it is not
 * lost. */
void acme_state_set_aside(const struct acme_state *state, const char *id,
                          const char *name);

/* Removes the challenges and unfinished files that killed processes left; those
 * of accounts after ten minutes, since they may still be written. */
void acme_state_sweep(const struct acme_state *state);

/* Takes the lock, or renews it. Returns 0, -EAGAIN if another process has the
 * lock, or another -errno. */
MUST_USE int acme_state_lock(struct acme_state *state, int64_t now_s);

#endif
