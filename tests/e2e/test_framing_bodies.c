/*
 * Chunked bodies that must be refused (RFC 9112 7.1): every way in which two
 * readers might see different chunks.
 */
#include "raw_case.h"

#define CHUNKED \
    "GET /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#define END "\r\nhello\r\n0\r\n\r\n"
#define SIZE(size) CHUNKED size END

TEST(a_chunk_size_is_hex_digits)
{
    static const struct raw_case cases[] = {
        REFUSED("plus", SIZE("+5")),
        REFUSED("minus", SIZE("-5")),
        REFUSED("0x", SIZE("0x5")),
        REFUSED("0X", SIZE("0X5")),
        REFUSED("underscore", SIZE("0_5")),
        REFUSED("space in front", SIZE(" 5")),
        REFUSED("tab in front", SIZE("\t5")),
        REFUSED("space behind", SIZE("5 ")),
        REFUSED("tab behind", SIZE("5\t")),
        REFUSED("space within", SIZE("0 5")),
        REFUSED("letter", SIZE("g")),
        REFUSED("digit and letter", SIZE("5g")),
        REFUSED("h", SIZE("5h")),
        REFUSED("comma", SIZE("5,5")),
        REFUSED("point", SIZE("5.0")),
        REFUSED("quotes", SIZE("\"5\"")),
        REFUSED("none", SIZE("")),
        REFUSED("NUL in front", SIZE("\0"
                                     "5")),
        REFUSED("NUL behind", SIZE("5\0")),
        REFUSED("obs-text", SIZE("5\xa0")),
        REFUSED_WITH("2^64 + 5", SIZE("10000000000000005"), 400, 413),
        REFUSED_WITH("2^64 - 1", SIZE("ffffffffffffffff"), 400, 413),
        REFUSED_WITH("2^63", SIZE("8000000000000000"), 400, 413),
        REFUSED_WITH("17 digits", SIZE("fffffffffffffffff"), 400, 413),
        REFUSED_WITH("100 digits",
                     SIZE("55555555555555555555555555555555555555555555555555"
                          "55555555555555555555555555555555555555555555555555"),
                     400, 413),
    };

    CASES_SPLIT(cases);
}

TEST(chunks_end_where_they_say)
{
    static const struct raw_case cases[] = {
        REFUSED("LF after the size", CHUNKED "5\nhello\r\n0\r\n\r\n"),
        REFUSED("CR after the size", CHUNKED "5\rhello\r\n0\r\n\r\n"),
        REFUSED("CR and a byte after the size",
                CHUNKED "5\rXhello\r\n0\r\n\r\n"),
        REFUSED("LF after the data", CHUNKED "5\r\nhello\n0\r\n\r\n"),
        REFUSED("CR after the data", CHUNKED "5\r\nhello\r0\r\n\r\n"),
        REFUSED("CR and a byte after the data",
                CHUNKED "5\r\nhello\rX0\r\n\r\n"),
        REFUSED("CR and a digit after the data",
                CHUNKED "5\r\nhello\ra0\r\n\r\n"),
        REFUSED("a byte and LF after the data",
                CHUNKED "5\r\nhelloX\n0\r\n\r\n"),
        REFUSED("nothing after the data", CHUNKED "5\r\nhello0\r\n\r\n"),
        REFUSED("two other bytes after the data",
                CHUNKED "5\r\nhelloXX0\r\n\r\n"),
        REFUSED("a byte too many", CHUNKED "5\r\nhello!\r\n0\r\n\r\n"),
        REFUSED("a byte too few", CHUNKED "5\r\nhell\r\n0\r\n\r\n"),
        REFUSED("LF CR", CHUNKED "5\r\nhello\n\r0\r\n\r\n"),
        REFUSED("LF after the last size", CHUNKED "5\r\nhello\r\n0\n\r\n"),
        REFUSED("LF at the end", CHUNKED "5\r\nhello\r\n0\r\n\n"),
        REFUSED("LF LF", CHUNKED "5\r\nhello\r\n0\n\n"),
        REFUSED("CR and a byte at the end", CHUNKED "5\r\nhello\r\n0\r\n\rX"),
        REFUSED("an empty line between", CHUNKED "5\r\nhello\r\n\r\n0\r\n\r\n"),
        REFUSED("an empty line first", CHUNKED "\r\n5\r\nhello\r\n0\r\n\r\n"),
        REFUSED("no chunk", CHUNKED "hello\r\n0\r\n\r\n"),
        REFUSED("a request instead", CHUNKED "GET /f HTTP/1.1\r\n\r\n"),
    };

    CASES_SPLIT(cases);
}

