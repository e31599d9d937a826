/*
 * relay - makes messages anew, for the server or client on the other side,
 * from what was parsed on this one (RFC 9110 7.6).
 *
 *   client --> request --> relay_request() --> upstream
 *   client <-- fields <--- relay_interim()  <-- reply 1xx
 *   client <-- fields <--- relay_reply()    <-- reply
 *
 * Nothing is copied through: framing is ours, and what belongs to one
 * connection stays there: Connection and all it names, Keep-Alive, Proxy-*, TE,
 * Trailer, Transfer-Encoding, Upgrade. Fields that say who asked are left out,
 * too, unless a trusted proxy sent them, and so are fields that some servers
 * take for one of these because of an underscore (X_Forwarded_For).
 *
 * X-Forwarded-For, -Proto and -Host and Forwarded (RFC 7239) say who asked: all
 * of them anew when the peer is not trusted. A trusted peer speaks in one of
 * the two ways (forwarded_trust.field), which is continued; the other is
 * dropped, since anybody may have written it.
 *
 * A reply that names a place of the upstream's (Location, Content-Location,
 * Refresh, Path and Domain of a cookie) names it to the client as the client
 * would ask for it, where relay.renames: relay_names.c.
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
    RELAY_HEAD_BYTES_MAX = 65536, /* for a buf; heads may grow on their way */
    RELAY_NOMINATED_MAX = 16,     /* fields that Connection may name */
    RELAY_ROUNDS_MAX = 10         /* our own name in Via: more is a loop */
};

/* How messages of one place are relayed. All texts are borrowed; host and the
 * last two are the exchange's, the others the same for each message. */
struct relay {
    /* The target's path, as sent, begins with strip, in whose place replace is
     * put: "/app/" and "/" make "/x" of "/app/x". Both empty: the path stays.
     * strip ends where a segment does. */
    struct bytes strip;
    struct bytes replace;
    struct bytes host;      /* value of Host, for the upstream */
    bool is_https;          /* the upstream is asked by https */
    bool keeps_host;        /* the client's Host goes on, if it has one */
    struct bytes pseudonym; /* our name in Via, a token */
    struct bytes upgrade;   /* protocol that may be upgraded to, as
                               "websocket"; empty: none */
    const struct forwarded_trust *trust; /* NULL: no proxy is trusted */
    bool renames;      /* paths in a reply (Location) become the client's */
    bool tells_client; /* the upstream is told of the client's certificate, in
                          fields that nobody else can send */
    struct bytes request_id;  /* X-Request-Id, in the place of any other, both
                                 ways; empty: as it comes */
    struct bytes traceparent; /* instead of the client's; empty: as it comes */
};

/* What relay_request() needs and the request does not say. */
struct relay_from {
    const struct address *peer; /* who is connected; not whom a proxy names */
    struct bytes scheme;        /* "http" or "https" */
    bool expects_continue;      /* Expect: 100-continue goes on, if asked */
    /* The client's certificate, as relay.tells_client wants it; empty: the
     * client has shown none. */
    struct bytes client_subject, client_fingerprint;
    bool has_length; /* the body is here whole: length is its own */
    uint64_t length;
};

enum relay_verdict {
    RELAY_DONE,
    RELAY_BAD_CONNECTION, /* Connection names a field that is not for one
                             connection, or too many */
    RELAY_BAD_TARGET,     /* has dot segments, or does not begin with strip */
    RELAY_BAD_COUNT,      /* Max-Forwards is no number */
    RELAY_BAD_SWITCH,     /* 101 that nobody asked for */
    RELAY_LOOP,           /* it has passed here too often */
    RELAY_LAST,           /* Max-Forwards is 0: this server has to answer */
    RELAY_TOO_LARGE       /* there was no room in out */
};

/* The reason to refuse a request that got this verdict; REASON_NONE for
 * RELAY_LAST, and for verdicts on replies. */
enum reason relay_reason(enum relay_verdict verdict);

/* Appends the head of the request for the upstream, with its empty line:
 * HTTP/1.1, framed by Content-Length or chunks, or without a body. Unless
 * RELAY_DONE, what stands in out is of no use. CONNECT and TRACE are for the
 * caller to refuse. */
MUST_USE enum relay_verdict relay_request(const struct relay *relay,
                                          const struct request *request,
                                          const struct relay_from *from,
                                          struct buf *out);

/* How the request's body will be framed there: BODY_NONE, BODY_LENGTH or
 * BODY_CHUNKED, as it is here unless has_length. */
enum body_framing relay_framing(const struct request *request,
                                const struct relay_from *from);

/* Whether the request goes on as one to change protocols: HTTP/1.1, GET,
 * without a body, and relay->upgrade among those asked for. */
bool relay_upgrades(const struct relay *relay, const struct request *request);

/* Whether Connection names fields that do not go on for that reason, or cannot
 * be read: the upstream then answers less than was asked. */
bool relay_leaves_out(const struct request *request);

/* Whether the request has credentials that count for all that comes over its
 * connection to the upstream: NTLM, Negotiate (RFC 4559 6). Nobody else may be
 * asked for over that one. */
bool relay_binds_connection(const struct request *request);

/* Whether the client reads trailer fields: TE: trailers (RFC 9110 6.5.1). */
bool relay_takes_trailers(const struct request *request);

/* Appends the fields of a 1xx, 101 included. Not for clients of HTTP/1.0: RFC
 * 9110 15.2. */
MUST_USE enum relay_verdict relay_interim(const struct relay *relay,
                                          const struct request *request,
                                          const struct reply *reply,
                                          struct buf *out);

/* Appends the fields of a reply, but for those about its framing. They go into
 * response_add_source_of() if that is BODY_LENGTH, response_add_source() if
 * BODY_CHUNKED or BODY_UNTIL_CLOSE, and response_add_head() if BODY_NONE; only
 * then Content-Length, as of an answer to HEAD or a 304, is among them. */
MUST_USE enum relay_verdict relay_reply(const struct relay *relay,
                                        const struct request *request,
                                        const struct reply *reply,
                                        struct buf *head);

/* Appends the client's name for a URI that a reply has (relay_names.c). */
void relay_put_uri(const struct relay *relay, const struct request *request,
                   struct bytes uri, struct buf *out);

/* Appends those fields of a reply with an error that another body may follow:
 * none that is about framing or the body, or that the answer in its place has
 * itself. */
MUST_USE enum relay_verdict relay_error(const struct relay *relay,
                                        const struct request *request,
                                        const struct reply *reply,
                                        struct buf *fields);

/* Appends those of the trailer fields in lines (whole lines; chunked.trailer)
 * that may follow a body: none that is about framing, routing, control,
 * authentication or content (RFC 9110 6.5.1). */
void relay_trailer(struct bytes lines, struct buf *out);

#endif
