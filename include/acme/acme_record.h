/*
 * acme_record - how one certificate stands: what is under way, what has failed,
 * and when there is something to do.
 *
 * A text of lines "word value"; what is damaged reads as nothing known, which
 * costs an order at most.
 *
 * Thread: any; values only.
 */
#ifndef ACME_ACME_RECORD_H
#define ACME_ACME_RECORD_H

#include "acme/acme_http.h"

enum {
    ACME_FAILURES_MAX = 5, /* an hour, of one certificate */
    ACME_NAMES_ID_MAX = 64
};

struct acme_record {
    char directory[ACME_URL_MAX + 1];      /* whose order it is, or was last */
    char order[ACME_URL_MAX + 1];          /* "": none is under way */
    char names[ACME_NAMES_ID_MAX + 1];     /* which names it is for */
    int64_t attempts[ACME_FAILURES_MAX];   /* when orders were begun that have
                                            not ended well; 0: none */
    unsigned failures;                     /* in a row */
    int64_t next_s;                        /* not before; 0: whenever due */
    int64_t window_from_s, window_until_s; /* of the authority; 0: none */
    int64_t look_s;                        /* when that is asked for again */
    char error[ACME_FAULT_MAX];            /* the last; "": none */
};

void acme_record_read(struct acme_record *record, struct bytes text);
void acme_record_put(const struct acme_record *record, struct buf *text);

/* --- When ---------------------------------------------------------------- */

/* When a certificate is to be renewed: at two thirds of its life, at half of it
 * when that is below ten days, within the authority's window if there is one,
 * as far as that lies in its life; chance, from 0 to UINT32_MAX, spreads it. */
int64_t acme_record_due(const struct acme_record *record, int64_t begins_at,
                        int64_t ends_at, uint32_t chance);

/* Notes that an order is about to begin. False: so many have failed within the
 * hour that it must not, until *when_out. */
MUST_USE bool acme_record_begin(struct acme_record *record, int64_t now_s,
                                int64_t *when_out);

/* Note what became of the order. wait_s: how long the authority wants to be
 * left alone; -1: it has not said. */
void acme_record_succeed(struct acme_record *record);
void acme_record_fail(struct acme_record *record, const char *why,
                      int64_t now_s, int64_t retry_ms, int64_t wait_s,
                      uint32_t chance);

#endif
