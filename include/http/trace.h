/*
 * trace - names by which a request is found again in the logs and traces of
 * all that it passes.
 *
 *   X-Request-Id: 9f86d081884c7d659a2feaa0c55ad015      this server's log, too
 *   traceparent: 00-9f86...d015-a3bf4f1b2b0b822c-01     W3C Trace Context
 *
 * An id that comes in is believed of trusted proxies only, or anybody could
 * make two requests look like one; a traceparent is believed of all, since each
 * tracer decides that for itself. The first half of a name is the same for all
 * that this struct makes, the second is made of a secret and a count: nobody
 * foresees it, and no system call is made for one.
 *
 * Thread: one.
 * Owns:   nothing but itself.
 */
#ifndef HTTP_TRACE_H
#define HTTP_TRACE_H

#include "base/siphash.h"
#include "http/exchange.h"
#include "http/forwarded.h"

enum { TRACE_ID_LEN = 32, TRACE_PARENT_LEN = 55 };

struct trace {
    struct siphash_key key;
    uint64_t count;
    char half[TRACE_ID_LEN / 2]; /* the first half of each name */
};

/* 0 or -errno. */
MUST_USE int trace_init(struct trace *trace);

/* Names an exchange that has no name yet: as a trusted neighbour does, or anew.
 * Its response, whose head is yet to be ended, tells the name. */
void trace_identify(struct trace *trace, const struct forwarded_trust *trust,
                    struct exchange *exchange);

/* Whether there is exactly one traceparent, and it is valid. */
bool trace_has_parent(const struct request *request);

/* Makes the traceparent of a new trace, to be recorded. The trace is named like
 * the request, if request_id can be a trace's name. */
void trace_make_parent(struct trace *trace, struct bytes request_id,
                       char out[TRACE_PARENT_LEN]);

#endif
