/*
 * origin - a server behind the one that is tested, in a process of its own:
 * it answers by what is asked for, and notes whatever a careful reader of
 * requests would find wrong (origin_request.h).
 *
 *   /f /canary /              the files that cases ask for (raw_case.h)
 *   /name                     which origin it is
 *   /bytes/SEED/LEN           what a seed stands for, by Content-Length
 *   /chunks/SEED/LEN          the same in chunks
 *   /close/SEED/LEN           the same, until the connection ends
 *   /echo                     the body that is sent, while it comes, in chunks
 *   /health                   200, or 503 when it is told to feel ill
 *
 * For one whose every byte the test says itself see upstream.h.
 *
 * Thread: the test's; a process for each origin.
 * Owns:   these processes, until origins_end().
 */
#ifndef E2E_ORIGIN_H
#define E2E_ORIGIN_H

#include <stdatomic.h>

#include "harness.h"

enum { ORIGIN_WHY_MAX = 512 };

struct secure_server;

struct origin_counts {
    atomic_ulong requests; /* that were whole; but for /health */
    atomic_ulong probes;   /* for /health */
    atomic_ulong malformed;
    atomic_ulong connected; /* connections accepted */
    atomic_ulong open;      /* of these, now */
    atomic_bool is_ill;
    char why[ORIGIN_WHY_MAX]; /* of the first malformed one */
};

struct origin {
    const char *name;
    char at[40];                  /* as --proxy wants it */
    struct secure_server *secure; /* NULL: it speaks in clear text */
    unsigned port;
    int holder;   /* keeps the port while nobody listens */
    int listener; /* -1: nobody does */
    pid_t pid;    /* 0: it does not run */
    struct origin_counts *counts;
};

/* name: what it says of itself at /name. It speaks TLS where
 * secure_is_wanted_upstream(). */
struct origin *origin_start(const char *name);
/* The same, and it does so in any case, unless server is NULL. */
struct origin *origin_start_as(const char *name, struct secure_server *server);
/* All its connections end, and who comes is refused. */
void origin_kill(struct origin *origin);
/* The same, but who comes waits until it is there again. */
void origin_crash(struct origin *origin);
/* At the same port as before; the counts go on. */
void origin_again(struct origin *origin);

/* Fails when it has seen a malformed request. */
void origin_check(const struct origin *origin);

/* Ends all; instead of harness_after_test(), after each test that has one. */
void origins_end(void);
int origins_after_test(void **state);
#define origin_test(function) \
    cmocka_unit_test_teardown(function, origins_after_test)

#endif
