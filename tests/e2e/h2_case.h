/*
 * h2_case - tables of frames that a client says on a connection of its own, and
 * how that ends. Every case comes whole, and byte by byte.
 *
 * Thread: the test's.
 */
#ifndef E2E_H2_CASE_H
#define E2E_H2_CASE_H

#include "h2_client.h"
#include "store.h"

/* "GET http://a/" and "PUT http://a/kv/k", by HPACK. */
#define H2_GET             \
    "\x82\x86\x84\x41\x01" \
    "a"
#define H2_PUT                     \
    "\x42\x03PUT\x86\x44\x05/kv/k" \
    "\x41\x01"                     \
    "a"

enum { H2_CASE_FRAMES = 5, END_STREAM = 1, END_HEADERS = 4, PADDED = 8 };
enum { BOTH = END_STREAM | END_HEADERS, PRIORITY = 0x20, ACK = 1 };

enum h2_end {
    H2_END_NONE,      /* other requests are answered */
    H2_END_OF_STREAM, /* the last frame's, or of the connection with it */
    H2_END_OF_ALL     /* with GOAWAY */
};

struct h2_said {
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
    const char *payload;
    size_t len;
};

struct h2_case {
    const char *name;
    enum h2_end end;
    uint32_t code;
    struct h2_said said[H2_CASE_FRAMES]; /* to the first without a payload */
};

#define SAY(type, flags, stream, payload)              \
    {                                                  \
        NGHTTP2_##type, flags, stream, RAW(payload "") \
    }
#define SAY_OTHER(type, flags, stream, payload) \
    {                                           \
        type, flags, stream, RAW(payload "")    \
    }

#define BORNE(name, ...)      \
    {                         \
        name, H2_END_NONE, 0, \
        {                     \
            __VA_ARGS__       \
        }                     \
    }
#define RESETS(name, code, ...)                 \
    {                                           \
        name, H2_END_OF_STREAM, NGHTTP2_##code, \
        {                                       \
            __VA_ARGS__                         \
        }                                       \
    }
#define ENDS(name, code, ...)                \
    {                                        \
        name, H2_END_OF_ALL, NGHTTP2_##code, \
        {                                    \
            __VA_ARGS__                      \
        }                                    \
    }

/* A server that takes both. */
#define H2_CASE_SERVER() \
    START_STORE(store_folder(), "--http2=all", "--workers=1")

void h2_cases_play(const struct server *server, const struct h2_case *cases,
                   size_t count);
#define PLAY(cases) \
    h2_cases_play(server, cases, sizeof(cases) / sizeof(*(cases)))

#endif
