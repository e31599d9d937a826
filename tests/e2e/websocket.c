#include "websocket.h"

enum { HEAD_MAX = 14, MASK_BYTES = 4, MASKED = 0x80 };

static void mask(const unsigned char key[MASK_BYTES], char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (char)(data[i] ^ key[i % MASK_BYTES]);
}

/* How many bytes behind the second hold the length. */
static size_t length_bytes(unsigned second)
{
    switch (second & 0x7f) {
    case 126:
        return 2;
    case 127:
        return 8;
    default:
        return 0;
    }
}

void websocket_say(struct client *client, enum websocket_side side,
                   unsigned kind, const char *data, size_t len)
{
    static const unsigned char key[MASK_BYTES] = {0x37, 0xfa, 0x21, 0x3d};
    char *frame = scratch(HEAD_MAX + len);
    unsigned short_len = len < 126 ? (unsigned)len : len < 65536 ? 126 : 127;
    size_t at = 2;

    frame[0] = (char)kind;
    frame[1] = (char)(short_len | (side == WEBSOCKET_CLIENT ? MASKED : 0));
    for (size_t left = length_bytes(short_len); left > 0; left--)
        frame[at++] = (char)(len >> 8 * (left - 1));
    if (side == WEBSOCKET_CLIENT) {
        memcpy(frame + at, key, MASK_BYTES);
        at += MASK_BYTES;
    }
    if (len > 0)
        memcpy(frame + at, data, len);
    if (side == WEBSOCKET_CLIENT)
        mask(key, frame + at, len);
    if (!client_send(client, frame, at + len))
        flunk("a frame of %zu bytes is not taken", len);
}

/* At least so many bytes that are not read yet. */
static const char *need(struct client *client, size_t len)
{
    if (client_take(client, len) < len)
        flunk("no whole frame: the connection ended");
    return client_raw(client);
}

void websocket_expect(struct client *client, enum websocket_side side,
                      unsigned kind, const char *data, size_t len)
{
    unsigned char head[HEAD_MAX];
    size_t head_len = 2;
    uint64_t got = 0;
    char *text = scratch(len + 1);

    memcpy(head, need(client, head_len), head_len);
    if (head[0] != kind ||
        (head[1] & MASKED) / MASKED != (side == WEBSOCKET_CLIENT))
        flunk("a frame %02x %02x, not of kind %02x", head[0], head[1], kind);
    head_len += length_bytes(head[1]);
    memcpy(head, need(client, head_len), head_len);
    got = head_len == 2 ? head[1] & 0x7f : 0;
    for (size_t i = 2; i < head_len; i++)
        got = got << 8 | head[i];
    if (got != len)
        flunk("a frame of %llu bytes, not %zu", (unsigned long long)got, len);
    client_skip(client, head_len);
    if (side == WEBSOCKET_CLIENT) {
        memcpy(head, need(client, MASK_BYTES), MASK_BYTES);
        client_skip(client, MASK_BYTES);
    }
    memcpy(text, need(client, len), len);
    client_skip(client, len);
    if (side == WEBSOCKET_CLIENT)
        mask(head, text, len);
    if (memcmp(text, data, len) != 0)
        flunk("the frame holds something else: '%.100s'", text);
}
