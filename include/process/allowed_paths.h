/*
 * allowed_paths - the paths that a server uses while it runs: paths that the
 * sandbox allows (sandbox.h), and paths that the broker opens for the server
 * (broker.h).
 *
 * Thread: used only by the main thread.
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
    struct broker_path *brokered; /* paths that the broker opens */
    size_t brokered_count;
    struct allowed_text *texts; /* private */
    bool has_failed;            /* memory has run out */
};

/* Lists the paths. control_path is the control socket's path, or "". Returns
 * false if there is no memory. allowed_paths_close() is needed in any case. */
MUST_USE bool allowed_paths_open(struct allowed_paths *allowed,
                                 const struct options *options,
                                 const char *control_path);
void allowed_paths_close(struct allowed_paths *allowed);

/* allowed_paths_connects() says whether proxies connect to TCP ports,
 * allowed_paths_looks_up() whether they look up names for these connections,
 * allowed_paths_asks_sockets() whether they connect to unix sockets. */
bool allowed_paths_connects(const struct options *options);
bool allowed_paths_looks_up(const struct options *options);
bool allowed_paths_asks_sockets(const struct options *options);

/* Whether a location has --follow-symlinks. Symbolic links may lead anywhere,
 * so all files must be readable then. */
bool allowed_paths_is_everywhere(const struct options *options);

#endif
