/*
 * acme_challenge - publishes the proof that we control a name, and removes it
 * after the authority has looked. The types of challenges differ in what is
 * published:
 *
 *   http-01          the file live/challenge/TOKEN, which the server sends by
 *                    HTTP (handler/challenge.h; RFC 8555 8.3)
 *   tls-alpn-01      the certificate live/challenge/alpn.HASH, which the server
 *                    shows by TLS (io/tls/tls_challenge.h; RFC 8737)
 *   dns-01           a TXT record, put by the operator's command (RFC 8555 8.4)
 *   dns-persist-01   a permanent TXT record, which names the account that may
 *                    have certificates (draft-ietf-acme-dns-persist)
 *
 * Thread: the owner's; functions wait for the file system and for the command.
 */
#ifndef ACME_ACME_CHALLENGE_H
#define ACME_ACME_CHALLENGE_H

#include "acme/acme_client.h"
#include "acme/acme_hook.h"
#include "acme/acme_settings.h"
#include "acme/acme_state.h"
#include "base/host_name.h"

enum { ACME_TOKEN_MAX = 200 };

struct acme_challenge {
    const char *type; /* "http-01", static */
    /* The name to prove control of, without "*." in front. */
    char name[HOST_NAME_MAX_BYTES + 1];
    char token[ACME_TOKEN_MAX + 1];
    char url[ACME_URL_MAX + 1];
    char file[ACME_TOKEN_MAX + 1]; /* name of the file that was written */
    /* dns-persist-01: the authority's domain */
    char issuer[HOST_NAME_MAX_BYTES + 1];
    /* dns-01: the name of the DNS record that was put. */
    char record[ACME_HOOK_TEXT_MAX];
    char value[64];   /* the text of the record */
    bool is_wildcard; /* the authorization is for "*.NAME" */
    bool is_put;
};

/* Reads the name from an authorization. Returns false if the authorization has
 * no name. */
MUST_USE bool acme_challenge_read_name(struct acme_challenge *challenge,
                                       const struct json_value *authorization);

/* Reads the challenge of type `type` from an authorization. Returns false if
 * that challenge is missing or invalid. */
MUST_USE bool acme_challenge_read(struct acme_challenge *challenge,
                                  const struct json_value *authorization,
                                  const char *type);

/* The objects that acme_challenge_put() needs. */
struct acme_means {
    const struct acme_state *state;
    const struct acme_hook *hook;
    const struct acme_key *key; /* the account's key */
    const char *account;        /* the account's URL */
};

MUST_USE enum acme_result acme_challenge_put(struct acme_challenge *challenge,
                                             const struct acme_means *means,
                                             struct acme_problem *problem);
void acme_challenge_remove(struct acme_challenge *challenge,
                           const struct acme_means *means);

#endif
