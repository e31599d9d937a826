/*
 * forwarded - who has asked, when proxies stand between: X-Forwarded-For, or
 * Forwarded (RFC 7239).
 *
 *   X-Forwarded-For: 203.0.113.9, 198.51.100.7, 10.0.0.2    peer: 10.0.0.1
 *                    anyone's     the client <- trusted <- trusted
 *
 * Each proxy adds, on the right, whom it got the request from; all that stands
 * left of the first one not trusted may be invented. So the list is read from
 * its right end, back to front, and what the client wrote cannot reach what
 * proxies wrote behind it: not by an open quotation mark either.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "base/cidr.h"
#include "http/request.h"

enum forwarded_field {
    FORWARDED_NONE,  /* no field: the client is the peer */
    FORWARDED_X_FOR, /* X-Forwarded-For */
    FORWARDED_RFC7239
};

/* Which proxies are believed, and in which field they speak. */
struct forwarded_trust {
    enum forwarded_field field;
    bool trusts_unix; /* peers on unix sockets are trusted */
    const struct cidr *blocks;
    size_t block_count;
};

/* Whether peer is one of the trusted proxies, whatever field they speak in. */
bool forwarded_is_trusted(const struct forwarded_trust *trust,
                          const struct address *address);

/* The peer, if it is not trusted; else the last address that something trusted
 * vouches for, whose port is 0 unless it is told. A trusted proxy that says
 * nothing, or what is no address ("unknown", a name, nonsense), speaks for an
 * unknown client, never for itself. So does a proxy on another machine that
 * says "127.0.0.1": that client is on the proxy's machine, not on this one. */
struct address forwarded_client(const struct request *request,
                                const struct address *peer,
                                const struct forwarded_trust *trust);

#endif
