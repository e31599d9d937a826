/* link: -lbrotlidec -lz */
/*
 * Events of another server, compressed on their way: what has been sent of them
 * can be read, by whatever unpacks it.
 */
#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include "client.h"
#include "unpacked.h"
#include "upstream.h"

E2E_SUITE(harness_begin);

/* What the chunks hold that have come so far. */
static size_t join_chunks(const char *raw, size_t len, char *out)
{
    const char *end = raw + len;
    const char *at = memmem(raw, len, "\r\n\r\n", 4);
    size_t joined = 0;

    assert_non_null(at);
    for (at += 4; at < end;) {
        char *data;
        size_t size = strtoul(at, &data, 16);

        if (data + 2 + size > end)
            break;
        memcpy(out + joined, data + 2, size);
        joined += size;
        at = data + 2 + size + 2;
    }
    return joined;
}

/* How much of the text can be read of so much of its coded form. */
static size_t unpack_begin(const char *coding, const char *from, size_t len,
                           char *to, size_t room)
{
    size_t left = room;

    if (strcmp(coding, "gzip") == 0) {
        z_stream z = {.next_in = (Bytef *)(uintptr_t)from,
                      .avail_in = (uInt)len,
                      .next_out = (Bytef *)to,
                      .avail_out = (uInt)room};

        assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
        assert_in_range(inflate(&z, Z_SYNC_FLUSH), Z_OK, Z_STREAM_END);
        left = z.avail_out;
        inflateEnd(&z);
    } else if (strcmp(coding, "zstd") == 0) {
        ZSTD_DCtx *context = ZSTD_createDCtx();
        ZSTD_inBuffer in = {from, len, 0};
        ZSTD_outBuffer out = {to, room, 0};

        assert_false(ZSTD_isError(ZSTD_decompressStream(context, &out, &in)));
        left -= out.pos;
        ZSTD_freeDCtx(context);
    } else {
        BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL,
                                                                NULL);
        const uint8_t *next = (const uint8_t *)from;
        uint8_t *out = (uint8_t *)to;

        assert_int_not_equal(BrotliDecoderDecompressStream(state, &len, &next,
                                                           &left, &out, NULL),
                             BROTLI_DECODER_RESULT_ERROR);
        BrotliDecoderDestroyInstance(state);
    }
    return room - left;
}

/* Whether all of the text can be read of what has come, *seen bytes before. */
static bool can_read(struct client *client, size_t *seen, const char *coding,
                     const char *text)
{
    char body[2000], plain[2000];
    size_t len = client_take(client, *seen + client_hears(client, 20));

    assert_true(len < sizeof(body));
    *seen = len;
    len = join_chunks(client_raw(client), len, body);
    len = unpack_begin(coding, body, len, plain, sizeof(plain));
    return len == strlen(text) && memcmp(plain, text, len) == 0;
}

/* Each event can be read when it has been sent, though none follows. */
TEST(events_are_not_held_up)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--compress-proxied");

    for (size_t way = 0; way < WAYS; way++) {
        const char *coding = ways[way].token;
        struct client *client = client_open(server);
        struct client *peer;
        char text[100] = "";
        size_t seen;

        client_say(client,
                   "GET /x HTTP/1.1\r\nHost: a\r\n"
                   "Accept-Encoding: %s\r\n\r\n",
                   coding);
        peer = upstream_accept(upstream);
        client_say(peer, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
                         "\r\nTransfer-Encoding: chunked\r\n\r\n");
        seen = client_take(client, 150);
        for (int i = 0; i < 5; i++) {
            size_t len = strlen(text);

            going_on("%s, event %d", coding, i);
            snprintf(text + len, sizeof(text) - len, "data: %d\n\n", i);
            client_say(peer, "9\r\n%s\r\n", text + len);
            assert_true(eventually(can_read(client, &seen, coding, text),
                                   2000));
        }
        client_say(peer, "0\r\n\r\n");
        client_close(peer);
    }
}
