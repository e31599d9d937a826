/*
 * Unusual requests that the RFCs want to be understood, and what follows them
 * too: strictness must not cost anybody an answer.
 */
#include "raw_case.h"

TEST(unusual_heads_are_understood)
{
    static const struct raw_case cases[] = {
        ACCEPTED("a later minor version (9110 2.5)",
                 "GET /f HTTP/1.2\r\nHost: a\r\n\r\n"),
        ACCEPTED("the last of them", "GET /f HTTP/1.9\r\nHost: a\r\n\r\n"),
        ACCEPTED("an empty line first (9112 2.2)", "\r\n" GET_WITH("")),
        ACCEPTED("two empty lines first", "\r\n\r\n" GET_WITH("")),
        ACCEPTED("no space after the colon", GET_WITH("X:a\r\n")),
        ACCEPTED("much space around a value", GET_WITH("X: \t  a b \t \r\n")),
        ACCEPTED("an empty value", GET_WITH("X:\r\n")),
        ACCEPTED("a blank value", GET_WITH("X:  \t\r\n")),
        ACCEPTED("tab in a value", GET_WITH("X: a\tb\r\n")),
        ACCEPTED("obs-text in a value", GET_WITH("X: \xc3\xa9\xff\x80\r\n")),
        ACCEPTED("colons in a value", GET_WITH("X: a:b::c\r\n")),
        ACCEPTED("every kind of name",
                 GET_WITH("!#$%&'*+-.^_`|~09azAZ: a\r\n")),
        ACCEPTED("the same field often", GET_WITH("X: a\r\nX: b\r\nx: c\r\n")),
        ACCEPTED("names in any case", "GET /f HTTP/1.1\r\nhOsT: a\r\n\r\n"),
        ACCEPTED("Host last", "GET /f HTTP/1.1\r\nX: b\r\nHost: a\r\n\r\n"),
        ACCEPTED("Connection of a token only",
                 GET_WITH("Connection: keep-alive, , foo\r\n")),
        ACCEPTED("Keep-Alive", GET_WITH("Keep-Alive: timeout=5\r\n")),
        ACCEPTED("unknown fields", GET_WITH("Sec-Fetch-Mode: cors\r\nDNT: 1\r\n"
                                            "Pragma: no-cache\r\n")),
        ACCEPTED("Expect is no concern of 1.0",
                 "GET /f HTTP/1.0\r\nConnection: keep-alive\r\n"
                 "Expect: 100-continue\r\n\r\n"),
        ACCEPTED("kept alive in 1.0",
                 "GET /f HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
        ACCEPTED("no Host in 1.0 needed",
                 "GET /f HTTP/1.0\r\nConnection: x, keep-alive\r\n\r\n"),
    };

    CASES_SPLIT(cases);
}

#define HOST(value) "GET /f HTTP/1.1\r\nHost:" value "\r\n\r\n"

TEST(every_valid_host_and_target_is_understood)
{
    static const struct raw_case cases[] = {
        ACCEPTED("name", HOST(" example.com")),
        ACCEPTED("name and port", HOST(" example.com:8080")),
        ACCEPTED("empty port", HOST(" example.com:")),
        ACCEPTED("final dot", HOST(" example.com.")),
        ACCEPTED("capitals", HOST(" EXAMPLE.com")),
        ACCEPTED("no space", HOST("example.com")),
        ACCEPTED("space around", HOST(" \texample.com\t ")),
        ACCEPTED("IPv4", HOST(" 127.0.0.1:80")),
        ACCEPTED("IPv6", HOST(" [::1]")),
        ACCEPTED("IPv6 and port", HOST(" [2001:db8::1]:8080")),
        ACCEPTED("IPv6 of IPv4", HOST(" [::ffff:127.0.0.1]:1")),
        ACCEPTED("underscore", HOST(" a_b.c-d")),
        ACCEPTED("sub-delims", HOST(" a!$&'()*+;=b")),
        ACCEPTED("escape", HOST(" a%41")),
        ACCEPTED("absolute form", GET_LINE("GET http://b/f HTTP/1.1")),
        ACCEPTED("absolute form, port", GET_LINE("GET http://b:80/f HTTP/1.1")),
        ACCEPTED("absolute form, capitals",
                 GET_LINE("GET HTTP://B/f HTTP/1.1")),
        ACCEPTED("absolute form, query",
                 GET_LINE("GET http://b/f?x=/ HTTP/1.1")),
        ACCEPTED("absolute form, IPv6",
                 GET_LINE("GET http://[::1]/f HTTP/1.1")),
        ACCEPTED("absolute form, index", GET_LINE("GET http://b/ HTTP/1.1")),
        ACCEPTED("absolute form, no path", GET_LINE("GET http://b HTTP/1.1")),
        ACCEPTED("absolute form, query only",
                 GET_LINE("GET http://b?x HTTP/1.1")),
        ACCEPTED("query", GET_LINE("GET /f?a=b&c=%20d/../?e HTTP/1.1")),
        ACCEPTED("empty query", GET_LINE("GET /f? HTTP/1.1")),
        ACCEPTED("escape", GET_LINE("GET /%66 HTTP/1.1")),
        ACCEPTED("slashes", GET_LINE("GET //f HTTP/1.1")),
        ACCEPTED_BY_US("dot segments", GET_LINE("GET /x/.././f HTTP/1.1")),
        ACCEPTED_BY_US("dot segments, encoded",
                       GET_LINE("GET /x/%2E%2e/f HTTP/1.1")),
        ACCEPTED("odd characters in the query",
                 GET_LINE("GET /f?a[]=b&c=~!$'()*+,;:@ HTTP/1.1")),
    };

    CASES_SPLIT(cases);
}

#define CHUNKED \
    "GET /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#define SIZE(size) CHUNKED size "\r\nhello\r\n0\r\n\r\n"
#define CODING(value) \
    GET_WITH("Transfer-Encoding:" value "\r\n") "5\r\nhello\r\n0\r\n\r\n"
#define LENGTH(value) GET_WITH("Content-Length:" value "\r\n") "hello"

TEST(bodies_are_read_to_their_end)
{
    static const struct raw_case cases[] = {
        ACCEPTED("length", LENGTH(" 5")),
        ACCEPTED("length without space", LENGTH("5")),
        ACCEPTED("length in space", LENGTH("  \t5\t ")),
        ACCEPTED("length of nothing", GET_WITH("Content-Length: 0\r\n")),
        ACCEPTED("length in any case",
                 GET_WITH("content-length: 5\r\n") "hello"),
        ACCEPTED(
            "a body that looks like a request",
            GET_WITH("Content-Length: 35\r\n") "GET /smuggled "
                                               "HTTP/1.1\r\nHost: a\r\n\r\n"),
        ACCEPTED("a body of line ends",
                 GET_WITH("Content-Length: 6\r\n") "\r\n\r\n\r\n"),
        ACCEPTED("a body of NULs", GET_WITH("Content-Length: 3\r\n") "\0\0\0"),
        ACCEPTED("an empty line after a body", LENGTH(" 5") "\r\n"),
        ACCEPTED("chunked", CODING(" chunked")),
        ACCEPTED("Chunked", CODING(" Chunked")),
        ACCEPTED("CHUNKED", CODING(" CHUNKED")),
        ACCEPTED("chunked without space", CODING("chunked")),
        ACCEPTED("chunked in space", CODING(" \t chunked \t")),
        ACCEPTED("no chunk but the last", CHUNKED "0\r\n\r\n"),
        ACCEPTED("last of many zeros", CHUNKED "000\r\n\r\n"),
        ACCEPTED("leading zeros", SIZE("0005")),
        ACCEPTED("two chunks", CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        ACCEPTED("hex digit, small", CHUNKED "a\r\n0123456789\r\n0\r\n\r\n"),
        ACCEPTED("hex digit, capital", CHUNKED "A\r\n0123456789\r\n0\r\n\r\n"),
        ACCEPTED("a chunk that looks like the last",
                 CHUNKED "5\r\n0\r\n\r\n\r\n0\r\n\r\n"),
        ACCEPTED("extension", SIZE("5;a")),
        ACCEPTED("extension with value", SIZE("5;a=b")),
        ACCEPTED("extension in quotes", SIZE("5;a=\"b;\\\"c\\\\ d\"")),
        ACCEPTED("two extensions", SIZE("5;a=b;c")),
        ACCEPTED("space in an extension (BWS)", SIZE("5 ; a = b")),
        ACCEPTED("extension of the last", CHUNKED "0;a=b\r\n\r\n"),
        ACCEPTED("trailer", CHUNKED "5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
        ACCEPTED("trailers",
                 CHUNKED "5\r\nhello\r\n0\r\nX:y\r\nZ: \r\nX: \xe9\t\r\n\r\n"),
    };

    CASES_SPLIT(cases);
}

TEST(refusals_with_sound_framing_may_go_on)
{
    static const struct raw_case cases[] = {
        EITHER("none such", GET_LINE("GET /none HTTP/1.1"), 404),
        EITHER("unknown method", GET_LINE("BREW /f HTTP/1.1"), 501),
        EITHER("small letters", GET_LINE("get /f HTTP/1.1"), 501, 400),
        EITHER("a long method", GET_LINE("GETGETGETGETGETGETGET /f HTTP/1.1"),
               501, 400),
        EITHER("POST", GET_LINE("POST /f HTTP/1.1"), 405, 411),
        EITHER("POST with a body",
               "POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
               405),
        EITHER("POST in chunks",
               "POST /f HTTP/1.1\r\nHost: a\r\n"
               "Transfer-Encoding: chunked\r\n\r\n"
               "5\r\nhello\r\n0\r\n\r\n",
               405),
        EITHER("DELETE", GET_LINE("DELETE /f HTTP/1.1"), 405),
        EITHER("TRACE", GET_LINE("TRACE /f HTTP/1.1"), 405, 501),
        EITHER("PROPFIND", GET_LINE("PROPFIND /f HTTP/1.1"), 405, 501),
        EITHER("climbing", GET_LINE("GET /../f HTTP/1.1"), 400, 403, 404, 200),
        EITHER("%00", GET_LINE("GET /f%00 HTTP/1.1"), 400, 404),
        EITHER("%2f", GET_LINE("GET /%2ff HTTP/1.1"), 400, 404),
        EITHER("expectation", GET_WITH("Expect: the-unexpected\r\n"), 417, 200),
    };

    CASES_SPLIT(cases);
}

SUITE(.begin = raw_case_begin, .each_end = harness_after_test,
      .run = raw_case_run);
