/*
 * acme_client - speaks to one authority (RFC 8555): finds its addresses, signs
 * what it is asked, uses each nonce once, and reads what it says is wrong.
 *
 * Thread: its owner's; waits.
 * Owns:   the way there; borrows the key.
 */
#ifndef ACME_ACME_CLIENT_H
#define ACME_ACME_CLIENT_H

#include "acme/acme_http.h"
#include "acme/acme_key.h"
#include "acme/acme_problem.h"

enum {
    ACME_NONCE_TRIES = 20, /* after badNonce: RFC 8555 6.5 */
    ACME_VALUES_MAX = 8192 /* of JSON */
};

/* The addresses in an authority's directory (RFC 8555 7.1.1). */
enum acme_place {
    ACME_NEW_NONCE,
    ACME_NEW_ACCOUNT,
    ACME_NEW_ORDER,
    ACME_REVOKE,
    ACME_KEY_CHANGE,
    ACME_RENEWAL_INFO,
    ACME_PLACES
};

struct acme_client {
    struct acme_http *http;
    const char *directory;
    char places[ACME_PLACES][ACME_URL_MAX + 1];
    char terms[ACME_URL_MAX + 1];
    bool needs_binding; /* accounts are bound to customers' of the authority */
    const struct acme_key *key;
    char account[ACME_URL_MAX + 1]; /* "": not known yet */
    char nonce[ACME_NONCE_MAX + 1];
};

/* Opens a client of the authority with that directory; ca: a file of
 * authorities that its certificate is verified by, NULL: the system's. Both are
 * borrowed. False: no memory. */
MUST_USE bool acme_client_open(struct acme_client *client,
                               const char *directory, const char *ca);
void acme_client_close(struct acme_client *client);

/* Reads the directory. */
MUST_USE enum acme_result acme_client_begin(struct acme_client *client,
                                            struct acme_problem *problem);

/* What the authority answered; json is empty where the body is none. */
struct acme_reply {
    struct acme_answer answer;
    struct json_reader json;
};
void acme_reply_fini(struct acme_reply *reply);

/* Sends payload, NULL for what is only looked at (POST-as-GET), signed by the
 * account; or by the bare key, where as_key says so or there is no account. A
 * reply that is DONE has a status of 2xx. acme_reply_fini() in any case. */
MUST_USE enum acme_result acme_client_post(struct acme_client *client,
                                           const char *url, const char *payload,
                                           bool as_key,
                                           struct acme_reply *reply,
                                           struct acme_problem *problem);

/* Gets url without a signature; else as acme_client_post(). */
MUST_USE enum acme_result acme_client_get(struct acme_client *client,
                                          const char *url,
                                          struct acme_reply *reply,
                                          struct acme_problem *problem);

/* The whole of a reply's JSON; NULL: there is none. */
const struct json_value *acme_reply_json(const struct acme_reply *reply);

#endif
