/*
 * status_priv - what the files of the status share: status.c gives whole
 * answers and calls status_events.c, which streams what is new every second;
 * both make texts by status_text.c.
 */
#ifndef HANDLER_STATUS_STATUS_PRIV_H
#define HANDLER_STATUS_STATUS_PRIV_H

#include "handler/status/status.h"
#include "handler/stream_seats.h"

#define STATUS_NO_STORE "Cache-Control: no-store\r\n"

/* Counted; freed with the last reference. */
struct status_text {
    unsigned refs;
    struct buf buf;
};

/* Texts that are shared by those who ask for them in the same turn. */
enum status_kept {
    STATUS_KEPT_JSON,
    STATUS_KEPT_PROMETHEUS,
    STATUS_KEPT_OPENMETRICS,
    STATUS_KEPT_COUNT
};

struct status {
    struct status_options options;
    struct stats_snapshot *snapshot;
    const struct stats_upstreams *upstreams;       /* NULL: there are none */
    const struct stats_certificates *certificates; /* NULL: there are none */
    struct status_text *kept[STATUS_KEPT_COUNT];   /* NULL: not asked for */
    struct encode encode;
    bool is_draining;
    size_t streams;
    struct stream_seats seats; /* theirs */
    uint64_t ticks;            /* so far; the number of tick */
    struct status_text *tick;  /* the last; NULL: there was no memory for it */
};

/* --- status_text.c ------------------------------------------------------- */

/* NULL: no memory. */
MUST_USE struct status_text *status_text_create(size_t bytes_max);
void status_text_release(struct status_text **text_ref);

/* Makes the snapshot anew. */
void status_look(struct status *status);

/* Answers with an error's page. */
void status_fail(const struct status *status, struct response *response,
                 unsigned code, struct bytes fields);

/* --- status_events.c ----------------------------------------------------- */

/* Answers with a stream of ticks. */
void status_answer_events(struct status *status, struct exchange *exchange);

#endif
