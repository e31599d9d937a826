#include "acme/acme_errand.h"

#include <errno.h>
#include <stdio.h>
#include <sysexits.h>

#include "acme/acme_account.h"
#include "acme/acme_record.h"
#include "acme/acme_x509.h"
#include "config/certificates/managed.h"

enum { PAYLOAD_MAX = 256 * 1024 };

/* The data that the steps of a command share. */
struct errand {
    const struct options *options;
    struct acme_settings settings;
    const char *challenges[ACME_CHALLENGE_TYPES_MAX];
    struct acme_state state;
    const char *directory;
    const struct managed_certificate *certificate; /* certificate to revoke */
    unsigned reason;
};

typedef enum acme_result errand_fn(struct errand *errand,
                                   struct acme_client *client,
                                   struct acme_account *account,
                                   struct acme_problem *problem);

static int open_errand(struct errand *errand, const struct options *options)
{
    char fault[ACME_STATE_FAULT_MAX];

    *errand = (struct errand){.options = options};
    errand->settings = acme_settings_of(options, errand->challenges);
    if (!options->acme_folder) {
        fputs("sprintd-acme: no certificate is got from an authority\n",
              stderr);
        return EX_CONFIG;
    }
    if (acme_state_open(&errand->state, options->acme_folder, fault) == 0)
        return EX_OK;
    fprintf(stderr, "sprintd-acme: %s\n", fault);
    return EX_NOINPUT;
}

/* Runs `fn` with the account that exists at the authority. */
static enum acme_result ask(struct errand *errand, errand_fn *fn,
                            struct acme_problem *problem)
{
    struct acme_account account = {.key = NULL};
    struct acme_client client;
    enum acme_result result;

    *problem = (struct acme_problem){.wait_s = -1};
    if (!acme_client_open(&client, errand->directory, errand->settings.ca))
        return acme_tell(problem, ACME_FAILED, "out of memory");
    result = acme_client_begin(&client, problem);
    if (result == ACME_DONE)
        result = acme_account_open(&account, &client, &errand->state,
                                   &errand->settings, problem);
    if (result == ACME_DONE)
        result = fn(errand, &client, &account, problem);
    acme_account_close(&account);
    acme_client_close(&client);
    return result;
}

static int conclude(const struct errand *errand, enum acme_result result,
                    const struct acme_problem *problem, const char *done)
{
    if (result == ACME_DONE) {
        printf("%s: %s\n", errand->directory, done);
        return EX_OK;
    }
    fprintf(stderr, "sprintd-acme: %s: %s\n", errand->directory, problem->text);
    return result == ACME_REFUSED ? EX_UNAVAILABLE : EX_TEMPFAIL;
}

/* Runs `fn` with each authority at which there is an account. */
static int ask_all(const struct options *options, errand_fn *fn,
                   const char *done)
{
    struct errand errand;
    int status = open_errand(&errand, options);

    if (status != EX_OK)
        return status;
    for (size_t i = 0; i < errand.settings.directories.count; i++) {
        struct acme_problem problem;
        int other = EX_OK;

        errand.directory = errand.settings.directories.items[i];
        if (acme_account_exists(&errand.state, errand.directory))
            other = conclude(&errand, ask(&errand, fn, &problem), &problem,
                             done);
        if (status == EX_OK)
            status = other;
    }
    acme_state_close(&errand.state);
    return status;
}

/* --- Revoking ------------------------------------------------------------ */

static const struct managed_certificate *find(const struct options *options,
                                              const char *name)
{
    for (size_t i = 0; i < options->managed_count; i++)
        for (size_t k = 0; k < options->managed[i].names.count; k++)
            if (strcmp(options->managed[i].names.items[k], name) == 0)
                return &options->managed[i];
    return NULL;
}

/* Sends the request to revoke. The account's key signs it at first. If
 * the authority refuses, because another account ordered the certificate, the
 * certificate's own key signs a second request (RFC 8555 7.6). That is the last
 * resort: the authority may then never certify this key again. */
