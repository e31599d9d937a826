/*
 * http1_cases - heads that test_http1 reads, good ones and bad ones.
 *
 * Good ones say what must come out of them, bad ones the status that answers
 * them. The bad ones are, row by row, what is known to be read differently by
 * different servers, and what RFC 9110 and RFC 9112 forbid.
 */
#ifndef TESTS_HTTP1_CASES_H
#define TESTS_HTTP1_CASES_H

#include "http/request.h"

#define HOST "Host: a\r\n"
#define END "\r\n"

/* What most heads have is what is not written: GET, HTTP/1.1, path "/", no
 * query, host "a", no body, and a client that wants to go on. */
struct good_case {
    const char *head; /* with its empty line */
    enum method method;
    bool is_http10;
    const char *path;
    const char *query;
    const char *host;
    bool closes;
    bool is_chunked;
    bool expects_continue;
    bool expects_other;
    enum target_scheme scheme;
    uint64_t content_length;
};

#define GET_WITH(fields) "GET / HTTP/1.1\r\n" HOST fields END
#define OLD_WITH(fields) "GET / HTTP/1.0\r\n" fields END
#define GET_HOST(value) "GET / HTTP/1.1\r\nHost:" value "\r\n" END
#define GET_TARGET(target) "GET " target " HTTP/1.1\r\n" HOST END
#define METHOD(name) name " / HTTP/1.1\r\n" HOST END

