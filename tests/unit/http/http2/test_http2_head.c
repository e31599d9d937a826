#include "http/http2/http2_request.h"

#include "suite.h"
#include "unit/http/http2/http2_head_fixture.h"

/* RFC 9113 8.3.1, and RFC 3986 6.2.3 for the ports. */
TEST(a_host_that_names_the_same_agrees)
{
#define WITH_HOST(s, a, host) \
    ":method=GET|:path=/|:scheme=" s "|:authority=" a "|host=" host
    static const char *const same[] = {
        WITH_HOST("https", "h", "h:443"),
        WITH_HOST("https", "h:443", "H"),
        WITH_HOST("http", "h:80", "h"),
        WITH_HOST("http", "h", "h:"),
        WITH_HOST("HTTPS", "h:", "h:443"),
        WITH_HOST("https", "h:1", "H:1"),
        WITH_HOST("http", "[::1]:80", "[::1]"),
    };
    static const char *const other[] = {
        WITH_HOST("https", "h", "h:80"),     WITH_HOST("http", "h:443", "h"),
        WITH_HOST("https", "h:4433", "h:4"), WITH_HOST("https", "h:", ":"),
        WITH_HOST("http", "h", "h:180"),     WITH_HOST("https", "h", ":443"),
    };
#undef WITH_HOST
    enum reason reason;

    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        if (gather(same[i], true, &reason) != HTTP2_DONE)
            fail_msg("refused: %s", same[i]);
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        if (gather(other[i], true, &reason) != HTTP2_MALFORMED)
            fail_msg("passes: %s", other[i]);
}

/* Lines of one field are one list (RFC 9110 5.3). */
TEST(all_lines_say_the_priority)
{
    enum reason reason;

    assert_int_equal(gather(GET, true, &reason), HTTP2_DONE);
    assert_false(head.has_priority);
    assert_int_equal(head.priority.urgency, PRIORITY_URGENCY_DEFAULT);
    assert_int_equal(gather(GET "|priority=u=1|a=b|priority=i", true, &reason),
                     HTTP2_DONE);
    assert_true(head.has_priority);
    assert_int_equal(head.priority.urgency, 1);
    assert_true(head.priority.is_incremental);
}

TEST(what_is_malformed_is_no_request)
{
    static const char *const cases[] = {
        ":method=GET|:scheme=https|:authority=h",
        ":method=GET|:path=/|:authority=h",
        ":scheme=https|:path=/|:authority=h",
        ":method=GET|:scheme=https|:path=|:authority=h",
        ":method=GET|:scheme=https|:path=a|:authority=h",
        ":method=GET|:scheme=https|:path=*|:authority=h",
        ":method=GET|:scheme=|:path=/|:authority=h",
        ":method=GET|:scheme=1a|:path=/|:authority=h",
        ":method=GET|:scheme=ht/tp|:path=/|:authority=h",
        ":method=G T|:scheme=https|:path=/|:authority=h",
        GET "|:method=GET",
        GET "|:status=200",
        GET "|:unknown=1",
        GET "|a=b|:path=/",
        GET "|A=b",
        GET "|=b",
        GET "|a b=c",
        GET "|a:=c",
        GET "|a= b",
        GET "|a=b ",
        GET "|a=b\r\nc: d",
        GET "|a=b\nc",
        GET "|connection=close",
        GET "|keep-alive=1",
        GET "|proxy-connection=x",
        GET "|transfer-encoding=chunked",
        GET "|upgrade=h2c",
        GET "|te=gzip",
        GET "|te=trailers, gzip",
        GET "|host=other",
        GET "|host=h.example|host=h.example",
        GET "|content-length=1",
        GET "|content-length=x",
        GET "|content-length=0|content-length=0",
        GET "|content-length=-0",
        ":method=CONNECT|:scheme=https|:path=/|:authority=h:1",
        ":method=CONNECT",
        GET "|:protocol=websocket",
    };
    enum reason reason;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (gather(cases[i], true, &reason) != HTTP2_MALFORMED)
            fail_msg("passes: %s", cases[i]);
}

#define SOCKET                                                       \
    ":method=CONNECT|:protocol=websocket|:scheme=https|:path=/chat|" \
    ":authority=h"

TEST(a_websocket_has_no_length)
{
    enum reason reason;

    assert_int_equal(gather(SOCKET "|content-length=1", false, &reason),
                     HTTP2_MALFORMED);
    assert_int_equal(gather(SOCKET "|content-length=0", false, &reason),
                     HTTP2_DONE);
    assert_int_equal(gather(SOCKET, true, &reason), HTTP2_MALFORMED);
}

static enum http2_verdict gather_many(unsigned count, size_t value_len,
                                      enum reason *reason)
{
    static char value[HTTP2_LIST_BYTES_MAX];

