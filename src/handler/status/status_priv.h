/*
 * status_priv - shared by status.c, which makes whole answers, and
 * status_events.c, which streams new numbers each second and is called by
 * status.c. Both make texts by status_text.c.
 */
#ifndef HANDLER_STATUS_STATUS_PRIV_H
#define HANDLER_STATUS_STATUS_PRIV_H

#include "handler/status/status.h"
#include "handler/stream_seats.h"

#define STATUS_NO_STORE "Cache-Control: no-store\r\n"

/* A text with counted references, the last of which frees the text. */
struct status_text {
    unsigned refs;
    struct buf buf;
};

/* Texts shared by all clients that ask for them in the same turn. */
enum status_kept {
    STATUS_KEPT_JSON,
    STATUS_KEPT_PROMETHEUS,
    STATUS_KEPT_OPENMETRICS,
    STATUS_KEPT_COUNT
};

struct status {
    struct status_options options;
    struct stats_snapshot *snapshot;
    const struct stats_upstreams *upstreams; /* NULL: no upstreams are shown */
    /* NULL: no certificates are shown. */
    const struct stats_certificates *certificates;
    /* NULL: nobody has asked in this turn. */
    struct status_text *kept[STATUS_KEPT_COUNT];
    struct encode encode;
    bool is_draining;
    size_t streams;
    struct stream_seats seats; /* seats of the streams */
    uint64_t ticks;            /* seconds so far, and so the number of `tick` */
    struct status_text *tick;  /* the last tick; NULL: there was no memory */
};

/* --- status_text.c ------------------------------------------------------- */

/* Returns NULL when there is no memory. */
MUST_USE struct status_text *status_text_create(size_t bytes_max);
void status_text_release(struct status_text **text_ref);

/* Takes a new snapshot of the statistics. */
void status_look(struct status *status);

/* Answers with an error page. */
void status_fail(const struct status *status, struct response *response,
                 unsigned code, struct bytes fields);

/* --- status_events.c ----------------------------------------------------- */

/* Answers with a stream of ticks. */
void status_answer_events(struct status *status, struct exchange *exchange);

#endif
