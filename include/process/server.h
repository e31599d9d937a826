/*
 * server - puts the parts together, starts them in order, and stops them in
 * reverse order.
 *
 *   start:   leave terminal, roots -> launcher of upgrades -> pid file, log,
 *            control socket, listeners -> limits, types, statistics -> user,
 *            sandbox -> workers, acceptor -> tell whoever waits
 *   stop:    SIGTERM, SIGINT: the acceptor ends, listeners close, workers
 *            drain; a second one, or --drain-timeout: workers stop at once.
 *            SIGQUIT: as SIGTERM, without a deadline
 *   reload:  SIGHUP: the configuration is read anew (generation.h);
 *            a faulty one changes nothing
 *   upgrade: SIGUSR2 with --config, or `ctl upgrade`: a new process takes the
 *            sockets (upgrade.h), and this one drains
 *   report:  SIGUSR2, or at the end, as --report says (statistics.h)
 *   log:     SIGUSR1: the access log is opened anew
 *
 * Thread: the main thread's.
 */
#ifndef PROCESS_SERVER_H
#define PROCESS_SERVER_H

#include "config/options.h"

/* Runs until it is told to stop. Takes options over; a reload reads the command
 * line again. Returns the exit status: 0, or one of sysexits.h after one line
 * on stderr that says what to do. */
int server_run(struct options *options, int argc, char **argv);

#endif
