/*
 * http1_pieces - reads heads whole and in pieces, and compares what comes out.
 */
#ifndef UNIT_HTTP1_PIECES_H
#define UNIT_HTTP1_PIECES_H

#include "base/buf.h"
#include "http/http1/http1.h"
#include "suite.h"

enum { DUMP_BYTES_MAX = 1 << 20 };

/* What came of reading a text, in whatever pieces it came in. */
struct outcome {
    enum http1_verdict verdict;
    enum reason reason; /* of HTTP1_BAD */
    unsigned status;    /* that it has */
    size_t read;        /* how many bytes were there when the verdict fell */
    size_t used;        /* of HTTP1_DONE */
    struct request request;
    struct field few[REQUEST_FIELDS_FEW];
    struct field many[REQUEST_FIELDS_MAX];
    char *copy;      /* what the request's views point into */
    struct buf dump; /* of HTTP1_DONE: the whole request as text */
};

void assert_bytes(struct bytes text, const char *expected);
void dump_request(struct buf *dump, const struct request *request);

/* Reads text: first bytes of it, then step more each time until there is a
 * verdict. Every call gets a copy of its own that ends where the bytes do, so
 * that a sanitizer sees a view kept from before and a byte read too far. */
void read_in_steps(struct outcome *outcome, struct bytes text, size_t first,
                   size_t step);

void read_whole(struct outcome *outcome, struct bytes text);
void outcome_fini(struct outcome *outcome);
bool is_inside(struct bytes view, const char *data, size_t len);

/* Every view lies in what was read, or is text of the program's own. */
void assert_views_are_inside(const struct outcome *outcome);

/* That a text read in pieces comes to what it came to as a whole. A fault may
 * be seen before all is there; which of two faults is seen first, and so the
 * status, may then differ, unless they say the text has but one. */
void assert_same_in_steps(const struct outcome *whole, struct bytes text,
                          size_t first, size_t step, bool has_one_fault);

void assert_same_in_any_split(const struct outcome *whole, struct bytes text,
                              bool has_one_fault);

#endif
