/*
 * local - tells requests of programs on this machine from requests that only
 * seem to come from here.
 *
 * A loopback address is not enough. A proxy on this machine passes on requests
 * from anywhere; such requests have the fields that proxies add. A browser on
 * this machine sends requests on behalf of pages from anywhere. A foreign page
 * may have a name of its own that resolves to 127.0.0.1 (DNS rebinding). Its
 * requests show that name in Host. They cannot show an address or a name of
 * this machine, since no foreign page is found under these.
 *
 * Thread: any; no state.
 * Owns:   nothing.
 */
#ifndef HANDLER_LOCAL_H
#define HANDLER_LOCAL_H

#include "handler/hosts.h"
#include "http/exchange.h"
#include "http/forwarded.h"

/* Returns true if the request has a field that proxies add to the requests that
 * they pass on. */
bool local_is_passed_on(const struct request *request);

/* Returns true if the request was sent by a program on this machine. Returns
 * false if it comes from elsewhere, or if a proxy has passed it on. A trusted
 * proxy is known by its address, any other proxy by the fields that it adds. If
 * `trust` is NULL, no proxy is trusted. */
bool local_is_sender(const struct exchange *exchange,
                     const struct forwarded_trust *trust);

/* Whether a Host field's value is "localhost", a numeric address, or one of
 * `names` (which may be NULL). Also true if the value is missing, as from
 * programs that speak HTTP/1.0. */
bool local_is_named(const struct hosts *names, struct bytes host);

#endif