static enum acme_result post_revocation(struct acme_client *client,
                                        const char *payload, struct bytes pem,
                                        struct acme_problem *problem)
{
    const char *url = client->places[ACME_REVOKE];
    const struct acme_key *account = client->key;
    struct acme_reply reply = {.json = {0}};
    struct acme_key *key = NULL;
    enum acme_result result = acme_client_post(client, url, payload, false,
                                               &reply, problem);

    if (result == ACME_REFUSED && (strcmp(problem->type, "unauthorized") == 0 ||
                                   acme_account_is_lost(problem)))
        key = acme_key_load(pem);
    if (key) {
        acme_reply_fini(&reply);
        client->key = key;
        result = acme_client_post(client, url, payload, true, &reply, problem);
        client->key = account;
        acme_key_destroy(key);
    }
    acme_reply_fini(&reply);
    return result;
}

static enum acme_result revoke_one(struct errand *errand,
                                   struct acme_client *client,
                                   struct acme_account *account,
                                   struct acme_problem *problem)
{
    char name[NAME_MAX + 1];
    struct small_file file;
    struct bytes pem;
    enum acme_result result = ACME_FAILED;
    struct buf json;
    int err;

    (void)account;
    snprintf(name, sizeof(name), "%.250s.pem", errand->certificate->name);
    err = acme_state_read(&errand->state, ACME_FOLDER_LIVE, name, &file);
    if (err != 0)
        return acme_tell(problem, ACME_FAILED, "%s: %s",
                         errand->certificate->path, strerror(-err));
    pem = (struct bytes){file.text, file.len};
    buf_init(&json, NULL, 0, PAYLOAD_MAX);
    buf_put_literal(&json, "{\"certificate\":\"");
    if (acme_x509_put_der(pem, &json)) {
        buf_printf(&json, "\",\"reason\":%u}", errand->reason);
        buf_put(&json, (struct bytes){"", 1});
        result = post_revocation(client, json.data, pem, problem);
    } else {
        acme_tell(problem, ACME_FAILED, "%s: it is damaged",
                  errand->certificate->path);
    }
    buf_fini(&json);
    small_file_fini(&file);
    /* "Already revoked" is a success: an earlier request has worked, and only
     * its answer was lost (RFC 8555 7.6). */
    if (result == ACME_REFUSED && strcmp(problem->type, "alreadyRevoked") == 0)
        result = ACME_DONE;
    if (result == ACME_DONE)
        acme_state_remove(&errand->state, ACME_FOLDER_LIVE, name);
    return result;
}

int acme_errand_revoke(const struct options *options, const char *name,
                       unsigned reason)
{
    struct acme_record record = {.failures = 0};
    struct acme_problem problem;
    struct small_file file;
    struct errand errand;
    int status = open_errand(&errand, options);

    if (status != EX_OK)
        return status;
    errand.certificate = find(options, name);
    errand.reason = reason;
    if (!errand.certificate) {
        fprintf(stderr, "sprintd-acme: no such certificate: %s\n", name);
        acme_state_close(&errand.state);
        return EX_USAGE;
    }
    if (acme_state_read(&errand.state, ACME_FOLDER_ORDERS,
                        errand.certificate->name, &file) == 0) {
        acme_record_read(&record, (struct bytes){file.text, file.len});
        small_file_fini(&file);
    }
    errand.directory = record.directory[0] != '\0'
                           ? record.directory
                           : errand.settings.directories.items[0];
    status = conclude(&errand, ask(&errand, revoke_one, &problem), &problem,
                      "the certificate is revoked");
    acme_state_close(&errand.state);
    return status;
}

/* --- Accounts ------------------------------------------------------------ */

static enum acme_result roll(struct errand *errand, struct acme_client *client,
                             struct acme_account *account,
                             struct acme_problem *problem)
{
    return acme_account_roll(account, client, &errand->state, problem);
}

static enum acme_result deactivate(struct errand *errand,
                                   struct acme_client *client,
                                   struct acme_account *account,
                                   struct acme_problem *problem)
{
    return acme_account_deactivate(account, client, &errand->state, problem);
}

int acme_errand_roll(const struct options *options)
{
    return ask_all(options, roll, "the account has another key");
}

int acme_errand_deactivate(const struct options *options)
{
    return ask_all(options, deactivate, "the account is closed");
}
