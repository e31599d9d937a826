/*
 * listeners - the listening sockets that the options ask for.
 *
 * Sockets that are already there are taken: those that systemd or an earlier
 * server hands over at the start, and at a reload those that this server has.
 * When systemd hands some over, and nothing says where to listen, it is these
 * that are meant.
 *
 * Thread: the main thread's.
 * Owns:   the listeners in the array.
 */
#ifndef PROCESS_LISTENERS_H
#define PROCESS_LISTENERS_H

#include <stdio.h>

#include "config/options.h"
#include "process/activation.h"

/* Whether all that systemd hands over is meant, rather than what the options
 * say by default. */
bool listeners_are_systemds(const struct options *options, bool is_activated);

/* Opens or takes all listeners. 0, or a status of sysexits.h after one line on
 * stderr that names the option and the remedy; *count_out listeners are open
 * either way. */
MUST_USE int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                            size_t *count_out, const struct options *options,
                            struct activation *activation);

/* Whether what speaks TLS has something to show: systemd may have opened such a
 * socket without a word of the options. EX_OK, or a status after a line. */
MUST_USE int listeners_check(const struct listener *listeners, size_t count,
                             bool has_certificate, FILE *errors);

/* The port that https-redirect leads to: the one that is said, or else the one
 * that TLS is spoken on; 443 where there are several, or none. */
uint16_t listeners_https_port(const struct listener *listeners, size_t count,
                              const struct options *options);

/* What leads from the sockets that are open to those that other options ask
 * for. */
struct listeners_change {
    struct listener next[OPTIONS_LISTEN_MAX];
    bool is_new[OPTIONS_LISTEN_MAX]; /* else a copy of one before */
    size_t count;
};

/* Opens what is not there yet. EX_OK; or a status, after a line on errors, and
 * all is as it was. */
MUST_USE int listeners_prepare(struct listeners_change *change,
                               const struct listener *listeners, size_t count,
                               const struct options *options, FILE *errors);

/* Makes the change, and closes what is not wanted any more; or gives it up. */
void listeners_apply(struct listeners_change *change,
                     struct listener listeners[OPTIONS_LISTEN_MAX],
                     size_t *count_ref);
void listeners_discard(struct listeners_change *change);

#endif
