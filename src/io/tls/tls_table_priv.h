/*
 * tls_table_priv - the parts of a table that tls_context.c uses.
 */
#ifndef IO_TLS_TLS_TABLE_PRIV_H
#define IO_TLS_TLS_TABLE_PRIV_H

#include "io/tls/tls_context.h"

enum { TLS_SESSION_NAME_BYTES = 32 };

struct stack_st_X509;

struct tls_set {
    const struct tls_table *table;
    size_t number;
    char *name;
    struct tls_certificate *certificates[TLS_SET_CERTIFICATES_MAX];
    size_t certificate_count;
    enum tls_client client;
    struct stack_st_X509 *authorities; /* for clients' certificates, or NULL */
    /* The set's session id context: a session that was begun with one such name
     * is resumed only where the name is the same. */
    unsigned char session_name[TLS_SESSION_NAME_BYTES];
};

size_t tls_table_set_count(const struct tls_table *table);
const struct tls_set *tls_table_set(const struct tls_table *table,
                                    size_t number);
enum tls_profile tls_table_profile(const struct tls_table *table);
bool tls_table_offers_http2(const struct tls_table *table);
bool tls_set_uses_kernel(const struct tls_set *set);
struct tls_tickets *tls_table_tickets(const struct tls_table *table);
const char *tls_table_challenges(const struct tls_table *table);

#endif
