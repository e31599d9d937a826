/*
 * challenge - answers ACME's challenge "http-01" (RFC 8555 8.3), by which an
 * authority of certificates verifies over http that we control a name.
 *
 * The token in the path is the name of a file. acme/acme_challenge.h, or
 * another program that asked the authority, has put the file there.
 *
 * A request without such a file is answered like any other: a site's own root
 * may have the answer, put there by another program.
 *
 * Thread: any; waits for the file system when a path is below the prefix.
 */
#ifndef HANDLER_CHALLENGE_H
#define HANDLER_CHALLENGE_H

#include "handler/handler.h"

#define CHALLENGE_PREFIX "/.well-known/acme-challenge/"

enum { CHALLENGE_TOKEN_MAX = 200, CHALLENGE_TEXT_MAX = 512 };

/* Whether a path is below CHALLENGE_PREFIX. */
static inline bool challenge_is_at(struct bytes path)
{
    return path.len > sizeof(CHALLENGE_PREFIX) - 1 && path.data[1] == '.' &&
           memcmp(path.data, CHALLENGE_PREFIX, sizeof(CHALLENGE_PREFIX) - 1) ==
               0;
}

/* Answers the exchange with the file that its path names in folder. False:
 * there is no such file, and nothing was answered. */
MUST_USE bool challenge_answer(struct exchange *exchange, const char *folder,
                               const struct server_defaults *defaults);

#endif
