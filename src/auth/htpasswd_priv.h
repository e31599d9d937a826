/*
 * htpasswd_priv - the users of a password file, parsed.
 *
 * Thread: any; constant after htpasswd_parse().
 */
#ifndef AUTH_HTPASSWD_PRIV_H
#define AUTH_HTPASSWD_PRIV_H

#include "auth/htpasswd.h"

/* The longest hash is "$6$rounds=1000000$", 16 bytes of salt, "$", and 86 bytes
 * of digest. */
enum { HTPASSWD_HASH_BYTES_MAX = 123 };

/* A user in the file. Both members point into the file's text. */
struct htpasswd_user {
    struct bytes name;
    struct bytes hash;
    unsigned line;
};

/* Parses `text` into the array `users`, which has room for HTPASSWD_USERS_MAX,
 * and sorts it by name. Returns the number of users; or -1 with the reason in
 * *fault_out. */
MUST_USE int htpasswd_parse(struct bytes text, struct htpasswd_user *users,
                            struct htpasswd_fault *fault_out);

/* Compares two users by name, for qsort(3) and bsearch(3). */
int htpasswd_compare_users(const void *a, const void *b);

#endif
