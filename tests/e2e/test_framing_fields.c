/*
 * Field lines that must be refused (RFC 9112 5 and 6, RFC 9110 5): names,
 * folding, Content-Length and Transfer-Encoding, the ways to smuggle.
 */
#include "raw_case.h"

TEST(names_are_tokens_followed_by_a_colon)
{
    static const struct raw_case cases[] = {
        REFUSED("space before the colon", GET_WITH("X : a\r\n")),
        REFUSED("tab before the colon", GET_WITH("X\t: a\r\n")),
        REFUSED("length, space before the colon",
                GET_WITH("Content-Length : 5\r\n") "hello"),
        REFUSED("coding, space before the colon",
                GET_WITH("Transfer-Encoding : chunked\r\n") "0\r\n\r\n"),
        REFUSED("Host, space before the colon",
                "GET /f HTTP/1.1\r\nHost : a\r\n\r\n"),
        REFUSED("space within", GET_WITH("X Y: a\r\n")),
        REFUSED("no colon", GET_WITH("X\r\n")),
        REFUSED("no colon, words", GET_WITH("X a b\r\n")),
        REFUSED("no name", GET_WITH(": a\r\n")),
        REFUSED("a colon alone", GET_WITH(":\r\n")),
        REFUSED("brackets", GET_WITH("X(Y): a\r\n")),
        REFUSED("slash", GET_WITH("X/Y: a\r\n")),
        REFUSED("quotes", GET_WITH("\"X\": a\r\n")),
        REFUSED("obs-text", GET_WITH("X\xe9: a\r\n")),
        REFUSED("UTF-8", GET_WITH("\xc3\xa9: a\r\n")),
        REFUSED("NUL", GET_WITH("X\0Y: a\r\n")),
        REFUSED("NUL in a value", GET_WITH("X: a\0b\r\n")),
        REFUSED("a control in a value", GET_WITH("X: a\x01"
                                                 "b\r\n")),
        REFUSED("escape in a value", GET_WITH("X: \x1b[2J\r\n")),
        REFUSED("DEL in a value", GET_WITH("X: a\x7f\r\n")),
    };

    CASES_SPLIT(cases);
}

TEST(lines_are_not_folded)
{
    static const struct raw_case cases[] = {
        REFUSED("space", GET_WITH("X: a\r\n b\r\n")),
        REFUSED("tab", GET_WITH("X: a\r\n\tb\r\n")),
        REFUSED("blank", GET_WITH("X: a\r\n \r\n")),
        REFUSED("length", GET_WITH("Content-Length:\r\n 5\r\n") "hello"),
        REFUSED("length, twice",
                GET_WITH("Content-Length: 5\r\n 0\r\n") "hello"),
        REFUSED("coding",
                GET_WITH("Transfer-Encoding:\r\n chunked\r\n") "0\r\n\r\n"),
        REFUSED("coding after a word",
                GET_WITH("Transfer-Encoding: x\r\n\tchunked\r\n") "0\r\n\r\n"),
        REFUSED("Host", "GET /f HTTP/1.1\r\nHost:\r\n a\r\n\r\n"),
        REFUSED("the first line", "GET /f HTTP/1.1\r\n Host: a\r\n\r\n"),
        REFUSED("the first line, tab", "GET /f HTTP/1.1\r\n\tX: b\r\n\r\n"),
        REFUSED(
            "the first line hides a length",
            "GET /f HTTP/1.1\r\n Content-Length: 5\r\nHost: a\r\n\r\nhello"),
        REFUSED("the first line is blank",
                "GET /f HTTP/1.1\r\n \r\nHost: a\r\n\r\n"),
    };

    CASES_SPLIT(cases);
}

#define LENGTH(value) GET_WITH("Content-Length:" value "\r\n") "hello"
#define POST_LENGTH(value) \
    "POST /f HTTP/1.1\r\nHost: a\r\nContent-Length:" value "\r\n\r\nhello"

