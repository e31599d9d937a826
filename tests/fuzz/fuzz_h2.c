/*
 * fuzz_h2 - bytes from a client that speaks HTTP/2, to a connection with all
 * that is below it: a real socket, the scheduler, a handler that answers in
 * every way.
 *
 *   byte 0   how the rest is read; see enum mode
 *   byte 1   after how many bytes there is a turn of the loop; 0: once
 *   rest     bytes as they are, or records that become frames:
 *            type, flags, stream, length, and so many bytes of payload
 *
 * What comes back must be frames that a client may be sent: whole, in order, on
 * streams that it has opened. Any breach aborts, as does whatever the server
 * asserts of itself.
 */
#include <ev.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cidr.h"
#include "engine/conn_set.h"
#include "engine/h1/h1.h"
#include "engine/h2/h2.h"
#include "http/http2/http2_frame.h"

#define CHECK(condition) ((condition) ? (void)0 : breach(__LINE__, #condition))

_Noreturn static void breach(int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum mode {
    MODE_RECORDS = 1, /* not bytes as they are */
    MODE_PREFACE = 2, /* it comes before */
    MODE_DEAF = 4,    /* nothing is read meanwhile */
    MODE_SLOW = 8,    /* time goes by between the turns */
    MODE_LEAVES = 16, /* the server stops in the middle */
    MODE_ENDS = 32    /* the client says that no more will come */
};

enum {
    STREAMS_MAX = 512, /* that are looked after; larger numbers are not */
    WIRE_MAX = 1 << 20,
    BODY_MAX = 200000,
    TURNS_MAX = 50
};

static struct ev_loop *loop;
static struct now now = {.mono_ms = 1000000, .wall_s = 1784600000};
static struct stats stats;
static struct access_log_buffer no_log;
static struct link_shared link_shared;
static struct conn_set set;
static struct cidrs no_proxies;
static char text[BODY_MAX];

/* --- The handler: by the first letter of the path ------------------------ */

struct gulp {
    struct sink sink;
    struct exchange *exchange;
};

static bool gulp_take(struct sink *sink, struct bytes data)
{
    struct gulp *gulp = OWNER_OF(sink, struct gulp, sink);

    sink->is_full = gulp->sink.end && data.len % 3 == 0;
    return true;
}

static void gulp_end(struct sink *sink)
{
    (void)sink;
}

static void gulp_destroy(struct sink *sink)
{
    free(OWNER_OF(sink, struct gulp, sink));
}

/* "/a": after the body; "/b": beside it. Else nobody wants one. */
static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct gulp *gulp;

    (void)self;
    if (rest.len < 2 || (rest.data[1] != 'a' && rest.data[1] != 'b'))
        return;
    gulp = calloc(1, sizeof(*gulp));
    CHECK(gulp);
    gulp->exchange = exchange;
    gulp->sink.take = gulp_take;
    gulp->sink.destroy = gulp_destroy;
    gulp->sink.end = rest.data[1] == 'b' ? gulp_end : NULL;
    exchange->sink = &gulp->sink;
}

struct drip {
    struct source source;
    unsigned left;
};

static struct piece drip_next(struct source *source, uint64_t at_most)
{
    struct drip *drip = OWNER_OF(source, struct drip, source);
    struct bytes bytes = {text, at_most < 1000 ? at_most : 1000};

    if (drip->left == 0)
        return (struct piece){.state = PIECE_END,
                              .trailer = BYTES("X-Sum: 1\r\n")};
    drip->left--;
    return (struct piece){.state = PIECE_MORE, .part = part_of_memory(bytes)};
}