    memset(value, 'v', sizeof(value));
    (void)gather(GET, true, reason);
    http2_head_begin(&head, false);
    assert_true(http2_head_add(&head, BYTES(":method"), BYTES("GET")));
    assert_true(http2_head_add(&head, BYTES(":scheme"), BYTES("http")));
    assert_true(http2_head_add(&head, BYTES(":path"), BYTES("/")));
    assert_true(http2_head_add(&head, BYTES(":authority"), BYTES("h")));
    for (unsigned i = 0; i < count; i++)
        if (!http2_head_add(&head, BYTES("n"),
                            (struct bytes){value, value_len}))
            return HTTP2_REFUSED;
    return http2_head_end(&head, true, KEY, reason);
}

/* Returns how many fields the request has that the head becomes. */
static unsigned count_stored(void)
{
    static char text[65536];

    assert_true(http2_text_bytes(&head) <= sizeof(text));
    http2_text_store(&head, text);
    return http2_text_fields(text);
}

TEST(a_list_of_fields_has_its_limits)
{
    enum { PSEUDO = 4 * HTTP2_LINE_EXTRA + 7 + 3 + 7 + 4 + 5 + 1 + 10 + 1 };
    size_t most = HTTP2_LIST_BYTES_MAX - PSEUDO - HTTP2_LINE_EXTRA - 1;
    enum reason reason;

    assert_int_equal(gather_many(REQUEST_FIELDS_MAX - 1, 1, &reason),
                     HTTP2_DONE);
    assert_int_equal(count_stored(), REQUEST_FIELDS_MAX);
    assert_int_equal(gather_many(REQUEST_FIELDS_MAX, 1, &reason),
                     HTTP2_REFUSED);
    assert_int_equal(reason, REASON_TOO_MANY_FIELDS);
    assert_int_equal(gather_many(1, most, &reason), HTTP2_DONE);
    assert_int_equal(gather_many(1, most + 1, &reason), HTTP2_REFUSED);
    assert_int_equal(reason, REASON_HEAD_TOO_LARGE);
}

static void add_all(unsigned count, const char *name, const char *value)
{
    for (unsigned i = 0; i < count; i++)
        assert_true(http2_head_add(&head, bytes_of(name), bytes_of(value)));
}

static void begin_get(void)
{
    http2_head_begin(&head, false);
    add_all(1, ":method", "GET");
    add_all(1, ":scheme", "https");
    add_all(1, ":path", "/");
    add_all(1, ":authority", "h");
}

/* Browsers send each cookie in a line of its own (RFC 9113 8.2.3). */
TEST(cookies_are_one_field)
{
    enum reason reason;

    begin_get();
    add_all(REQUEST_FIELDS_MAX - 2, "n", "v");
    add_all(200, "cookie", "c=1");
    assert_int_equal(http2_head_end(&head, true, KEY, &reason), HTTP2_DONE);
    assert_int_equal(count_stored(), REQUEST_FIELDS_MAX);
    begin_get();
    add_all(REQUEST_FIELDS_MAX - 1, "n", "v");
    add_all(1, "cookie", "c=1");
    assert_int_equal(http2_head_end(&head, true, KEY, &reason), HTTP2_REFUSED);
    assert_int_equal(reason, REASON_TOO_MANY_FIELDS);
}

TEST(the_fields_of_a_websocket_count_as_in_http1)
{
    enum reason reason;

    http2_head_begin(&head, false);
    add_all(1, ":method", "CONNECT");
    add_all(1, ":protocol", "websocket");
    add_all(1, ":scheme", "https");
    add_all(1, ":path", "/");
    add_all(1, ":authority", "h");
    add_all(REQUEST_FIELDS_MAX - 4, "n", "v");
    assert_int_equal(http2_head_end(&head, false, KEY, &reason), HTTP2_DONE);
    assert_int_equal(count_stored(), REQUEST_FIELDS_MAX);
}

TEST(what_is_far_beyond_them_is_not_read_to_its_end)
{
    http2_head_begin(&head, false);
    for (unsigned i = 0; i < HTTP2_LINES_READ; i++)
        assert_true(http2_head_add(&head, BYTES("n"), BYTES("v")));
    assert_false(http2_head_add(&head, BYTES("n"), BYTES("v")));
}

TEST(trailers_have_no_pseudo_fields)
{
    enum reason reason;

    http2_head_begin(&head, true);
    assert_true(http2_head_add(&head, BYTES("x-sum"), BYTES("1")));
    assert_int_equal(http2_head_end(&head, true, NULL, &reason), HTTP2_DONE);
    assert_int_equal(http2_head_end(&head, false, NULL, &reason),
                     HTTP2_MALFORMED);
    http2_head_begin(&head, true);
    assert_true(http2_head_add(&head, BYTES(":path"), BYTES("/")));
    assert_int_equal(http2_head_end(&head, true, NULL, &reason),
                     HTTP2_MALFORMED);
}
