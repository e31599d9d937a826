#include "engine/h2/h2_priv.h"
#include "http/http2/http2_frame.h"
#include "unit/engine/conn_fixture.h"

/* Bodies of requests over HTTP/2 that are held, as nobody takes them yet. */

static struct client client;

/* --- Handlers ------------------------------------------------------------ */

/* An upload that is taken when the test says so, and a tunnel that opens then. */
static struct {
    struct sink sink;
    struct sink socket;
    struct source source;
    struct pending upload_pending;
    struct pending socket_pending;
    struct exchange *uploading;
    struct exchange *asking;
    size_t taken;
    bool has_ended;
    bool opens;
} upstream;

static void forget_sink(struct sink *sink)
{
    (void)sink;
}

static void forget_source(struct source *source)
{
    (void)source;
}

static void forget_pending(struct pending *pending)
{
    (void)pending;
}

static bool take(struct sink *sink, struct bytes data)
{
    (void)sink;
    upstream.taken += data.len;
    return true;
}

static void end_upload(struct sink *sink)
{
    (void)sink;
    upstream.has_ended = true;
}

static struct answer wait_on(struct pending *pending)
{
    (void)pending;
    return (struct answer){.state = ANSWER_LATER};
}

static struct piece next_of_socket(struct source *source, uint64_t at_most)
{
    (void)source;
    (void)at_most;
    return (struct piece){.state = PIECE_LATER};
}

static void begin_upload(void *self, struct exchange *exchange,
                         struct bytes rest)
{
    (void)self;
    (void)rest;
    upstream.sink = (struct sink){.take = take,
                                  .destroy = forget_sink,
                                  .end = end_upload,
                                  .is_full = true};
    exchange->sink = &upstream.sink;
}

static void answer_upload(void *self, struct exchange *exchange,
                          struct bytes rest)
{
    (void)self;
    (void)rest;
    upstream.upload_pending = (struct pending){.look = wait_on,
                                               .destroy = forget_pending};
    exchange->pending = &upstream.upload_pending;
    upstream.uploading = exchange;
}

static struct answer look_for_socket(struct pending *pending)
{
    struct exchange *exchange = upstream.asking;

    (void)pending;
    if (!upstream.opens)
        return (struct answer){.state = ANSWER_LATER};
    exchange->pending = NULL;
    response_begin_relayed(&exchange->response, 101, BYTES("Switching"));
    response_add_bare_head(&exchange->response);
    upstream.source = (struct source){.next = next_of_socket,
                                      .destroy = forget_source};
    exchange->response.source = &upstream.source;
    upstream.socket = (struct sink){
        .take = take, .destroy = forget_sink, .end = end_upload};
    exchange->sink = &upstream.socket;
    exchange->is_tunnel = true;
    return (struct answer){.state = ANSWER_READY};
}

static void answer_socket(void *self, struct exchange *exchange,
                          struct bytes rest)
{
    (void)self;
    (void)rest;
    upstream.socket_pending = (struct pending){.look = look_for_socket,
                                               .destroy = forget_pending};
    exchange->pending = &upstream.socket_pending;
    upstream.asking = exchange;
}

/* A handler that needs none of the body to say no. */
static void refuse(void *self, struct exchange *exchange, struct bytes rest)
{
    (void)self;
    (void)rest;
    response_make_error(&exchange->response, 403, BYTES(""),
                        &set.shared.context.defaults);
}

