#include "acme/acme_account.h"

#include <errno.h>
#include <stdio.h>

#include "acme/acme_jws.h"
#include "base/base64.h"
#include "base/log.h"

enum { PAYLOAD_MAX = 65536, HASH_BYTES = 8, SECRET_MAX = 1024 };

#define KEY_FILE "key.pem"
#define URL_FILE "url"
#define NEXT_FILE "next.pem"

/* --- The key ------------------------------------------------------------- */

/* Names the account's folder by a digest of the authority's URL, in
 * hexadecimal, so that nothing in the URL can act as a path. */
static bool name_account(struct acme_account *account, const char *directory)
{
    unsigned char digest[ACME_DIGEST_BYTES];

    if (!acme_digest(bytes_of(directory), digest))
        return false;
    for (size_t i = 0; i < HASH_BYTES; i++)
        snprintf(account->id + 2 * i, 3, "%02x", digest[i]);
    return true;
}

/* Writes a key into the account's folder. Returns 0 or -errno. */
static int keep_key(const struct acme_account *account,
                    const struct acme_state *state, const char *name,
                    const struct acme_key *key)
{
    struct buf pem;
    int err = -ENOMEM;

    buf_init(&pem, NULL, 0, ACME_KEY_PEM_MAX);
    if (acme_key_put_pem(key, &pem))
        err = acme_state_write_account(state, account->id, name,
                                       buf_bytes(&pem));
    if (pem.data)
        explicit_bzero(pem.data, pem.len);
    buf_fini(&pem);
    return err;
}

static enum acme_result make_key(struct acme_account *account,
                                 const struct acme_state *state,
                                 struct acme_problem *problem)
{
    int err = -ENOMEM;

    account->key = acme_key_create(ACME_KEY_P256);
    if (account->key)
        err = keep_key(account, state, KEY_FILE, account->key);
    return err == 0 ? ACME_DONE
                    : acme_tell(problem, ACME_FAILED,
                                "the account's key cannot be written to "
                                "'%.200s': %s",
                                state->path, strerror(-err));
}

static enum acme_result find_key(struct acme_account *account,
                                 const struct acme_state *state,
                                 struct acme_problem *problem)
{
    struct small_file file;
    int err = acme_state_read_account(state, account->id, KEY_FILE, &file);

    if (err == 0) {
        account->key = acme_key_load((struct bytes){file.text, file.len});
        small_file_fini(&file);
        if (account->key)
            return ACME_DONE;
        log_warning("acme: '%s/accounts/%s/" KEY_FILE "' is damaged: it is "
                    "kept as " KEY_FILE ".damaged, and a new account is made",
                    state->path, account->id);
        acme_state_set_aside(state, account->id, KEY_FILE);
    } else if (err != -ENOENT) {
        return acme_tell(problem, ACME_FAILED,
                         "the account's key cannot be read: %s",
                         strerror(-err));
    }
    /* Another key cannot act for the account, if there was one. */
    acme_state_set_aside(state, account->id, URL_FILE);
    return make_key(account, state, problem);
}

/* --- The account --------------------------------------------------------- */

static bool read_url(const struct acme_account *account,
                     struct acme_client *client, const struct acme_state *state)
{
    struct small_file file;
    size_t len;

    if (acme_state_read_account(state, account->id, URL_FILE, &file) != 0)
        return false;
    len = strcspn(file.text, "\r\n");
    if (len > 8 && len < sizeof(client->account) &&
        strncmp(file.text, "https://", 8) == 0) {
        memcpy(client->account, file.text, len);
        client->account[len] = '\0';
    }
    small_file_fini(&file);
    return client->account[0] != '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the key in a file's text, without white space around it and padding
 * behind it. */
static struct bytes find_secret(struct bytes text)
{
    while (text.len > 0 && is_blank(*text.data)) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (is_blank(text.data[text.len - 1]) ||
                            text.data[text.len - 1] == '='))
        text.len--;
    return text;
}

/* Appends the external account binding. Its secret is read from a file, where
 * white space around it is ignored. Returns false if the secret is invalid. */
static bool put_binding(const struct acme_account *account,
                        const struct acme_client *client,
                        const struct acme_settings *settings, struct buf *json)
{
    struct small_file file;
    struct bytes text;
    char secret[SECRET_MAX];
    size_t len = 0;
    bool is_done = false;

    if (small_file_read(&file, settings->eab_key) != 0)
        return false;
    text = find_secret((struct bytes){file.text, file.len});
    if (text.len > 0 && text.len < SECRET_MAX &&
        base64_decode_url(text, secret, &len)) {
        buf_put_literal(json, ",\"externalAccountBinding\":");
        is_done = acme_jws_put_binding(account->key, settings->eab_id,
                                       (struct bytes){secret, len},
                                       client->places[ACME_NEW_ACCOUNT], json);
    }
    explicit_bzero(secret, sizeof(secret));
    small_file_fini(&file);
    return is_done;
}

