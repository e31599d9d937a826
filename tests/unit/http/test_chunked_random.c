#include "unit/http/chunked_fixture.h"

static const char *pick(const char *const *texts, unsigned count)
{
    return texts[draw(count)];
}

static void append_extensions(size_t *len)
{
    static const char *const gaps[] = {"", "", "", " ", "\t", " \t"};
    static const char *const names[] = {"a", "f00", "name", "x-y", "!~"};
    static const char *const values[] = {
        "1",        "b",        "token",        "\"\"",   "\"a b;=\"",
        "\"\\\"\"", "\"\\\\\"", "\"\xc3\xa9\"", "\"\t,\""};

    for (unsigned i = draw(3); i > 0; i--) {
        append(len, pick(gaps, 6));
        append(len, ";");
        append(len, pick(gaps, 6));
        append(len, pick(names, 5));
        if (draw(2))
            continue;
        append(len, pick(gaps, 6));
        append(len, "=");
        append(len, pick(gaps, 6));
        append(len, pick(values, 9));
    }
}

static void append_size(size_t *len, unsigned size)
{
    char text[24];
    int zeros = draw(4) == 0 ? (int)draw(14) : 1;

    snprintf(text, sizeof(text), draw(2) ? "%0*x" : "%0*X", zeros, size);
    append(len, text);
}

/* Writes a valid body to wire_text and what it means to expected. */
static size_t make_random_body(struct outcome *expected)
{
    static const char *const fields[] = {"A: b\r\n", "Name:value\r\n", "X:\r\n",
                                         "Y: \t\r\n", "Z: \xff;=\"\\\r\n"};
    size_t len = 0;

    expected->event = CHUNKED_END;
    expected->body_len = 0;
    for (unsigned chunks = draw(5); chunks > 0; chunks--) {
        unsigned size = 1 + draw(draw(2) ? 4 : 40);

        append_size(&len, size);
        append_extensions(&len);
        append(&len, "\r\n");
        for (; size > 0; size--) {
            char byte = (char)draw(256);

            if (draw(4) == 0)
                byte = "\r\n0;"[draw(4)];
            wire_text[len++] = byte;
            expected->body[expected->body_len++] = byte;
        }
        append(&len, "\r\n");
    }
    append_size(&len, 0);
    append_extensions(&len);
    append(&len, "\r\n");
    for (unsigned lines = draw(3); lines > 0; lines--)
        append(&len, pick(fields, 5));
    append(&len, "\r\n");
    expected->used = len;
    return len;
}

TEST(random_bodies_are_decoded_in_random_pieces)
{
    static struct outcome expected, outcome;

    draw_seed = 9112;
    for (int round = 0; round < 20000; round++) {
        size_t len = make_random_body(&expected);
        struct bytes wire = {wire_text, len};

        decode(wire, draw(20), 0, &outcome);
        assert_same(wire, &outcome, &expected);
        run_model(wire, &outcome);
        assert_same(wire, &outcome, &expected);
        append(&wire.len, "0\r\n"); /* the next request */
        decode(wire, draw(20), 0, &outcome);
        assert_same(wire, &outcome, &expected);
    }
}

TEST(mutated_bodies_agree_with_the_model)
{
    static const char favourites[] =
        "\r\n \t;=\"\\:0123456789abcfFgZ(,\x7f\xff";
    static struct outcome expected, outcome;
    unsigned counts[4] = {0};

    draw_seed = 9112;
    for (int round = 0; round < 100000; round++) {
        size_t len = make_random_body(&expected);
        size_t at = draw((unsigned)len);
        char byte = draw(4) ? favourites[draw(sizeof(favourites))]
                            : (char)draw(256);

        switch (draw(3)) {
        case 0: /* another byte */
            wire_text[at] = byte;
            break;
        case 1: /* one less */
            memmove(wire_text + at, wire_text + at + 1, len - at - 1);
            len--;
            break;
        default: /* one more */
            memmove(wire_text + at + 1, wire_text + at, len - at);
            wire_text[at] = byte;
            len++;
        }
        run_model((struct bytes){wire_text, len}, &expected);
        decode((struct bytes){wire_text, len}, draw(20), 0, &outcome);
        assert_same((struct bytes){wire_text, len}, &outcome, &expected);
        counts[expected.event]++;
    }
    assert_true(counts[CHUNKED_BAD] > 10000);
    assert_true(counts[CHUNKED_END] > 10000);
    assert_true(counts[CHUNKED_AGAIN] > 1000);
}
