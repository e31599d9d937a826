/*
 * allowed_paths - the paths that a server with these options uses while it
 * runs: what it may use itself (sandbox.h), and what is done for it (broker.h).
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
    struct broker_path *brokered; /* what the sandbox is not to know */
    size_t brokered_count;
    struct allowed_text *texts; /* private */
    bool has_failed;            /* no memory */
};

/* Lists the paths; control_path: "" is none. False: no memory;
 * allowed_paths_close() all the same. */
MUST_USE bool allowed_paths_open(struct allowed_paths *allowed,
                                 const struct options *options,
                                 const char *control_path);
void allowed_paths_close(struct allowed_paths *allowed);

/* Whether the server connects to other machines' ports, or this one's; and
 * whether it looks names up for that. */
bool allowed_paths_connects(const struct options *options);
bool allowed_paths_looks_up(const struct options *options);

/* A location whose --follow-symlinks may lead anywhere, so that all must be
 * readable. */
bool allowed_paths_is_everywhere(const struct options *options);

#endif
