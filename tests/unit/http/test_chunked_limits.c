#include "unit/http/chunked_fixture.h"

static enum chunked_event event_of(size_t len)
{
    static struct outcome whole, pieces;
    struct bytes wire = {wire_text, len};

    decode(wire, len, 0, &whole);
    decode(wire, 1, 1, &pieces);
    assert_same(wire, &pieces, &whole);
    return whole.event;
}

/* A body of chunks, each with an extension of that many bytes. */
static enum chunked_event decode_extensions(unsigned chunks, unsigned bytes,
                                            unsigned bytes_at_last)
{
    size_t len = 0;

    for (unsigned i = 0; i <= chunks; i++) {
        append(&len, i < chunks ? "1" : "0");
        if ((i < chunks ? bytes : bytes_at_last) > 0)
            append(&len, ";");
        for (unsigned j = 1; j < (i < chunks ? bytes : bytes_at_last); j++)
            append(&len, "a");
        append(&len, i < chunks ? "\r\nx\r\n" : "\r\n\r\n");
    }
    return event_of(len);
}

TEST(extensions_are_bounded_in_the_whole_body)
{
    assert_int_equal(decode_extensions(1, 256, 0), CHUNKED_END);
    assert_int_equal(decode_extensions(1, 257, 0), CHUNKED_BAD);
    assert_int_equal(decode_extensions(0, 0, 256), CHUNKED_END);
    assert_int_equal(decode_extensions(0, 0, 257), CHUNKED_BAD);
    assert_int_equal(decode_extensions(128, 2, 0), CHUNKED_END);
    assert_int_equal(decode_extensions(128, 2, 2), CHUNKED_BAD);
    assert_int_equal(decode_extensions(64, 3, 64), CHUNKED_END);
    assert_int_equal(decode_extensions(64, 3, 65), CHUNKED_BAD);
    assert_int_equal(decode_extensions(1000, 0, 0), CHUNKED_END);
}

TEST(quoted_values_count_with_their_quotes)
{
    size_t len = 0;

    append(&len, "1;a=\"\\\"");
    while (len < CHUNKED_EXTENSION_BYTES_MAX)
        append(&len, "b");
    append(&len, "\"");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    len--;
    append(&len, "b");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, "\"");
    assert_int_equal(event_of(len), CHUNKED_BAD);
}

TEST(white_space_counts_as_extension)
{
    size_t len = 0;

    append(&len, "1");
    for (int i = 0; i < CHUNKED_EXTENSION_BYTES_MAX; i++)
        append(&len, " ");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, " ");
    assert_int_equal(event_of(len), CHUNKED_BAD);
}

/* A trailer section of that many bytes, in fields of at most 100. */
static enum chunked_event decode_trailer(unsigned bytes)
{
    size_t len = 0;

    append(&len, "0\r\n");
    for (unsigned left = bytes - 2; left > 0;) {
        unsigned line = left > 200 ? 100 : left;

        append(&len, "N:");
        for (unsigned i = 4; i < line; i++)
            append(&len, "v");
        append(&len, "\r\n");
        left -= line;
    }
    append(&len, "\r\n");
    return event_of(len);
}

TEST(the_trailer_is_bounded)
{
    assert_int_equal(decode_trailer(CHUNKED_TRAILER_BYTES_MAX), CHUNKED_END);
    assert_int_equal(decode_trailer(CHUNKED_TRAILER_BYTES_MAX + 1),
                     CHUNKED_BAD);
    assert_int_equal(decode_trailer(2 * CHUNKED_TRAILER_BYTES_MAX),
                     CHUNKED_BAD);
}

TEST(an_endless_trailer_is_given_up_before_its_end)
{
    size_t len = 0;

    append(&len, "0\r\nName:");
    for (int i = 0; i < CHUNKED_TRAILER_BYTES_MAX - 5; i++)
        append(&len, "v");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, "v");
    assert_int_equal(event_of(len), CHUNKED_BAD);
}
