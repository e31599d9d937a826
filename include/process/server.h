/*
 * server - puts the parts together, starts them in order, and stops them in
 * reverse order.
 *
 *   start:   leave terminal -> launcher of upgrades -> roots -> pid file, log,
 *            control socket, listeners -> limits, types, statistics -> user,
 *            sandbox -> workers, acceptor -> tell the processes that wait
 *   stop:    SIGTERM, SIGINT: the acceptor ends, listeners close, workers
 *            drain; after a second signal, or after --drain-timeout, workers
 *            stop at once. SIGQUIT: like SIGTERM, without a deadline
 *   reload:  SIGHUP: the configuration is read anew (generation.h);
 *            a faulty configuration changes nothing
 *   upgrade: SIGUSR2 with --config, or `ctl upgrade`: a new process takes the
 *            sockets (upgrade.h), and this process drains
 *   report:  SIGUSR2, or at the end, as --report says (statistics.h)
 *   log:     SIGUSR1: the access log is opened anew
 *
 * Thread: used only by the main thread.
 */
#ifndef PROCESS_SERVER_H
#define PROCESS_SERVER_H

#include "config/options.h"

/* Runs the server until it is told to stop. Takes options over; a reload reads
 * the command line again. Returns the exit status: 0, or a status of sysexits.h
 * after one line on stderr that says what to do. */
int server_run(struct options *options, int argc, char **argv);

#endif
