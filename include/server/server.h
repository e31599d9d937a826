/*
 * server - puts the parts together, starts them in order, minds signals, and
 * stops them in reverse.
 *
 *   start:  root, log -> listeners -> limits, types, statistics -> workers
 *           -> acceptor
 *   stop:   first SIGTERM or SIGINT: the acceptor ends, listeners close,
 *           workers drain; second, or --drain-timeout: workers stop at once
 *   report: SIGUSR2, or at the end, as --report says (statistics.h)
 *
 * Thread: the main thread's.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "server/options.h"

/* Runs until told to stop. Returns the exit status: 0, or one of sysexits.h
 * after one line on stderr that says what to do about it. */
int server_run(const struct options *options);

#endif
