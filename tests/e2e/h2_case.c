#include "h2_case.h"

static void say_frames(struct h2 *h2, const struct h2_case *tried, bool drips)
{
    uint8_t out[4096];
    size_t len = 0;

    for (size_t i = 0; i < H2_CASE_FRAMES && tried->said[i].payload; i++) {
        const struct h2_said *said = &tried->said[i];

        assert_true(len + H2_HEAD + said->len < sizeof(out));
        len += h2_write_frame(out + len, said->type, said->flags, said->stream,
                              said->payload, said->len);
        if (said->type == NGHTTP2_HEADERS && said->stream % 2 == 1)
            h2_expect_stream(h2, said->stream);
        if (said->type == NGHTTP2_SETTINGS && !(said->flags & ACK))
            h2_expect_settings(h2);
    }
    (void)(drips ? client_drip(h2->client, out, len)
                 : client_send(h2->client, out, len));
}

static uint32_t last_stream(const struct h2_case *tried)
{
    uint32_t stream = 0;

    for (size_t i = 0; i < H2_CASE_FRAMES && tried->said[i].payload; i++)
        stream = tried->said[i].stream;
    return stream;
}

/* Whether the answer was sooner than the last byte of what it was to be refused
 * for: then the stream is over, and nothing behind is looked at (RFC 9113
 * 8.1). */
static bool is_over_already(struct h2 *h2, uint32_t stream)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    while ((!reply || !reply->is_reset) && h2->goaways == 0 &&
           h2_take(h2, &frame))
        reply = h2_reply(h2, stream);
    return reply && reply->is_reset && reply->status != 0 &&
           reply->code == NGHTTP2_NO_ERROR;
}

void h2_cases_play(const struct server *server, const struct h2_case *cases,
                   size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        const struct h2_case *tried = &cases[i / 2];
        struct h2 *h2 = h2_open(server);

        going_on("%s%s", tried->name, i % 2 == 1 ? ", byte by byte" : "");
        say_frames(h2, tried, i % 2 == 1);
        switch (tried->end) {
        case H2_END_NONE:
            h2_sync(h2);
            h2_expect_usable(h2);
            break;
        case H2_END_OF_STREAM:
            if (i % 2 == 1 && is_over_already(h2, last_stream(tried)))
                break;
            h2_expect_refused(h2, last_stream(tried), tried->code);
            break;
        case H2_END_OF_ALL:
            h2_expect_goaway(h2, tried->code);
            break;
        }
        h2_close(h2);
    }
    going_on("%s", "");
    h2_expect_usable(h2_open(server));
}
