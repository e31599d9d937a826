#include "h2_client_priv.h"

/* --- Hearing ------------------------------------------------------------- */

static void take_their_settings(struct h2 *h2, const struct h2_frame *frame)
{
    struct h2_priv *priv = h2->priv;

    if (frame->len % 6 != 0 || frame->stream != 0)
        flunk("SETTINGS of %zu bytes", frame->len);
    for (size_t at = 0; at < frame->len; at += 6) {
        unsigned id = (unsigned)frame->payload[at] << 8 |
                      frame->payload[at + 1];
        uint32_t value = h2_get32(frame->payload + at + 2);

        if (id < H2_KINDS)
            h2->their[id] = value;
        if (id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) {
            for (size_t i = 0; i < priv->replies_cap; i++)
                if (priv->replies[i])
                    priv->replies[i]->send_window += value - priv->send_initial;
            priv->send_initial = value;
        }
    }
    (void)h2_frame(h2, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
}

static void take_acknowledgement(struct h2 *h2)
{
    struct h2_priv *priv = h2->priv;
    int64_t window;

    if (priv->acknowledged == priv->sent)
        flunk("an ACK of SETTINGS that were not sent");
    window = priv->windows[priv->acknowledged++ % H2_SETTINGS_MAX];
    h2->is_acknowledged = priv->acknowledged == priv->sent;
    if (window == -1)
        return;
    for (size_t i = 0; i < priv->replies_cap; i++)
        if (priv->replies[i])
            priv->replies[i]->window += window - priv->initial_window;
    priv->initial_window = window;
}

static void inflate(struct h2 *h2, struct h2_fields *fields)
{
    struct h2_priv *priv = h2->priv;
    const uint8_t *at = priv->block;
    size_t left = priv->block_len;
    int flags = 0;

    fields->count = 0;
    while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
        nghttp2_nv nv;
        ssize_t used = nghttp2_hd_inflate_hd2(priv->inflater, &nv, &flags, at,
                                              left, 1);

        if (used < 0)
            flunk("HPACK: %s", nghttp2_strerror((int)used));
        at += used;
        left -= (size_t)used;
        if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
            continue;
        if (fields->count == H2_FIELDS_MAX ||
            strlen((char *)nv.name) != nv.namelen ||
            strlen((char *)nv.value) != nv.valuelen)
            flunk("too many fields, or a NUL in one");
        fields->list[fields->count++] = (struct h2_field){
            printed("%s", (char *)nv.name), printed("%s", (char *)nv.value)};
    }
    nghttp2_hd_inflate_end_headers(priv->inflater);
}

static void take_block(struct h2 *h2, const struct h2_frame *frame)
{
    struct h2_priv *priv = h2->priv;
    struct h2_reply *reply = h2_reply(h2, frame->stream);
    const uint8_t *data = frame->payload;
    size_t len = frame->len;
    struct h2_fields fields;

    if (!reply)
        flunk("HEADERS of stream %u", frame->stream);
    if (frame->type == NGHTTP2_HEADERS) {
        size_t padding = frame->flags & NGHTTP2_FLAG_PADDED ? data[0] + 1u : 0;
        size_t skip = padding > 0;

        skip += frame->flags & NGHTTP2_FLAG_PRIORITY ? 5 : 0;
        assert_true(skip + (padding ? padding - 1 : 0) <= len);
        data += skip;
        len -= skip + (padding ? padding - 1 : 0);
        priv->block_of = frame->stream;
        priv->block_flags = frame->flags;
        priv->block_len = 0;
    }
    if (!priv->block)
        priv->block = scratch(H2_BLOCK_MAX);
    assert_true(priv->block_len + len <= H2_BLOCK_MAX);
    memcpy(priv->block + priv->block_len, data, len);
    priv->block_len += len;
    if (!(frame->flags & NGHTTP2_FLAG_END_HEADERS))
        return;
    priv->block_of = 0;
    inflate(h2, &fields);
    if (!reply->is_given_up)
        h2_reply_fields(reply, &fields,
                        priv->block_flags & NGHTTP2_FLAG_END_STREAM);
}

/* New windows for what was used of the old ones, half of them at a time. */
static void grant(struct h2 *h2, struct h2_reply *reply)
{
    struct h2_priv *priv = h2->priv;

    if (priv->consumed >= H2_WINDOW / 2) {
        (void)h2_window(h2, 0, (uint32_t)priv->consumed);
        priv->consumed = 0;
    }
    if (2 * (int64_t)reply->consumed >= priv->initial_window &&
        reply->consumed > 0 && !reply->has_ended && !reply->is_given_up) {
        (void)h2_window(h2, reply->stream, (uint32_t)reply->consumed);
        reply->consumed = 0;
    }
}

