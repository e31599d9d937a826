/*
 * listeners - opens the listening sockets that the options ask for.
 *
 * Open sockets are taken: at the start those from systemd or an earlier server,
 * at a reload those that this server has. If systemd hands some over, and no
 * option says where to listen, exactly these are used.
 *
 * Thread: the main thread's.
 * Owns:   the listeners in the array.
 */
#ifndef PROCESS_LISTENERS_H
#define PROCESS_LISTENERS_H

#include <stdio.h>

#include "config/options.h"
#include "process/activation.h"

/* Whether to use all sockets from systemd, instead of the options' defaults. */
bool listeners_are_systemds(const struct options *options, bool is_activated);

/* Opens or takes all listeners. Returns 0, or a status of sysexits.h after one
 * line on stderr that names the option and the remedy. Either way, *count_out
 * listeners are open. */
MUST_USE int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                            size_t *count_out, const struct options *options,
                            struct activation *activation);

/* Checks that listeners with TLS have a certificate: systemd may have opened
 * one without any option for TLS. Returns EX_OK, or a status after a line. */
MUST_USE int listeners_check(const struct listener *listeners, size_t count,
                             bool has_certificate, FILE *errors);

/* Returns the port of https-redirect: the configured one, or else that of the
 * listener with TLS; 443 if there are several such ports, or none. */
uint16_t listeners_https_port(const struct listener *listeners, size_t count,
                              const struct options *options);

/* The change from the open sockets to those that new options ask for. */
struct listeners_change {
    struct listener next[OPTIONS_LISTEN_MAX];
    bool is_new[OPTIONS_LISTEN_MAX]; /* false: a copy of an open one */
    size_t count;
};

/* Opens the missing sockets. Returns EX_OK; or a status after a line on errors,
 * and nothing has changed. */
MUST_USE int listeners_prepare(struct listeners_change *change,
                               const struct listener *listeners, size_t count,
                               const struct options *options, FILE *errors);

/* Apply or give up the change; sockets that are no longer needed are closed. */
void listeners_apply(struct listeners_change *change,
                     struct listener listeners[OPTIONS_LISTEN_MAX],
                     size_t *count_ref);
void listeners_discard(struct listeners_change *change);

#endif