TEST(extensions_are_well_formed)
{
    static const struct raw_case cases[] = {
        REFUSED("no name", SIZE("5;")),
        REFUSED("no name but a value", SIZE("5;=a")),
        REFUSED("no value", SIZE("5;a=")),
        REFUSED("two semicolons", SIZE("5;;a")),
        REFUSED("space in a name", SIZE("5;a b")),
        REFUSED("space at the end", SIZE("5;a ")),
        REFUSED("no semicolon", SIZE("5 a")),
        REFUSED("a name in brackets", SIZE("5;(a)")),
        REFUSED("open quotes", SIZE("5;a=\"b")),
        REFUSED("text after quotes", SIZE("5;a=\"b\"c")),
        REFUSED("NUL in quotes", SIZE("5;a=\"\0\"")),
        REFUSED("CR in quotes", SIZE("5;a=\"\r\"")),
        REFUSED("LF in quotes", SIZE("5;a=\"\n\"")),
        REFUSED("CR LF in quotes", SIZE("5;a=\"\r\n\"")),
        REFUSED("escaped CR LF in quotes", SIZE("5;a=\"\\\r\n\"")),
        REFUSED("NUL", SIZE("5;a\0b")),
        REFUSED("control", SIZE("5;a\x01"
                                "b")),
        REFUSED("DEL", SIZE("5;a\x7f")),
        REFUSED("CR", SIZE("5;a\rb")),
        REFUSED("LF", SIZE("5;a\nb")),
        REFUSED("LF at once", CHUNKED "2;\nxx\r\n0\r\n\r\n"),
        REFUSED("LF at the end", CHUNKED "5;a\nhello\r\n0\r\n\r\n"),
        REFUSED("LF, with what seems a chunk",
                CHUNKED "5;a\nhello\r\n5;a\r\nhello\r\n0\r\n\r\n"),
        REFUSED("LF after the last chunk", CHUNKED "0;a\n\r\n"),
        REFUSED("obs-text in a name", SIZE("5;\xe9")),
    };

    CASES_SPLIT(cases);
}

#define TRAILER(lines) CHUNKED "5\r\nhello\r\n0\r\n" lines "\r\n"

TEST(trailers_are_fields)
{
    static const struct raw_case cases[] = {
        REFUSED("no colon", TRAILER("X\r\n")),
        REFUSED("no name", TRAILER(": a\r\n")),
        REFUSED("space before the colon", TRAILER("X : a\r\n")),
        REFUSED("space in front", TRAILER(" X: a\r\n")),
        REFUSED("folded", TRAILER("X: a\r\n b\r\n")),
        REFUSED("LF", TRAILER("X: a\n")),
        REFUSED("CR", TRAILER("X: a\rY: b\r\n")),
        REFUSED("NUL", TRAILER("X: \0\r\n")),
        REFUSED("control", TRAILER("X: \x01\r\n")),
        REFUSED("DEL in a name", TRAILER("X\x7f: a\r\n")),
        REFUSED("a request instead", CHUNKED "0\r\nGET /f HTTP/1.1\r\n\r\n"),
        /* Not to be acted upon (RFC 9110 6.5.1); refusing is allowed. */
        EITHER("length", TRAILER("Content-Length: 500\r\n"), 200, 400),
        EITHER("coding", TRAILER("Transfer-Encoding: chunked\r\n"), 200, 400),
        EITHER("Host", TRAILER("Host: evil\r\n"), 200, 400),
        EITHER("Range", TRAILER("Range: bytes=0-0\r\n"), 200, 400),
        EITHER("close", TRAILER("Connection: close\r\n"), 200, 400),
    };

    CASES_SPLIT(cases);
}

static char *repeat(const char *head, const char *piece, size_t count,
                    const char *tail, size_t *len_out)
{
    size_t head_len = strlen(head);
    size_t len = strlen(piece);
    char *text = scratch(head_len + count * len + strlen(tail) + 1);

    memcpy(text, head, head_len);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head_len + i * len, piece, len);
    memcpy(text + head_len + count * len, tail, strlen(tail) + 1);
    *len_out = head_len + count * len + strlen(tail);
    return text;
}

TEST(floods_of_extensions_and_trailers_are_refused)
{
    static const struct {
        const char *name;
        const char *head;
        const char *piece;
        size_t count;
        const char *tail;
    } floods[] = {
        {"one long extension", CHUNKED "5;a=", "b", 70000, END},
        {"one long quoted extension", CHUNKED "5;a=\"", "b", 70000, "\"" END},
        {"an extension without end", CHUNKED "5;a=", "b", 500000, ""},
        {"many extensions", CHUNKED "5", ";a=b", 20000, END},
        {"an extension with every chunk", CHUNKED,
         "1;abcdefgh=12345678\r\nx\r\n", 5000, "0\r\n\r\n"},
        {"space before an extension", CHUNKED "5", " ", 70000, ";a" END},
        {"zeros in front", CHUNKED, "0", 70000, "5" END},
        {"one long trailer", CHUNKED "0\r\nX: ", "b", 100000, "\r\n\r\n"},
        {"a trailer without end", CHUNKED "0\r\nX: ", "b", 500000, ""},
        {"many trailers", CHUNKED "0\r\n", "X: a\r\n", 20000, "\r\n"},
        {"a long trailer name", CHUNKED "0\r\n", "X", 100000, ": a\r\n\r\n"},
    };
    struct raw_case cases[sizeof(floods) / sizeof(*floods)];

    for (size_t i = 0; i < sizeof(floods) / sizeof(*floods); i++) {
        cases[i] = (struct raw_case){.name = floods[i].name,
                                     .statuses = {400, 413, 431}};
        cases[i].bytes = repeat(floods[i].head, floods[i].piece,
                                floods[i].count, floods[i].tail, &cases[i].len);
    }
    CASES_WHOLE(cases);
}

TEST(a_body_of_many_tiny_chunks_is_one_body)
{
    struct raw_case cases[1] = {
        {.name = "tiny chunks", .then = THEN_GOES_ON, .statuses = {200}}};

    cases[0].bytes = repeat(CHUNKED, "1\r\nx\r\n", 20000, "0\r\n\r\n",
                            &cases[0].len);
    CASES_WHOLE(cases);
}

SUITE(.begin = raw_case_begin, .each_end = harness_after_test,
      .run = raw_case_run);
