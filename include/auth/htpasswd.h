/*
 * htpasswd - users and their passwords, hashed, from a file.
 *
 *   # comment
 *   user:$2y$10$...            bcrypt ($2y$, $2b$, $2a$)
 *   other:$6$salt$...          SHA-crypt ($5$, $6$)
 *
 * Other hashes are refused, and the message names the line: those that are
 * quick to guess ($apr1$, {SHA}, plain text), and those that would keep a
 * thread busy for minutes. When the file changes, its users replace all old
 * ones; if the new file has a fault, all old users stay.
 *
 * A check takes tens of milliseconds, as its hash intends, and takes the same
 * time for unknown users. Workers leave checks to password_check.
 *
 * Thread: any. htpasswd_refresh() may wait for the file system, and
 *         htpasswd_check() computes for a long time; the other functions return
 *         at once.
 * Owns:   the users. References are counted, since a check may outlast the
 *         configuration that asked for it.
 */
#ifndef AUTH_HTPASSWD_H
#define AUTH_HTPASSWD_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    HTPASSWD_USERS_MAX = 10000,
    HTPASSWD_NAME_BYTES_MAX = 255,
    /* The limit exists because SHA-crypt's time grows with the square of the
     * password's length. bcrypt uses only the first 72 bytes. */
    HTPASSWD_PASSWORD_BYTES_MAX = 255,
    HTPASSWD_BCRYPT_COST_MAX = 14, /* a hash takes about a second */
    /* rounds of SHA-crypt; a hash takes about a second */
    HTPASSWD_ROUNDS_MAX = 1000000,
    HTPASSWD_LOOK_MS = 1000 /* time between two looks for changes */
};

/* What is wrong with a file, as text for people. */
struct htpasswd_fault {
    unsigned line; /* 0: the fault is in no particular line */
    const char *text;
};

struct htpasswd; /* opaque */

/* Reads the file. Returns 0, -EINVAL after setting *fault_out, or another
 * -errno. */
MUST_USE int htpasswd_open(struct htpasswd **htpasswd_out, const char *path,
                           struct htpasswd_fault *fault_out);

struct htpasswd *htpasswd_acquire(struct htpasswd *htpasswd);
void htpasswd_release(struct htpasswd **htpasswd_ref);

/* Returns a number for the file's current content. Different contents never
 * have the same number. */
uint64_t htpasswd_generation(const struct htpasswd *htpasswd);

/* Returns true if the file should be checked for changes now. If several
 * threads ask, only one gets true. This thread must call htpasswd_refresh(), or
 * let another thread call it. */
MUST_USE bool htpasswd_is_due(struct htpasswd *htpasswd, uint64_t now_ms);

/* Reads the file again if it has changed. Logs that the users were replaced, or
 * what is wrong with the file. */
void htpasswd_refresh(struct htpasswd *htpasswd);

/* Whether `user` exists and has that password. The answer is false for every
 * name or password that contains NUL, and for every password longer than
 * HTPASSWD_PASSWORD_BYTES_MAX bytes. */
MUST_USE bool htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                             struct bytes password);

#endif
