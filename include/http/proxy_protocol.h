/*
 * proxy_protocol - whom a proxy speaks for: the first bytes of a connection
 * from it, before those of the client (haproxy's PROXY protocol, versions 1
 * and 2).
 *
 *   v1: "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", 107 bytes at most
 *   v2: 12 bytes of signature, version and command, family and transport,
 *       length of the rest (2 bytes), addresses, more (TLVs, which are skipped)
 *
 * Only connections from proxies that are trusted may be read so: anyone can
 * write such bytes.
 *
 * Thread: any; no state. Each call begins at the first byte, as there are few.
 */
#ifndef HTTP_PROXY_PROTOCOL_H
#define HTTP_PROXY_PROTOCOL_H

#include "base/address.h"

enum {
    PROXY_PROTOCOL_V1_BYTES_MAX = 107, /* CRLF included, as specified */
    /* v2 may have 65551; addresses, a server name, a connection's id and what
     * is told of TLS come to less than this. */
    PROXY_PROTOCOL_BYTES_MAX = 1024
};

enum proxy_protocol_verdict {
    PROXY_PROTOCOL_MORE, /* no fault so far */
    PROXY_PROTOCOL_DONE,
    PROXY_PROTOCOL_BAD /* close: nobody could be answered */
};

struct proxy_protocol {
    size_t used;   /* length: the client's bytes begin there */
    bool is_local; /* the proxy speaks for itself: a health check */
    /* Unless is_local: the client, with port; or ADDRESS_UNKNOWN, where there
     * is none of a kind we know. */
    struct address source;
};

/* Parses text, which is all that has come. A fault is BAD as soon as can be,
 * and anything with PROXY_PROTOCOL_BYTES_MAX bytes is not MORE. */
MUST_USE enum proxy_protocol_verdict proxy_protocol_parse(
    struct proxy_protocol *proxy, struct bytes text);

#endif