static void take_data(struct h2 *h2, const struct h2_frame *frame)
{
    struct h2_reply *reply = h2_reply(h2, frame->stream);
    const uint8_t *data = frame->payload;
    size_t len = frame->len;

    if (!reply)
        flunk("DATA of stream %u", frame->stream);
    h2->data_bytes += len;
    h2->window -= (int64_t)len;
    reply->window -= (int64_t)len;
    if (len > 0 && (h2->window < 0 || reply->window < 0) && !reply->is_given_up)
        flunk("stream %u: %zu bytes beyond the window: %lld, %lld",
              frame->stream, len, (long long)reply->window,
              (long long)h2->window);
    h2->priv->consumed += len;
    reply->consumed += len;
    if (frame->flags & NGHTTP2_FLAG_PADDED) {
        assert_true(len > 0 && data[0] < len);
        len -= data[0] + 1u;
        data++;
    }
    if (!reply->is_given_up)
        h2_reply_data(reply, data, len, frame->flags & NGHTTP2_FLAG_END_STREAM);
    if (!h2->is_stingy)
        grant(h2, reply);
}

static void take_reset(struct h2 *h2, const struct h2_frame *frame)
{
    struct h2_reply *reply = h2_reply(h2, frame->stream);

    if (!reply || frame->len != 4)
        flunk("RST_STREAM of stream %u", frame->stream);
    if (reply->is_reset)
        flunk("stream %u: reset twice", frame->stream);
    reply->is_reset = true;
    reply->code = h2_get32(frame->payload);
}

static void take_window(struct h2 *h2, const struct h2_frame *frame)
{
    struct h2_reply *reply = h2_reply(h2, frame->stream);
    int64_t *window = frame->stream == 0 ? &h2->send_window
                      : reply            ? &reply->send_window
                                         : NULL;

    if (!window || frame->len != 4 || h2_get32(frame->payload) == 0)
        flunk("WINDOW_UPDATE of stream %u", frame->stream);
    *window += h2_get32(frame->payload);
    if (*window > INT32_MAX)
        flunk("stream %u: a window of %lld", frame->stream, (long long)*window);
}

static void take_ping(struct h2 *h2, const struct h2_frame *frame)
{
    if (frame->len != 8 || frame->stream != 0)
        flunk("PING of %zu bytes", frame->len);
    if (frame->flags & NGHTTP2_FLAG_ACK) {
        h2->pings++;
        return;
    }
    h2->their_pings++;
    h2->kept_pings++;
    memcpy(h2->kept_ping, frame->payload, 8);
    if (!h2->keeps_pings)
        h2_answer_pings(h2);
}

static void take_goaway(struct h2 *h2, const struct h2_frame *frame)
{
    if (frame->len < 8 || frame->stream != 0)
        flunk("GOAWAY of %zu bytes", frame->len);
    if (h2->goaways > 0 && h2_get32(frame->payload) > h2->goaway_stream)
        flunk("the last stream of GOAWAY has grown");
    h2->goaways++;
    h2->goaway_stream = h2_get32(frame->payload);
    h2->goaway_code = h2_get32(frame->payload + 4);
}

static void account(struct h2 *h2, const struct h2_frame *frame)
{
    uint32_t block_of = h2->priv->block_of;

    if (block_of != 0 &&
        (frame->type != NGHTTP2_CONTINUATION || frame->stream != block_of))
        flunk("frame %u inside a block of fields", frame->type);
    if (frame->len > h2->priv->frame_max)
        flunk("a frame of %zu bytes", frame->len);
    if (frame->type < H2_KINDS)
        h2->seen[frame->type]++;
    switch (frame->type) {
    case NGHTTP2_DATA:
        take_data(h2, frame);
        break;
    case NGHTTP2_CONTINUATION:
        if (block_of == 0)
            flunk("CONTINUATION of nothing");
        take_block(h2, frame);
        break;
    case NGHTTP2_HEADERS:
        take_block(h2, frame);
        break;
    case NGHTTP2_RST_STREAM:
        take_reset(h2, frame);
        break;
    case NGHTTP2_SETTINGS:
        if (frame->flags & NGHTTP2_FLAG_ACK)
            take_acknowledgement(h2);
        else
            take_their_settings(h2, frame);
        break;
    case NGHTTP2_PUSH_PROMISE:
    case NGHTTP2_PRIORITY:
    case H2_PRIORITY_UPDATE:
        flunk("a server sends frame %u", frame->type);
    case NGHTTP2_PING:
        take_ping(h2, frame);
        break;
    case NGHTTP2_GOAWAY:
        take_goaway(h2, frame);
        break;
    case NGHTTP2_WINDOW_UPDATE:
        take_window(h2, frame);
        break;
    default:
        break;
    }
}

