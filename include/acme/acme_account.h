/*
 * acme_account - the account with an authority: made once, then found again.
 *
 * Thread: its owner's; waits for the network.
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

/* Finds the account, or makes one, after a successful acme_client_begin(). */
MUST_USE enum acme_result acme_account_open(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, const struct acme_settings *settings,
    struct acme_problem *problem);
void acme_account_close(struct acme_account *account);

/* Whether the folder has an account with that authority. */
bool acme_account_exists(const struct acme_state *state, const char *directory);

/* Gives the account another key. The new key is saved before the authority is
 * told of it, so that the account never loses its key. */
MUST_USE enum acme_result acme_account_roll(struct acme_account *account,
                                            struct acme_client *client,
                                            const struct acme_state *state,
                                            struct acme_problem *problem);

/* Closes the account for good, and sets its files aside. */
MUST_USE enum acme_result acme_account_deactivate(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, struct acme_problem *problem);

/* Forgets an account that the authority no longer knows: the next
 * acme_account_open() makes a new one. */
void acme_account_forget(struct acme_account *account,
                         struct acme_client *client,
                         const struct acme_state *state);

/* Whether a problem says that the authority does not know the account. */
bool acme_account_is_lost(const struct acme_problem *problem);

#endif
