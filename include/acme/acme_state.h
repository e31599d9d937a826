/*
 * acme_state - the files kept between runs, below STATE/acme
 * (config/certificates/managed.h):
 *
 *   live/NAME.pem          a certificate, its chain and its key, for the server
 *   live/NAME.told         what the server shows of it (managed_told.h)
 *   live/challenge/        answers to challenges under way
 *   orders/NAME            the state of a certificate (acme_record.h)
 *   orders/NAME.key        the key of an order that is under way
 *   accounts/ID/           one for each authority: key.pem, and url
 *   lock                   which process is at work
 *
 * Only its owner can use the folder. With mode 2750, the server runs as another
 * user of the folder's group, and may read what is in live. A file gets its
 * name when it is whole and on disk, so a process that dies at any point leaves
 * nothing broken; the next one finds what was begun, and goes on with it.
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
    /* Age at which a lock is void if its owner, on another machine, is
     * silent. */
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
    int fd; /* the folder itself */
    int lock;
    uid_t owner;
    bool is_shared; /* its group may read what is in live */
    int64_t locked_s;
    char mark[96]; /* text of the lock while this process holds it */
};

enum { ACME_STATE_FAULT_MAX = PATH_MAX + 128 };

/* Opens the folder, and makes what is missing. Returns 0, or -errno with the
 * reason in fault and nothing to close. */
MUST_USE int acme_state_open(struct acme_state *state, const char *path,
                             char fault[ACME_STATE_FAULT_MAX]);
void acme_state_close(struct acme_state *state);

/* Whether the opened folder still has its name: it was not removed or
 * replaced. */
bool acme_state_is_there(const struct acme_state *state);

/* Read, write and remove files of one folder; name has no slash. They return 0
 * or -errno. The caller frees what was read by small_file_fini(). */
MUST_USE int acme_state_read(const struct acme_state *state,
                             enum acme_folder folder, const char *name,
                             struct small_file *file);
MUST_USE int acme_state_write(const struct acme_state *state,
                              enum acme_folder folder, const char *name,
                              struct bytes text);
void acme_state_remove(const struct acme_state *state, enum acme_folder folder,
                       const char *name);

/* The same for an account's folder, which is made if it is missing. They return
 * 0 or -errno. */
MUST_USE int acme_state_read_account(const struct acme_state *state,
                                     const char *id, const char *name,
                                     struct small_file *file);
MUST_USE int acme_state_write_account(const struct acme_state *state,
                                      const char *id, const char *name,
                                      struct bytes text);
/* Renames a file, which replaces another. 0 or -errno. */
MUST_USE int acme_state_promote(const struct acme_state *state, const char *id,
                                const char *name, const char *to);
/* Renames a file to NAME.damaged, so that it is not lost. */
void acme_state_set_aside(const struct acme_state *state, const char *id,
                          const char *name);

/* Removes what killed processes have left: challenges, and unfinished files. */
void acme_state_sweep(const struct acme_state *state);

/* Takes the lock, or renews it. Returns 0; -EAGAIN: another process has it; or
 * another -errno. */
MUST_USE int acme_state_lock(struct acme_state *state, int64_t now_s);

#endif
