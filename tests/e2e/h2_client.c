#include "h2_client_priv.h"
#include "secure.h"

enum { STREAMS_MAX = 1 << 17, FIELDS_MAX = 2048 };

/* --- Memory: all of it goes after the test ------------------------------- */

static void *allocate(size_t size, void *user __attribute__((unused)))
{
    size_t *memory = scratch(size + 16);

    *memory = size;
    return (char *)memory + 16;
}

static void leave(void *memory __attribute__((unused)),
                  void *user __attribute__((unused)))
{
}

static void *allocate_zeros(size_t count, size_t size, void *user)
{
    return memset(allocate(count * size, user), 0, count * size);
}

static void *reallocate(void *memory, size_t size, void *user)
{
    char *larger = allocate(size, user);
    size_t old = memory ? *(size_t *)(void *)((char *)memory - 16) : 0;

    if (memory)
        memcpy(larger, memory, old < size ? old : size);
    return larger;
}

static nghttp2_mem memory = {NULL, allocate, leave, allocate_zeros, reallocate};

/* --- Saying -------------------------------------------------------------- */

bool h2_say(struct h2 *h2, const void *data, size_t len)
{
    return client_send(h2->client, data, len);
}

size_t h2_write_frame(uint8_t *out, unsigned type, unsigned flags,
                      uint32_t stream, const void *payload, size_t len)
{
    h2_put32(out, (uint32_t)len << 8 | type);
    out[4] = (uint8_t)flags;
    h2_put32(out + 5, stream);
    if (len > 0)
        memcpy(out + H2_HEAD, payload, len);
    return H2_HEAD + len;
}

bool h2_frame(struct h2 *h2, unsigned type, unsigned flags, uint32_t stream,
              const void *payload, size_t len)
{
    uint8_t *out = malloc(H2_HEAD + len);
    bool is_taken;

    if (!out)
        flunk("no memory");
    is_taken = h2_say(h2, out,
                      h2_write_frame(out, type, flags, stream, payload, len));
    free(out);
    return is_taken;
}

void h2_settings(struct h2 *h2, const struct h2_setting *settings, size_t count)
{
    struct h2_priv *priv = h2->priv;
    uint8_t payload[6 * 64];
    int64_t window = -1;

    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        payload[6 * i] = (uint8_t)(settings[i].id >> 8);
        payload[6 * i + 1] = (uint8_t)settings[i].id;
        h2_put32(payload + 6 * i + 2, settings[i].value);
        if (settings[i].id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE)
            window = settings[i].value;
        if (settings[i].id == NGHTTP2_SETTINGS_MAX_FRAME_SIZE)
            priv->frame_max = settings[i].value;
        if (settings[i].id == NGHTTP2_SETTINGS_HEADER_TABLE_SIZE)
            (void)nghttp2_hd_inflate_change_table_size(priv->inflater,
                                                       settings[i].value);
    }
    if (priv->sent - priv->acknowledged == H2_SETTINGS_MAX)
        flunk("too many SETTINGS at once");
    priv->windows[priv->sent++ % H2_SETTINGS_MAX] = window;
    h2->is_acknowledged = false;
    (void)h2_frame(h2, NGHTTP2_SETTINGS, 0, 0, payload, 6 * count);
}

void h2_ping(struct h2 *h2)
{
    (void)h2_frame(h2, NGHTTP2_PING, 0, 0, "sprintd!", 8);
}

void h2_answer_pings(struct h2 *h2)
{
    if (h2->kept_pings > 0)
        (void)h2_frame(h2, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, h2->kept_ping, 8);
    h2->kept_pings = 0;
}

bool h2_reset(struct h2 *h2, uint32_t stream, uint32_t code)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    uint8_t payload[4];

    if (reply)
        reply->is_given_up = true;
    h2_put32(payload, code);
    return h2_frame(h2, NGHTTP2_RST_STREAM, 0, stream, payload, 4);
}

bool h2_window(struct h2 *h2, uint32_t stream, uint32_t increment)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    uint8_t payload[4];

    if (stream == 0)
        h2->window += increment;
    else if (reply)
        reply->window += increment;
    h2_put32(payload, increment);
    return h2_frame(h2, NGHTTP2_WINDOW_UPDATE, 0, stream, payload, 4);
}

