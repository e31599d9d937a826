#include "acme/acme_challenge.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "acme/acme_x509.h"
#include "base/base64.h"
#include "base/log.h"
#include "io/tls/tls_challenge.h"

enum { TEXT_MAX = ACME_TOKEN_MAX + 128 };

/* Returns true if `token` has only characters of base64url (RFC 8555 8.1). Such
 * a token is also safe as a file name. */
static bool is_token(const char *token)
{
    return token[strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789-_")] ==
           '\0';
}

bool acme_challenge_read_name(struct acme_challenge *challenge,
                              const struct json_value *authorization)
{
    const struct json_value *identifier = json_find(authorization,
                                                    "identifier");

    challenge->is_wildcard = json_is_true(json_find(authorization, "wildcard"));
    return acme_text(json_find(identifier, "value"), challenge->name,
                     sizeof(challenge->name)) &&
           host_name_is_valid(bytes_of(challenge->name));
}

bool acme_challenge_read(struct acme_challenge *challenge,
                         const struct json_value *authorization,
                         const char *type)
{
    const struct json_value *list = json_find(authorization, "challenges");
    const struct json_value *item = NULL;
    char found[32];

    while ((item = json_next(list, item)))
        if (acme_text(json_find(item, "type"), found, sizeof(found)) &&
            strcmp(found, type) == 0)
            break;
    challenge->type = type;
    if (!item || !acme_text(json_find(item, "url"), challenge->url,
                            sizeof(challenge->url)))
        return false;
    if (strcmp(type, "dns-persist-01") == 0)
        return acme_text(json_next(json_find(item, "issuer-domain-names"),
                                   NULL),
                         challenge->issuer, sizeof(challenge->issuer)) &&
               host_name_is_valid(bytes_of(challenge->issuer));
    return acme_text(json_find(item, "token"), challenge->token,
                     sizeof(challenge->token)) &&
           is_token(challenge->token);
}

/* Appends the key authorization: the token and the account's thumbprint (RFC
 * 8555 8.1). */
static bool put_authorisation(const struct acme_challenge *challenge,
                              const struct acme_key *account, struct buf *text)
{
    buf_put(text, bytes_of(challenge->token));
    buf_put_literal(text, ".");
    return acme_key_put_thumbprint(account, text);
}

static bool put_certificate(const struct acme_challenge *challenge,
                            struct bytes authorisation, struct buf *pem)
{
    unsigned char digest[ACME_DIGEST_BYTES];

    return acme_digest(authorisation, digest) &&
           acme_x509_put_challenge(challenge->name, digest, time(NULL), pem);
}

/* Appends the text that the authority looks for, and sets challenge->file. */
static bool put_text(struct acme_challenge *challenge,
                     const struct acme_key *account, struct buf *text)
{
    char storage[TEXT_MAX];
    struct buf authorisation;

    if (strcmp(challenge->type, "tls-alpn-01") != 0) {
        snprintf(challenge->file, sizeof(challenge->file), "%s",
                 challenge->token);
        return put_authorisation(challenge, account, text);
    }
    tls_challenge_file(bytes_of(challenge->name), challenge->file);
    buf_init(&authorisation, storage, sizeof(storage), sizeof(storage));
    return put_authorisation(challenge, account, &authorisation) &&
           put_certificate(challenge, buf_bytes(&authorisation), text);
}

static enum acme_result put_file(struct acme_challenge *challenge,
                                 const struct acme_means *means,
                                 struct acme_problem *problem)
{
    struct buf text;
    int err = -ENOMEM;

    buf_init(&text, NULL, 0, ACME_FILE_MAX);
    if (put_text(challenge, means->key, &text))
        err = acme_state_write(means->state, ACME_FOLDER_CHALLENGES,
                               challenge->file, buf_bytes(&text));
    buf_fini(&text);
    challenge->is_put = err == 0;
    return err == 0 ? ACME_DONE
                    : acme_tell(problem, ACME_FAILED,
                                "what the authority looks for cannot be "
                                "written to '%.200s': %s",
                                means->state->path, strerror(-err));
}

/* --- DNS ----------------------------------------------------------------- */

static bool find_record(struct acme_challenge *challenge,
                        const struct acme_key *key)
{
    unsigned char digest[ACME_DIGEST_BYTES];
    char storage[TEXT_MAX];
    struct buf authorisation, value;

    snprintf(challenge->record, sizeof(challenge->record), "_acme-challenge.%s",
             challenge->name);
    buf_init(&authorisation, storage, sizeof(storage), sizeof(storage));
    buf_init(&value, challenge->value, sizeof(challenge->value) - 1,
             sizeof(challenge->value) - 1);
    if (!put_authorisation(challenge, key, &authorisation) ||
        !acme_digest(buf_bytes(&authorisation), digest))
        return false;
    base64_put_url(&value, (struct bytes){(char *)digest, sizeof(digest)});
    challenge->value[value.len] = '\0';
    return !value.failed;
}

static enum acme_result put_record(struct acme_challenge *challenge,
                                   const struct acme_means *means,
                                   struct acme_problem *problem)
{
    int status;

    if (!find_record(challenge, means->key))
        return acme_tell(problem, ACME_FAILED, "out of memory");
    status = acme_hook_run(means->hook, "add", challenge->record,
                           challenge->value);
    challenge->is_put = status >= 0;
    if (status == 0)
        return ACME_DONE;
    return status < 0
               ? acme_tell(problem, ACME_FAILED, "acme-dns-command: %s",
                           strerror(-status))
               : acme_tell(problem, ACME_FAILED,
                           "acme-dns-command ended with status %d", status);
}

/* Logs the record of dns-persist-01, which the zone's operator adds once. */
static void tell_record(const struct acme_challenge *challenge,
                        const struct acme_means *means)
{
    log_notice("acme: this record has to be there, for good: "
               "_validation-persist.%s. IN TXT \"%s;accounturi=%s%s\"",
               challenge->name, challenge->issuer, means->account,
               challenge->is_wildcard ? ";policy=wildcard" : "");
}

/* --- All types ----------------------------------------------------------- */

enum acme_result acme_challenge_put(struct acme_challenge *challenge,
                                    const struct acme_means *means,
                                    struct acme_problem *problem)
{
    if (strcmp(challenge->type, "dns-01") == 0)
        return put_record(challenge, means, problem);
    if (strcmp(challenge->type, "dns-persist-01") != 0)
        return put_file(challenge, means, problem);
    tell_record(challenge, means);
    return ACME_DONE;
}

void acme_challenge_remove(struct acme_challenge *challenge,
                           const struct acme_means *means)
{
    if (!challenge->is_put)
        return;
    if (strcmp(challenge->type, "dns-01") == 0)
        (void)!acme_hook_run(means->hook, "remove", challenge->record,
                             challenge->value);
    else
        acme_state_remove(means->state, ACME_FOLDER_CHALLENGES,
                          challenge->file);
    challenge->is_put = false;
}
