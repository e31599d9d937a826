/*
 * chunked_fixture - what chunked_next() comes to, however it is fed; and a
 * model of that: the grammar of RFC 9112 7.1 by descent over a whole buffer.
 */
#ifndef UNIT_HTTP_CHUNKED_FIXTURE_H
#define UNIT_HTTP_CHUNKED_FIXTURE_H

#include "http/chunked.h"
#include "suite.h"
#include "unit/draw.h" /* which the fixture wants */

enum { WIRE_MAX = 32768 };

struct outcome {
    enum chunked_event event; /* END, BAD, or AGAIN: all used up */
    size_t used;              /* for END */
    size_t body_len;
    char body[WIRE_MAX];
};

/* What the model makes of it. */
void run_model(struct bytes wire, struct outcome *outcome);

/* Splits wire before first, and from there on into pieces of step bytes, or
 * of random length when step is 0. */
void decode(struct bytes wire, size_t first, size_t step,
            struct outcome *outcome);

void assert_same(struct bytes wire, const struct outcome *outcome,
                 const struct outcome *expected);

/* Whole, split in two at every byte, and byte by byte. */
void check(struct bytes wire, const struct outcome *expected);

/* A body that a test makes, *len bytes of it so far. */
extern char wire_text[WIRE_MAX];
void append(size_t *len, const char *text);

#endif
