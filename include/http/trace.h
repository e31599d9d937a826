/*
 * trace - names for a request, by which it is found in the logs and traces of
 * all servers on its way.
 *
 *   X-Request-Id: 9f86d081884c7d659a2feaa0c55ad015      this server's log, too
 *   traceparent: 00-9f86...d015-a3bf4f1b2b0b822c-01     W3C Trace Context
 *
 * An id that comes in is believed from trusted proxies only: anybody else could
 * make two requests look like one. A traceparent is believed from all, since
 * each tracer decides for itself whether to trust it. All names that one struct
 * trace makes have the same first half. The second half is made of a secret and
 * a count, so that nobody can foresee a name and no name takes a system call.
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

/* Returns 0, or -errno. */
MUST_USE int trace_init(struct trace *trace);

/* Gives a name to an exchange that has none yet: the name that a trusted
 * neighbour gives, or a new one. The exchange's response, whose head has not
 * ended yet, will tell the name. */
void trace_identify(struct trace *trace, const struct forwarded_trust *trust,
                    struct exchange *exchange);

/* Whether there is exactly one traceparent, and it is valid. */
bool trace_has_parent(const struct request *request);

/* Makes the traceparent of a new trace, with the flag that asks for recording.
 * The trace's name is request_id, if that has the form of such a name, else a
 * new one. */
void trace_make_parent(struct trace *trace, struct bytes request_id,
                       char out[TRACE_PARENT_LEN]);

#endif
