#include "unit/engine/conn_fixture.h"

#include "http/http2/http2_frame.h"
#include "unit/draw.h"

/*
 * A random model: streams of random sizes, windows, resets and priorities over
 * one connection, and a naive reference of who may send when. The connection's
 * window is the bottleneck, so nothing depends on time: what comes must be what
 * the reference says, byte by byte.
 *
 * Sizes are those of ranges of one large file.
 */

enum {
    RUNS = 1000,
    STEPS = 40,
    STREAMS_MAX = 24,
    SIZE_MAX_BYTES = 60000,
    INITIAL_WINDOW = 20000,
    EVENTS_MAX = 4096
};

/* --- The reference ------------------------------------------------------- */

struct model_stream {
    uint32_t id;
    unsigned urgency;
    uint64_t left;
    int64_t window;
    bool is_open;
};

/* So many bytes of that stream, in the order in which they must come. */
struct model_run {
    uint32_t id;
    uint64_t bytes;
    bool ends;
};

static struct {
    struct model_stream streams[STREAMS_MAX];
    size_t count;
    int64_t window;
    int64_t initial_window;
    unsigned manner; /* of the client, see draw_urgency() */
    bool is_ordered; /* the client has said a priority */
    struct model_run runs[EVENTS_MAX];
    size_t run_count;
} model;

static bool is_before(const struct model_stream *a,
                      const struct model_stream *b)
{
    if (a->urgency != b->urgency)
        return a->urgency < b->urgency;
    return !model.is_ordered && a->left < b->left;
}

/* Who sends next: the most urgent, of these the one with the fewest bytes left
 * unless the client says priorities, of these the one that came first. */
static struct model_stream *model_next(void)
{
    struct model_stream *best = NULL;

