/*
 * acme_renewal - asks an authority when to renew a certificate (RFC 9773).
 *
 * Thread: the owner's; functions wait for the network.
 */
#ifndef ACME_ACME_RENEWAL_H
#define ACME_ACME_RENEWAL_H

#include "acme/acme_client.h"
#include "acme/acme_record.h"

enum {
    ACME_LOOK_S = 6 * 3600, /* default time between two questions */
    ACME_LOOK_MIN_S = 60,
    ACME_LOOK_MAX_S = 24 * 3600,
    ACME_IDENTIFIER_MAX = 256
};

/* Writes the id by which authorities know the first certificate of a chain.
 * Returns false if the certificate has no such id. */
MUST_USE bool acme_renewal_identify(struct bytes chain,
                                    char id_out[ACME_IDENTIFIER_MAX + 1]);

/* Asks the authority when to renew the certificate. The record gets the
 * suggested window, or no window if the answer names no valid one. It also gets
 * the time of the next question. */
void acme_renewal_look(struct acme_client *client, const char *id,
                       struct acme_record *record, int64_t now_s);

/* Reads a date (RFC 3339). Returns false if `text` is not a date. */
MUST_USE bool acme_renewal_read_date(const char *text, int64_t *seconds_out);

#endif
