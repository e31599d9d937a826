#include "http/http2/http2_request.h"

#include "suite.h"
#include "unit/http/http2/http2_head_fixture.h"

static char text[65536];
static struct field many[REQUEST_FIELDS_MAX];
static struct request request = {.fields = many};

static enum reason read_request(const char *lines, bool ends)
{
    enum reason reason;
    enum http2_verdict verdict = gather(lines, ends, &reason);

    if (verdict == HTTP2_MALFORMED)
        fail_msg("malformed: %s", lines);
    assert_true(http2_text_bytes(&head) <= sizeof(text));
    http2_text_store(&head, text);
    if (verdict == HTTP2_REFUSED) {
        (void)http2_request_read(&request, text);
        return reason;
    }
    return http2_request_read(&request, text);
}

static void expect_field(const char *name, const char *value)
{
    for (unsigned i = 0; i < request.field_count; i++)
        if (bytes_ieq(request.fields[i].name, bytes_of(name))) {
            assert_true(bytes_eq(request.fields[i].value, bytes_of(value)));
            return;
        }
    fail_msg("there is no %s", name);
}

TEST(a_request_is_what_it_would_be_over_http1)
{
    assert_int_equal(read_request(GET "|accept=*/*|cookie=a=1|x-y=z|cookie=b=2",
                                  true),
                     REASON_NONE);
    assert_int_equal(request.method, METHOD_GET);
    assert_int_equal(request.minor, REQUEST_HTTP2);
    assert_true(request.keep_alive);
    assert_true(bytes_eq(request.line, BYTES("GET /a?b HTTP/2.0")));
    assert_true(bytes_eq(request.path, BYTES("/a")));
    assert_true(bytes_eq(request.query, BYTES("b")));
    assert_true(bytes_eq(request.host, BYTES("h.example")));
    expect_field("host", "h.example");
    expect_field("cookie", "a=1; b=2");
    expect_field("x-y", "z");
    assert_int_equal(request.field_count, 4);
}

TEST(a_scheme_counts_that_is_https)
{
#define OF_SCHEME(scheme) \
    ":method=GET|:scheme=" scheme "|:path=/|:authority=h.example"
    assert_int_equal(read_request(OF_SCHEME("https"), true), REASON_NONE);
    assert_int_equal(request.scheme, TARGET_SCHEME_HTTPS);
    assert_int_equal(read_request(OF_SCHEME("HTTPS"), true), REASON_NONE);
    assert_int_equal(request.scheme, TARGET_SCHEME_HTTPS);
    assert_int_equal(read_request(OF_SCHEME("http"), true), REASON_NONE);
    assert_int_equal(request.scheme, TARGET_SCHEME_NONE);
#undef OF_SCHEME
}

TEST(a_host_may_stand_in_a_field)
{
    assert_int_equal(read_request(":method=GET|:scheme=http|:path=/|a=b|host=h",
                                  true),
                     REASON_NONE);
    assert_true(bytes_eq(request.host, BYTES("h")));
    assert_int_equal(read_request(GET "|host=H.EXAMPLE", true), REASON_NONE);
    assert_int_equal(request.field_count, 1);
}

TEST(what_http1_refuses_is_refused_for_the_same_reason)
{
    static const struct {
        const char *lines;
        enum reason reason;
    } cases[] = {
        {":method=GET|:scheme=http|:path=/", REASON_HOST_MISSING},
        {":method=GET|:scheme=http|:path=/|:authority=a@b",
         REASON_HOST_INVALID},
        {":method=GET|:scheme=http|:path=/|:authority=a:65536",
         REASON_HOST_INVALID},
        {":method=GET|:scheme=http|:path=/a b|:authority=h",
         REASON_TARGET_BYTES},
        {":method=GET|:scheme=http|:path=/%zz|:authority=h",
         REASON_TARGET_BYTES},
        {":method=GET|:scheme=http|:path=/#a|:authority=h",
         REASON_TARGET_BYTES},
        {":method=GET|:scheme=http|:path=/?a b|:authority=h",
         REASON_TARGET_BYTES},
        {":method=GET|:scheme=http|:path=/?a\tb|:authority=h",
         REASON_TARGET_BYTES},
        {":method=NOBODY|:scheme=http|:path=/|:authority=h", REASON_METHOD},
        {":method=GET|:scheme=ftp|:path=/|:authority=h", REASON_TARGET_FORM},
        {":method=GET|:scheme=a+1.b-C|:path=/|:authority=h",
         REASON_TARGET_FORM},
        {":method=CONNECT|:authority=h", REASON_TARGET_FORM},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(read_request(cases[i].lines, true), cases[i].reason);
}

TEST(a_websocket_becomes_that_of_http1)
{
    assert_int_equal(
        read_request(":method=CONNECT|:protocol=websocket|:scheme=https|"
                     ":path=/chat|:authority=h|sec-websocket-version=13|"
                     "sec-websocket-key=the-clients",
                     false),
        REASON_NONE);
    assert_true(http2_head_wants_socket(&head));
    assert_true(bytes_eq(request.line, BYTES("GET /chat HTTP/2.0")));
    assert_int_equal(request.method, METHOD_GET);
    expect_field("upgrade", "websocket");
    expect_field("connection", "upgrade");
    expect_field("sec-websocket-key", KEY);
    expect_field("sec-websocket-version", "13");
}
