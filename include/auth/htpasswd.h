/*
 * htpasswd - users and their passwords, hashed, from a file.
 *
 *   # comment
 *   user:$2y$10$...            bcrypt ($2y$, $2b$, $2a$)
 *   other:$6$salt$...          SHA-crypt ($5$, $6$)
 *
 * Anything else is refused, with its line: hashes that are quick to guess
 * ($apr1$, {SHA}, plain text), and those that take a thread for minutes. A
 * change of the file is taken over as a whole, or, when there is a fault in
 * it, not at all.
 *
 * Checking takes as long as the hash is made to take: tens of milliseconds,
 * and as long for users that are not there as for those that are. It is no
 * work for a worker: see password_check.
 *
 * Thread: any. htpasswd_refresh() and htpasswd_check() may wait for the file
 *         system and take their time; the others never do.
 * Owns:   the users. Counted, since a check may outlast the configuration
 *         that asked for it.
 */
#ifndef AUTH_HTPASSWD_H
#define AUTH_HTPASSWD_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    HTPASSWD_USERS_MAX = 10000,
    HTPASSWD_NAME_BYTES_MAX = 255,
    /* SHA-crypt takes time by the square of it. bcrypt looks at 72. */
    HTPASSWD_PASSWORD_BYTES_MAX = 255,
    HTPASSWD_BCRYPT_COST_MAX = 14, /* about a second */
    HTPASSWD_ROUNDS_MAX = 1000000, /* of SHA-crypt, as well */
    HTPASSWD_LOOK_MS = 1000        /* between two looks at the file */
};

/* What is wrong with a file, for people. */
struct htpasswd_fault {
    unsigned line; /* 0: with no line in particular */
    const char *text;
};

struct htpasswd; /* opaque */

/* Reads the file. 0, or -EINVAL with *fault_out set, or -errno. */
MUST_USE int htpasswd_open(struct htpasswd **htpasswd_out, const char *path,
                           struct htpasswd_fault *fault_out);

struct htpasswd *htpasswd_acquire(struct htpasswd *htpasswd);
void htpasswd_release(struct htpasswd **htpasswd_ref);

/* A number that stands for this content of this file alone, and is never used
 * twice. */
uint64_t htpasswd_generation(const struct htpasswd *htpasswd);

/* Whether it is time to look at the file. True for one caller each time, which
 * has to see to it that htpasswd_refresh() is called. */
MUST_USE bool htpasswd_is_due(struct htpasswd *htpasswd, uint64_t now_ms);

/* Reads the file anew if it has changed; says so, or what is wrong with it,
 * in the log. */
void htpasswd_refresh(struct htpasswd *htpasswd);

/* Whether user has that password: neither with NUL in it; not, when longer
 * than the above. */
MUST_USE bool htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                             struct bytes password);

#endif