static void drip_destroy(struct source *source)
{
    free(OWNER_OF(source, struct drip, source));
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;
    char kind = rest.len > 1 ? rest.data[1] : '/';
    struct drip *drip;

    (void)self;
    response_begin(response, kind == 'n' ? 204 : 200,
                   &set.shared.context.defaults);
    if (kind == 's') {
        drip = malloc(sizeof(*drip));
        CHECK(drip);
        *drip = (struct drip){{.next = drip_next, .destroy = drip_destroy}, 20};
        response_add_source(response, &drip->source);
        return;
    }
    if (kind != 'n') {
        response->body_bytes = kind == 'l' ? BODY_MAX : 5;
        head_number(&response->head, BYTES("Content-Length"),
                    response->body_bytes);
    }
    response_add_head(response);
    if (kind != 'n' && !response->is_head)
        response_add_memory(response,
                            (struct bytes){text, response->body_bytes});
}

/* --- The client ---------------------------------------------------------- */

struct client {
    int fd;
    bool has_ended;
    bool speaks_h2;
    size_t len;
    size_t at; /* of the next frame in wire */
    bool in_block;
    uint32_t block_of;
    bool has_ended_stream[STREAMS_MAX];
    bool has_head[STREAMS_MAX];
    char wire[WIRE_MAX];
};

static struct client client;

static void check_frame(const struct http2_frame *frame)
{
    uint32_t stream = frame->stream;

    CHECK(frame->len <= HTTP2_FRAME_BYTES_MAX || frame->type == HTTP2_DATA);
    CHECK(!client.in_block ||
          (frame->type == HTTP2_CONTINUATION && stream == client.block_of));
    CHECK(client.in_block || frame->type != HTTP2_CONTINUATION);
    CHECK(frame->type != HTTP2_PUSH_PROMISE && frame->type != HTTP2_PRIORITY);
    switch (frame->type) {
    case HTTP2_HEADERS:
    case HTTP2_CONTINUATION:
        client.in_block = !(frame->flags & HTTP2_FLAG_END_HEADERS);
        client.block_of = stream;
        /* fall through */
    case HTTP2_DATA:
        CHECK(stream % 2 == 1);
        if (stream >= STREAMS_MAX)
            break;
        CHECK(!client.has_ended_stream[stream] ||
              frame->type == HTTP2_CONTINUATION);
        CHECK(client.has_head[stream] || frame->type != HTTP2_DATA);
        client.has_head[stream] = true;
        if (frame->type != HTTP2_CONTINUATION)
            client.has_ended_stream[stream] = frame->flags &
                                              HTTP2_FLAG_END_STREAM;
        break;
    case HTTP2_RST_STREAM:
        CHECK(stream % 2 == 1 && frame->len == 4);
        break;
    case HTTP2_SETTINGS:
    case HTTP2_PING:
    case HTTP2_GOAWAY:
        CHECK(stream == 0);
        break;
    case HTTP2_WINDOW_UPDATE:
        CHECK(frame->len == 4);
        break;
    default:
        breach(__LINE__, "a type that servers send");
    }
}

static void check_wire(void)
{
    while (client.len - client.at >= HTTP2_FRAME_HEAD) {
        struct http2_frame frame = http2_read_frame(client.wire + client.at);

        if (client.at == 0) /* else it was answered by HTTP/1.1 */
            client.speaks_h2 = frame.type == HTTP2_SETTINGS;
        if (!client.speaks_h2 ||
            client.len - client.at < HTTP2_FRAME_HEAD + frame.len)
            return;
        check_frame(&frame);
        client.at += HTTP2_FRAME_HEAD + frame.len;
    }
}

static void hear(void)
{
    ssize_t n = 1;

    while (n > 0 && client.len < WIRE_MAX) {
        n = recv(client.fd, client.wire + client.len, WIRE_MAX - client.len, 0);
        client.len += n > 0 ? (size_t)n : 0;
    }
    client.has_ended = n == 0;
    check_wire();
}

static void turn(unsigned mode)
{
    ev_run(loop, EVRUN_NOWAIT);
    conn_set_turn(&set);
    if (mode & MODE_SLOW) {
        now.mono_ms += 500;
        if (ev_is_active(&set.shared.deadlines.timer))
            ev_invoke(loop, &set.shared.deadlines.timer, EV_TIMER);
    }
    if (!(mode & MODE_DEAF))
        hear();
}

