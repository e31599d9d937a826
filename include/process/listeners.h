/*
 * listeners - opens the listening sockets that the options ask for.
 *
 * A socket that is open already is not opened again, but used: at the start a
 * socket from systemd or an earlier server, at a reload a socket that this
 * server has. If systemd hands sockets over, and no option says where to
 * listen, only systemd's sockets are used.
 *
 * Thread: used only by the main thread.
 * Owns:   the listeners in the array.
 */
#ifndef PROCESS_LISTENERS_H
#define PROCESS_LISTENERS_H

#include <stdio.h>

#include "config/options.h"
#include "process/activation.h"

/* Returns true if all sockets from systemd are used, instead of the addresses
 * that the options have by default. */
bool listeners_are_systemds(const struct options *options, bool is_activated);

/* Opens or takes all listeners. Returns 0, or a status of sysexits.h after one
 * line on stderr that names the option and the remedy. In both cases,
 * *count_out listeners are open. */
MUST_USE int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                            size_t *count_out, const struct options *options,
                            struct activation *activation);

/* Checks that listeners with TLS have a certificate: systemd may have opened a
 * listener with TLS although no option sets up TLS. Returns EX_OK, or a status
 * after one line on errors. */
MUST_USE int listeners_check(const struct listener *listeners, size_t count,
                             bool has_certificate, FILE *errors);

/* Returns the port of https-redirect: the configured port, or else the port of
 * the listener with TLS. Returns 443 if listeners with TLS have several ports,
 * or if there is no such listener. */
uint16_t listeners_https_port(const struct listener *listeners, size_t count,
                              const struct options *options);

/* The change from the open sockets to the sockets that new options ask for. */
struct listeners_change {
    struct listener next[OPTIONS_LISTEN_MAX];
    bool is_new[OPTIONS_LISTEN_MAX]; /* false for a copy of an open listener */
    size_t count;
};

/* Opens the missing sockets. Returns EX_OK, or a status after one line on
 * errors; on failure nothing has changed. */
MUST_USE int listeners_prepare(struct listeners_change *change,
                               const struct listener *listeners, size_t count,
                               const struct options *options, FILE *errors);

/* listeners_apply() makes the change, listeners_discard() gives the change up.
 * Both functions close the sockets that are not needed afterwards. */
void listeners_apply(struct listeners_change *change,
                     struct listener listeners[OPTIONS_LISTEN_MAX],
                     size_t *count_ref);
void listeners_discard(struct listeners_change *change);

#endif
