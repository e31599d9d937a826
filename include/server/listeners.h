/*
 * listeners - the listening sockets that the options ask for.
 *
 * Thread: the main thread's.
 * Owns:   the listeners in the array.
 */
#ifndef SERVER_LISTENERS_H
#define SERVER_LISTENERS_H

#include "io/listener.h"
#include "server/options.h"

/* Opens them all. 0, or a status of sysexits.h after one line on stderr that
 * names the option and the remedy; *count_out listeners are open either
 * way. */
MUST_USE int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                            size_t *count_out, const struct options *options);

#endif
