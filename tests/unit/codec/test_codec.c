/* link: -Wl,--wrap=malloc -lbrotlidec -lz */
#include "codec/codec.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "suite.h"
#include "unit/memory.h"

enum { TEXT_BYTES = 300000 };

static char text[TEXT_BYTES];
static char packed[TEXT_BYTES + 1000];
static char unpacked[TEXT_BYTES];
static atomic_bool stops;
static struct codec_meter meter;

/* Words by lot: text that shrinks, but not to nothing. */
static int fill(void **state)
{
    static const char *const words[] = {"sprintd ",  "sends ",  "the ",
                                        "shortest ", "answer ", "first, ",
                                        "and ",      "then ",   "another.\n"};
    uint32_t seed = 1;
    size_t at = 0;

    (void)state;
    while (at < TEXT_BYTES) {
        const char *word;

        seed = seed * 1664525 + 1013904223;
        word = words[(seed >> 16) % 9];
        for (; *word && at < TEXT_BYTES; word++)
            text[at++] = *word;
    }
    atomic_store(&stops, false);
    allocations_left = -1;
    return 0;
}

SUITE(.each_begin = fill);

static bool unpack_zstd(size_t len)
{
    return ZSTD_decompress(unpacked, TEXT_BYTES, packed, len) == TEXT_BYTES;
}

static bool unpack_brotli(size_t len)
{
    size_t room = TEXT_BYTES;

    return BrotliDecoderDecompress(len, (const uint8_t *)packed, &room,
                                   (uint8_t *)unpacked) ==
               BROTLI_DECODER_RESULT_SUCCESS &&
           room == TEXT_BYTES;
}

static bool unpack_gzip(size_t len)
{
    z_stream stream = {.next_in = (Bytef *)packed,
                       .avail_in = (uInt)len,
                       .next_out = (Bytef *)unpacked,
                       .avail_out = TEXT_BYTES};
    bool is_right = inflateInit2(&stream, 15 + 16) == Z_OK &&
                    inflate(&stream, Z_FINISH) == Z_STREAM_END &&
                    stream.total_out == TEXT_BYTES && stream.avail_in == 0;

    inflateEnd(&stream);
    return is_right;
}

static const struct {
    codec_fn compress;
    bool (*unpack)(size_t len);
    size_t slow_bytes; /* nobody needs more at CODEC_SLOW */
} codecs[] = {{codec_zstd, unpack_zstd, 60000},
              {codec_brotli, unpack_brotli, 60000},
              {codec_gzip, unpack_gzip, 70000}};

enum { CODECS = sizeof(codecs) / sizeof(*codecs) };

static struct codec_order order_of(size_t room, enum codec_effort effort)
{
    return (struct codec_order){.text = {text, TEXT_BYTES},
                                .out = packed,
                                .out_max = room,
                                .effort = effort,
                                .stops = &stops,
                                .meter = &meter};
}

TEST(others_unpack_what_is_packed)
{
    for (size_t i = 0; i < CODECS; i++) {
        size_t quick_bytes = 0;

        for (int effort = CODEC_QUICK; effort <= CODEC_SLOW; effort++) {
            struct codec_order order = order_of(TEXT_BYTES,
                                                (enum codec_effort)effort);

            memset(unpacked, 0, sizeof(unpacked));
            assert_int_equal(codecs[i].compress(&order), CODEC_DONE);
            assert_true(codecs[i].unpack(order.out_len));
            assert_memory_equal(unpacked, text, TEXT_BYTES);
            if (effort == CODEC_QUICK)
                quick_bytes = order.out_len;
            else
                assert_true(order.out_len < quick_bytes &&
                            order.out_len < codecs[i].slow_bytes);
            assert_int_equal(codec_meter_read(&meter), 0);
        }
    }
}

/* Brotli has no need of that. */
TEST(short_texts_are_made_quickly_as_small_as_they_get)
{
    for (size_t i = 0; i < CODECS; i++) {
        if (codecs[i].compress == codec_brotli)
            continue;
        for (size_t len = 1000; len <= 16384; len += 2197) {
            struct codec_order quick = order_of(TEXT_BYTES, CODEC_QUICK);
            struct codec_order slow = order_of(TEXT_BYTES, CODEC_SLOW);

            quick.text.len = slow.text.len = len;
            assert_int_equal(codecs[i].compress(&slow), CODEC_DONE);
            assert_int_equal(codecs[i].compress(&quick), CODEC_DONE);
            assert_true(quick.out_len <= slow.out_len + slow.out_len / 100);
        }
    }
}

TEST(the_most_memory_there_was_is_known_once)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_order order = order_of(TEXT_BYTES, CODEC_QUICK);

        codec_meter_take_max(&meter);
        assert_int_equal(codecs[i].compress(&order), CODEC_DONE);
        assert_true(codec_meter_take_max(&meter) > 10000);
        assert_int_equal(codec_meter_take_max(&meter), 0);
    }
}