bool h2_hears(struct h2 *h2, uint64_t ms)
{
    return client_hears(h2->client, ms);
}

bool h2_take(struct h2 *h2, struct h2_frame *frame)
{
    size_t got = client_take(h2->client, H2_HEAD);
    const uint8_t *raw = (const uint8_t *)client_raw(h2->client);

    if (got == 0) {
        if (!client_hears(h2->client, 0))
            flunk("nothing comes");
        h2->has_ended = true;
        return false;
    }
    frame->len = got >= H2_HEAD ? h2_get32(raw) >> 8 : 0;
    if (got >= H2_HEAD && h2->seen[NGHTTP2_SETTINGS] == 0 &&
        raw[3] != NGHTTP2_SETTINGS)
        flunk("it is no HTTP/2: '%.*s'", (int)got, (const char *)raw);
    if (got >= H2_HEAD)
        got = client_take(h2->client, H2_HEAD + frame->len);
    if (got < H2_HEAD + frame->len)
        flunk("%zu bytes of a frame, and no more", got);
    raw = (const uint8_t *)client_raw(h2->client);
    frame->type = raw[3];
    frame->flags = raw[4];
    frame->stream = h2_get32(raw + 5) & 0x7fffffff;
    frame->payload = raw + H2_HEAD;
    client_skip(h2->client, H2_HEAD + frame->len);
    account(h2, frame);
    return true;
}

void h2_settle(struct h2 *h2, uint64_t ms)
{
    struct h2_frame frame;

    while (h2_hears(h2, ms) && h2_take(h2, &frame))
        ;
}

struct h2_reply *h2_wait_head(struct h2 *h2, uint32_t stream)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    while (reply->status == 0 && !reply->is_reset && h2_take(h2, &frame))
        ;
    return reply;
}

struct h2_reply *h2_wait(struct h2 *h2, uint32_t stream)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    while (!reply->has_ended && !reply->is_reset && h2_take(h2, &frame))
        ;
    return reply;
}

struct h2_reply *h2_get_with(struct h2 *h2, const char *path,
                             const char *const *fields)
{
    return h2_wait(h2, h2_ask(h2, "GET", path, fields, false));
}

struct h2_reply *h2_get(struct h2 *h2, const char *path)
{
    return h2_get_with(h2, path, NULL);
}

void h2_sync(struct h2 *h2)
{
    uint64_t pings = h2->pings;
    struct h2_frame frame;

    h2_ping(h2);
    while (h2->pings == pings)
        if (!h2_take(h2, &frame))
            flunk("the connection has ended (GOAWAY %zu, %u)", h2->goaways,
                  h2->goaway_code);
}

/* --- Expectations -------------------------------------------------------- */

void h2_expect_reset(struct h2 *h2, uint32_t stream, uint32_t code)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    if (!reply) /* the test has opened it frame by frame */
        reply = h2_add_reply(h2, stream);
    while (!reply->is_reset && !reply->has_ended && h2_take(h2, &frame))
        ;
    if (h2->has_ended)
        flunk("not stream %u was reset, but GOAWAY %zu, %u", stream,
              h2->goaways, h2->goaway_code);
    if (!reply->is_reset)
        flunk("stream %u was answered %u", stream, reply->status);
    if (reply->code != code)
        flunk("stream %u was reset with %u, not %u", stream, reply->code, code);
}

void h2_expect_goaway(struct h2 *h2, uint32_t code)
{
    struct h2_frame frame;

    while (h2->goaways == 0 || h2->goaway_code != code)
        if (!h2_take(h2, &frame))
            flunk("the connection ends with GOAWAY %zu, %u, not %u",
                  h2->goaways, h2->goaway_code, code);
    while (h2_take(h2, &frame))
        ;
}

void h2_expect_refused(struct h2 *h2, uint32_t stream, uint32_t code)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    if (!reply)
        reply = h2_add_reply(h2, stream);
    while (!reply->is_reset && h2->goaways == 0)
        if (!h2_take(h2, &frame))
            flunk("the connection ends without a word");
    if ((reply->is_reset ? reply->code : h2->goaway_code) != code)
        flunk("refused with %u, not %u",
              reply->is_reset ? reply->code : h2->goaway_code, code);
    if (reply->is_reset)
        h2_sync(h2);
}

void h2_expect_usable(struct h2 *h2)
{
    struct h2_reply *reply = h2_get(h2, "/canary");

    expect_h2(reply, 200);
    expect_h2_body(reply, "canary\n");
}
