/*
 * pebble - an authority of certificates to try ours against: Pebble, with its
 * server of names, which sends every name to 127.0.0.1. It is strict, and
 * refuses half of all nonces.
 *
 * Thread: the test's.
 * Owns:   both processes, until pebble_stop().
 */
#ifndef E2E_PEBBLE_H
#define E2E_PEBBLE_H

#include "harness.h"

struct pebble {
    unsigned port;         /* of its directory */
    unsigned http, https;  /* where it looks for challenges */
    const char *directory; /* its address */
    const char *ca;        /* a file: who has signed its own certificate */
    const char *log;       /* a file: what it says */
    pid_t authority, names;
    unsigned management;
    unsigned dns_management;
};

struct pebble_options {
    unsigned validity_s;        /* of certificates; 0: a year */
    const char *configuration;  /* more members, each with a comma before */
    unsigned port, http, https; /* 0: any free ports */
};

/* False, after a line that says so: it is not installed. PEBBLE says where the
 * program is, whose server of names lies beside it. */
bool pebble_is_there(void);

/* Fails the test when it does not start. */
struct pebble *pebble_start(const struct pebble_options *options);
void pebble_stop(struct pebble *pebble); /* NULL is accepted */

/* A file with the root that signs; it is another after each start. */
const char *pebble_root(const struct pebble *pebble);

/* How often its log has that. */
unsigned pebble_count(const struct pebble *pebble, const char *part);

/* A port of loopback that was free a moment ago. */
unsigned free_port(void);

#endif