TEST(what_does_not_fit_is_told_and_nothing_is_written_behind_its_room)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_order order = order_of(TEXT_BYTES, CODEC_QUICK);
        size_t needed;

        assert_int_equal(codecs[i].compress(&order), CODEC_DONE);
        needed = order.out_len;
        for (size_t room = 1; room < needed; room += needed / 5) {
            order = order_of(room, CODEC_QUICK);
            memset(packed, '#', sizeof(packed));
            assert_int_equal(codecs[i].compress(&order), CODEC_TOO_LARGE);
            assert_int_equal(packed[room], '#');
            assert_int_equal(codec_meter_read(&meter), 0);
        }
    }
}

TEST(one_byte_and_noise_come_back_too)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_order order = order_of(100, CODEC_SLOW);

        order.text.len = 1;
        assert_int_equal(codecs[i].compress(&order), CODEC_DONE);
        assert_true(order.out_len > 1 && order.out_len < 30);
    }
}

TEST(who_is_stopped_says_so_and_gives_all_back)
{
    atomic_store(&stops, true);
    for (size_t i = 0; i < CODECS; i++) {
        struct codec_order order = order_of(TEXT_BYTES, CODEC_SLOW);

        assert_int_equal(codecs[i].compress(&order), CODEC_STOPPED);
        assert_int_equal(codec_meter_read(&meter), 0);
    }
}

/* The allocations of libzstd are its own, out of reach. */
TEST(any_allocation_may_fail)
{
    for (size_t i = 1; i < CODECS; i++) {
        enum codec_result result = CODEC_NO_MEMORY;

        for (long left = 0; result != CODEC_DONE; left++) {
            struct codec_order order = order_of(TEXT_BYTES, CODEC_QUICK);

            assert_true(left < 1000);
            allocations_left = left;
            result = codecs[i].compress(&order);
            allocations_left = -1;
            assert_true(result == CODEC_DONE || result == CODEC_NO_MEMORY);
            assert_int_equal(codec_meter_read(&meter), 0);
        }
    }
}

/* --- Dictionaries -------------------------------------------------------- */

static bool unpack_delta(struct bytes dictionary, size_t packed_len,
                         size_t text_len, char *out)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    bool is_right =
        ZSTD_DCtx_refPrefix(context, dictionary.data, dictionary.len) == 0 &&
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 24) == 0 &&
        ZSTD_decompressDCtx(context, out, text_len, packed, packed_len) ==
            text_len;

    ZSTD_freeDCtx(context);
    return is_right;
}

TEST(against_a_dictionary_little_is_left)
{
    char *next = malloc(TEXT_BYTES);
    struct codec_order order = {.text = {next, TEXT_BYTES},
                                .dictionary = {text, TEXT_BYTES},
                                .out = packed,
                                .out_max = sizeof(packed),
                                .stops = &stops,
                                .meter = &meter};

    memcpy(next, text, TEXT_BYTES);
    memset(next + 150000, '?', 14);
    assert_int_equal(codec_zstd(&order), CODEC_DONE);
    assert_true(order.out_len < 200);
    assert_true(unpack_delta(order.dictionary, order.out_len, TEXT_BYTES,
                             unpacked));
    assert_memory_equal(unpacked, next, TEXT_BYTES);
    free(next);
}

/* 8 MiB are too few for this text, 1.25 times the dictionary are enough, or
 * not. */
TEST(a_window_is_as_long_as_any_client_has)
{
    enum { LONG = 10 << 20 };
    static const struct {
        size_t dictionary;
        size_t window_max;
    } cases[] = {{LONG, LONG}, {1 << 20, 8 << 20}};
    char *next = malloc(LONG);
    char *out = malloc(LONG);

    for (size_t i = 0; i < LONG; i++)
        next[i] = text[i % TEXT_BYTES];
    for (size_t i = 0; i < 2; i++) {
        struct bytes dictionary = {next, cases[i].dictionary};
        struct codec_order order = {.text = {next, LONG},
                                    .dictionary = dictionary,
                                    .out = packed,
                                    .out_max = sizeof(packed),
                                    .stops = &stops,
                                    .meter = &meter};
        const uint8_t *head = (const uint8_t *)packed;

        assert_int_equal(codec_zstd(&order), CODEC_DONE);
        /* RFC 8878 3.1.1.1: one segment, or a window of 2^(10 + n). */
        if (!(head[4] & 0x20))
            assert_true(1ul << (10 + (head[5] >> 3)) <= cases[i].window_max);
        else
            assert_true(cases[i].window_max >= LONG);
        assert_true(unpack_delta(dictionary, order.out_len, LONG, out));
        assert_memory_equal(out, next, LONG);
    }
    free(next);
    free(out);
}
