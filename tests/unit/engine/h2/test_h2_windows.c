#include "engine/h2/h2_priv.h"
#include "suite.h"

/* What a worker grants in all; what clients see of it is tested end to end. */

static struct h2_context context;

static void open_upload(struct h2 *h2, struct h2_stream *stream)
{
    *h2 = (struct h2){.context = &context, .body_window = H2_STREAM_WINDOW};
    buf_init(&h2->control, NULL, 0, H2_CONTROL_BYTES_MAX);
    *stream = (struct h2_stream){.h2 = h2, .received = 1 << 20};
}

/* So much comes while a PING is on its way. */
static void measure(struct h2 *h2, const struct h2_stream *stream, uint32_t len)
{
    h2_measure(h2, stream, 0);
    assert_true(h2->is_measuring);
    h2_measure(h2, stream, len);
    assert_true(h2_end_measure(h2, h2->control.data + HTTP2_FRAME_HEAD));
    buf_fini(&h2->control);
    buf_init(&h2->control, NULL, 0, H2_CONTROL_BYTES_MAX);
}

TEST(windows_of_a_worker_grow_by_so_much_and_no_more)
{
    enum { MORE = H2_STREAM_WINDOW_MAX - H2_STREAM_WINDOW };
    struct h2_stream stream;
    struct h2 first, second;

    open_upload(&first, &stream);
    context.grown_bytes = H2_GROWN_BYTES_MAX - MORE;
    for (int i = 0; i < 10 && first.body_window < H2_STREAM_WINDOW_MAX; i++)
        measure(&first, &stream, first.body_window);
    assert_int_equal(first.body_window, H2_STREAM_WINDOW_MAX);
    assert_int_equal(context.grown_bytes, H2_GROWN_BYTES_MAX);
    h2_measure(&first, &stream, 1); /* nothing is left to be found out */
    assert_false(first.is_measuring);

    open_upload(&second, &stream);
    measure(&second, &stream, second.body_window);
    assert_int_equal(second.body_window, H2_STREAM_WINDOW);
    h2_forget_windows(&first);
    assert_int_equal(context.grown_bytes, H2_GROWN_BYTES_MAX - MORE);
    second.measure_rest = 0;
    measure(&second, &stream, second.body_window);
    assert_int_equal(second.body_window, 2 * H2_STREAM_WINDOW);
    h2_forget_windows(&second);
    buf_fini(&second.control);
    buf_fini(&first.control);
}

/* 1, 3, 7 ... pieces, and never more than 255. */
TEST(what_finds_nothing_is_done_less_often)
{
    struct h2_stream stream;
    struct h2 h2;

    open_upload(&h2, &stream);
    for (uint32_t rest = 1; rest < 600; rest = 2 * rest + 1) {
        measure(&h2, &stream, 1);
        assert_int_equal(h2.measure_rest, rest < 255 ? rest : 255);
        for (uint32_t i = h2.measure_rest; i > 0; i--) {
            h2_measure(&h2, &stream, 1);
            assert_false(h2.is_measuring);
        }
    }
    buf_fini(&h2.control);
}

TEST(a_short_body_is_not_measured)
{
    struct h2_stream stream;
    struct h2 h2;

    open_upload(&h2, &stream);
    stream.received = 16383;
    h2_measure(&h2, &stream, 16383);
    assert_false(h2.is_measuring);
    stream.received = 16384;
    stream.has_ended = true;
    h2_measure(&h2, &stream, 1);
    assert_false(h2.is_measuring);
}

SUITE(0);
