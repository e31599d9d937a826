/*
 * acme_client - speaks to one authority (RFC 8555): finds its URLs, signs
 * requests, uses each nonce once, and reads its problem documents.
 *
 * Thread: the owner's; functions wait for the network.
 * Owns:   its connection; borrows the key.
 */
#ifndef ACME_ACME_CLIENT_H
#define ACME_ACME_CLIENT_H

#include "acme/acme_http.h"
#include "acme/acme_key.h"
#include "acme/acme_problem.h"

enum {
    ACME_NONCE_TRIES = 20, /* most tries after badNonce (RFC 8555 6.5) */
    ACME_VALUES_MAX = 8192 /* most JSON values in a reply */
};

/* The URLs in an authority's directory (RFC 8555 7.1.1). */
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
    bool needs_binding; /* accounts need external binding (7.3.4) */
    const struct acme_key *key;
    char account[ACME_URL_MAX + 1]; /* the account's URL; "" if unknown */
    char nonce[ACME_NONCE_MAX + 1];
};

/* Opens a client of the authority whose directory has the URL `directory`. If
 * `ca` is not NULL, the certificates in that file are trusted instead of the
 * system's. Both texts are borrowed. Returns false if there is no memory. */
MUST_USE bool acme_client_open(struct acme_client *client,
                               const char *directory, const char *ca);
void acme_client_close(struct acme_client *client);

/* Reads the authority's directory. This must succeed before any other
 * request. */
MUST_USE enum acme_result acme_client_begin(struct acme_client *client,
                                            struct acme_problem *problem);

/* What the authority answered. `json` is empty if the body is not JSON. */
struct acme_reply {
    struct acme_answer answer;
    struct json_reader json;
};
void acme_reply_fini(struct acme_reply *reply);

/* Sends `payload`, signed by the client's key; NULL sends a POST-as-GET. The
 * message names the sender by the account's URL. If as_key is true, or if there
 * is no account yet, the message has the public key instead. ACME_DONE means a
 * 2xx status. The caller calls acme_reply_fini() whatever the result. */
MUST_USE enum acme_result acme_client_post(struct acme_client *client,
                                           const char *url, const char *payload,
                                           bool as_key,
                                           struct acme_reply *reply,
                                           struct acme_problem *problem);

/* Sends an unsigned GET. The result is as that of acme_client_post(). */
MUST_USE enum acme_result acme_client_get(struct acme_client *client,
                                          const char *url,
                                          struct acme_reply *reply,
                                          struct acme_problem *problem);

/* Returns the root of a reply's JSON; NULL if the body is not JSON. */
const struct json_value *acme_reply_json(const struct acme_reply *reply);

#endif