void h2_priority_update(struct h2 *h2, uint32_t stream, const char *value)
{
    uint8_t payload[264];
    size_t len = (size_t)snprintf((char *)payload + 4, sizeof(payload) - 4,
                                  "%s", value);

    assert_true(len <= 256);
    h2_put32(payload, stream);
    (void)h2_frame(h2, H2_PRIORITY_UPDATE, 0, 0, payload, 4 + len);
}

/* --- Asking -------------------------------------------------------------- */

size_t h2_encode_nv(struct h2 *h2, const nghttp2_nv *nv, size_t count,
                    uint8_t *out, size_t size)
{
    ssize_t len = nghttp2_hd_deflate_hd(h2->priv->deflater, out, size, nv,
                                        count);

    if (len < 0)
        flunk("HPACK: %s", nghttp2_strerror((int)len));
    return (size_t)len;
}

size_t h2_encode(struct h2 *h2, const char *const *fields, uint8_t *out,
                 size_t size)
{
    static nghttp2_nv nv[FIELDS_MAX];
    size_t count = 0;

    for (; fields && fields[0]; fields += 2) {
        assert_true(count < FIELDS_MAX);
        nv[count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)fields[0],
                                   .value = (uint8_t *)(uintptr_t)fields[1],
                                   .namelen = strlen(fields[0]),
                                   .valuelen = strlen(fields[1])};
    }
    return h2_encode_nv(h2, nv, count, out, size);
}

struct h2_reply *h2_add_reply(struct h2 *h2, uint32_t stream)
{
    struct h2_priv *priv = h2->priv;
    struct h2_reply *reply = memset(scratch(sizeof(*reply)), 0, sizeof(*reply));
    size_t at = stream / 2;

    if (at >= STREAMS_MAX)
        flunk("stream %u: too many", stream);
    while (at >= priv->replies_cap) {
        size_t cap = 2 * priv->replies_cap + 64;
        struct h2_reply **larger = scratch(cap * sizeof(*larger));

        memset(larger, 0, cap * sizeof(*larger));
        if (priv->replies_cap > 0)
            memcpy(larger, priv->replies, priv->replies_cap * sizeof(*larger));
        priv->replies = larger;
        priv->replies_cap = cap;
    }
    reply->stream = stream;
    reply->window = priv->initial_window;
    reply->send_window = priv->send_initial;
    return priv->replies[at] = reply;
}

struct h2_reply *h2_reply(struct h2 *h2, uint32_t stream)
{
    size_t at = stream / 2;

    return stream % 2 == 1 && at < h2->priv->replies_cap ? h2->priv->replies[at]
                                                         : NULL;
}

void h2_expect_stream(struct h2 *h2, uint32_t stream)
{
    if (!h2_reply(h2, stream))
        (void)h2_add_reply(h2, stream);
    if (stream >= h2->next_stream)
        h2->next_stream = stream + 2;
}

void h2_expect_settings(struct h2 *h2)
{
    h2->priv->windows[h2->priv->sent++ % H2_SETTINGS_MAX] = -1;
}

/* In as many frames as it takes. */
static void say_block(struct h2 *h2, uint32_t stream, bool more,
                      const char *const *fields)
{
    static uint8_t block[H2_BLOCK_MAX];
    size_t len = h2_encode(h2, fields, block, H2_BLOCK_MAX);
    size_t at = 0;

    do {
        size_t step = len - at < H2_FRAME_MAX ? len - at : H2_FRAME_MAX;
        unsigned flags = at + step == len ? NGHTTP2_FLAG_END_HEADERS : 0;

        if (at == 0 && !more)
            flags |= NGHTTP2_FLAG_END_STREAM;
        (void)h2_frame(h2, at == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION,
                       flags, stream, block + at, step);
        at += step;
    } while (at < len);
}

uint32_t h2_ask_fields(struct h2 *h2, const char *const *fields, bool more)
{
    uint32_t stream = h2->next_stream;
    struct h2_reply *reply = h2_add_reply(h2, stream);

    for (size_t i = 0; fields[i]; i += 2)
        if (strcmp(fields[i], ":method") == 0)
            reply->to_head = strcmp(fields[i + 1], "HEAD") == 0;
    h2->next_stream += 2;
    say_block(h2, stream, more, fields);
    return stream;
}