static bool put_payload(const struct acme_account *account,
                        const struct acme_client *client,
                        const struct acme_settings *settings, struct buf *json)
{
    buf_put_literal(json, "{\"termsOfServiceAgreed\":true");
    if (settings->eab_id && !put_binding(account, client, settings, json))
        return false;
    if (settings->email) {
        buf_put_literal(json, ",\"contact\":[\"mailto:");
        buf_put_json(json, bytes_of(settings->email));
        buf_put_literal(json, "\"]");
    }
    buf_put_literal(json, "}");
    buf_put(json, (struct bytes){"", 1});
    return !json->failed;
}

static void announce(const struct acme_account *account,
                     const struct acme_client *client,
                     const struct acme_state *state)
{
    log_notice("acme: account %s with %s, kept in '%s/accounts/%s'%s%s",
               client->account, client->directory, state->path, account->id,
               client->terms[0] != '\0'
                   ? "; by using it you agree to its terms: "
                   : "",
               client->terms);
}

static enum acme_result make_account(struct acme_account *account,
                                     struct acme_client *client,
                                     const struct acme_state *state,
                                     const struct acme_settings *settings,
                                     struct acme_problem *problem)
{
    struct acme_reply reply = {.json = {0}};
    enum acme_result result;
    struct buf json;
    int err;

    buf_init(&json, NULL, 0, PAYLOAD_MAX);
    if (client->needs_binding && !settings->eab_id)
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: it wants accounts to be bound to one that "
                           "it knows: acme-eab-id, acme-eab-key",
                           client->directory);
    else
        result =
            put_payload(account, client, settings, &json)
                ? acme_client_post(client, client->places[ACME_NEW_ACCOUNT],
                                   json.data, true, &reply, problem)
                : acme_tell(problem, ACME_FAILED,
                            "acme-eab-key cannot be read, is empty, or is no "
                            "base64url");
    buf_fini(&json);
    if (result == ACME_DONE && reply.answer.location[0] == '\0')
        result = acme_tell(problem, ACME_FAILED,
                           "%.200s: it does not say where the account is",
                           client->directory);
    if (result == ACME_DONE) {
        memcpy(client->account, reply.answer.location, sizeof(client->account));
        err = acme_state_write_account(state, account->id, URL_FILE,
                                       bytes_of(client->account));
        if (err != 0)
            result = acme_tell(problem, ACME_FAILED,
                               "the account cannot be kept in '%.200s': %s",
                               state->path, strerror(-err));
        else
            announce(account, client, state);
    }
    acme_reply_fini(&reply);
    return result;
}

/* --- Changing the key ---------------------------------------------------- */