static const struct good_case good_cases[] = {
    {.head = GET_WITH("")},

    /* Methods that somebody registered. */
    {.head = METHOD("HEAD"), .method = METHOD_HEAD},
    {.head = METHOD("OPTIONS"), .method = METHOD_OPTIONS},
    {.head = METHOD("POST"), .method = METHOD_POST},
    {.head = METHOD("PUT"), .method = METHOD_PUT},
    {.head = METHOD("DELETE"), .method = METHOD_DELETE},
    {.head = METHOD("PATCH"), .method = METHOD_PATCH},
    {.head = METHOD("TRACE"), .method = METHOD_TRACE},
    {.head = METHOD("PROPFIND"), .method = METHOD_OTHER},
    {.head = METHOD("PROPPATCH"), .method = METHOD_OTHER},
    {.head = METHOD("MKCOL"), .method = METHOD_OTHER},
    {.head = METHOD("MKCALENDAR"), .method = METHOD_OTHER},
    {.head = METHOD("QUERY"), .method = METHOD_OTHER},
    {.head = METHOD("LABEL"), .method = METHOD_OTHER},
    {.head = METHOD("UPDATEREDIRECTREF"), .method = METHOD_OTHER},
    {.head = METHOD("VERSION-CONTROL"), .method = METHOD_OTHER},
    {.head = METHOD("M-SEARCH"), .method = METHOD_OTHER},
    {.head = METHOD("UNSUBSCRIBE"), .method = METHOD_OTHER},

    /* HTTP/1.0: no Host is needed, the connection closes unless asked. */
    {.head = OLD_WITH(""), .is_http10 = true, .host = "", .closes = true},
    {.head = OLD_WITH(HOST), .is_http10 = true, .closes = true},
    {.head = OLD_WITH(HOST "Connection: keep-alive\r\n"), .is_http10 = true},
    {.head = OLD_WITH(HOST "Connection: Keep-Alive\r\n"), .is_http10 = true},
    {.head = OLD_WITH(HOST "Connection: x\r\nConnection: y ,keep-alive\r\n"),
     .is_http10 = true},
    {.head = OLD_WITH(HOST "Connection: keep-alive, close\r\n"),
     .is_http10 = true,
     .closes = true},
    {.head = OLD_WITH(HOST "Content-Length: 5\r\n"),
     .is_http10 = true,
     .closes = true,
     .content_length = 5},

    /* A later minor version than ours is ours (RFC 9110 2.5). */
    {.head = "GET / HTTP/1.2\r\n" HOST END},
    {.head = "GET / HTTP/1.9\r\n" HOST END},

    /* Origin form: every visible character but '#', good escapes; in the query
     * any of them, any escapes, and what is not ASCII. */
    {.head = GET_TARGET("/a/b.html"), .path = "/a/b.html"},
    {.head = GET_TARGET("//a//b"), .path = "//a//b"},
    {.head = GET_TARGET("/../a"), .path = "/../a"},
    {.head = GET_TARGET("/!\"$%25&'()*+,-.:;<=>@[\\]^_`{|}~"),
     .path = "/!\"$%25&'()*+,-.:;<=>@[\\]^_`{|}~"},
    {.head = GET_TARGET("/%00%2f%2F%fF"), .path = "/%00%2f%2F%fF"},
    {.head = GET_TARGET("/?"), .query = ""},
    {.head = GET_TARGET("/a?b"), .path = "/a", .query = "b"},
    {.head = GET_TARGET("/a?b?c=/%20"), .path = "/a", .query = "b?c=/%20"},
    {.head = GET_TARGET("/a?q=100%"), .path = "/a", .query = "q=100%"},
    {.head = GET_TARGET("/a?%&%4&%zz%%41%u0041&%00"),
     .path = "/a",
     .query = "%&%4&%zz%%41%u0041&%00"},
    {.head = GET_TARGET("/a?!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"),
     .path = "/a",
     .query = "!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"},
    {.head = GET_TARGET("/a?#"), .path = "/a", .query = "#"},
    {.head = GET_TARGET("/a?\x80\xC3\xA9\xFF"),
     .path = "/a",
     .query = "\x80\xC3\xA9\xFF"},
    {.head = "GET /a?caf\xC3\xA9 HTTP/1.1\r\n" HOST
             "Content-Length: 5\t\r\n" END,
     .path = "/a",
     .query = "caf\xC3\xA9",
     .content_length = 5},
    {.head = GET_TARGET("http://b?\xC3\xA9#%"),
     .query = "\xC3\xA9#%",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("/*"), .path = "/*"},
    {.head = GET_TARGET("/http://b/"), .path = "/http://b/"},

    /* Absolute form: its authority counts, not Host. */
    {.head = GET_TARGET("http://b/c"),
     .path = "/c",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("https://b:8443/c?d"),
     .path = "/c",
     .query = "d",
     .host = "b:8443",
     .scheme = TARGET_SCHEME_HTTPS},
    {.head = GET_TARGET("HTTPS://b"),
     .host = "b",
     .scheme = TARGET_SCHEME_HTTPS},
    {.head = GET_TARGET("HTTP://B:81/c?d"),
     .path = "/c",
     .query = "d",
     .host = "B:81",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("http://b"), .host = "b", .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("http://b:/"),
     .host = "b:",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("http://b?c"),
     .query = "c",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("http://[::1]:80/"),
     .host = "[::1]:80",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = GET_TARGET("http://b//c"),
     .path = "//c",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = "GET http://b/ HTTP/1.0\r\n" END,
     .is_http10 = true,
     .host = "b",
     .closes = true,
     .scheme = TARGET_SCHEME_HTTP},

    /* Asterisk and authority form. */
    {.head = "OPTIONS * HTTP/1.1\r\n" HOST END,
     .method = METHOD_OPTIONS,
     .path = "*"},
    {.head = "OPTIONS http://b HTTP/1.1\r\n" HOST END,
     .method = METHOD_OPTIONS,
     .path = "*",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = "OPTIONS http://b/ HTTP/1.1\r\n" HOST END,
     .method = METHOD_OPTIONS,
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = "OPTIONS http://b? HTTP/1.1\r\n" HOST END,
     .method = METHOD_OPTIONS,
     .query = "",
     .host = "b",
     .scheme = TARGET_SCHEME_HTTP},
    {.head = "CONNECT b:443 HTTP/1.1\r\n" HOST END, .method = METHOD_CONNECT},
    {.head = "CONNECT [::1]:443 HTTP/1.1\r\n" HOST END,
     .method = METHOD_CONNECT},

    /* Host: RFC 3986 3.2.2, and a port. */
    {.head = GET_HOST(" www.example.org"), .host = "www.example.org"},
    {.head = GET_HOST("a")},
    {.head = GET_HOST(" \t a \t ")},
    {.head = GET_HOST(" a:80"), .host = "a:80"},
    {.head = GET_HOST(" a:65535"), .host = "a:65535"},
    {.head = GET_HOST(" a:00080"), .host = "a:00080"},
    {.head = GET_HOST(" a:"), .host = "a:"},
    {.head = GET_HOST(" 192.0.2.1"), .host = "192.0.2.1"},
    {.head = GET_HOST(" [::1]"), .host = "[::1]"},
    {.head = GET_HOST(" [2001:DB8::1]:8080"), .host = "[2001:DB8::1]:8080"},
    {.head = GET_HOST(" [1111:2222:3333:4444:5555:6666:192.168.100.100]"),
     .host = "[1111:2222:3333:4444:5555:6666:192.168.100.100]"},
    {.head = GET_HOST(" a-b_c~d.e!$&'()*+,;=f"),
     .host = "a-b_c~d.e!$&'()*+,;=f"},
    {.head = GET_HOST(" caf%c3%A9"), .host = "caf%c3%A9"},
    {.head = "GET / HTTP/1.1\r\nhOST: a\r\n" END},

    /* Connection: a list, in any case, over several lines. */
    {.head = GET_WITH("Connection: close\r\n"), .closes = true},
    {.head = GET_WITH("connection:CLOSE\r\n"), .closes = true},
    {.head = GET_WITH("Connection: keep-alive\r\n")},
    {.head = GET_WITH("Connection: keep-alive, close\r\n"), .closes = true},
    {.head = GET_WITH("Connection: close, keep-alive\r\n"), .closes = true},
    {.head =
         GET_WITH("Connection: keep-alive\r\nA: b\r\nConnection: close\r\n"),
     .closes = true},
    {.head = GET_WITH("Connection: , ,\tclose ,\r\n"), .closes = true},
    {.head = GET_WITH("Connection: closed\r\n")},
    {.head = GET_WITH("Connection: x-close\r\n")},
    {.head = GET_WITH("Connection:\r\n")},

    /* Framing of the body. */
    {.head = GET_WITH("Content-Length: 0\r\n")},
    {.head = GET_WITH("Content-Length: 5\r\n"), .content_length = 5},
    {.head = GET_WITH("Content-Length:5  \r\n"), .content_length = 5},
    {.head = GET_WITH("content-length: 003\r\n"), .content_length = 3},
    {.head = GET_WITH("Content-Length:\t5\t \r\nA:\tb\tc\t\r\n"),
     .content_length = 5},
    {.head = GET_WITH("Content-Length: 9000000000000000000\r\n"),
     .content_length = UINT64_C(9000000000000000000)},
    {.head = GET_WITH("Transfer-Encoding: chunked\r\n"), .is_chunked = true},
    {.head = GET_WITH("transfer-encoding:CHUNKED \t\r\n"), .is_chunked = true},

    /* Expectations; those of HTTP/1.0 mean nothing. */
    {.head = GET_WITH("Expect: 100-continue\r\n"), .expects_continue = true},
    {.head = GET_WITH("expect: 100-Continue\r\n"), .expects_continue = true},
    {.head = GET_WITH("Expect: 200-ok\r\n"), .expects_other = true},
    {.head = GET_WITH("Expect: 100-continue=1\r\n"), .expects_other = true},
    {.head = GET_WITH("Expect: 100-continue, x\r\n"),
     .expects_continue = true,
     .expects_other = true},
    {.head = GET_WITH("Expect: x, 100-continue\r\n"),
     .expects_continue = true,
     .expects_other = true},
    {.head = GET_WITH("Expect: 100-continue, 100-Continue\r\n"),
     .expects_continue = true},
    {.head = GET_WITH("Expect: , 100-continue,\t,\r\n"),
     .expects_continue = true},
    {.head = GET_WITH("Expect:\r\n")},
    {.head = GET_WITH("Expect: ,\r\n")},
    {.head = GET_WITH("Expect: x=\"100-continue\"\r\n"), .expects_other = true},
    {.head = GET_WITH("Expect: 100-continue\r\nExpect: x\r\n"),
     .expects_continue = true,
     .expects_other = true},
    {.head = OLD_WITH(HOST "Expect: 100-continue\r\nExpect: x\r\n"),
     .is_http10 = true,
     .closes = true},

    /* Values of any kind. */
    {.head = GET_WITH("A:\r\n")},
    {.head = GET_WITH("A: \t \r\n")},
    {.head = GET_WITH("A: b:c \"d\"\te\r\n")},
    {.head = GET_WITH("A: caf\xC3\xA9 \x80\xFF\r\n")},
    {.head = GET_WITH("!#$%&'*+-.^_`|~09azAZ: b\r\n")},
    {.head = GET_WITH("A: b\r\nA: b\r\na: c\r\n")},

    /* Nothing here speaks another protocol: no upgrade, so the bytes that
     * follow are the next request. */
    {.head = GET_WITH("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                      "HTTP2-Settings: AAMAAABkAAQAAP__\r\n")},
    {.head = GET_WITH("Connection: upgrade\r\nUpgrade: websocket\r\n")},

    /* Empty lines before the request (RFC 9112 2.2). */
    {.head = "\r\n" GET_WITH("")},
    {.head = "\r\n\r\n\r\n\r\n" GET_WITH("")},
};

struct bad_case {
    struct bytes head; /* NULs inside count */
    unsigned status;
};

#define BAD(status, literal)                       \
    {                                              \
        {(literal), sizeof(literal) - 1}, (status) \
    }

static const struct bad_case bad_cases[] = {
    /* The request line. */
    BAD(400, "GET /\r\n"),
    BAD(400, "GET / \r\n" HOST END),
    BAD(400, "GET\r\n" HOST END),
    BAD(400, "GET \r\n" HOST END),
    BAD(400, "GET  HTTP/1.1\r\n" HOST END),
    BAD(400, "GET HTTP/1.1\r\n" HOST END),
    BAD(400, " GET / HTTP/1.1\r\n" HOST END),
    BAD(400, "\tGET / HTTP/1.1\r\n" HOST END),
    BAD(400, "GET  / HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /  HTTP/1.1\r\n" HOST END),
    BAD(400, "GET\t/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET /\tHTTP/1.1\r\n" HOST END),
    BAD(400, "GET / HTTP/1.1 \r\n" HOST END),
    BAD(400, "GET / HTTP/1.1 x\r\n" HOST END),
    BAD(400, "GET / x HTTP/1.1\r\n" HOST END),
    BAD(400, "GET/ HTTP/1.1\r\n" HOST END),
    BAD(400, "GET: / HTTP/1.1\r\n" HOST END),
    BAD(400, "G@T / HTTP/1.1\r\n" HOST END),
    BAD(400, "G\xC3\x8BT / HTTP/1.1\r\n" HOST END),
    BAD(400, "G\0T / HTTP/1.1\r\n" HOST END),
    BAD(400, "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03"), /* TLS */
    BAD(501, "get / HTTP/1.1\r\n" HOST END),
    BAD(501, "Get / HTTP/1.1\r\n" HOST END),
    BAD(501, "GETT / HTTP/1.1\r\n" HOST END),
    BAD(501, "GE / HTTP/1.1\r\n" HOST END),
    BAD(501, "QUERIES / HTTP/1.1\r\n" HOST END),
    BAD(501, "QUER / HTTP/1.1\r\n" HOST END),
    BAD(501, "query / HTTP/1.1\r\n" HOST END),
    BAD(501, "_ / HTTP/1.1\r\n" HOST END),
    BAD(501, "PRI * HTTP/1.1\r\n" HOST END),

    /* The version. */
    BAD(505, "GET / HTTP/2.0\r\n" HOST END),
    BAD(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    BAD(505, "GET / HTTP/0.9\r\n" HOST END),
    BAD(505, "GET / HTTP/9.9\r\n" HOST END),
    BAD(505, "GET / HTTP/3.0\r\n" HOST END),
    BAD(400, "GET / HXXX/1.1\r\n" HOST END),
    BAD(400, "GET / http/1.1\r\n" HOST END),
    BAD(400, "GET / HTTP/1\r\n" HOST END),
    BAD(400, "GET / HTTP/1.\r\n" HOST END),
    BAD(400, "GET / HTTP/.1\r\n" HOST END),
    BAD(400, "GET / HTTP/11\r\n" HOST END),
    BAD(400, "GET / HTTP/1.10\r\n" HOST END),
    BAD(400, "GET / HTTP/01.1\r\n" HOST END),
    BAD(400, "GET / HTTP/1,1\r\n" HOST END),
    BAD(400, "GET / HTTP/a.b\r\n" HOST END),
    BAD(400, "GET / HTTP/1.1\0\r\n" HOST END),
    BAD(400, "GET / HTTPS/1.1\r\n" HOST END),
    BAD(400, "SOURCE / ICE/1.0\r\n" HOST END),

    /* The target. */
    BAD(400, GET_TARGET("/a#b")),
    BAD(400, GET_TARGET("#")),
    BAD(400, GET_TARGET("/a\tb")),
    BAD(400, GET_TARGET("/a\fb")),
    BAD(400, GET_TARGET("/a\x01")),
    BAD(400, GET_TARGET("/a\x7F")),
    BAD(400, GET_TARGET("/caf\xC3\xA9")),
    BAD(400, GET_TARGET("/\0")),
    BAD(400, GET_TARGET("/%")),
    BAD(400, GET_TARGET("/%4")),
    BAD(400, GET_TARGET("/%zz")),
    BAD(400, GET_TARGET("/%4g")),
    BAD(400, GET_TARGET("/%%41")),
    BAD(400, GET_TARGET("/%?a")),
    BAD(400, GET_TARGET("/a#?b")),
    BAD(400, GET_TARGET("/caf\xC3\xA9?a")),
    BAD(400, GET_TARGET("/?a\tb")),
    BAD(400, GET_TARGET("/?a\x01")),
    BAD(400, GET_TARGET("/?a\x7F")),
    BAD(400, GET_TARGET("/?\xC3\xA9 b")),
    BAD(400, GET_TARGET("/?a\0")),
    BAD(400, GET_TARGET("*")),
    BAD(400, GET_TARGET("a")),
    BAD(400, GET_TARGET("a/b")),
    BAD(400, GET_TARGET("?a")),
    BAD(400, GET_TARGET("a:80")),
    BAD(400, "OPTIONS *a HTTP/1.1\r\n" HOST END),
    BAD(400, "OPTIONS */ HTTP/1.1\r\n" HOST END),
    BAD(400, GET_TARGET("ftp://a/")),
    BAD(400, GET_TARGET("http:")),
    BAD(400, GET_TARGET("http:/a")),
    BAD(400, GET_TARGET("http://")),
    BAD(400, GET_TARGET("https://")),
    BAD(400, GET_TARGET("https:///a")),
    BAD(400, GET_TARGET("https:/b/a")),
    BAD(400, GET_TARGET("httpss://b/a")),
    BAD(400, GET_TARGET("https://a@b/")),
    BAD(400, GET_TARGET("http:///a")),
    BAD(400, GET_TARGET("http://?a")),
    BAD(400, GET_TARGET("http://:80/")),
    BAD(400, GET_TARGET("http://a@b/")),
    BAD(400, GET_TARGET("http://a:b@c/")),
    BAD(400, GET_TARGET("http://a:65536/")),
    BAD(400, GET_TARGET("http://[::1/")),
    BAD(400, GET_TARGET("http://a\\b/")),
    BAD(400, "GET http://b/ HTTP/1.1\r\n" END),
    BAD(400, "GET http://b/ HTTP/1.1\r\nHost: c d\r\n" END),
    BAD(400, "CONNECT / HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT /foo HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT * HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a: HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT :80 HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a:x HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a:65536 HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a:80/ HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT a@b:80 HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT [::1] HTTP/1.1\r\n" HOST END),
    BAD(400, "CONNECT http://a:80 HTTP/1.1\r\n" HOST END),

    /* Ends of lines: CRLF and nothing else. */
    BAD(400, "GET / HTTP/1.1\n" HOST END),
    BAD(400, "GET / HTTP/1.1\nHost: a\n\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: a\n" END),
    BAD(400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    BAD(400, "GET / HTTP/1.1\r" HOST END),
    BAD(400, "GET / HTTP/1.1\r\r\n" HOST END),
    BAD(400, GET_WITH("A: b\rC: d\r\n")),
    BAD(400, GET_WITH("A: b\r\r\n")),
    BAD(400, GET_WITH("A\r: b\r\n")),
    BAD(400, GET_WITH("X-Abc:\rxTransfer-Encoding: chunked\r\n")),
    BAD(400, "GET / HTTP/1.1\r\nHost: a\r\n\rX"),
    BAD(400, "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n"),
    BAD(400, "\n" GET_WITH("")),
    BAD(400, "\r" GET_WITH("")),
    BAD(400, "\r\n\n" GET_WITH("")),
    BAD(400, "\r\r\n" GET_WITH("")),
    BAD(400, "\r\n\r\n\r\n\r\n\r\n" GET_WITH("")),

    /* Field lines. */
    BAD(400, GET_WITH("A : b\r\n")),
    BAD(400, GET_WITH("A\t: b\r\n")),
    BAD(400, GET_WITH("Content-Length : 5\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding : chunked\r\n")),
    BAD(400, "GET / HTTP/1.1\r\n Content-Length: 5\r\n" HOST END),
    BAD(400, "GET / HTTP/1.1\r\n" HOST " \r\n" END),
    BAD(400, "GET / HTTP/1.1\r\n \r\n" HOST END),
    BAD(400, GET_WITH("H T: b\r\n")),
    BAD(400, GET_WITH(": b\r\n")),
    BAD(400, GET_WITH("A\r\n")),
    BAD(400, GET_WITH("A b\r\n")),
    BAD(400, GET_WITH("A(b): c\r\n")),
    BAD(400, GET_WITH("A/b: c\r\n")),
    BAD(400, GET_WITH("A@b: c\r\n")),
    BAD(400, GET_WITH("\"A\": b\r\n")),
    BAD(400, GET_WITH("caf\xC3\xA9: b\r\n")),
    BAD(400, GET_WITH("A\0: b\r\n")),
    BAD(400, GET_WITH("A\x7F: b\r\n")),
    BAD(400, GET_WITH("A: b\0c\r\n")),
    BAD(400, GET_WITH("A: b\x01\r\n")),
    BAD(400, GET_WITH("A: b\v\r\n")),
    BAD(400, GET_WITH("A: b\f\r\n")),
    BAD(400, GET_WITH("A: b\x1B[2J\r\n")),
    BAD(400, GET_WITH("A: b\x7F\r\n")),
    BAD(400, GET_WITH("A: b\r\n c\r\n")),
    BAD(400, GET_WITH("A: b\r\n\tc\r\n")),
    BAD(400, GET_WITH("A:\r\n b\r\n")),
    BAD(400, GET_WITH("Content-Length:\r\n 5\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked\r\n , gzip\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding:\r\n chunked\r\n")),

    /* Host: exactly one, and a valid one. */
    BAD(400, "GET / HTTP/1.1\r\n" END),
    BAD(400, "GET / HTTP/1.1\r\nX-Host: a\r\n" END),
    BAD(400, "GET / HTTP/1.1\r\n" HOST HOST END),
    BAD(400, "GET / HTTP/1.1\r\n" HOST "A: b\r\nhost: b\r\n" END),
    BAD(400, "GET / HTTP/1.0\r\n" HOST HOST END),
    BAD(400, "GET / HTTP/1.0\r\nHost: a b\r\n" END),
    BAD(400, GET_HOST("")),
    BAD(400, GET_HOST(" ")),
    BAD(400, GET_HOST(" a b")),
    BAD(400, GET_HOST(" a, b")),
    BAD(400, GET_HOST(" a@b")),
    BAD(400, GET_HOST(" a/b")),
    BAD(400, GET_HOST(" http://a")),
    BAD(400, GET_HOST(" a?b")),
    BAD(400, GET_HOST(" a#b")),
    BAD(400, GET_HOST(" a\\b")),
    BAD(400, GET_HOST(" \"a\"")),
    BAD(400, GET_HOST(" <a>")),
    BAD(400, GET_HOST(" a|b")),
    BAD(400, GET_HOST(" caf\xC3\xA9")),
    BAD(400, GET_HOST(" a%")),
    BAD(400, GET_HOST(" a%4")),
    BAD(400, GET_HOST(" a%zz")),
    BAD(400, GET_HOST(" :80")),
    BAD(400, GET_HOST(" a:b")),
    BAD(400, GET_HOST(" a:80:80")),
    BAD(400, GET_HOST(" a:+80")),
    BAD(400, GET_HOST(" a: 80")),
    BAD(400, GET_HOST(" a:65536")),
    BAD(400, GET_HOST(" a:99999999999999999999")),
    BAD(400, GET_HOST(" ::1")),
    BAD(400, GET_HOST(" [::1")),
    BAD(400, GET_HOST(" [")),
    BAD(400, GET_HOST(" []")),
    BAD(400, GET_HOST(" [::1]a")),
    BAD(400, GET_HOST(" [::1]]")),
    BAD(400, GET_HOST(" a[::1]")),
    BAD(400, GET_HOST(" [::g]")),
    BAD(400, GET_HOST(" [1::2::3]")),
    BAD(400, GET_HOST(" [192.0.2.1]")),
    BAD(400, GET_HOST(" [v1.a]")),
    BAD(400, GET_HOST(" [fe80::1%25lo]")),
    BAD(400, GET_HOST(" [00000000000000000000000000000000000000000000000::]")),

    /* Content-Length: one number, and nothing beside it. */
    BAD(400, GET_WITH("Content-Length:\r\n")),
    BAD(400, GET_WITH("Content-Length: +5\r\n")),
    BAD(400, GET_WITH("Content-Length: -5\r\n")),
    BAD(400, GET_WITH("Content-Length: 0x5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5a\r\n")),
    BAD(400, GET_WITH("Content-Length: 5 5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5\t5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5, 5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5;\r\n")),
    BAD(400, GET_WITH("Content-Length: 5.0\r\n")),
    BAD(400, GET_WITH("Content-Length: five\r\n")),
    BAD(400, GET_WITH("Content-Length: \xEF\xBC\x95\r\n")),
    BAD(400, GET_WITH("Content-Length: 5\r\nContent-Length: 5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5\r\nA: b\r\ncontent-length: 6\r\n")),
    BAD(400, GET_WITH("Content-Length: 9223372036854775808\r\n")),
    BAD(400, GET_WITH("Content-Length: 18446744073709551605\r\n")),
    BAD(400, GET_WITH("Content-Length: 18446744073709551616\r\n")),
    BAD(400, GET_WITH("Content-Length: 100000000000000000000000\r\n")),

    /* Transfer-Encoding: the one coding "chunked", in HTTP/1.1, alone. */
    BAD(400, GET_WITH("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")),
    BAD(400, GET_WITH("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
    BAD(400, GET_WITH("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n")),
    BAD(400, GET_WITH("Content-Length: 5\r\nTransfer-Encoding: identity\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked\r\n"
                      "Transfer-Encoding: chunked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: gzip\r\n"
                      "Transfer-Encoding: chunked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked\r\n"
                      "Transfer-Encoding: identity\r\n")),
    BAD(501, GET_WITH("Transfer-Encoding: gzip, chunked\r\n")),
    BAD(501, GET_WITH("Transfer-Encoding: identity, chunked\r\n")),
    BAD(501, GET_WITH("Transfer-Encoding: chunked, chunked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked, gzip\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked, identity\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: identity\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: gzip\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: xchunked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked;q=1\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: \"chunked\"\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chunked,\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: ,chunked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding: chun ked\r\n")),
    BAD(400, GET_WITH("Transfer-Encoding:\r\n")),
    BAD(400, OLD_WITH(HOST "Transfer-Encoding: chunked\r\n")),
    BAD(400, OLD_WITH("Connection: keep-alive\r\n"
                      "Transfer-Encoding: chunked\r\n")),
};

#endif
