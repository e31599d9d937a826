/*
 * htpasswd - users and their passwords, hashed, from a file.
 *
 *   # comment
 *   user:$2y$10$...            bcrypt ($2y$, $2b$, $2a$)
 *   other:$6$salt$...          SHA-crypt ($5$, $6$)
 *
 * Anything else is refused, and the line named: hashes that are quick to guess
 * ($apr1$, {SHA}, plain text), and those that would keep a thread busy for
 * minutes. A changed file replaces the old users as a whole, or, if it has a
 * fault, not at all.
 *
 * A check takes tens of milliseconds, as its hash intends, and as long for
 * unknown users as for known ones. Workers leave it to password_check.
 *
 * Thread: any. htpasswd_refresh() may wait for the file system, and
 *         htpasswd_check() computes for long; the others never do.
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
    /* The time of SHA-crypt grows with its square; bcrypt uses only 72. */
    HTPASSWD_PASSWORD_BYTES_MAX = 255,
    HTPASSWD_BCRYPT_COST_MAX = 14, /* takes about a second */
    HTPASSWD_ROUNDS_MAX = 1000000, /* SHA-crypt's; take about a second */
    HTPASSWD_LOOK_MS = 1000        /* between looks whether it changed */
};

/* What is wrong with a file, as text for people. */
struct htpasswd_fault {
    unsigned line; /* 0: the fault is in no particular line */
    const char *text;
};

struct htpasswd; /* opaque */

/* Reads the file. 0, or -EINVAL with *fault_out set, or -errno. */
MUST_USE int htpasswd_open(struct htpasswd **htpasswd_out, const char *path,
                           struct htpasswd_fault *fault_out);

struct htpasswd *htpasswd_acquire(struct htpasswd *htpasswd);
void htpasswd_release(struct htpasswd **htpasswd_ref);

/* A number for this content of the file; another content never gets the
 * same. */
uint64_t htpasswd_generation(const struct htpasswd *htpasswd);

/* Whether the file is due to be looked at. Each time, only one caller gets
 * true; it must see to it that htpasswd_refresh() is called. */
MUST_USE bool htpasswd_is_due(struct htpasswd *htpasswd, uint64_t now_ms);

/* Reads the file anew if it has changed, and logs that, or what is wrong with
 * it. */
void htpasswd_refresh(struct htpasswd *htpasswd);

/* Whether user has that password. False, too, if either contains NUL, or the
 * password has more than HTPASSWD_PASSWORD_BYTES_MAX bytes. */
MUST_USE bool htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                             struct bytes password);

#endif
