/*
 * acme_agent - sees to it that all managed certificates are there, and stay
 * good: which of them is due, which authority is asked, and when again.
 *
 * A try goes through the authorities in their order, and with each of them
 * through the challenges, until one has worked. When none has, there is a pause
 * that doubles, from acme-retry up to a day.
 *
 * Thread: its own; waits.
 * Owns:   the state's folder. Borrows the options.
 */
#ifndef ACME_ACME_AGENT_H
#define ACME_ACME_AGENT_H

#include <time.h>

#include "acme/acme_hook.h"
#include "acme/acme_settings.h"
#include "acme/acme_standing.h"
#include "config/certificates/managed.h"

/* What an agent knows of a certificate between its turns. */
struct acme_seen {
    int64_t due_s; /* when there is something to do */
    /* The file as it was then; a file with other numbers is looked at at
     * once. */
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
    struct acme_seen *seen;           /* of each managed certificate */
    int64_t turn_s;                   /* when the last turn was */
    void (*on_change)(void *context); /* another certificate, or other news */
    void *context;
    bool has_lock;
    bool has_told; /* that it waits for the lock */
    bool has_told_clock;
};

/* 0; or -errno, after a line in the log. */
MUST_USE int acme_agent_open(struct acme_agent *agent,
                             const struct options *options);
void acme_agent_close(struct acme_agent *agent);

/* Does what is due. Returns in how many seconds there will be more, ten at
 * most; or -1, after a line in the log: the folder that was opened is gone, so
 * that this agent has nowhere to work. */
int64_t acme_agent_turn(struct acme_agent *agent);

/* Whether the last turn left nothing that has failed. */
bool acme_agent_is_well(const struct acme_agent *agent);

#endif