TEST(a_length_is_digits_once)
{
    static const struct raw_case cases[] = {
        REFUSED("plus", LENGTH(" +5")),
        REFUSED("minus", LENGTH(" -5")),
        REFUSED("minus zero", LENGTH(" -0")),
        REFUSED("hex", LENGTH(" 0x5")),
        REFUSED("hex digits", LENGTH(" a")),
        REFUSED("a digit and a letter", LENGTH(" 5a")),
        REFUSED("point", LENGTH(" 5.0")),
        REFUSED("exponent", LENGTH(" 5e0")),
        REFUSED("octal", LENGTH(" 0o5")),
        REFUSED("underscore", LENGTH(" 0_5")),
        REFUSED("space within", LENGTH(" 0 5")),
        REFUSED("tab within", LENGTH(" 5\t0")),
        REFUSED("quotes", LENGTH(" \"5\"")),
        REFUSED("parameter", LENGTH(" 5;a")),
        REFUSED("empty", LENGTH("")),
        REFUSED("blank", LENGTH("  ")),
        REFUSED("fullwidth digit", LENGTH(" \xef\xbc\x95")),
        REFUSED("list, different", LENGTH(" 5, 6")),
        REFUSED("list, empty member", LENGTH(" ,5")),
        REFUSED("list, empty end", LENGTH(" 5,")),
        REFUSED("twice, different", LENGTH(" 5\r\nContent-Length: 6")),
        REFUSED("twice, zero first", LENGTH(" 0\r\nContent-Length: 5")),
        REFUSED("twice, one bad", LENGTH(" 5\r\nContent-Length: x")),
        REFUSED("twice, other case", LENGTH(" 5\r\ncontent-length: 6")),
        REFUSED_WITH("2^63", LENGTH(" 9223372036854775808"), 400, 413),
        REFUSED_WITH("2^64", LENGTH(" 18446744073709551616"), 400, 413),
        REFUSED_WITH("2^64 + 5", LENGTH(" 18446744073709551621"), 400, 413),
        REFUSED_WITH("2^64 - 1", LENGTH(" 18446744073709551615"), 400, 413),
        REFUSED_WITH("2^32 + 5", LENGTH(" 4294967301"), 413, 200),
        REFUSED_WITH("40 digits",
                     LENGTH(" 9999999999999999999999999999999999999999"), 400,
                     413),
        REFUSED("POST, plus", POST_LENGTH(" +5")),
        REFUSED("POST, minus", POST_LENGTH(" -1")),
        REFUSED("POST, different", POST_LENGTH(" 5\r\nContent-Length: 50")),
        EITHER("the same twice", LENGTH(" 5\r\nContent-Length: 5"), 400, 200),
        EITHER("the same in a list", LENGTH(" 5, 5"), 400, 200),
        EITHER("leading zeros", LENGTH(" 00000000000000000000000005"), 400,
               200),
    };

    CASES_SPLIT(cases);
}

#define CODING(value) \
    GET_WITH("Transfer-Encoding:" value "\r\n") "5\r\nhello\r\n0\r\n\r\n"

