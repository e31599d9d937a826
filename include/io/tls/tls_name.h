/*
 * tls_name - normalises the names that certificates, clients and requests
 * write, so that they can be compared.
 *
 * Thread: any; no state.
 */
#ifndef IO_TLS_TLS_NAME_H
#define IO_TLS_TLS_NAME_H

#include "base/bytes.h"

enum { TLS_NAME_MAX = 255 }; /* RFC 1035 2.3.4 */

/* Writes `host` in lower case, without port and final dot. An IPv6 address is
 * written in its short form, without brackets. Returns the result, which lies
 * in `to`; empty when `host` is not a name. */
struct bytes tls_name_normalise(struct bytes host, char to[TLS_NAME_MAX + 1]);

/* Whether `pattern`, a name or "*." with a name behind it, stands for `name`.
 * Both are normalised. "*." stands for exactly one label (RFC 6125 6.4.3). */
bool tls_name_matches(struct bytes pattern, struct bytes name);

/* Returns what follows the first label of `name`, from the dot on; empty when
 * nothing follows. */
struct bytes tls_name_above(struct bytes name);

/* Returns the name that a ClientHello's server_name extension asks for (RFC
 * 6066 3), as it was sent; empty when the extension has no name, or only a text
 * that cannot be a name. */
struct bytes tls_name_read_extension(struct bytes extension);

#endif
