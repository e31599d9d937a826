/*
 * tls_names - the names and addresses that a certificate is for.
 *
 * Names are in lower case and without a dot at the end, addresses as
 * inet_ntop() writes them. Each occurs once.
 *
 * Thread: the owner's; values only.
 */
#ifndef IO_TLS_TLS_NAMES_H
#define IO_TLS_TLS_NAMES_H

#include "base/address.h"
#include "base/host_name.h"

enum { TLS_NAMES_MAX = 64 };

/* A list of names; a zeroed list is empty. */
struct tls_names {
    size_t count;
    char items[TLS_NAMES_MAX][HOST_NAME_MAX_BYTES + 1];
};

/* Adds a name, unless it is in the list. Nothing is added if the text is
 * neither a name nor an address, or if the list is full. */
void tls_names_add(struct tls_names *names, struct bytes name);
void tls_names_add_address(struct tls_names *names,
                           const struct address *address);

#endif
