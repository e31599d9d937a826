/*
 * allowed_paths - the paths that a server uses while it runs: those it may use
 * itself (sandbox.h), and those that others open for it (broker.h).
 *
 * Thread: the main thread's.
 * Owns:   the lists; borrows the options' texts.
 */
#ifndef PROCESS_ALLOWED_PATHS_H
#define PROCESS_ALLOWED_PATHS_H

#include "config/options.h"
#include "confine/sandbox.h"
#include "process/companion/broker.h"

struct allowed_paths {
    struct sandbox_path *paths;
    size_t count;
    struct broker_path *brokered; /* opened by the broker, not in the sandbox */
    size_t brokered_count;
    struct allowed_text *texts; /* private */
    bool has_failed;            /* memory has run out */
};

/* Lists the paths; control_path may be "". False: no memory.
 * allowed_paths_close() is needed in any case. */
MUST_USE bool allowed_paths_open(struct allowed_paths *allowed,
                                 const struct options *options,
                                 const char *control_path);
void allowed_paths_close(struct allowed_paths *allowed);

/* Whether the server connects to TCP ports; the second: whether it looks up
 * names for that. */
bool allowed_paths_connects(const struct options *options);
bool allowed_paths_looks_up(const struct options *options);

/* Whether any location's --follow-symlinks may lead anywhere, so all must be
 * readable. */
bool allowed_paths_is_everywhere(const struct options *options);

#endif
