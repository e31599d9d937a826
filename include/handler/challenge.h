/*
 * challenge - answers ACME's challenge "http-01" (RFC 8555 8.3), by which a
 * certificate authority verifies over http that we control a name.
 *
 * The token in the path is the name of a file. The file was put there by
 * acme/acme_challenge.h, or by another program that asked the authority.
 *
 * A request for a token without a file is answered like any other request:
 * another program may have put the file into the site's own root.
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

/* Answers the exchange with the file that its path names in `folder`. Returns
 * false, and answers nothing, if there is no such file. */
MUST_USE bool challenge_answer(struct exchange *exchange, const char *folder,
                               const struct server_defaults *defaults);

#endif
