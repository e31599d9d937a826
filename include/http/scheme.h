/*
 * scheme - whether a client speaks http or https, as the connection shows or as
 * a trusted proxy in front says in X-Forwarded-Proto.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_SCHEME_H
#define HTTP_SCHEME_H

#include "http/forwarded.h"

/* Returns "http" or "https". `neighbour` is the connected peer, and is_secure
 * tells that the connection has TLS. X-Forwarded-Proto is believed from a
 * trusted neighbour only. */
struct bytes scheme_of(const struct request *request, bool is_secure,
                       const struct address *neighbour,
                       const struct forwarded_trust *trust);

#endif