static int set_up_handlers(void **state)
{
    memset(&upstream, 0, sizeof(upstream));
    if (set_up(state) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){
        .prefix = BYTES("/up"),
        .handler = {.answer = answer_upload, .begin = begin_upload}};
    sites_options.mounts[1] = (struct mount){
        .prefix = BYTES("/socket"), .handler = {.answer = answer_socket}};
    sites_options.mounts[2] = (struct mount){
        .prefix = BYTES("/no"), .handler = {.answer = refuse, .begin = refuse}};
    sites_options.mount_count = 3;
    conn_fixture_fini();
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

/* --- Frames -------------------------------------------------------------- */

static void say_frame(uint8_t type, uint8_t flags, uint32_t stream,
                      const char *payload, size_t len)
{
    char head[HTTP2_FRAME_HEAD];

    http2_write_frame(head, &(struct http2_frame){.len = (uint32_t)len,
                                                  .type = type,
                                                  .flags = flags,
                                                  .stream = stream});
    client_send_bytes(&client, head, sizeof(head));
    client_send_bytes(&client, payload, len);
}

#define SAY_HEAD(stream, ends, block)                                \
    say_frame(HTTP2_HEADERS,                                         \
              HTTP2_FLAG_END_HEADERS |                               \
                  ((ends) ? HTTP2_FLAG_END_STREAM : HTTP2_NO_ERROR), \
              stream, block, sizeof(block) - 1)

#define POST_UP "\x83\x86\x04\3/up\x01\1h"
#define POST_NO "\x83\x86\x04\3/no\x01\1h"
#define GET_LARGE "\x82\x86\x04\6/large\x01\1h"
#define OPEN_SOCKET                  \
    "\x02\7CONNECT"                  \
    "\x00\x09:protocol\x09websocket" \
    "\x86\x04\7/socket\x01\1h"

/* With windows for answers of so many bytes, in two digits. */
static void open_http2(const char *window)
{
    char settings[6] = {0, HTTP2_SETTING_INITIAL_WINDOW_SIZE, 0, 0};

    memcpy(settings + 4, window, 2);
    set.shared.context.limits.prior_knowledge = true;
    client_open(&client);
    client_send(&client, HTTP2_PREFACE);
    say_frame(HTTP2_SETTINGS, 0, 0, settings, sizeof(settings));
    settle(&client);
}

static struct h2 *the_h2(void)
{
    return h2_of(&only_conn()->session);
}

static void say_body(uint32_t stream, size_t len, bool ends)
{
    static const char body[HTTP2_FRAME_BYTES_MAX];

    for (; len > sizeof(body); len -= sizeof(body))
        say_frame(HTTP2_DATA, 0, stream, body, sizeof(body));
    say_frame(HTTP2_DATA, ends ? HTTP2_FLAG_END_STREAM : 0, stream, body, len);
}

/* --- Tests --------------------------------------------------------------- */

/* What is held goes on a frame a turn; in one of these turns another stream's
 * tunnel opens, of which nothing is held. */
TEST(a_tunnel_that_opens_does_not_keep_another_streams_body_waiting)
{
    enum { BODY = 3 * HTTP2_FRAME_BYTES_MAX };

    open_http2("\xff\xff");
    SAY_HEAD(1, false, POST_UP);
    say_body(1, BODY, true);
    SAY_HEAD(3, false, OPEN_SOCKET);
    settle(&client);
    assert_non_null(upstream.uploading);
    assert_non_null(upstream.asking);
    assert_int_equal(upstream.taken, 0);
    upstream.opens = true;
    upstream.sink.is_full = false;
    exchange_wake(upstream.asking);
    exchange_wake(upstream.uploading);
    settle(&client);
    assert_true(upstream.asking->is_tunnel);
    assert_int_equal(upstream.taken, BODY);
    assert_true(upstream.has_ended);
    client_close(&client);
}

/* Each is a system call, as it were. */
TEST(short_pieces_are_passed_on_by_turns)
{
    enum { PIECES = 64, AT_ONCE = 8 };

    open_http2("\xff\xff");
    SAY_HEAD(1, false, POST_UP);
    settle(&client);
    upstream.sink.is_full = false;
    for (int i = 0; i < PIECES; i++)
        say_body(1, 1, false);
    for (int turns = 1; upstream.taken < PIECES; turns++) {
        size_t before = upstream.taken;

        assert_true(turns < PIECES);
        turn();
        assert_in_range(upstream.taken - before, 0, AT_ONCE);
    }
    client_close(&client);
}

/* The stream waits for a place meanwhile; its answer waits for a window then,
 * and the body for nobody. */
TEST(what_is_held_of_a_body_that_nobody_wants_is_not_kept)
{
    enum { LAST = 2 * H2_LIVE_MAX + 1, BODY = 20000 };
    const struct h2_stream *stream;
    struct h2 *h2;

    open_http2("\0\0");
    for (uint32_t id = 1; id < LAST; id += 2)
        SAY_HEAD(id, true, GET_LARGE);
    SAY_HEAD(LAST, false, POST_NO);
    say_body(LAST, BODY, false);
    settle(&client);
    h2 = the_h2();
    stream = h2_stream_find(h2, LAST);
    assert_int_equal(stream->held_len, BODY);
    assert_int_equal(h2->receive_window, H2_CONN_WINDOW - BODY);
    say_frame(HTTP2_RST_STREAM, 0, 1, "\0\0\0\x8", 4);
    settle(&client);
    assert_ptr_equal(h2_stream_find(h2, LAST), stream);
    assert_true(stream->discards && stream->has_head);
    assert_null(stream->held);
    assert_int_equal(h2->receive_window + (int64_t)h2->credit, H2_CONN_WINDOW);
    client_close(&client);
}

SUITE(.each_begin = set_up_handlers, .each_end = tear_down);
