/*
 * acme_renewal - asks when an authority wants a certificate renewed (RFC 9773).
 *
 * Thread: its owner's; waits.
 */
#ifndef ACME_ACME_RENEWAL_H
#define ACME_ACME_RENEWAL_H

#include "acme/acme_client.h"
#include "acme/acme_record.h"

enum {
    ACME_LOOK_S = 6 * 3600, /* between questions, unless the authority says */
    ACME_LOOK_MIN_S = 60,
    ACME_LOOK_MAX_S = 24 * 3600,
    ACME_IDENTIFIER_MAX = 256
};

/* Makes the id by which authorities know the first certificate of a chain.
 * False: it has none. */
MUST_USE bool acme_renewal_identify(struct bytes chain,
                                    char id_out[ACME_IDENTIFIER_MAX + 1]);

/* Asks the authority for the certificate's window, and records it and the time
 * of the next question. An invalid answer leaves no window. */
void acme_renewal_look(struct acme_client *client, const char *id,
                       struct acme_record *record, int64_t now_s);

/* Reads a date (RFC 3339). False: text is none. */
MUST_USE bool acme_renewal_read_date(const char *text, int64_t *seconds_out);

#endif