uint32_t h2_ask(struct h2 *h2, const char *method, const char *path,
                const char *const *fields, bool more)
{
    const char *all[512] = {":method", method, ":scheme",    h2->scheme,
                            ":path",   path,   ":authority", "localhost"};
    size_t count = 8;

    for (; fields && *fields; fields++) {
        assert_true(count < 511);
        all[count++] = *fields;
    }
    return h2_ask_fields(h2, all, more);
}

void h2_trailers(struct h2 *h2, uint32_t stream, const char *const *fields)
{
    say_block(h2, stream, false, fields);
}

bool h2_body(struct h2 *h2, uint32_t stream, const void *data, size_t len,
             bool more)
{
    struct h2_reply *reply = h2_reply(h2, stream);
    const char *at = data;

    do {
        size_t step = len < H2_FRAME_MAX ? len : H2_FRAME_MAX;
        struct h2_frame frame;

        while (!reply->is_reset && len > 0 &&
               (reply->send_window <= 0 || h2->send_window <= 0))
            if (!h2_take(h2, &frame))
                return false;
        if (reply->is_reset)
            return false;
        if (len > 0 && (int64_t)step > reply->send_window)
            step = (size_t)reply->send_window;
        if (len > 0 && (int64_t)step > h2->send_window)
            step = (size_t)h2->send_window;
        len -= step;
        reply->send_window -= (int64_t)step;
        h2->send_window -= (int64_t)step;
        if (!h2_frame(h2, NGHTTP2_DATA,
                      len > 0 || more ? 0 : NGHTTP2_FLAG_END_STREAM, stream, at,
                      step))
            return false;
        at += step;
    } while (len > 0);
    return true;
}

/* --- Opening ------------------------------------------------------------- */

struct h2 *h2_open_narrow(const struct server *server, int bytes)
{
    struct h2 *h2 = memset(scratch(sizeof(*h2)), 0, sizeof(*h2));
    struct h2_priv *priv = memset(scratch(sizeof(*priv)), 0, sizeof(*priv));

    h2->priv = priv;
    h2->scheme = server->is_tls ? "https" : "http";
    h2->next_stream = 1;
    h2->window = h2->send_window = H2_WINDOW;
    priv->initial_window = priv->send_initial = H2_WINDOW;
    priv->frame_max = H2_FRAME_MAX;
    if (nghttp2_hd_deflate_new2(&priv->deflater, 4096, &memory) != 0 ||
        nghttp2_hd_inflate_new2(&priv->inflater, &memory) != 0)
        flunk("no memory");
    secure_offer("h2");
    h2->client = client_open_narrow(server, bytes);
    secure_offer(NULL);
    if (server->is_tls &&
        (!client_secured(h2->client) ||
         strcmp(secure_protocol(client_secured(h2->client)), "h2") != 0))
        flunk("the server does not choose h2");
    return h2;
}

struct h2 *h2_open_silent(const struct server *server)
{
    return h2_open_narrow(server, 0);
}

struct h2 *h2_open_with(const struct server *server,
                        const struct h2_setting *settings, size_t count)
{
    struct h2 *h2 = h2_open_silent(server);
    struct h2_frame frame;

    h2_say(h2, RAW(H2_PREFACE));
    h2_settings(h2, settings, count);
    while (!h2->is_acknowledged || h2->seen[NGHTTP2_SETTINGS] < 2)
        if (!h2_take(h2, &frame))
            flunk("no HTTP/2 is spoken");
    return h2;
}

struct h2 *h2_open(const struct server *server)
{
    return h2_open_with(server, NULL, 0);
}

void h2_close(struct h2 *h2)
{
    client_close(h2->client);
}

unsigned long h2_abuses(const struct server *server, const char *kind)
{
    struct reply *reply = get(server, "/_s/metrics");
    const char *row = printed("sprintd_http2_abuses_total{kind=\"%s\"} ", kind);
    const char *at;

    expect_status(reply, 200);
    at = strstr(reply->body, row);
    return at ? strtoul(at + strlen(row), NULL, 10) : 0;
}

int h2_begin(void **state)
{
    int result = harness_begin(state);

    if (result == 0)
        site_text("canary", "canary\n");
    return result;
}
