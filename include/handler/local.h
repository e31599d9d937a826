/*
 * local - tells requests of programs on this machine from others that only seem
 * to come from here.
 *
 * A loopback address is not enough. A proxy on this machine passes on requests
 * from anywhere; they have the fields that proxies add. A browser on this
 * machine sends requests for pages from anywhere, under their own name that
 * resolves to 127.0.0.1 (DNS rebinding); their Host shows it, since no page can
 * have an address, or a name of this machine, as its own.
 *
 * Thread: any; no state.
 * Owns:   nothing.
 */
#ifndef HANDLER_LOCAL_H
#define HANDLER_LOCAL_H

#include "handler/hosts.h"
#include "http/exchange.h"
#include "http/forwarded.h"

/* Whether the request has a field by which proxies say that they pass it on. */
bool local_is_passed_on(const struct request *request);

/* Whether a program on this machine asks for itself. False: the request comes
 * from elsewhere, or a proxy has passed it on: a trusted one, which need not say
 * so, or one known by its fields. trust: NULL, no proxy is trusted. */
bool local_is_sender(const struct exchange *exchange,
                     const struct forwarded_trust *trust);

/* Whether a Host field's value is "localhost", a numeric address, or one of
 * names (may be NULL), or is missing, as from programs that speak HTTP/1.0. */
bool local_is_named(const struct hosts *names, struct bytes host);

#endif