static void say(const char *data, size_t len, size_t step, unsigned mode)
{
    for (size_t at = 0; at < len;) {
        size_t next = step > 0 && len - at > step ? step : len - at;
        ssize_t n = send(client.fd, data + at, next, MSG_NOSIGNAL);

        turn(mode);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

/* --- One input ----------------------------------------------------------- */

/* Records become frames in out; how many bytes. */
static size_t make_frames(const uint8_t *data, size_t size, char *out,
                          size_t out_size)
{
    size_t len = 0;

    while (size >= 4) {
        size_t payload = data[3] < size - 4 ? data[3] : size - 4;
        struct http2_frame frame = {.len = (uint32_t)payload,
                                    .type = data[0],
                                    .flags = data[1],
                                    .stream = data[2]};

        if (len + HTTP2_FRAME_HEAD + payload > out_size)
            break;
        http2_write_frame(out + len, &frame);
        memcpy(out + len + HTTP2_FRAME_HEAD, data + 4, payload);
        len += HTTP2_FRAME_HEAD + payload;
        data += 4 + payload;
        size -= 4 + payload;
    }
    return len;
}

static void set_up(void)
{
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    memset(text, 'x', sizeof(text));
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    CHECK(loop && link_shared_init(&link_shared, LINK_OFF, 0, 1) == 0);
    set.protocol = &h1_protocol;
    set.proxies = &no_proxies;
    set.shared.loop = loop;
    set.shared.context.now = &now;
    set.shared.context.limits = (struct conn_limits){.connections_max = 10,
                                                     .keepalive_ms = 5000,
                                                     .header_ms = 3000,
                                                     .body_ms = 4000,
                                                     .send_ms = 2000,
                                                     .quantum = 16384,
                                                     .prior_knowledge = true};
    set.shared.context.defaults.now = &now;
    set.shared.context.access_log = &no_log;
    set.shared.context.stats = &stats;
    set.shared.context.handler = (struct handler){.answer = answer,
                                                  .begin = begin};
}

static void open_client(void)
{
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                     fds) == 0);
    memset(&client, 0, offsetof(struct client, wire));
    client.fd = fds[1];
    conn_set_open(&set, &(struct mail){.fd = fds[0],
                                       .peer = {.family = ADDRESS_UNIX}});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char preface[] = HTTP2_PREFACE "\0\0\0\4\0\0\0\0";
    static char frames[1 << 17];
    const char *bytes = (const char *)data + 2;
    unsigned mode;
    size_t len;

    if (size < 2)
        return 0;
    if (!loop)
        set_up();
    mode = data[0];
    len = size - 2;
    if (mode & MODE_RECORDS) {
        len = make_frames(data + 2, size - 2, frames, sizeof(frames));
        bytes = frames;
    }
    /* Made anew: blocks kept for the next input look lost to whoever looks for
     * leaks behind this one. */
    CHECK(conn_set_init(&set, SCHED_POLICY_SRPT,
                        (struct sched_bounds){.bytes = 256}, &link_shared,
                        0) == 0);
    open_client();
    if (mode & MODE_PREFACE)
        say(preface, sizeof(preface), 0, mode);
    say(bytes, len / 2, data[1], mode);
    if (mode & MODE_LEAVES)
        conn_set_leave(&set);
    say(bytes + len / 2, len - len / 2, data[1], mode);
    if (mode & MODE_ENDS)
        shutdown(client.fd, SHUT_WR);
    for (int i = 0; i < TURNS_MAX && !client.has_ended; i++) {
        size_t before = client.len;

        turn(mode & MODE_SLOW);
        if (client.len == before && i > 3)
            break;
    }
    close(client.fd);
    for (int i = 0; i < 3; i++)
        turn(MODE_DEAF);
    conn_set_close_all(&set);
    conn_set_turn(&set);
    set.shared.context.is_draining = false;
    CHECK(set.count == 0);
    conn_set_fini(&set);
    return 0;
}
