/*
 * proxy_protocol - reads whom a proxy speaks for. The proxy says so in the
 * first bytes of its connection, before the bytes of the client (haproxy's
 * PROXY protocol, versions 1 and 2).
 *
 *   v1: "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", 107 bytes at most
 *   v2: 12 bytes of signature, version and command, family and transport,
 *       length of the rest (2 bytes), addresses, more (TLVs, which are skipped)
 *
 * Only connections from trusted proxies may be read in this way, because anyone
 * can write such bytes.
 *
 * Thread: any; no state: each call parses the few bytes again from the first.
 */
#ifndef HTTP_PROXY_PROTOCOL_H
#define HTTP_PROXY_PROTOCOL_H

#include "base/address.h"

enum {
    PROXY_PROTOCOL_V1_BYTES_MAX = 107, /* CRLF included, as specified */
    /* The longest header that is read. A header of v2 may have up to 65551
     * bytes, but this is room enough for addresses, a server's name, a
     * connection's id and facts about TLS. */
    PROXY_PROTOCOL_BYTES_MAX = 1024
};

enum proxy_protocol_verdict {
    PROXY_PROTOCOL_MORE, /* no fault so far; the header is incomplete */
    PROXY_PROTOCOL_DONE,
    PROXY_PROTOCOL_BAD /* close at once: no answer would be understood */
};

struct proxy_protocol {
    size_t used;   /* length of the header; the client's bytes follow */
    bool is_local; /* the proxy speaks for itself: a health check */
    /* The client's address with its port, unless is_local; ADDRESS_UNKNOWN when
     * the header has no address of a kind that we know. */
    struct address source;
};

/* Parses text, which is all that has come. A fault gives BAD as early as
 * possible. MORE is never returned for PROXY_PROTOCOL_BYTES_MAX bytes. */
MUST_USE enum proxy_protocol_verdict proxy_protocol_parse(
    struct proxy_protocol *proxy, struct bytes text);

#endif
