/*
 * tls_name - names as certificates, clients and requests write them, made
 * comparable.
 *
 * Thread: any; no state.
 */
#ifndef IO_TLS_TLS_NAME_H
#define IO_TLS_TLS_NAME_H

#include "base/bytes.h"

enum { TLS_NAME_MAX = 255 }; /* RFC 1035 2.3.4 */

/* Writes host in lower case, without port and final dot; an IPv6 address
 * without brackets, and in short. Empty: it is none. The result lies in to. */
struct bytes tls_name_normalise(struct bytes host, char to[TLS_NAME_MAX + 1]);

/* Whether pattern, a name or "*." with one behind it, stands for name; both are
 * normal. "*." is for one label, no more and no less (RFC 6125 6.4.3). */
bool tls_name_matches(struct bytes pattern, struct bytes name);

/* What is behind the first label of name, with its dot; empty: nothing. */
struct bytes tls_name_above(struct bytes name);

/* The name that a ClientHello's server_name extension asks for (RFC 6066 3), as
 * it was sent; empty: none that could be one. */
struct bytes tls_name_read_extension(struct bytes extension);

#endif
