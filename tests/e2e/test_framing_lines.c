/*
 * Request lines, line ends and Host that must be refused (RFC 9112 2 and 3):
 * whatever two readers could take for different requests.
 */
#include "raw_case.h"

TEST(lines_end_in_crlf_and_nothing_else)
{
    static const struct raw_case cases[] = {
        REFUSED("LF after the request line",
                "GET /f HTTP/1.1\nHost: a\r\n\r\n"),
        REFUSED("LF after a field", "GET /f HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
        REFUSED("LF at the end", "GET /f HTTP/1.1\r\nHost: a\r\n\n"),
        REFUSED("LF everywhere", "GET /f HTTP/1.1\nHost: a\n\n"),
        REFUSED("LF before the end", "GET /f HTTP/1.1\r\nHost: a\n\r\n"),
        REFUSED("empty line of LF first",
                "\nGET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED("CR after the request line",
                "GET /f HTTP/1.1\rHost: a\r\n\r\n"),
        REFUSED("CR CR LF", "GET /f HTTP/1.1\r\r\nHost: a\r\n\r\n"),
        REFUSED("CR in the target", "GET /f\r HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED("CR instead of SP", "GET\r/f HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED("CR in a value", GET_WITH("X: a\rb\r\n")),
        REFUSED("CR before a value", GET_WITH("X:\rb\r\n")),
        REFUSED("CR that hides a field",
                GET_WITH("X:\rxTransfer-Encoding: chunked\r\n")),
        REFUSED("CR at the end of a value", GET_WITH("X: b\r\r\n")),
        REFUSED("CR in a name", GET_WITH("X\rY: b\r\n")),
        REFUSED("CR and a byte at the end",
                "GET /f HTTP/1.1\r\nHost: a\r\n\rX"),
        REFUSED("CR first", "\rGET /f HTTP/1.1\r\nHost: a\r\n\r\n"),
        REFUSED("lines of CR alone", "GET /f HTTP/1.1\rHost: a\r\r\r\n\r\n"),
    };

    CASES_SPLIT(cases);
}

TEST(the_request_line_has_three_words_and_two_spaces)
{
    static const struct raw_case cases[] = {
        REFUSED("two spaces first", GET_LINE("GET  /f HTTP/1.1")),
        REFUSED("two spaces second", GET_LINE("GET /f  HTTP/1.1")),
        REFUSED("space at the end", GET_LINE("GET /f HTTP/1.1 ")),
        REFUSED("space in front", GET_LINE(" GET /f HTTP/1.1")),
        REFUSED("tab first", GET_LINE("GET\t/f HTTP/1.1")),
        REFUSED("tab second", GET_LINE("GET /f\tHTTP/1.1")),
        REFUSED("form feed", GET_LINE("GET\x0c/f HTTP/1.1")),
        REFUSED("vertical tab", GET_LINE("GET /f\x0bHTTP/1.1")),
        REFUSED("space in the target", GET_LINE("GET /f /g HTTP/1.1")),
        REFUSED("no target", GET_LINE("GET HTTP/1.1")),
        REFUSED("empty target", GET_LINE("GET  HTTP/1.1")),
        REFUSED("no method", GET_LINE("/f HTTP/1.1")),
        REFUSED("empty method", GET_LINE(" /f HTTP/1.1")),
        REFUSED("a word alone", GET_LINE("GET")),
        REFUSED("no space at all", GET_LINE("GET/fHTTP/1.1")),
        REFUSED_WITH("a method that is no token", GET_LINE("G@T /f HTTP/1.1"),
                     400, 501),
        REFUSED_WITH("a method in quotes", GET_LINE("\"GET\" /f HTTP/1.1"), 400,
                     501),
        REFUSED_WITH("brackets", GET_LINE("G{}T /f HTTP/1.1"), 400, 501),
        REFUSED_WITH("TLS instead",
                     "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", 0, 400),
    };

    CASES_SPLIT(cases);
}

TEST(only_http_1_x_is_spoken)
{
    static const struct raw_case cases[] = {
        REFUSED_WITH("2.0", GET_LINE("GET /f HTTP/2.0"), 505),
        REFUSED_WITH("0.9", GET_LINE("GET /f HTTP/0.9"), 505, 400),
        REFUSED_WITH("3.0", GET_LINE("GET /f HTTP/3.0"), 505),
        REFUSED_WITH("9.9", GET_LINE("GET /f HTTP/9.9"), 505),
        REFUSED_WITH("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0,
                     400, 501, 505),
        REFUSED_WITH("no minor", GET_LINE("GET /f HTTP/1"), 400, 505),
        REFUSED_WITH("two", GET_LINE("GET /f HTTP/2"), 400, 505),
        REFUSED_WITH("1.10", GET_LINE("GET /f HTTP/1.10"), 400, 505),
        REFUSED_WITH("01.1", GET_LINE("GET /f HTTP/01.1"), 400, 505),
        REFUSED_WITH("1.1.1", GET_LINE("GET /f HTTP/1.1.1"), 400, 505),
        REFUSED_WITH("a comma", GET_LINE("GET /f HTTP/1,1"), 400, 505),
        REFUSED_WITH("minus", GET_LINE("GET /f HTTP/-1.1"), 400, 505),
        REFUSED_WITH("plus", GET_LINE("GET /f HTTP/+1.1"), 400, 505),
        REFUSED_WITH("hex", GET_LINE("GET /f HTTP/1.a"), 400, 505),
        REFUSED_WITH("lower case", GET_LINE("GET /f http/1.1"), 400, 505),
        REFUSED_WITH("mixed case", GET_LINE("GET /f Http/1.1"), 400, 505),
        REFUSED_WITH("HXXX", GET_LINE("GET /f HXXX/1.1"), 400, 505),
        REFUSED_WITH("HTTPS", GET_LINE("GET /f HTTPS/1.1"), 400, 505),
        REFUSED_WITH("HTT", GET_LINE("GET /f HTT/1.1"), 400, 505),
        REFUSED_WITH("no slash", GET_LINE("GET /f HTTP1.1"), 400, 505),
        REFUSED_WITH("space before it", GET_LINE("GET /f HTTP /1.1"), 400, 505),
        REFUSED_WITH("space within", GET_LINE("GET /f HTTP/ 1.1"), 400, 505),
        REFUSED_WITH("nothing", GET_LINE("GET /f "), 400, 505),
        REFUSED_WITH("0.9, simple", "GET /f\r\n", 0, 400, 505),
        REFUSED_WITH("0.9 and an empty line", "GET /f\r\n\r\n", 0, 400, 505),
    };

    CASES_SPLIT(cases);
}

TEST(each_method_has_its_forms_of_target)
{
    static const struct raw_case cases[] = {
        REFUSED("GET *", GET_LINE("GET * HTTP/1.1")),
        REFUSED_WITH("POST *", GET_LINE("POST * HTTP/1.1"), 400, 405),
        REFUSED("no slash", GET_LINE("GET f HTTP/1.1")),
        REFUSED("authority", GET_LINE("GET a:80 HTTP/1.1")),
        REFUSED("OPTIONS **", GET_LINE("OPTIONS ** HTTP/1.1")),
        REFUSED("OPTIONS *x", GET_LINE("OPTIONS *x HTTP/1.1")),
        REFUSED("a query alone", GET_LINE("GET ?x HTTP/1.1")),
        REFUSED("no authority", GET_LINE("GET http:///f HTTP/1.1")),
        REFUSED("scheme alone", GET_LINE("GET http:// HTTP/1.1")),
        REFUSED("one slash", GET_LINE("GET http:/f HTTP/1.1")),
        REFUSED("userinfo", GET_LINE("GET http://u@a/f HTTP/1.1")),
        REFUSED("userinfo with password",
                GET_LINE("GET http://u:p@a/ HTTP/1.1")),
        REFUSED("bad port", GET_LINE("GET http://a:8x/f HTTP/1.1")),
        REFUSED("backslash in authority",
                GET_LINE("GET http://a\\b/ HTTP/1.1")),
        REFUSED_WITH("ftp", GET_LINE("GET ftp://a/f HTTP/1.1"), 400, 404, 421),
        REFUSED_WITH("file", GET_LINE("GET file:///etc/passwd HTTP/1.1"), 400,
                     404, 421),
        REFUSED_WITH("CONNECT /f", GET_LINE("CONNECT /f HTTP/1.1"), 400, 405,
                     501),
        REFUSED_WITH("CONNECT *", GET_LINE("CONNECT * HTTP/1.1"), 400, 405,
                     501),
        REFUSED_WITH("CONNECT a", GET_LINE("CONNECT a HTTP/1.1"), 400, 405,
                     501),
        REFUSED_WITH("CONNECT http", GET_LINE("CONNECT http://a/ HTTP/1.1"),
                     400, 405, 501),
        REFUSED("fragment", GET_LINE("GET /f#x HTTP/1.1")),
        REFUSED("fragment alone", GET_LINE("GET # HTTP/1.1")),
        REFUSED("%zz", GET_LINE("GET /%zz HTTP/1.1")),
        REFUSED("%", GET_LINE("GET /% HTTP/1.1")),
        REFUSED("%4", GET_LINE("GET /%4 HTTP/1.1")),
        REFUSED("%%41", GET_LINE("GET /%%41 HTTP/1.1")),
        ACCEPTED("% in the query", GET_LINE("GET /f?q=100% HTTP/1.1")),
        ACCEPTED("%4g in the query", GET_LINE("GET /f?%4g HTTP/1.1")),
        ACCEPTED("# in the query", GET_LINE("GET /f?x#y HTTP/1.1")),
        REFUSED("% before a query", GET_LINE("GET /f%?x HTTP/1.1")),
        REFUSED("space in the query", GET_LINE("GET /f?x y HTTP/1.1")),
        REFUSED("tab in the query", GET_LINE("GET /f?x\ty HTTP/1.1")),
        REFUSED("NUL in the query", GET_LINE("GET /f?x\0 HTTP/1.1")),
        REFUSED("%u0041", GET_LINE("GET /%u0041 HTTP/1.1")),
        REFUSED("UTF-8", GET_LINE("GET /\xc3\xa9 HTTP/1.1")),
        REFUSED("overlong slash", GET_LINE("GET /\xc0\xaf HTTP/1.1")),
        ACCEPTED("UTF-8 in the query",
                 GET_LINE("GET /f?\xe2\x82\xac HTTP/1.1")),
        REFUSED("NUL", GET_LINE("GET /f\0 HTTP/1.1")),
        REFUSED("DEL", GET_LINE("GET /f\x7f HTTP/1.1")),
    };

    CASES_SPLIT(cases);
}

#define HOST(value) "GET /f HTTP/1.1\r\nHost:" value "\r\n\r\n"

TEST(there_is_exactly_one_valid_host)
{
    static const struct raw_case cases[] = {
        REFUSED("none", "GET /f HTTP/1.1\r\n\r\n"),
        REFUSED("none, other fields", "GET /f HTTP/1.1\r\nX: a\r\n\r\n"),
        REFUSED("none, absolute form", "GET http://a/f HTTP/1.1\r\n\r\n"),
        REFUSED("none, OPTIONS *", "OPTIONS * HTTP/1.1\r\n\r\n"),
        REFUSED("two", GET_WITH("Host: b\r\n")),
        REFUSED("the same twice", GET_WITH("Host: a\r\n")),
        REFUSED("two, cases differ", GET_WITH("hOST: a\r\n")),
        REFUSED("two in 1.0", "GET /f HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
        REFUSED("bad in 1.0", "GET /f HTTP/1.0\r\nHost: a b\r\n\r\n"),
        REFUSED("two, absolute form",
                "GET http://a/f HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        REFUSED("bad, absolute form",
                "GET http://a/f HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        REFUSED("empty", HOST("")),
        REFUSED("blank", HOST("  \t ")),
        REFUSED("userinfo", HOST(" u@a")),
        REFUSED("userinfo with password", HOST(" u:p@a")),
        REFUSED("path", HOST(" a/b")),
        REFUSED("slash", HOST(" a/")),
        REFUSED("query", HOST(" a?b")),
        REFUSED("fragment", HOST(" a#b")),
        REFUSED("URL", HOST(" http://a/")),
        REFUSED("space", HOST(" a b")),
        REFUSED("tab", HOST(" a\tb")),
        REFUSED("list", HOST(" a, b")),
        REFUSED("backslash", HOST(" a\\b")),
        REFUSED("quotes", HOST(" \"a\"")),
        REFUSED("angle brackets", HOST(" <a>")),
        REFUSED("obs-text", HOST(" \xc3\xa9")),
        REFUSED("NUL", HOST(" a\0b")),
        REFUSED("bad port", HOST(" a:8x")),
        REFUSED("negative port", HOST(" a:-1")),
        REFUSED("port and space", HOST(" a: 80")),
        REFUSED("two ports", HOST(" a:80:81")),
        REFUSED("port alone", HOST(" :80")),
        REFUSED("bad escape", HOST(" a%zz")),
        REFUSED("IPv6 without brackets", HOST(" ::1")),
        REFUSED("open bracket", HOST(" [::1")),
        REFUSED("closing bracket", HOST(" ::1]")),
        REFUSED("words in brackets", HOST(" [localhost]")),
        REFUSED("empty brackets", HOST(" []")),
        REFUSED("text after brackets", HOST(" [::1]a")),
        REFUSED("brackets too long", HOST(" [1:2:3:4:5:6:7:8:9]")),
    };

    CASES_SPLIT(cases);
}

SUITE(.begin = raw_case_begin, .each_end = harness_after_test,
      .run = raw_case_run);
