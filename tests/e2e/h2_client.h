/*
 * h2_client - a client that speaks HTTP/2 frame by frame (RFC 9113): any frames
 * there, also such as no client should send; strict replies back.
 *
 *   h2 = h2_open(server)          preface and SETTINGS, both ways
 *   reply = h2_get(h2, "/f")      a whole exchange
 *   stream = h2_ask(h2, ...)      many of them at once
 *   h2_wait(h2, stream)
 *   h2_frame(h2, ...)             what a test wants to be said exactly
 *
 * What the server sends is checked: windows and frame sizes that this end has
 * granted, blocks of fields in one piece, streams that were asked for. It gets
 * new windows as it uses the old ones up, unless is_stingy.
 *
 * Thread: the test's.
 * Owns:   nothing: all is closed and freed after the test.
 */
#ifndef E2E_H2_CLIENT_H
#define E2E_H2_CLIENT_H

#include <nghttp2/nghttp2.h>

#include "client.h"
#include "h2_reply.h"

enum { H2_HEAD = 9, H2_WINDOW = 65535, H2_FRAME_MAX = 16384 };
enum { H2_PRIORITY_UPDATE = 0x10 }; /* RFC 9218 7.1 */
enum { H2_NO_RFC7540_PRIORITIES = 9, H2_KINDS = 0x11 };
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

struct h2_frame {
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
    size_t len;
    const uint8_t *payload; /* until the next one is read */
};

struct h2 {
    struct client *client;
    const char *scheme;
    bool is_stingy;       /* WINDOW_UPDATE is sent by the test alone */
    bool keeps_pings;     /* the server's are answered by h2_answer_pings() */
    bool has_ended;       /* the connection has */
    bool is_acknowledged; /* all SETTINGS of this end were */
    size_t goaways;       /* that came, and what the last one said */
    uint32_t goaway_stream;
    uint32_t goaway_code;
    size_t seen[H2_KINDS];    /* frames of each type that came */
    uint64_t pings;           /* acknowledged */
    size_t their_pings;       /* of the server */
    size_t kept_pings;        /* of these, still to be answered */
    uint8_t kept_ping[8];     /* the last of those */
    uint32_t their[H2_KINDS]; /* settings of the server, by number */
    uint32_t next_stream;     /* that h2_ask() opens */
    uint64_t data_bytes;      /* of DATA that came */
    int64_t window;      /* of the connection: the server may send so much */
    int64_t send_window; /* and this end */
    struct h2_priv *priv;
};

struct h2_setting {
    uint16_t id;
    uint32_t value;
};

/* Names and values by turns: H2_WITH("range", "bytes=0-1"). */
#define H2_WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

#define H2_GET_OF(h2, host, path)                                     \
    H2_WITH(":method", "GET", ":scheme", (h2)->scheme, ":path", path, \
            ":authority", host)

/* A server that speaks it in clear text, too, to whoever begins so. */
#define H2_START(...) START("--http2=all", __VA_ARGS__)
/* A suite's begin: the harness, and a canary. */
int h2_begin(void **state);
/* How often clients did too much of that, by /_s/metrics. */
unsigned long h2_abuses(const struct server *server, const char *kind);

/* --- Connections --------------------------------------------------------- */

/* Over TLS where the server speaks it. NULL settings: none of its own. */
struct h2 *h2_open(const struct server *server);
struct h2 *h2_open_with(const struct server *server,
                        const struct h2_setting *settings, size_t count);
#define H2_OPEN_WITH(server, ...)                                   \
    h2_open_with(server, (const struct h2_setting[]){__VA_ARGS__},  \
                 sizeof((const struct h2_setting[]){__VA_ARGS__}) / \
                     sizeof(struct h2_setting))
/* Nothing has been said yet, nor heard. */
struct h2 *h2_open_silent(const struct server *server);
struct h2 *h2_open_narrow(const struct server *server, int bytes);
void h2_close(struct h2 *h2);

/* --- Saying -------------------------------------------------------------- */

/* False: the server takes no more. */
bool h2_say(struct h2 *h2, const void *data, size_t len);
bool h2_frame(struct h2 *h2, unsigned type, unsigned flags, uint32_t stream,
              const void *payload, size_t len);
/* The same into a buffer; its length. */
size_t h2_write_frame(uint8_t *out, unsigned type, unsigned flags,
                      uint32_t stream, const void *payload, size_t len);
void h2_settings(struct h2 *h2, const struct h2_setting *settings,
                 size_t count);
void h2_ping(struct h2 *h2);
/* Those that were kept: the last of them. */
void h2_answer_pings(struct h2 *h2);
bool h2_reset(struct h2 *h2, uint32_t stream, uint32_t code);
bool h2_window(struct h2 *h2, uint32_t stream, uint32_t increment);
void h2_priority_update(struct h2 *h2, uint32_t stream, const char *value);

/* HPACK of fields, NULL at the end; its length. */
size_t h2_encode(struct h2 *h2, const char *const *fields, uint8_t *out,
                 size_t size);
size_t h2_encode_nv(struct h2 *h2, const nghttp2_nv *nv, size_t count,
                    uint8_t *out, size_t size);

/* Opens a stream by exactly these fields; its number. more: the body follows,
 * END_STREAM is not set. */
uint32_t h2_ask_fields(struct h2 *h2, const char *const *fields, bool more);
/* The same with the usual pseudo-fields; fields may be NULL. */
uint32_t h2_ask(struct h2 *h2, const char *method, const char *path,
                const char *const *fields, bool more);
/* A block on that stream: trailers. */
void h2_trailers(struct h2 *h2, uint32_t stream, const char *const *fields);
/* Waits for windows. False: the stream or connection has ended. */
bool h2_body(struct h2 *h2, uint32_t stream, const void *data, size_t len,
             bool more);

/* A test says by itself that a stream begins; that this end's SETTINGS, empty
 * ones, do. */
void h2_expect_stream(struct h2 *h2, uint32_t stream);
void h2_expect_settings(struct h2 *h2);

/* --- Hearing ------------------------------------------------------------- */

/* The next frame, which is taken account of. False: the connection's end. */
bool h2_take(struct h2 *h2, struct h2_frame *frame);
/* Whether one, or an end, comes within so many ms. */
bool h2_hears(struct h2 *h2, uint64_t ms);
/* All that comes until nothing more does for so many ms. */
void h2_settle(struct h2 *h2, uint64_t ms);

/* What has come of a stream; NULL: never asked for. */
struct h2_reply *h2_reply(struct h2 *h2, uint32_t stream);
/* Until it has ended, was reset, or the connection has ended. */
struct h2_reply *h2_wait(struct h2 *h2, uint32_t stream);
/* Until its status is there. */
struct h2_reply *h2_wait_head(struct h2 *h2, uint32_t stream);
struct h2_reply *h2_get(struct h2 *h2, const char *path);
struct h2_reply *h2_get_with(struct h2 *h2, const char *path,
                             const char *const *fields);

/* Until the server has dealt with all that was said: a PING and its ACK. */
void h2_sync(struct h2 *h2);

/* Fail unless exactly that comes: of a stream, which is reset, and the
 * connection goes on; of the connection, by GOAWAY and its end. */
void h2_expect_reset(struct h2 *h2, uint32_t stream, uint32_t code);
void h2_expect_goaway(struct h2 *h2, uint32_t code);
/* Either, as a server may treat any stream error (RFC 9113 5.4.2). */
void h2_expect_refused(struct h2 *h2, uint32_t stream, uint32_t code);
void h2_expect_usable(struct h2 *h2);

#endif
