/*
 * local - what tells a request of this machine itself from one that only
 * reaches it from here.
 *
 * A loopback address is not enough. A proxy on this machine passes on what
 * comes from anywhere, and a browser here sends what pages from anywhere tell
 * it to, under a name of theirs that resolves to 127.0.0.1 (DNS rebinding). The
 * first is given away by the fields that proxies add, the second by its Host:
 * no page can choose an address, or a name of this machine, as its own.
 *
 * Thread: any; no state.
 * Owns:   nothing.
 */
#ifndef HANDLER_LOCAL_H
#define HANDLER_LOCAL_H

#include "handler/hosts.h"
#include "http/exchange.h"

/* Whether the request comes of a program on this machine that says it of nobody
 * else: no proxy, neither trusted nor one that has left its fields. */
bool local_is_sender(const struct exchange *exchange);

/* Whether a Host field's value is "localhost", any numeric address, one of
 * names (NULL: there are none), or not there at all, as of programs that speak
 * HTTP/1.0. */
bool local_is_named(const struct hosts *names, struct bytes host);

#endif
