/*
 * redis - real redis-server processes, for stores that live in them: one alone,
 * or a cluster of three masters with a replica each.
 *
 * They listen on loopback, at a port that was free, and keep nothing on disk:
 * one that was killed starts again empty. Nothing of them outlives the test
 * program, whatever becomes of it.
 *
 * A test that starts some itself is listed with redis_test(), and the group's
 * tear-down is redis_end.
 *
 * Thread: the test's.
 * Owns:   the processes; their folders lie in folder().
 */
#ifndef E2E_REDIS_H
#define E2E_REDIS_H

#include "harness.h"

enum { REDIS_MASTERS = 3, REDIS_NODES = 2 * REDIS_MASTERS };

#define redis_test(function) \
    cmocka_unit_test_teardown(function, redis_after_test)

struct redis {
    unsigned port; /* 0: none */
    pid_t pid;     /* 0: it does not run */
    bool is_kept;
    bool is_node; /* of a cluster */
    char password[32];
    char folder[128];
    /* Beside the port in clear text; to be set before it starts. 0: none. */
    unsigned tls_port;
    const char *certificate; /* a file with its key */
    const char *client_ca;   /* a file: clients show who they are; NULL: none */
};

/* A port that is free, for tls_port. */
unsigned redis_find_port(void);

/* Whether it is installed; says so when it is not. */
bool redis_is_there(void);

/* Chooses a port, where nobody listens yet; password: NULL for none. Skips the
 * test where redis-server is not installed. */
struct redis *redis_make(const char *password);

/* Starts it, also again after redis_kill(), and waits until it answers. */
void redis_start(struct redis *redis);
void redis_kill(struct redis *redis);
void redis_freeze(const struct redis *redis); /* it is there, and is silent */
void redis_thaw(const struct redis *redis);

/* Masters first, then their replicas. Waits until all slots are served, and
 * all replicas follow. */
void redis_make_cluster(struct redis *nodes[REDIS_NODES]);

/* The answer to a command, a line for each of its values; an error begins with
 * '-'. Freed after the test. */
__attribute__((format(printf, 2, 3))) const char *redis_ask(
    const struct redis *redis, const char *format, ...);
/* What stands behind "name:" in the answer to INFO and the like. */
const char *redis_find(const char *text, const char *name);

/* Those that run now outlast the test. */
void redis_keep(void);
int redis_after_test(void **state); /* and harness_after_test() */
int redis_end(void **state);        /* and harness_end() */

#endif
