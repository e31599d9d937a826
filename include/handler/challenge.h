/*
 * challenge - answers what an authority of certificates asks by http, to see
 * whether a name is ours (RFC 8555 8.3): the token in the path is the name of a
 * file, which whoever asked the authority has put there.
 *
 * Whatever has no such file is none of ours, and answered like anything else: a
 * root may have what other programs put there.
 *
 * Thread: any; waits for the file system, when somebody looks there.
 */
#ifndef HANDLER_CHALLENGE_H
#define HANDLER_CHALLENGE_H

#include "handler/handler.h"

#define CHALLENGE_PREFIX "/.well-known/acme-challenge/"

enum { CHALLENGE_TOKEN_MAX = 200, CHALLENGE_TEXT_MAX = 512 };

/* Whether a path is below there. */
static inline bool challenge_is_at(struct bytes path)
{
    return path.len > sizeof(CHALLENGE_PREFIX) - 1 && path.data[1] == '.' &&
           memcmp(path.data, CHALLENGE_PREFIX, sizeof(CHALLENGE_PREFIX) - 1) ==
               0;
}

/* Whether the exchange has been answered by a file of that folder. */
MUST_USE bool challenge_answer(struct exchange *exchange, const char *folder,
                               const struct server_defaults *defaults);

#endif
