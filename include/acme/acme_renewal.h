/*
 * acme_renewal - when the authority wants a certificate to be renewed (RFC
 * 9773).
 *
 * Thread: its owner's; waits.
 */
#ifndef ACME_ACME_RENEWAL_H
#define ACME_ACME_RENEWAL_H

#include "acme/acme_client.h"
#include "acme/acme_record.h"

enum {
    ACME_LOOK_S = 6 * 3600, /* when the authority does not say how often */
    ACME_LOOK_MIN_S = 60,
    ACME_LOOK_MAX_S = 24 * 3600,
    ACME_IDENTIFIER_MAX = 256
};

/* Makes the name by which authorities know the first certificate of a chain.
 * False: it has none. */
MUST_USE bool acme_renewal_identify(struct bytes chain,
                                    char id_out[ACME_IDENTIFIER_MAX + 1]);

/* Asks the authority for the certificate's window, and notes that and when to
 * ask again. An answer that cannot be understood leaves no window. */
void acme_renewal_look(struct acme_client *client, const char *id,
                       struct acme_record *record, int64_t now_s);

/* Reads a date (RFC 3339). False: it is none. */
MUST_USE bool acme_renewal_read_date(const char *text, int64_t *seconds_out);

#endif
