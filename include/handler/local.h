/*
 * local - what tells a request of this machine itself from one that only
 * reaches it from here.
 *
 * A loopback address is not enough. A proxy on this machine passes on what
 * comes from anywhere; the fields that proxies add give that away. And a
 * browser on this machine sends what pages from anywhere tell it to, under a
 * name of theirs that resolves to 127.0.0.1 (DNS rebinding); its Host gives
 * that away, as no page can choose an address, or a name of this machine, as
 * its own.
 *
 * Thread: any; no state.
 * Owns:   nothing.
 */
#ifndef HANDLER_LOCAL_H
#define HANDLER_LOCAL_H

#include "handler/hosts.h"
#include "http/exchange.h"

/* Whether a program on this machine asks for itself. False: the request comes
 * from elsewhere, or a proxy has passed it on, be it one that is trusted or one
 * that only has left its fields. */
bool local_is_sender(const struct exchange *exchange);

/* Whether a Host field's value is "localhost", any numeric address, one of
 * names (NULL: there are none), or not there at all, as of programs that speak
 * HTTP/1.0. */
bool local_is_named(const struct hosts *names, struct bytes host);

#endif
