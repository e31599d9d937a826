/*
 * h2_client_priv - what the two halves of the client share: one says
 * (h2_client.c), the other hears (h2_hear.c).
 */
#ifndef E2E_H2_CLIENT_PRIV_H
#define E2E_H2_CLIENT_PRIV_H

#include "h2_client.h"

enum { H2_BLOCK_MAX = 1 << 20, H2_SETTINGS_MAX = 64 };

struct h2_priv {
    nghttp2_hd_deflater *deflater;
    nghttp2_hd_inflater *inflater;
    struct h2_reply **replies; /* by number / 2 */
    size_t replies_cap;
    /* SETTINGS of this end that wait for their ACK: the value of the window,
     * or -1. */
    int64_t windows[H2_SETTINGS_MAX];
    size_t sent, acknowledged;
    int64_t initial_window; /* of streams, both ways */
    int64_t send_initial;
    size_t frame_max;
    size_t consumed;     /* of the connection, since its WINDOW_UPDATE */
    uint32_t block_of;   /* the stream whose block goes on; 0: none */
    uint8_t block_flags; /* of its HEADERS */
    uint8_t *block;
    size_t block_len;
};

static inline void h2_put32(uint8_t *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline uint32_t h2_get32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 |
           (uint32_t)data[2] << 8 | data[3];
}

/* A stream that was opened by this end. */
struct h2_reply *h2_add_reply(struct h2 *h2, uint32_t stream);

#endif
