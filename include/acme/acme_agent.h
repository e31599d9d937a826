/*
 * acme_agent - obtains and renews all managed certificates. It decides which
 * certificate is due, which authority is asked, and when a failed try is
 * repeated.
 *
 * A try asks one authority after the other. With each authority, it tries one
 * type of challenge after the other, until a challenge has worked. If all have
 * failed, the next try comes after the time of acme-retry, which is doubled for
 * each further try, up to a day.
 *
 * Thread: the owner's; functions wait for the network.
 * Owns:   the state's folder. Borrows the options.
 */
#ifndef ACME_ACME_AGENT_H
#define ACME_ACME_AGENT_H

#include <time.h>

#include "acme/acme_hook.h"
#include "acme/acme_settings.h"
#include "acme/acme_standing.h"
#include "config/certificates/managed.h"

/* What an agent remembers about one certificate from turn to turn. */
struct acme_seen {
    int64_t due_s; /* when the certificate needs work next */
    /* The state of the certificate's file when it was last read. When the file
     * differs from this, the certificate is checked at once. */
    uint64_t inode, bytes;
    struct timespec changed;
    bool has_failed;
};

struct acme_agent {
    const struct options *options;
    struct acme_settings settings;
    const char *challenges[ACME_CHALLENGE_TYPES_MAX];
    struct acme_state state;
    struct acme_hook hook;
    struct acme_seen *seen; /* one per managed certificate */
    int64_t turn_s;         /* when the last turn was */
    /* Called when there is a new certificate or .told file. */
    void (*on_change)(void *context);
    void *context;
    bool has_lock;
    bool has_told; /* the wait for the lock was logged */
    bool has_told_clock;
};

/* Opens an agent. Returns 0, or -errno after a line in the log. */
MUST_USE int acme_agent_open(struct acme_agent *agent,
                             const struct options *options);
void acme_agent_close(struct acme_agent *agent);

/* Does all due work. Returns the seconds until the next turn, ten at most.
 * Returns -1, after a line in the log, if the agent must end because the
 * state's folder was removed or replaced. */
int64_t acme_agent_turn(struct acme_agent *agent);

/* Whether no certificate had failed when the last turn ended. */
bool acme_agent_is_well(const struct acme_agent *agent);

#endif
