/*
 * server - puts the parts together, starts them in order, minds signals, and
 * stops them in reverse.
 *
 *   start:  root, log -> listeners -> limits, types, statistics -> workers
 *           -> acceptor
 *   stop:   first SIGTERM or SIGINT: the acceptor ends, listeners close,
 *           workers drain; second, or --drain-timeout: workers stop at once
 *   reload: SIGHUP: what is served from then on is read anew (generation.h);
 *           what is faulty changes nothing
 *   report: SIGUSR2, or at the end, as --report says (statistics.h)
 *
 * Thread: the main thread's.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "server/options.h"

/* Runs until told to stop, and takes options over; the command line is read
 * anew when it is told to reload. Returns the exit status: 0, or one of sysexits.h
 * after one line on stderr that says what to do about it. */
int server_run(struct options *options, int argc, char **argv);

#endif
