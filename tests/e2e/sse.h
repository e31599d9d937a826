/*
 * sse - what a stream of server-sent events says, event by event.
 *
 * Thread: the test's.
 * Owns:   nothing; texts are freed after the test.
 */
#ifndef E2E_SSE_H
#define E2E_SSE_H

#include "client.h"

struct sse_event {
    const char *name;
    const char *data;
    unsigned long long id; /* 0: none */
};

/* Sends a GET, and takes the head of the answer, which must be a stream. */
void sse_open(struct client *client, const char *target, const char *fields);

/* The next one; fails the test when none comes in time. */
struct sse_event sse_next(struct client *client);

/* The next must be this; data: what it begins with. Returns its id. */
unsigned long long sse_expect(struct client *client, const char *name,
                              const char *data);

/* The stream, and what it is the answer of, ends as it should. */
void sse_expect_end(struct client *client);

#endif
