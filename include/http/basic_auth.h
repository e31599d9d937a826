/*
 * basic_auth - who a client claims to be: Authorization: Basic (RFC 7617).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_BASIC_AUTH_H
#define HTTP_BASIC_AUTH_H

#include "base/buf.h"
#include "http/request.h"

enum {
    BASIC_AUTH_USER_BYTES_MAX = 255,
    BASIC_AUTH_PASSWORD_BYTES_MAX = 255,
    BASIC_AUTH_REALM_BYTES_MAX = 255
};

enum basic_auth_verdict {
    BASIC_AUTH_NONE, /* no credentials of this scheme came: 401 */
    BASIC_AUTH_GIVEN,
    BASIC_AUTH_BAD /* the credentials are malformed: 401, too */
};

/* Views into `text`. The caller wipes the text after use, by
 * basic_auth_wipe(). */
struct basic_auth {
    struct bytes user;     /* without controls; may be empty */
    struct bytes password; /* without controls; may be empty */
    char text[BASIC_AUTH_USER_BYTES_MAX + 1 + BASIC_AUTH_PASSWORD_BYTES_MAX +
              3]; /* base64 is decoded 3 bytes at a time */
};

MUST_USE enum basic_auth_verdict basic_auth_read(struct basic_auth *auth,
                                                 const struct request *request);

void basic_auth_wipe(struct basic_auth *auth);

/* Whether the realm can stand in a field: it is short enough, and has no
 * control bytes. */
bool basic_auth_realm_is_valid(struct bytes realm);

/* Appends the field line by which a 401 asks for credentials; realm is
 * valid. */
void basic_auth_put_challenge(struct buf *head, struct bytes realm);

#endif
