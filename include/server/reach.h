/*
 * reach - the paths that a server with these options uses while it runs: what
 * it may use itself (sandbox.h), and what is done for it (broker.h).
 *
 * Thread: the main thread's.
 * Owns:   the lists; borrows the options' texts.
 */
#ifndef SERVER_REACH_H
#define SERVER_REACH_H

#include "server/broker.h"
#include "server/options.h"
#include "server/sandbox.h"

struct reach {
    struct sandbox_path *paths;
    size_t count;
    struct broker_path *brokered; /* what the sandbox is not to know */
    size_t brokered_count;
    struct reach_text *texts; /* private */
    bool has_failed;          /* no memory */
};

/* Lists them; control_path: "" is none. False: no memory; reach_close() all
 * the same. */
MUST_USE bool reach_open(struct reach *reach, const struct options *options,
                         const char *control_path);
void reach_close(struct reach *reach);

/* Whether it connects to other machines' ports, or this one's; and whether it
 * looks names up for that. */
bool reach_connects(const struct options *options);
bool reach_looks_up(const struct options *options);

/* A location whose --follow-symlinks may lead anywhere, so that all must be
 * readable. */
bool reach_is_everywhere(const struct options *options);

#endif
