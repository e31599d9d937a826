#include "http/trace.h"

#include "http/http1/http1.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define VALID "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static struct trace trace;
static struct exchange exchange;
static struct cidr block;
static struct address neighbour;
static struct forwarded_trust trust = {.blocks = &block, .block_count = 1};

static int set_up(void **state)
{
    (void)state;
    assert_true(cidr_parse(&block, "192.0.2.0/24"));
    assert_true(address_parse(&neighbour, BYTES("192.0.2.1")));
    return trace_init(&trace);
}

/* A request with these fields. */
static void parse(const char *fields)
{
    static char text[4096];
    struct http1_progress progress = {0};
    size_t used;
    unsigned status;

    snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n", fields);
    exchange.neighbour = &neighbour;
    exchange.id_len = 0;
    response_init(&exchange.response, &exchange.room.response);
    exchange.request.fields = exchange.room.fields;
    assert_int_equal(http1_parse(&progress, text, strlen(text),
                                 &exchange.request, &used, &status),
                     HTTP1_DONE);
}

static struct bytes identify(const char *fields)
{
    parse(fields);
    trace_identify(&trace, &trust, &exchange);
    return exchange_request_id(&exchange);
}

/* All sixteen digits come in all places. */
TEST(an_id_is_a_half_of_its_own_and_the_hash_of_a_count_in_hexadecimal)
{
    char text[TRACE_ID_LEN + 1];

    for (uint64_t count = 0; count < 1000; count++) {
        trace.count = count;
        snprintf(text, sizeof(text), "%016llx%016llx",
                 (unsigned long long)siphash_of_word(&trace.key, 0),
                 (unsigned long long)siphash_of_word(&trace.key, count));
        assert_true(bytes_eq(identify(""), bytes_of(text)));
    }
}

static bool is_made(struct bytes id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!memchr("0123456789abcdef", id.data[i], 16))
            return false;
    return id.len == TRACE_ID_LEN;
}

TEST(ids_differ_and_are_told)
{
    char first[TRACE_ID_LEN];
    struct bytes id = identify("");
    struct bytes line = exchange.response.id_line;

    assert_true(is_made(id));
    assert_int_equal(line.len, 14 + TRACE_ID_LEN + 2);
    assert_memory_equal(line.data, "X-Request-Id: ", 14);
    assert_memory_equal(line.data + 14 + TRACE_ID_LEN, "\r\n", 2);
    memcpy(first, id.data, sizeof(first));
    id = identify("");
    assert_true(is_made(id));
    assert_memory_not_equal(first, id.data, sizeof(first));
}

TEST(a_name_is_given_once)
{
    char first[TRACE_ID_LEN];
    struct bytes id = identify("");

    memcpy(first, id.data, sizeof(first));
    trace_identify(&trace, &trust, &exchange);
    assert_memory_equal(first, exchange_request_id(&exchange).data,
                        sizeof(first));
}

TEST(only_whom_is_trusted_names_a_request)
{
    assert_true(bytes_eq(identify("x-request-id: a.b-C/1\r\n"),
                         BYTES("a.b-C/1")));
    assert_true(address_parse(&neighbour, BYTES("198.51.100.1")));
    assert_true(is_made(identify("X-Request-Id: a\r\n")));
    assert_true(address_parse(&neighbour, BYTES("192.0.2.1")));
    parse("X-Request-Id: a\r\n");
    trace_identify(&trace, NULL, &exchange);
    assert_true(is_made(exchange_request_id(&exchange)));
}

TEST(what_a_log_would_have_to_quote_is_no_id)
{
    static const char bad[] = " \"'\\,;%{}()<>|&$`!?*[]^#\x7f\xc3";

    for (size_t i = 0; i + 1 < sizeof(bad); i++) {
        char line[40];

        if (bad[i] == 0x7f)
            continue; /* no request has that */
        snprintf(line, sizeof(line), "X-Request-Id: a%cb\r\n", bad[i]);
        assert_true(is_made(identify(line)));
    }
}

TEST(one_valid_traceparent_is_one)
{
    static const char *const good[] = {
        VALID, "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"};
    static const char *const bad[] = {
        "",
        "00",
        VALID "-more",
        VALID "0",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.",
        VALID "\r\ntraceparent: " VALID};
    char line[256];

    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(line, sizeof(line), "TraceParent: %s\r\n", good[i]);
        parse(line);
        assert_true(trace_has_parent(&exchange.request));
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(line, sizeof(line), "traceparent: %s\r\n", bad[i]);
        parse(line);
        assert_false(trace_has_parent(&exchange.request));
    }
}

TEST(a_trace_is_named_like_its_request_if_that_can_be)
{
    static const char *const ids[] = {"", "theirs",
                                      "0123456789ABCDEF0123456789ABCDEF",
                                      "00000000000000000000000000000000"};
    char made[TRACE_PARENT_LEN + 1] = "";
    struct bytes id = identify("");
    char line[100];

    trace_make_parent(&trace, id, made);
    assert_memory_equal(made + 3, id.data, TRACE_ID_LEN);
    for (size_t i = 0; i < COUNT(ids); i++) {
        trace_make_parent(&trace, bytes_of(ids[i]), made);
        snprintf(line, sizeof(line), "traceparent: %s\r\n", made);
        parse(line);
        assert_true(trace_has_parent(&exchange.request));
    }
}

SUITE(.begin = set_up);
