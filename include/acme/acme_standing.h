/*
 * acme_standing - the state of a managed certificate, found from its file and
 * its record.
 *
 * Thread: any; functions wait for the file system.
 */
#ifndef ACME_ACME_STANDING_H
#define ACME_ACME_STANDING_H

#include "acme/acme_record.h"
#include "acme/acme_renewal.h"
#include "acme/acme_state.h"
#include "config/certificates/managed.h"
#include "io/tls/tls_certificate.h"

struct acme_standing {
    bool is_good; /* the certificate exists, has all names, is in force */
    int64_t begins_at, ends_at, due_at;
    char issuer[TLS_ISSUER_MAX + 1];
    char id[ACME_IDENTIFIER_MAX + 1]; /* id for acme_renewal; "": none */
    struct acme_record record;
};
void acme_standing_look(const struct acme_state *state,
                        const struct managed_certificate *certificate,
                        int64_t now_s, struct acme_standing *standing);

#endif