static struct acme_key *load_next(const struct acme_account *account,
                                  const struct acme_state *state)
{
    struct acme_key *key = NULL;
    struct small_file file;

    if (acme_state_read_account(state, account->id, NEXT_FILE, &file) == 0) {
        key = acme_key_load((struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    return key;
}

/* Asks the authority for the account of that key. The result is ACME_DONE if
 * the account exists. */
static enum acme_result ask_by(struct acme_client *client,
                               const struct acme_key *key,
                               struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result;

    client->key = key;
    result = acme_client_post(client, client->places[ACME_NEW_ACCOUNT],
                              "{\"onlyReturnExisting\":true}", true, &reply,
                              problem);
    acme_reply_fini(&reply);
    return result;
}

/* Finishes an interrupted change of the account's key, by asking the authority
 * whether it knows the new key. A refusal may have another reason, such as a
 * rate limit. So the new key is dropped only if the authority then says that it
 * knows the old key. */
static enum acme_result finish_change(struct acme_account *account,
                                      struct acme_client *client,
                                      const struct acme_state *state,
                                      struct acme_problem *problem)
{
    struct acme_key *next = load_next(account, state);
    enum acme_result result;

    if (!next)
        return ACME_DONE;
    result = ask_by(client, next, problem);
    if (result == ACME_DONE) {
        acme_key_destroy(account->key);
        account->key = next;
        next = NULL;
        /* If the renaming fails, the authority is asked again next time. */
        (void)!acme_state_promote(state, account->id, NEXT_FILE, KEY_FILE);
    } else if (result == ACME_REFUSED) {
        result = acme_account_is_lost(problem)
                     ? ACME_DONE
                     : ask_by(client, account->key, problem);
        if (result == ACME_DONE)
            acme_state_set_aside(state, account->id, NEXT_FILE);
        else if (result == ACME_REFUSED && acme_account_is_lost(problem))
            result = ACME_FAILED; /* maybe the new key is valid: try later */
    }
    acme_key_destroy(next);
    client->key = account->key;
    return result;
}

static bool put_change(const struct acme_account *account,
                       const struct acme_client *client,
                       const struct acme_key *next, struct buf *json)
{
    struct acme_jws jws = {.key = next, .url = client->places[ACME_KEY_CHANGE]};
    struct buf inner;
    bool is_done;

    buf_init(&inner, NULL, 0, PAYLOAD_MAX);
    buf_printf(&inner, "{\"account\":\"%s\",\"oldKey\":", client->account);
    is_done = acme_key_put_jwk(account->key, &inner);
    buf_put_literal(&inner, "}");
    jws.payload = buf_bytes(&inner);
    is_done = is_done && !inner.failed && acme_jws_put(&jws, json);
    buf_put(json, (struct bytes){"", 1});
    buf_fini(&inner);
    return is_done && !json->failed;
}

/* Makes the new key the account's key, by renaming its file. If the file is
 * missing, another process has set it aside, because the authority did not know
 * the key yet; then the key is saved again. */
static enum acme_result change_key(const struct acme_account *account,
                                   const struct acme_state *state,
                                   const struct acme_key *next,
                                   struct acme_problem *problem)
{
    int err = acme_state_promote(state, account->id, NEXT_FILE, KEY_FILE);

    if (err == -ENOENT)
        err = keep_key(account, state, KEY_FILE, next);
    return err == 0 ? ACME_DONE
                    : acme_tell(problem, ACME_FAILED,
                                "the account's other key cannot be written to "
                                "'%.200s': %s",
                                state->path, strerror(-err));
}

enum acme_result acme_account_roll(struct acme_account *account,
                                   struct acme_client *client,
                                   const struct acme_state *state,
                                   struct acme_problem *problem)
{
    struct acme_key *next = acme_key_create(ACME_KEY_P256);
    struct acme_reply reply = {.json = {0}};
    enum acme_result result = ACME_FAILED;
    struct buf json;

    buf_init(&json, NULL, 0, PAYLOAD_MAX);
    if (next && put_change(account, client, next, &json) &&
        keep_key(account, state, NEXT_FILE, next) == 0)
        result = acme_client_post(client, client->places[ACME_KEY_CHANGE],
                                  json.data, false, &reply, problem);
    else
        acme_tell(problem, ACME_FAILED, "the other key cannot be kept");
    acme_reply_fini(&reply);
    buf_fini(&json);
    if (result == ACME_DONE)
        result = change_key(account, state, next, problem);
    acme_key_destroy(next);
    return result;
}

enum acme_result acme_account_deactivate(struct acme_account *account,
                                         struct acme_client *client,
                                         const struct acme_state *state,
                                         struct acme_problem *problem)
{
    struct acme_reply reply;
    enum acme_result result = acme_client_post(client, client->account,
                                               "{\"status\":\"deactivated\"}",
                                               false, &reply, problem);

    acme_reply_fini(&reply);
    if (result == ACME_DONE) {
        acme_state_set_aside(state, account->id, KEY_FILE);
        acme_state_set_aside(state, account->id, URL_FILE);
    }
    return result;
}

bool acme_account_exists(const struct acme_state *state, const char *directory)
{
    struct acme_account account;
    struct small_file file;

    if (!name_account(&account, directory) ||
        acme_state_read_account(state, account.id, URL_FILE, &file) != 0)
        return false;
    small_file_fini(&file);
    return true;
}

/* --- Opening and closing ------------------------------------------------- */

enum acme_result acme_account_open(struct acme_account *account,
                                   struct acme_client *client,
                                   const struct acme_state *state,
                                   const struct acme_settings *settings,
                                   struct acme_problem *problem)
{
    enum acme_result result;

    *account = (struct acme_account){.key = NULL};
    *problem = (struct acme_problem){.wait_s = -1};
    client->account[0] = '\0';
    if (!name_account(account, client->directory))
        return acme_tell(problem, ACME_FAILED, "out of memory");
    result = find_key(account, state, problem);
    client->key = account->key;
    if (result == ACME_DONE)
        result = finish_change(account, client, state, problem);
    if (result != ACME_DONE || read_url(account, client, state))
        return result;
    return make_account(account, client, state, settings, problem);
}

void acme_account_close(struct acme_account *account)
{
    acme_key_destroy(account->key);
    *account = (struct acme_account){.key = NULL};
}

void acme_account_forget(struct acme_account *account,
                         struct acme_client *client,
                         const struct acme_state *state)
{
    log_warning("acme: %s does not know the account %s any more: a new one is "
                "made",
                client->directory, client->account);
    client->account[0] = '\0';
    acme_state_set_aside(state, account->id, URL_FILE);
}

bool acme_account_is_lost(const struct acme_problem *problem)
{
    return strcmp(problem->type, "accountDoesNotExist") == 0;
}
