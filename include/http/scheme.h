/*
 * scheme - whether a client speaks http or https, as far as that is known: to
 * us, or to a proxy in front, which says so in X-Forwarded-Proto.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_SCHEME_H
#define HTTP_SCHEME_H

#include "http/forwarded.h"

/* "http" or "https". neighbour is who is connected, by TLS if is_secure:
 * only what is trusted is believed. */
struct bytes scheme_of(const struct request *request, bool is_secure,
                       const struct address *neighbour,
                       const struct forwarded_trust *trust);

#endif
