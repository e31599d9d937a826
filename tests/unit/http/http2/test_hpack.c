#include "http/http2/hpack.h"

#include "http/http2/http2_frame.h"
#include "suite.h"

enum { TEXT_MAX = 200000 };

static char decoded[TEXT_MAX];
static size_t decoded_len;
static size_t stops_after;

static bool on_field(void *context, struct bytes name, struct bytes value)
{
    (void)context;
    decoded_len += (size_t)snprintf(decoded + decoded_len,
                                    sizeof(decoded) - decoded_len,
                                    "%.*s: %.*s\n", (int)name.len, name.data,
                                    (int)value.len, value.data);
    return stops_after == 0 || --stops_after > 0;
}

static bool decode(struct hpack_decoder *decoder, struct bytes block)
{
    decoded_len = 0;
    decoded[0] = '\0';
    return hpack_decode(decoder, block, on_field, NULL);
}

#define BLOCK(literal) ((struct bytes){literal, sizeof(literal) - 1})

/* RFC 7541 C.3 and C.4: three requests over one connection. */
TEST(requests_of_the_rfc_are_decoded)
{
    struct hpack_decoder *decoder = hpack_decoder_create();

    assert_true(decode(decoder, BLOCK("\x82\x86\x84\x41\x0fwww.example.com")));
    assert_string_equal(decoded, ":method: GET\n:scheme: http\n:path: /\n"
                                 ":authority: www.example.com\n");
    assert_true(decode(decoder, BLOCK("\x82\x86\x84\xbe\x58\x08no-cache")));
    assert_non_null(strstr(decoded, "cache-control: no-cache\n"));
    assert_true(decode(decoder, BLOCK("\x82\x87\x85\xbf\x40\x0a"
                                      "custom-key\x0c"
                                      "custom-value")));
    assert_string_equal(decoded, ":method: GET\n:scheme: https\n"
                                 ":path: /index.html\n"
                                 ":authority: www.example.com\n"
                                 "custom-key: custom-value\n");
    hpack_decoder_destroy(decoder);
}

TEST(what_is_no_block_is_refused)
{
    static const struct bytes blocks[] = {
        {"\x80", 1},                     /* index 0 */
        {"\xff\xff\xff\xff\xff\x0f", 6}, /* an index beyond all */
        {"\xc6", 1},                     /* of a table that is empty */
        {"\x40\x05na", 4},               /* cut off */
        {"\x3f\xe2\x1f", 3},             /* a table of more than 4096 bytes */
        {"\x40\x81\x00\x01v", 5},        /* Huffman: padding that is none */
        {"\x82\x3f\x00", 3},             /* a size behind a field */
    };

    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
        struct hpack_decoder *decoder = hpack_decoder_create();

        if (decode(decoder, blocks[i]))
            fail_msg("block %zu passes as '%s'", i, decoded);
        hpack_decoder_destroy(decoder);
    }
}

TEST(who_is_told_of_fields_may_stop)
{
    struct hpack_decoder *decoder = hpack_decoder_create();

    stops_after = 2;
    assert_false(decode(decoder, BLOCK("\x82\x86\x84")));
    assert_string_equal(decoded, ":method: GET\n:scheme: http\n");
    stops_after = 0;
    hpack_decoder_destroy(decoder);
}

TEST(every_status_is_encoded)
{
    struct hpack_decoder *decoder = hpack_decoder_create();
    char storage[8];
    char line[32];

    for (unsigned status = 100; status < 600; status++) {
        struct buf out;

        buf_init(&out, storage, sizeof(storage), sizeof(storage));
        hpack_encode_status(status, &out);
        assert_true(decode(decoder, buf_bytes(&out)));
        snprintf(line, sizeof(line), ":status: %u\n", status);
        assert_string_equal(decoded, line);
    }
    hpack_decoder_destroy(decoder);
}

/* A block of one connection is as good in another. */
TEST(blocks_do_not_depend_on_those_before)
{
    static const char lines[] =
        "Server: sprintd\r\nContent-Type: text/html\r\n"
        "ETag:  \"x\" \r\nConnection: close\r\n"
        "Keep-Alive: 1\r\nTransfer-Encoding: chunked\r\n"
        "Upgrade: x\r\nX-Empty:\r\n";
    struct hpack_encoder *encoder = hpack_encoder_create();
    struct hpack_decoder *decoder = hpack_decoder_create();
    struct buf out;
    size_t first;

    buf_init(&out, NULL, 0, 4096);
    http2_put_lines(encoder, BYTES(lines), &out);
    first = out.len;
    http2_put_lines(encoder, BYTES(lines), &out);
    assert_int_equal(out.len, 2 * first);
    assert_memory_equal(out.data, out.data + first, first);
    assert_true(decode(decoder, BLOCK(HPACK_NO_TABLE)));
    for (int i = 0; i < 2; i++) {
        assert_true(decode(decoder, (struct bytes){out.data, first}));
        assert_string_equal(decoded, "server: sprintd\n"
                                     "content-type: text/html\n"
                                     "etag: \"x\"\nx-empty: \n");
    }
    buf_fini(&out);
    hpack_decoder_destroy(decoder);
    hpack_encoder_destroy(encoder);
}

TEST(more_lines_than_fit_one_batch_come_all)
{
    struct hpack_encoder *encoder = hpack_encoder_create();
    struct hpack_decoder *decoder = hpack_decoder_create();
    struct buf lines, out;
    unsigned count = 0;

    buf_init(&lines, NULL, 0, TEXT_MAX);
    buf_init(&out, NULL, 0, TEXT_MAX);
    for (int i = 0; i < 300; i++)
        buf_printf(&lines, "X-Field-Of-Some-Length-%d: %d\r\n", i, i);
    http2_put_lines(encoder, buf_bytes(&lines), &out);
    assert_false(out.failed);
    assert_true(decode(decoder, buf_bytes(&out)));
    for (const char *at = decoded; (at = strstr(at, "x-field-")); at++)
        count++;
    assert_int_equal(count, 300);
    assert_non_null(strstr(decoded, "x-field-of-some-length-299: 299\n"));
    buf_fini(&lines);
    buf_fini(&out);
    hpack_decoder_destroy(decoder);
    hpack_encoder_destroy(encoder);
}
