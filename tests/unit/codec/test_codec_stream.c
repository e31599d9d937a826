/* link: -Wl,--wrap=malloc,--wrap=calloc -lbrotlidec */
#include "codec/codec_stream.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"

enum { TEXT_BYTES = 200000, OUT_BYTES = 2 * TEXT_BYTES };

static char text[TEXT_BYTES];
static char packed[OUT_BYTES];
static char unpacked[TEXT_BYTES + 1];
static struct codec_meter meter;

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = "etaoin shrdlu\n"[draw(14)];
    allocations_left = -1;
    return 0;
}

SUITE(.each_begin = fill);

/* How much comes out of what there is of a stream, whether that has ended. */
static size_t unpack_zstd(size_t len, bool *is_whole)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, len, 0};
    ZSTD_outBuffer out = {unpacked, sizeof(unpacked), 0};

    *is_whole = ZSTD_decompressStream(context, &out, &in) == 0;
    ZSTD_freeDCtx(context);
    return out.pos;
}

static size_t unpack_brotli(size_t len, bool *is_whole)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = (const uint8_t *)packed;
    uint8_t *out = (uint8_t *)unpacked;
    size_t room = sizeof(unpacked);

    *is_whole = BrotliDecoderDecompressStream(state, &len, &in, &room, &out,
                                              NULL) ==
                BROTLI_DECODER_RESULT_SUCCESS;
    BrotliDecoderDestroyInstance(state);
    return sizeof(unpacked) - room;
}

static size_t unpack_gzip(size_t len, bool *is_whole)
{
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)len,
                       .next_out = (Bytef *)unpacked,
                       .avail_out = sizeof(unpacked)};

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    *is_whole = inflate(&stream, Z_SYNC_FLUSH) == Z_STREAM_END;
    inflateEnd(&stream);
    return stream.total_out;
}

static const struct {
    codec_stream_fn create;
    size_t (*unpack)(size_t len, bool *is_whole);
} codecs[] = {{codec_zstd_stream, unpack_zstd},
              {codec_brotli_stream, unpack_brotli},
              {codec_gzip_stream, unpack_gzip}};

enum { CODECS = sizeof(codecs) / sizeof(*codecs) };

/* Puts all of in through the stream, with so much room at a time. */
static size_t put(struct codec_stream *stream, struct bytes in, size_t at,
                  size_t room, enum codec_flush flush)
{
    struct codec_step step = {.in = in};

    do {
        step.out = packed + at;
        step.room = room;
        assert_true(at + room < OUT_BYTES);
        assert_true(stream->step(stream, &step, flush));
        at += room - step.room;
    } while (step.room == 0);
    assert_int_equal(step.in.len, 0);
    return at;
}

TEST(what_goes_in_comes_out_in_whatever_portions)
{
    static const size_t rooms[] = {7, 100, 16384};

    for (size_t i = 0; i < CODECS; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct codec_stream *stream = codecs[i].create(&meter);
            size_t at = 0, len = 0;
            bool is_whole;

            assert_non_null(stream);
            while (len < TEXT_BYTES) {
                size_t more = 1 + draw(20000);

                if (more > TEXT_BYTES - len)
                    more = TEXT_BYTES - len;
                at = put(stream, (struct bytes){text + len, more}, at, rooms[k],
                         draw(3) == 0 ? CODEC_FLUSH : CODEC_GO_ON);
                len += more;
            }
            at = put(stream, BYTES(""), at, rooms[k], CODEC_END);
            stream->destroy(stream);
            assert_int_equal(codecs[i].unpack(at, &is_whole), TEXT_BYTES);
            assert_true(is_whole);
            assert_memory_equal(unpacked, text, TEXT_BYTES);
            assert_true(at < TEXT_BYTES * 3 / 4);
            assert_int_equal(codec_meter_read(&meter), 0);
        }
    }
}

TEST(what_is_flushed_can_be_read_at_once)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_stream *stream = codecs[i].create(&meter);
        size_t at = 0;
        bool is_whole;

        for (size_t len = 100; len <= 1000; len += 100) {
            size_t before;

            at = put(stream, (struct bytes){text + len - 100, 100}, at, 1000,
                     CODEC_FLUSH);
            assert_int_equal(codecs[i].unpack(at, &is_whole), len);
            assert_false(is_whole);
            assert_memory_equal(unpacked, text, len);
            /* Nothing more is to come of nothing. */
            before = at;
            at = put(stream, BYTES(""), at, 1000, CODEC_FLUSH);
            assert_int_equal(at, before);
        }
        stream->destroy(stream);
    }
}

/* One that gathers much would compress it all in one go. */
TEST(zstd_keeps_no_more_than_a_block_to_itself)
{
    struct codec_stream *stream = codec_zstd_stream(&meter);
    size_t at = 0;
    bool is_whole;

    for (size_t len = 0; len < TEXT_BYTES; len += 1000) {
        at = put(stream, (struct bytes){text + len, 1000}, at, 16384,
                 CODEC_GO_ON);
        assert_true(unpack_zstd(at, &is_whole) + 8192 > len + 1000);
    }
    stream->destroy(stream);
}

TEST(an_empty_body_is_one_too)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_stream *stream = codecs[i].create(&meter);
        size_t at = put(stream, BYTES(""), 0, 100, CODEC_END);
        bool is_whole;

        stream->destroy(stream);
        assert_true(at > 0);
        assert_int_equal(codecs[i].unpack(at, &is_whole), 0);
        assert_true(is_whole);
    }
}

TEST(none_takes_more_memory_than_it_may)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_stream *stream = codecs[i].create(&meter);
        size_t at = 0;

        codec_meter_take_max(&meter);
        for (size_t len = 0; len < TEXT_BYTES; len += 50000)
            at = put(stream, (struct bytes){text + len, 50000}, at, 16384,
                     CODEC_GO_ON);
        put(stream, BYTES(""), at, 16384, CODEC_END);
        stream->destroy(stream);
        assert_true(codec_meter_take_max(&meter) <= CODEC_STREAM_BYTES_MAX);
    }
}

/* The allocations of libzstd are its own, out of reach. */
TEST(any_allocation_may_fail)
{
    for (size_t i = 0; i < CODECS; i++) {
        bool is_done = false;

        for (long left = 0; !is_done; left++) {
            struct codec_step step = {
                .in = {text, TEXT_BYTES / 2}, .out = packed, .room = OUT_BYTES};
            struct codec_stream *stream;

            assert_true(left < 1000);
            allocations_left = left;
            stream = codecs[i].create(&meter);
            is_done = stream && stream->step(stream, &step, CODEC_END);
            allocations_left = -1;
            if (stream)
                stream->destroy(stream);
            assert_int_equal(codec_meter_read(&meter), 0);
        }
    }
}