    for (size_t i = 0; i < model.count; i++) {
        struct model_stream *stream = &model.streams[i];

        if (!stream->is_open || stream->window <= 0)
            continue;
        if (!best || is_before(stream, best))
            best = stream;
    }
    return best;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void model_send(void)
{
    struct model_stream *stream;

    model.run_count = 0;
    while (model.window > 0 && (stream = model_next())) {
        uint64_t bytes = least(stream->left, least((uint64_t)model.window,
                                                   (uint64_t)stream->window));

        stream->left -= bytes;
        stream->window -= (int64_t)bytes;
        model.window -= (int64_t)bytes;
        stream->is_open = stream->left > 0;
        assert_true(model.run_count < EVENTS_MAX);
        model.runs[model.run_count++] = (struct model_run){
            .id = stream->id, .bytes = bytes, .ends = !stream->is_open};
    }
}

/* --- The client ---------------------------------------------------------- */

static char said[65536];
static size_t said_len;

static void say_frame(unsigned type, unsigned flags, uint32_t stream,
                      const char *payload, size_t len)
{
    struct http2_frame frame = {.len = (uint32_t)len,
                                .type = (uint8_t)type,
                                .flags = (uint8_t)flags,
                                .stream = stream};

    assert_true(said_len + HTTP2_FRAME_HEAD + len <= sizeof(said));
    http2_write_frame(said + said_len, &frame);
    memcpy(said + said_len + HTTP2_FRAME_HEAD, payload, len);
    said_len += HTTP2_FRAME_HEAD + len;
}

static void say_number(unsigned type, uint32_t stream, uint32_t number)
{
    char payload[4];

    http2_write32(payload, number);
    say_frame(type, 0, stream, payload, 4);
}

/* A literal of HPACK that leaves the table alone. */
static size_t put_field(char *out, const char *name, const char *value)
{
    size_t name_len = strlen(name);
    size_t value_len = strlen(value);

    out[0] = 0;
    out[1] = (char)name_len;
    memcpy(out + 2, name, name_len);
    out[2 + name_len] = (char)value_len;
    memcpy(out + 3 + name_len, value, value_len);
    return 3 + name_len + value_len;
}

static void say_request(uint32_t stream, uint64_t bytes, unsigned urgency)
{
    char block[512];
    char range[64];
    char priority[16];
    size_t len = 0;

    snprintf(range, sizeof(range), "bytes=0-%llu",
             (unsigned long long)bytes - 1);
    len += put_field(block + len, ":method", "GET");
    len += put_field(block + len, ":scheme", "http");
    len += put_field(block + len, ":path", "/large");
    len += put_field(block + len, ":authority", "a");
    len += put_field(block + len, "range", range);
    if (urgency != PRIORITY_URGENCY_DEFAULT) {
        snprintf(priority, sizeof(priority), "u=%u", urgency);
        len += put_field(block + len, "priority", priority);
        model.is_ordered = true;
    }
    say_frame(HTTP2_HEADERS, HTTP2_FLAG_END_HEADERS | HTTP2_FLAG_END_STREAM,
              stream, block, len);
}

/* --- What comes ---------------------------------------------------------- */

/* Runs of DATA as the reference has them: frames of one stream in a row are
 * one. */
static size_t read_runs(const struct client *client, struct model_run *runs)
{
    size_t count = 0;

    for (size_t at = 0; at < client->len;) {
        struct http2_frame frame = http2_read_frame(client->text + at);

        at += HTTP2_FRAME_HEAD + frame.len;
        assert_true(at <= client->len);
        assert_int_not_equal(frame.type, HTTP2_GOAWAY);
        assert_int_not_equal(frame.type, HTTP2_RST_STREAM);
        if (frame.type != HTTP2_DATA)
            continue;
        if (count == 0 || runs[count - 1].id != frame.stream) {
            assert_true(count < EVENTS_MAX);
            runs[count++] = (struct model_run){.id = frame.stream};
        }
        runs[count - 1].bytes += frame.len;
        if (frame.flags & HTTP2_FLAG_END_STREAM)
            runs[count - 1].ends = true;
    }
    return count;
}

static void compare(struct client *client, unsigned seed)
{
    static struct model_run runs[EVENTS_MAX];
    size_t count;

    client_send_bytes(client, said, said_len);
    said_len = 0;
    client->len = 0;
    settle(client);
    model_send();
    count = read_runs(client, runs);
    for (size_t i = 0; i < model.run_count || i < count; i++) {
        struct model_run none = {0};
        struct model_run want = i < model.run_count ? model.runs[i] : none;
        struct model_run have = i < count ? runs[i] : none;

        if (want.id != have.id || want.bytes != have.bytes ||
            want.ends != have.ends)
            fail_msg("seed %u, run %zu: stream %u has %llu bytes%s, where "
                     "stream %u should have %llu%s",
                     seed, i, have.id, (unsigned long long)have.bytes,
                     have.ends ? " and ends" : "", want.id,
                     (unsigned long long)want.bytes,
                     want.ends ? " and end" : "");
    }
}

/* --- Steps --------------------------------------------------------------- */

static struct model_stream *any_open(unsigned number)
{
    for (size_t i = 0; i < model.count; i++) {
        struct model_stream *stream =
            &model.streams[(number + i) % model.count];

        if (stream->is_open)
            return stream;
    }
    return NULL;
}

/* One client in three says nothing of priorities, and one says little. */
static unsigned draw_urgency(void)
{
    switch (model.manner) {
    case 0:
        return PRIORITY_URGENCY_DEFAULT;
    case 1:
        return PRIORITY_URGENCY_DEFAULT + (draw(8) == 0);
    default:
        return draw(8);
    }
}

static void step_ask(void)
{
    struct model_stream *stream = &model.streams[model.count];

    if (model.count == STREAMS_MAX)
        return;
    *stream = (struct model_stream){.id = (uint32_t)model.count * 2 + 1,
                                    .urgency = draw_urgency(),
                                    .left = 1 + draw(SIZE_MAX_BYTES),
                                    .window = model.initial_window,
                                    .is_open = true};
    model.count++;
    say_request(stream->id, stream->left, stream->urgency);
}

static void step_reset(struct model_stream *stream)
{
    stream->is_open = false;
    say_number(HTTP2_RST_STREAM, stream->id, HTTP2_CANCEL);
}

static void step_update(struct model_stream *stream)
{
    char payload[8];

    model.is_ordered = true;
    stream->urgency = draw(8);
    http2_write32(payload, stream->id);
    snprintf(payload + 4, 4, "u=%u", stream->urgency);
    say_frame(HTTP2_PRIORITY_UPDATE, 0, 0, payload, 7);
}

static void step_settings(void)
{
    int64_t window = draw(2 * INITIAL_WINDOW);
    char payload[6] = {0, HTTP2_SETTING_INITIAL_WINDOW_SIZE};

    for (size_t i = 0; i < model.count; i++)
        model.streams[i].window += window - model.initial_window;
    model.initial_window = window;
    http2_write32(payload + 2, (uint32_t)window);
    say_frame(HTTP2_SETTINGS, 0, 0, payload, 6);
}

static void step_window(struct model_stream *stream)
{
    uint32_t more = 1 + draw(20000);

    if (stream)
        stream->window += more;
    else
        model.window += more;
    say_number(HTTP2_WINDOW_UPDATE, stream ? stream->id : 0, more);
}

static void take_step(void)
{
    struct model_stream *stream = model.count ? any_open(draw(100)) : NULL;

    switch (draw(stream ? 12 : 6)) {
    case 0:
    case 1:
    case 2:
        step_ask();
        break;
    case 3:
    case 4:
    case 5:
        step_window(NULL);
        break;
    case 6:
    case 7:
    case 8:
        step_window(stream);
        break;
    case 9:
        if (model.manner != 0)
            step_update(stream);
        break;
    case 10:
        step_reset(stream);
        break;
    case 11:
        if (draw(8) == 0)
            step_settings();
        break;
    }
}

static void run_model(unsigned seed)
{
    struct client client;

    draw_seed = seed;
    memset(&model, 0, sizeof(model));
    model.manner = seed % 3;
    model.window = HTTP2_WINDOW_DEFAULT;
    model.initial_window = HTTP2_WINDOW_DEFAULT;
    client_open_with(&client, HTTP2_PREFACE);
    say_frame(HTTP2_SETTINGS, 0, 0, "", 0);
    for (int i = 0; i < STEPS; i++) {
        /* Several at once are seen before anything is sent. */
        for (unsigned more = draw(3); more > 0; more--)
            take_step();
        take_step();
        compare(&client, seed);
    }
    client_close(&client);
    for (int i = 0; i < 5; i++)
        pass(1000);
    assert_int_equal(set.count, 0);
}

TEST(streams_send_when_the_reference_says)
{
    conn_set_fini(&set);
    set.shared.context.limits.prior_knowledge = true;
    assert_int_equal(conn_set_init(&set, SCHED_POLICY_SRPT,
                                   (struct sched_bounds){0}, &link_shared, 0),
                     0);
    for (unsigned seed = 1; seed <= RUNS; seed++)
        run_model(seed);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