TEST(a_coding_is_chunked_once_and_alone)
{
    static const struct raw_case cases[] = {
        REFUSED("length, then coding",
                GET_WITH("Content-Length: 5\r\nTransfer-Encoding: "
                         "chunked\r\n") "0\r\n\r\n"),
        REFUSED("coding, then length",
                GET_WITH("Transfer-Encoding: chunked\r\nContent-Length: "
                         "5\r\n") "0\r\n\r\n"),
        REFUSED("coding, and the length of what follows",
                GET_WITH("Content-Length: 66\r\nTransfer-Encoding: "
                         "chunked\r\n") "0\r\n\r\n"),
        REFUSED_WITH(
            "length and another coding",
            GET_WITH("Content-Length: 5\r\nTransfer-Encoding: x\r\n") "hello",
            400, 501),
        REFUSED_WITH("gzip, chunked", CODING(" gzip, chunked"), 400, 501),
        REFUSED_WITH("chunked, gzip", CODING(" chunked, gzip"), 400, 501),
        REFUSED_WITH("chunked, chunked", CODING(" chunked, chunked"), 400, 501),
        REFUSED_WITH("identity", CODING(" identity"), 400, 501),
        REFUSED_WITH("identity, chunked", CODING(" identity, chunked"), 400,
                     501),
        REFUSED_WITH("chunked, identity", CODING(" chunked, identity"), 400,
                     501),
        REFUSED_WITH("gzip", CODING(" gzip"), 400, 501),
        REFUSED_WITH("xchunked", CODING(" xchunked"), 400, 501),
        REFUSED_WITH("chunkedx", CODING(" chunkedx"), 400, 501),
        REFUSED_WITH("chunk", CODING(" chunk"), 400, 501),
        REFUSED_WITH("chunked;", CODING(" chunked;"), 400, 501),
        REFUSED_WITH("chunked;a=b", CODING(" chunked;a=b"), 400, 501),
        REFUSED_WITH("quotes", CODING(" \"chunked\""), 400, 501),
        REFUSED_WITH("single quotes", CODING(" 'chunked'"), 400, 501),
        REFUSED_WITH("two words", CODING(" chunked chunked"), 400, 501),
        REFUSED_WITH("bracket", CODING(" [chunked"), 400, 501),
        REFUSED_WITH("semicolon first", CODING(" ;chunked"), 400, 501),
        REFUSED("vertical tab", CODING(" \x0b"
                                       "chunked")),
        REFUSED("NUL", CODING(" chunked\0")),
        REFUSED("CR", CODING(" chunked\r")),
        REFUSED_WITH("no-break space",
                     CODING(" \xa0"
                            "chunked"),
                     400, 501),
        REFUSED_WITH("empty", CODING(""), 400, 501),
        REFUSED_WITH("blank", CODING("  "), 400, 501),
        REFUSED("twice", CODING(" chunked\r\nTransfer-Encoding: chunked")),
        REFUSED_WITH("gzip line, chunked line",
                     CODING(" gzip\r\nTransfer-Encoding: chunked"), 400, 501),
        REFUSED_WITH("chunked line, identity line",
                     CODING(" chunked\r\nTransfer-Encoding: identity"), 400,
                     501),
        REFUSED_WITH("twice, cases differ",
                     CODING(" chunked\r\ntransfer-encoding: x"), 400, 501),
        REFUSED("HTTP/1.0",
                "GET /f HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                "\r\n0\r\n\r\n"),
        REFUSED("HTTP/1.0, to be kept alive",
                "GET /f HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n"
                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        REFUSED("HTTP/1.0 with length",
                "GET /f HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\n"
                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        REFUSED("POST, length and coding",
                "POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        EITHER("empty members", CODING(" , chunked,"), 200, 400, 501),
    };

    CASES_SPLIT(cases);
}

TEST(what_only_looks_like_a_length_or_coding_is_none)
{
    /* Fields of other names: no body, and the next request follows. */
    static const struct raw_case cases[] = {
        ACCEPTED("underscore", GET_WITH("Content_Length: 100\r\n")),
        ACCEPTED("underscore, coding",
                 GET_WITH("Transfer_Encoding: chunked\r\n")),
        ACCEPTED("a letter more", GET_WITH("Content-Lengths: 100\r\n")),
        ACCEPTED("a letter before",
                 GET_WITH("XTransfer-Encoding: chunked\r\n")),
        ACCEPTED("in a value", GET_WITH("X: Content-Length: 100\r\n")),
        ACCEPTED("in the query",
                 GET_LINE("GET /f?Transfer-Encoding:%20chunked HTTP/1.1")),
        ACCEPTED("TE", GET_WITH("TE: chunked\r\n")),
        ACCEPTED_BY_US("named by Connection",
                       GET_WITH("Connection: Content-Length\r\n")),
        ACCEPTED("Upgrade",
                 GET_WITH("Connection: upgrade\r\nUpgrade: h2c\r\n")),
        ACCEPTED("Upgrade to websocket",
                 GET_WITH("Connection: Upgrade\r\nUpgrade: websocket\r\n")),
        /* Connection may name a length, but that does not undo it. */
        ACCEPTED_BY_US(
            "a length named by Connection",
            GET_WITH(
                "Connection: content-length\r\nContent-Length: 5\r\n") "hello"),
    };

    CASES_SPLIT(cases);
}

TEST(nothing_follows_connection_close)
{
    static const struct raw_case cases[] = {
        REFUSED_WITH("close", GET_WITH("Connection: close\r\n"), 200),
        REFUSED_WITH("Close", GET_WITH("Connection: Close\r\n"), 200),
        REFUSED_WITH("in a list", GET_WITH("Connection: x ,\tclose, y\r\n"),
                     200),
        REFUSED_WITH(
            "in a second line",
            GET_WITH("Connection: keep-alive\r\nConnection: close\r\n"), 200),
        REFUSED_WITH("beside keep-alive",
                     GET_WITH("Connection: close, keep-alive\r\n"), 200),
        REFUSED_WITH("HTTP/1.0", "GET /f HTTP/1.0\r\nHost: a\r\n\r\n", 200),
        REFUSED_WITH("HTTP/1.0, other token",
                     "GET /f HTTP/1.0\r\nConnection: x-keep-alive\r\n\r\n",
                     200),
        REFUSED_WITH("404",
                     "GET /none HTTP/1.1\r\nHost: a\r\n"
                     "Connection: close\r\n\r\n",
                     404),
        REFUSED_WITH("405",
                     "DELETE /f HTTP/1.1\r\nHost: a\r\n"
                     "Connection: close\r\n\r\n",
                     405),
    };

    CASES_SPLIT(cases);
}

SUITE(.begin = raw_case_begin, .each_end = harness_after_test,
      .run = raw_case_run);
