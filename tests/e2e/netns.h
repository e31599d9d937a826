/*
 * netns - a slow link between the server and its clients.
 *
 *   server  10.99.1.1 eth0 ==HTB==> eth0 10.99.1.2  this program, its clients
 *                                       10.99.1.3 ... more of them
 *
 * or further away, where the server hears of it by acknowledgements only:
 *
 *   server eth0 -- eth0 a switch cable0 ==HTB, a drop-tail buffer==> eth0
 *
 * Each of them lies in a network namespace of its own. None has a name: they
 * are gone with the last process and descriptor in them, so also when a test
 * is killed.
 *
 * Thread: the test's.
 * Owns:   the others' namespaces. This program stays in that of the clients.
 */
#ifndef E2E_NETNS_H
#define E2E_NETNS_H

#include "harness.h"

#define NETNS_SERVER "10.99.1.1"

enum { NETNS_CLIENTS = 16 };

/* The address of one of NETNS_CLIENTS; the first is used when none is named. */
const char *netns_client(unsigned number);

/* Makes both. Needs root or user namespaces, a kernel with veth and HTB, and
 * the tools of iproute2. */
void netns_begin(void);
/* The same, and the slow link is not at the server's own interface. */
void netns_begin_far(void);
void netns_end(void);
/* The same and the harness's, as a suite's end. */
int netns_suite_end(void **state);

/* From now on the link carries so many Mbit/s. Skips the test, and says why,
 * when there is none. */
void netns_need(unsigned mbit);

/* Bytes that have left over the slow link, with all their headers. */
uint64_t netns_count_bytes(void);

/* Nanoseconds for which threads of a process would have run, and had no CPU; 0:
 * the kernel does not tell. */
uint64_t netns_count_waited_ns(pid_t pid);

/* Starts a server at the far end. */
#define NETNS_START(...)                                      \
    server_start(&(struct launch){.netns = netns_of_server(), \
                                  .address = NETNS_SERVER},   \
                 (const char *const[]){__VA_ARGS__, NULL})
int netns_of_server(void);

#endif
