/*
 * relay - writes the head for the server or client on the other side, from the
 * head that was parsed on this side (RFC 9110 7.6).
 *
 *   client --> request --> relay_request() --> upstream
 *   client <-- fields <--- relay_interim()  <-- reply 1xx
 *   client <-- fields <--- relay_reply()    <-- reply
 *
 * No head is copied whole, and framing is made anew. Fields that belong to one
 * connection stay there: Connection and all that it names, Keep-Alive, Proxy-*,
 * TE, Trailer, Transfer-Encoding, Upgrade. Fields that say who asked are left
 * out unless a trusted proxy sent them. Fields that some servers take for one
 * of these because of an underscore (X_Forwarded_For) are left out, too.
 *
 * X-Forwarded-For, -Proto and -Host and Forwarded (RFC 7239) say who asked. If
 * the peer is not trusted, all of them are written anew. A trusted peer speaks
 * in one of the two ways (forwarded_trust.field): that way is continued, and
 * the other is dropped, since anybody may have written it.
 *
 * A reply may name one of the upstream's own paths (Location, Content-Location,
 * Refresh, Path and Domain of a cookie). With relay.renames the client gets the
 * path by which it would ask this server: relay_names.c.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_RELAY_RELAY_H
#define HTTP_RELAY_RELAY_H

#include "base/address.h"
#include "http/forwarded.h"
#include "http/reply.h"
#include "http/response.h"

enum {
    /* The limit for bufs that heads are written to. It is above the limits for
     * heads that come in, because relaying adds fields and renames paths. */
    RELAY_HEAD_BYTES_MAX = 65536,
    RELAY_NOMINATED_MAX = 16, /* number of fields that Connection may name */
    /* A request whose Via has our name this many times goes in a loop. */
    RELAY_ROUNDS_MAX = 10
};

/* How messages of one place are relayed. All texts are borrowed. `host`,
 * request_id and traceparent belong to the exchange; all other members are the
 * same for each message. */
struct relay {
    /* The path of a target, as the client sends it, has to begin with `strip`,
     * which is replaced by `replace`: "/app/" and "/" turn "/app/x" into "/x".
     * If both are empty, the path stays. `strip` ends where a segment ends. */
    struct bytes strip;
    struct bytes replace;
    struct bytes host;      /* value of Host, for the upstream */
    bool is_https;          /* requests go to the upstream by https */
    bool keeps_host;        /* the client's Host, if any, goes on instead */
    struct bytes pseudonym; /* our name in Via, a token */
    struct bytes upgrade;   /* the one protocol that clients may upgrade to, as
                               "websocket"; empty: none */
    const struct forwarded_trust *trust; /* NULL: no proxy is trusted */
    bool renames;      /* paths in a reply (Location) are renamed */
    bool tells_client; /* the upstream is told of the client's certificate, in
                          fields that nobody else can send */
    struct bytes request_id;  /* replaces X-Request-Id in both directions;
                                 empty: the field goes on as it came */
    struct bytes traceparent; /* replaces the field traceparent of the client;
                                 empty: the field goes on as it came */
};

/* What relay_request() needs to know besides the request. */
struct relay_from {
    const struct address *peer; /* who is connected, not whom a proxy names */
    struct bytes scheme;        /* "http" or "https" */
    bool expects_continue;      /* the client's Expect: 100-continue goes on */
    /* The client's certificate, for relay.tells_client; empty: the client has
     * shown none. */
    struct bytes client_subject, client_fingerprint;
    bool has_length; /* the body is here whole, and has `length` bytes */
    uint64_t length;
};

enum relay_verdict {
    RELAY_DONE,
    RELAY_BAD_CONNECTION, /* Connection names too many fields, or a field that
                             is not about one connection */
    RELAY_BAD_TARGET,     /* the path has dot segments, or lacks `strip` */
    RELAY_BAD_COUNT,      /* Max-Forwards is no number */
    RELAY_BAD_SWITCH,     /* the reply is a 101 that nobody asked for */
    RELAY_LOOP,           /* the request has passed here too often */
    RELAY_LAST,           /* Max-Forwards is 0: this server has to answer */
    RELAY_TOO_LARGE       /* there was no room in `out` */
};

/* Returns the reason for refusing a request that got this verdict; REASON_NONE
 * for RELAY_LAST, and for verdicts on replies. */
enum reason relay_reason(enum relay_verdict verdict);

/* Appends the head of the request for the upstream, with its empty line. The
 * head is one of HTTP/1.1, framed by Content-Length or chunks, or without a
 * body. After any verdict but RELAY_DONE the text in `out` is of no use. The
 * caller refuses CONNECT and TRACE. */
MUST_USE enum relay_verdict relay_request(const struct relay *relay,
                                          const struct request *request,
                                          const struct relay_from *from,
                                          struct buf *out);

/* Returns how the request's body is framed for the upstream: BODY_NONE,
 * BODY_LENGTH or BODY_CHUNKED. The body keeps the framing that the client has
 * used, unless from->has_length is set. */
enum body_framing relay_framing(const struct request *request,
                                const struct relay_from *from);

/* Whether the request goes on as a request to change protocols. Such a request
 * is a GET of HTTP/1.1 that has no body and asks for relay->upgrade. */
bool relay_upgrades(const struct relay *relay, const struct request *request);

/* Whether the request's Connection cannot be read, or names fields, which are
 * then left out. In either case the upstream gets less of the request than the
 * client has sent. */
bool relay_leaves_out(const struct request *request);

/* Whether the request has credentials that count for all requests on its
 * connection to the upstream: NTLM, Negotiate (RFC 4559 6). Such a connection
 * may carry nobody else's requests. */
bool relay_binds_connection(const struct request *request);

/* Whether the client reads trailer fields: TE: trailers (RFC 9110 6.5.1). */
bool relay_takes_trailers(const struct request *request);

/* Appends the fields of a 1xx, 101 included. A client of HTTP/1.0 may get no
 * 1xx (RFC 9110 15.2). */
MUST_USE enum relay_verdict relay_interim(const struct relay *relay,
                                          const struct request *request,
                                          const struct reply *reply,
                                          struct buf *out);

/* Appends the fields of a reply, except those about its framing. Content-Length
 * is among the fields only if the framing is BODY_NONE, as in an answer to HEAD
 * or a 304. To end the head, the caller calls response_add_head() for
 * BODY_NONE, response_add_source_of() for BODY_LENGTH, and
 * response_add_source() for BODY_CHUNKED or BODY_UNTIL_CLOSE. */
MUST_USE enum relay_verdict relay_reply(const struct relay *relay,
                                        const struct request *request,
                                        const struct reply *reply,
                                        struct buf *head);

/* Appends the client's name for a URI that a reply names (relay_names.c). */
void relay_put_uri(const struct relay *relay, const struct request *request,
                   struct bytes uri, struct buf *out);

/* Used for a reply that is an error, when we send a body of our own instead of
 * the reply's body. Appends the reply's fields to `fields`, the head of our
 * answer. Left out are fields about framing, fields about the reply's body, and
 * fields that our answer gets anyway. */
MUST_USE enum relay_verdict relay_error(const struct relay *relay,
                                        const struct request *request,
                                        const struct reply *reply,
                                        struct buf *fields);

/* Appends the trailer fields in `lines`, which are whole lines as chunked.h
 * gives them. Fields about framing, routing, control, authentication or content
 * are left out, because they may not stand in a trailer (RFC 9110 6.5.1). */
void relay_trailer(struct bytes lines, struct buf *out);

#endif
