/*
 * htpasswd_priv - the users of a password file, once it has been read.
 *
 * Thread: any; not changed after htpasswd_parse().
 */
#ifndef AUTH_HTPASSWD_PRIV_H
#define AUTH_HTPASSWD_PRIV_H

#include "auth/htpasswd.h"

/* "$6$rounds=1000000$", a salt of 16, "$", 86 characters. */
enum { HTPASSWD_HASH_BYTES_MAX = 123 };

/* A user of the file; name and hash are views into its text. */
struct htpasswd_user {
    struct bytes name;
    struct bytes hash;
    unsigned line;
};

/* Takes text apart. Returns how many users there are, sorted by name; -1:
 * *fault_out says what is wrong. users has room for HTPASSWD_USERS_MAX. */
MUST_USE int htpasswd_parse(struct bytes text, struct htpasswd_user *users,
                            struct htpasswd_fault *fault_out);

/* Order of names; for bsearch(3) too. */
int htpasswd_compare_users(const void *a, const void *b);

#endif
