/*
 * acme_account - our account with an authority: made once, and found again.
 *
 * Thread: its owner's; waits.
 * Owns:   the account's key, which the client borrows.
 */
#ifndef ACME_ACME_ACCOUNT_H
#define ACME_ACME_ACCOUNT_H

#include "acme/acme_client.h"
#include "acme/acme_settings.h"
#include "acme/acme_state.h"

struct acme_account {
    struct acme_key *key;
    char id[ACME_ID_MAX + 1]; /* its folder's name */
};

/* Finds the account, or makes one, with a client that has begun. */
MUST_USE enum acme_result acme_account_open(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, const struct acme_settings *settings,
    struct acme_problem *problem);
void acme_account_close(struct acme_account *account);

/* Whether the folder has an account with that authority. */
bool acme_account_exists(const struct acme_state *state, const char *directory);

/* Gives the account another key. That is kept before the authority is told of
 * it, so that the account is never without one. */
MUST_USE enum acme_result acme_account_roll(struct acme_account *account,
                                            struct acme_client *client,
                                            const struct acme_state *state,
                                            struct acme_problem *problem);

/* Closes the account for good; its folder is set aside. */
MUST_USE enum acme_result acme_account_deactivate(
    struct acme_account *account, struct acme_client *client,
    const struct acme_state *state, struct acme_problem *problem);

/* The authority does not know the account any more: the next
 * acme_account_open() makes a new one. */
void acme_account_forget(struct acme_account *account,
                         struct acme_client *client,
                         const struct acme_state *state);

/* Whether a problem says that the authority does not know the account. */
bool acme_account_is_lost(const struct acme_problem *problem);

#endif
