/*
 * acme_record - the saved state of one certificate: the current order, past
 * failures, and when work is due.
 *
 * The file has lines of the form "word value". A damaged record is read as an
 * empty one, which costs at most a new order.
 *
 * Thread: any; values only.
 */
#ifndef ACME_ACME_RECORD_H
#define ACME_ACME_RECORD_H

#include "acme/acme_http.h"

enum {
    ACME_FAILURES_MAX = 5, /* most failed orders of a certificate in an hour */
    ACME_NAMES_ID_MAX = 64
};

struct acme_record {
    char directory[ACME_URL_MAX + 1];      /* URL of the order's authority */
    char order[ACME_URL_MAX + 1];          /* URL of the order; "": none */
    char names[ACME_NAMES_ID_MAX + 1];     /* id of the order's names */
    int64_t attempts[ACME_FAILURES_MAX];   /* when the failed or unfinished
                                              orders began; 0: none */
    unsigned failures;                     /* consecutive failures */
    int64_t next_s;                        /* no try before this; 0: any time */
    int64_t window_from_s, window_until_s; /* when to renew; 0: not said */
    int64_t look_s;                        /* when to ask for the window */
    char error[ACME_FAULT_MAX];            /* the last failure; "": none */
};

void acme_record_read(struct acme_record *record, struct bytes text);
void acme_record_put(const struct acme_record *record, struct buf *text);

/* --- Times --------------------------------------------------------------- */

/* Returns when to renew a certificate. If the authority has named a window, the
 * time lies in that window and in the certificate's life. Otherwise the time
 * comes when two thirds of the life are over, or half of a life that is under
 * ten days. `chance`, from 0 to UINT32_MAX, spreads the times of many
 * certificates. */
int64_t acme_record_due(const struct acme_record *record, int64_t begins_at,
                        int64_t ends_at, uint32_t chance);

/* Records that an order is about to begin. Returns false if ACME_FAILURES_MAX
 * orders have failed within the last hour, and sets *when_out to the time at
 * which an order may begin again. */
MUST_USE bool acme_record_begin(struct acme_record *record, int64_t now_s,
                                int64_t *when_out);

/* acme_record_succeed() and acme_record_fail() record how the order ended. The
 * authority wants no request for wait_s seconds; -1 if it named no time. */
void acme_record_succeed(struct acme_record *record);
void acme_record_fail(struct acme_record *record, const char *why,
                      int64_t now_s, int64_t retry_ms, int64_t wait_s,
                      uint32_t chance);

#endif
