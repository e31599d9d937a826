/*
 * forwarded - finds the client whose request has come through proxies, in
 * X-Forwarded-For or Forwarded (RFC 7239).
 *
 *   X-Forwarded-For: 203.0.113.9, 198.51.100.7, 10.0.0.2    peer: 10.0.0.1
 *                    anyone's     the client <- trusted <- trusted
 *
 * Each proxy adds on the right the address that it got the request from. All
 * that stands left of the first untrusted address may be invented. So the list
 * is read backwards from its right end, and nothing that the client wrote, not
 * even an open quotation mark, can change what proxies wrote behind it.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "base/cidr.h"
#include "http/request.h"

enum forwarded_field {
    FORWARDED_NONE,  /* proxies use no field: the client is the peer */
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

/* Whether `address` is a trusted proxy's, whatever field the proxies use. */
bool forwarded_is_trusted(const struct forwarded_trust *trust,
                          const struct address *address);

/* Returns the peer, if it is not trusted. Otherwise returns the last address
 * that a trusted proxy vouches for, with port 0 if no port is told. If a
 * trusted proxy names nobody, or names no address ("unknown", a name,
 * nonsense), the client is unknown, and never the proxy itself. The same holds
 * for a proxy on another machine that says "127.0.0.1", because that client is
 * on the proxy's machine and not on this one. */
struct address forwarded_client(const struct request *request,
                                const struct address *peer,
                                const struct forwarded_trust *trust);

#endif
