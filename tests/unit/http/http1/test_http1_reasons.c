/* Why heads are refused: one fault each, read whole and in pieces. */
#include "unit/http/http1/http1_pieces.h"

#define GET(target, fields) "GET " target " HTTP/1.1\r\n" fields "\r\n"
#define HOST "Host: a\r\n"

static const struct {
    enum reason reason;
    const char *head;
} cases[] = {
    {REASON_EMPTY_LINES, "\r\n\r\n\r\n\r\n\r\n" GET("/", HOST)},
    {REASON_REQUEST_LINE, "GET\r\n" HOST "\r\n"},
    {REASON_REQUEST_LINE, "GET /\r\n" HOST "\r\n"},
    {REASON_REQUEST_LINE, "GET  / HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_REQUEST_LINE, " GET / HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_REQUEST_LINE, "GET / b HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_REQUEST_LINE, "GET / http/1.1\r\n" HOST "\r\n"},
    {REASON_METHOD, "BREW / HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_TARGET_BYTES, GET("/%", HOST)},
    {REASON_TARGET_BYTES, GET("/%zz", HOST)},
    {REASON_TARGET_BYTES, GET("/#", HOST)},
    {REASON_TARGET_BYTES, GET("/caf\xC3\xA9", HOST)},
    {REASON_TARGET_FORM, GET("a", HOST)},
    {REASON_TARGET_FORM, GET("*", HOST)},
    {REASON_TARGET_FORM, GET("ftp://a/", HOST)},
    {REASON_TARGET_FORM, GET("http://u@a/", HOST)},
    {REASON_TARGET_FORM, "CONNECT / HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_TARGET_FORM, "CONNECT a HTTP/1.1\r\n" HOST "\r\n"},
    {REASON_VERSION, "GET / HTTP/2.0\r\n" HOST "\r\n"},
    {REASON_VERSION, "GET / HTTP/2.0\r\n" HOST "\r\n"},
    {REASON_LINE_END, "GET / HTTP/1.1\n" HOST "\r\n"},
    {REASON_LINE_END, "GET / HTTP/1.1\r\nHost: a\n\r\n"},
    {REASON_LINE_END, "GET / HTTP/1.1\r\n" HOST "\n"},
    {REASON_CONTROL_BYTE, GET("/\x01", HOST)},
    {REASON_CONTROL_BYTE, GET("/?\x7F", HOST)},
    {REASON_CONTROL_BYTE, GET("/", HOST "X: \x1B\r\n")},
    {REASON_CONTROL_BYTE, GET("/", HOST "X: a\rb\r\n")},
    {REASON_FIELD_LINE, GET("/", HOST "X\r\n")},
    {REASON_FIELD_LINE, GET("/", HOST "X : a\r\n")},
    {REASON_FIELD_LINE, GET("/", HOST ": a\r\n")},
    {REASON_FIELD_LINE, GET("/", HOST "X: a\r\n b\r\n")},
    {REASON_HOST_MISSING, GET("/", "X: a\r\n")},
    {REASON_HOST_TWICE, GET("/", HOST HOST)},
    {REASON_HOST_INVALID, GET("/", "Host: a b\r\n")},
    {REASON_HOST_INVALID, GET("/", "Host:\r\n")},
    {REASON_HOST_INVALID, GET("/", "Host: a:99999\r\n")},
    {REASON_CONTENT_LENGTH, GET("/", HOST "Content-Length: x\r\n")},
    {REASON_CONTENT_LENGTH, GET("/", HOST "Content-Length:\r\n")},
    {REASON_CONTENT_LENGTH, GET("/", HOST "Content-Length: 1, 1\r\n")},
    {REASON_CONTENT_LENGTH,
     GET("/", HOST "Content-Length: 1\r\nContent-Length: 1\r\n")},
    {REASON_TRANSFER_ENCODING, GET("/", HOST "Transfer-Encoding: gzip\r\n")},
    {REASON_TRANSFER_ENCODING, GET("/", HOST "Transfer-Encoding: chunked\r\n"
                                             "Transfer-Encoding: chunked\r\n")},
    {REASON_TRANSFER_ENCODING,
     "GET / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"},
    {REASON_LENGTH_AND_CODING,
     GET("/", HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")},
    {REASON_LENGTH_AND_CODING,
     GET("/", HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")},
    {REASON_CODING_UNKNOWN,
     GET("/", HOST "Transfer-Encoding: gzip, chunked\r\n")},
};

TEST(each_fault_has_its_reason_however_it_comes_in)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes head = bytes_of(cases[i].head);
        struct outcome whole;

        read_whole(&whole, head);
        if (whole.verdict != HTTP1_BAD || whole.reason != cases[i].reason)
            fail_msg("%s: verdict %d, '%s'", cases[i].head, whole.verdict,
                     reason_word(whole.reason).data);
        assert_same_in_any_split(&whole, head, true);
        outcome_fini(&whole);
    }
}

/* What is too long is no fault of any byte. */
TEST(sizes_have_theirs)
{
    static char text[2 * HTTP1_HEAD_BYTES_MAX];
    struct outcome outcome;
    size_t len;

    memset(text, 'x', sizeof(text));
    read_whole(&outcome, (struct bytes){text, HTTP1_LINE_BYTES_MAX + 1});
    assert_int_equal(outcome.reason, REASON_METHOD);
    outcome_fini(&outcome);
    memcpy(text, "GET /", 5);
    read_whole(&outcome, (struct bytes){text, HTTP1_LINE_BYTES_MAX + 1});
    assert_int_equal(outcome.reason, REASON_TARGET_TOO_LONG);
    outcome_fini(&outcome);
    memcpy(text, "GET / HTTP/1.1\r\nX: ", 19);
    read_whole(&outcome, (struct bytes){text, HTTP1_HEAD_BYTES_MAX + 1});
    assert_int_equal(outcome.reason, REASON_HEAD_TOO_LARGE);
    outcome_fini(&outcome);
    len = 16;
    for (int i = 0; i <= REQUEST_FIELDS_MAX; i++, len += 6)
        memcpy(text + len, "X: a\r\n", 6);
    read_whole(&outcome, (struct bytes){text, len});
    assert_int_equal(outcome.reason, REASON_TOO_MANY_FIELDS);
    outcome_fini(&outcome);
}
