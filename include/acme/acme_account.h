/*
 * acme_account - an account with an authority, which is created once and then
 * found again.
 *
 * Thread: the owner's; functions wait for the network.
 * Owns:   the account's key, which the client borrows.
 */
#ifndef ACME_ACME_ACCOUNT_H
#define ACME_ACME_ACCOUNT_H

#include "acme/acme_client.h"
#include "acme/acme_settings.h"
#include "acme/acme_state.h"

struct acme_account {
    struct acme_key *key;
    char id[ACME_ID_MAX + 1]; /* name of the account's folder */
};

/* Finds the account with the client's authority, or creates one.
 * acme_client_begin() must have succeeded before. */
MUST_USE enum acme_result acme_account_open(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, const struct acme_settings *settings,
    struct acme_problem *problem);
void acme_account_close(struct acme_account *account);

/* Whether the state's folder has an account with that authority. */
bool acme_account_exists(const struct acme_state *state, const char *directory);

/* Replaces the account's key by a new one. The new key is saved before it is
 * sent to the authority, so that the account never loses its key. */
MUST_USE enum acme_result acme_account_roll(struct acme_account *account,
                                            struct acme_client *client,
                                            const struct acme_state *state,
                                            struct acme_problem *problem);

/* Closes the account for good, and renames its files to *.damaged. */
MUST_USE enum acme_result acme_account_deactivate(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, struct acme_problem *problem);

/* Forgets an account that the authority no longer knows. The next
 * acme_account_open() creates a new one. */
void acme_account_forget(struct acme_account *account,
                         struct acme_client *client,
                         const struct acme_state *state);

/* Whether a problem says that the authority does not know the account. */
bool acme_account_is_lost(const struct acme_problem *problem);

#endif
