#include "http/http1/http1.h"

#include "http1_cases.h"
#include "suite.h"
#include "unit/http/http1/http1_pieces.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- Cases --------------------------------------------------------------- */

/* Up to any of stop's characters. */
static struct bytes word(const char *text, const char *stop)
{
    return (struct bytes){text, strcspn(text, stop)};
}

static void assert_is_as_said(const struct request *request,
                              const struct good_case *said)
{
    const char *line = said->head + strspn(said->head, "\r\n");
    const char *target = strchr(line, ' ') + 1;

    assert_true(bytes_eq(request->line, word(line, "\r")));
    assert_true(bytes_eq(request->method_name, word(line, " ")));
    assert_true(bytes_eq(request->target, word(target, " ")));
    assert_int_equal(request->method, said->method);
    assert_int_equal(request->minor, said->is_http10 ? 0 : 1);
    assert_bytes(request->path, said->path ? said->path : "/");
    assert_int_equal(!request->query.data, !said->query);
    if (said->query)
        assert_bytes(request->query, said->query);
    assert_bytes(request->host, said->host ? said->host : "a");
    assert_int_equal(request->keep_alive, !said->closes);
    assert_int_equal(request->is_chunked, said->is_chunked);
    assert_int_equal(request->expects_continue, said->expects_continue);
    assert_int_equal(request->expects_other, said->expects_other);
    assert_int_equal(request->scheme, said->scheme);
    assert_int_equal(request->content_length, said->content_length);
}

TEST(good_heads_are_read)
{
    for (size_t i = 0; i < COUNT(good_cases); i++) {
        struct bytes text = bytes_of(good_cases[i].head);
        struct outcome outcome;

        read_whole(&outcome, text);
        if (outcome.verdict != HTTP1_DONE)
            fail_msg("status %u: %s", outcome.status, text.data);
        assert_int_equal(outcome.used, text.len);
        assert_is_as_said(&outcome.request, &good_cases[i]);
        assert_views_are_inside(&outcome);
        outcome_fini(&outcome);
    }
}

TEST(good_heads_are_read_in_any_pieces)
{
    for (size_t i = 0; i < COUNT(good_cases); i++) {
        struct bytes text = bytes_of(good_cases[i].head);
        struct outcome outcome;

        read_whole(&outcome, text);
        assert_same_in_any_split(&outcome, text, true);
        outcome_fini(&outcome);
    }
}

TEST(a_good_head_is_not_done_before_its_end)
{
    for (size_t i = 0; i < COUNT(good_cases); i++) {
        struct bytes text = bytes_of(good_cases[i].head);

        for (size_t len = 0; len < text.len; len++) {
            struct outcome outcome;

            read_whole(&outcome, (struct bytes){text.data, len});
            assert_int_equal(outcome.verdict, HTTP1_MORE);
            outcome_fini(&outcome);
        }
    }
}

TEST(bad_heads_are_refused)
{
    for (size_t i = 0; i < COUNT(bad_cases); i++) {
        struct outcome outcome;

        read_whole(&outcome, bad_cases[i].head);
        if (outcome.verdict != HTTP1_BAD ||
            outcome.status != bad_cases[i].status)
            fail_msg("case %zu: verdict %d, status %u: %s", i, outcome.verdict,
                     outcome.status, bad_cases[i].head.data);
        assert_true(is_inside(outcome.request.line, outcome.copy,
                              bad_cases[i].head.len));
        outcome_fini(&outcome);
    }
}

TEST(bad_heads_are_refused_in_any_pieces)
{
    for (size_t i = 0; i < COUNT(bad_cases); i++) {
        struct outcome outcome;

        read_whole(&outcome, bad_cases[i].head);
        assert_same_in_any_split(&outcome, bad_cases[i].head, true);
        outcome_fini(&outcome);
    }
}

/* --- Bytes --------------------------------------------------------------- */

/* Reads a head that has the byte in the place of the '?' of the format. */
static bool is_taken(const char *format, unsigned byte)
{
    char text[100];
    size_t len = strlen(format);
    struct outcome outcome;
    bool is_done;

    memcpy(text, format, len);
    *(char *)memchr(text, '?', len) = (char)byte;
    read_whole(&outcome, (struct bytes){text, len});
    is_done = outcome.verdict == HTTP1_DONE;
    outcome_fini(&outcome);
    return is_done;
}

TEST(a_field_name_takes_the_bytes_of_a_token)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        /* ':' ends the name "A", and "b" is its value. */
        bool is_token = byte > 0 && (strchr("!#$%&'*+-.^_`|~:", (int)byte) ||
                                     (byte >= '0' && byte <= '9') ||
                                     (byte >= 'A' && byte <= 'Z') ||
                                     (byte >= 'a' && byte <= 'z'));

        assert_int_equal(is_taken("GET / HTTP/1.0\r\nA?b: c\r\n\r\n", byte),
                         is_token);
    }
}

TEST(a_field_value_takes_no_controls)
{
    for (unsigned byte = 0; byte < 256; byte++)
        assert_int_equal(is_taken("GET / HTTP/1.0\r\nA: b?c\r\n\r\n", byte),
                         byte == '\t' || (byte >= 0x20 && byte != 0x7F));
}

TEST(a_target_takes_visible_ascii)
{
    for (unsigned byte = 0; byte < 256; byte++)
        assert_int_equal(is_taken("GET /?41 HTTP/1.0\r\n\r\n", byte),
                         byte > 0x20 && byte < 0x7F && byte != '#');
}

/* "/a...a", so many bytes, with one of them in a place. */
static void check_target(size_t len, size_t at)
{
    char head[60];
    char target[30];

    memset(target, 'a', len);
    target[0] = '/';
    target[at] = '?';
    (void)snprintf(head, sizeof(head), "GET %.*s HTTP/1.0\r\n\r\n", (int)len,
                   target);
    for (unsigned byte = 0; byte < 256; byte++) {
        bool is_good = byte > 0x20 && byte < 0x7F && byte != '#' &&
                       (byte != '%' || at + 2 < len); /* "%aa" */

        if (is_taken(head, byte) != is_good)
            fail_msg("%u at %zu of %zu", byte, at, len);
    }
}

TEST(a_target_takes_it_wherever_it_stands)
{
    for (size_t len = 2; len <= 26; len++)
        for (size_t at = 1; at < len; at++)
            check_target(len, at);
}

TEST(one_good_host_makes_no_other_good)
{
    static const struct {
        const char *host;
        bool is_good;
    } cases[] = {
        {"a.example:80", true},
        {"a.example:80", true},
        {"a.example:8x", false},
        {"a example:80", false},
        {"a.example:80", true},
        {"", false},
        {"a.example:8", true},
        {"a.example:80 ", true},
        {"a.example:80:", false},
        {"a123456789b123456789c123456789d123456789e123456789f12345", true},
        {"a123456789b123456789c123456789d123456789e123456789f1234 ", true},
        {"a123456789b123456789c123456789d123456789e123456789f1234[", false},
        {"a123456789b123456789c123456789d123456789e123456789f123456789", true},
        {"a123456789b123456789c123456789d123456789e123456789f12345678[", false},
        {"[::1]", true},
        {"[::g]", false},
        {"[::1]", true}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        char head[120];
        struct outcome outcome;

        (void)snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
                       cases[i].host);
        read_whole(&outcome, bytes_of(head));
        if ((outcome.verdict == HTTP1_DONE) != cases[i].is_good)
            fail_msg("%zu: %s", i, cases[i].host);
        outcome_fini(&outcome);
    }
}

/* --- Fields -------------------------------------------------------------- */

static void read_fields(struct outcome *outcome, const char *head)
{
    read_whole(outcome, bytes_of(head));
    assert_int_equal(outcome->verdict, HTTP1_DONE);
}

TEST(known_fields_are_found_in_any_case)
{
    static const struct {
        enum field_id id;
        const char *name;
    } known[] = {
        {FIELD_ACCEPT, "ACCEPT"},
        {FIELD_ACCEPT_ENCODING, "accept-encoding"},
        {FIELD_CONNECTION, "Connection"},
        {FIELD_IF_MATCH, "If-Match"},
        {FIELD_IF_MODIFIED_SINCE, "If-Modified-Since"},
        {FIELD_IF_NONE_MATCH, "If-None-Match"},
        {FIELD_IF_RANGE, "If-Range"},
        {FIELD_IF_UNMODIFIED_SINCE, "If-Unmodified-Since"},
        {FIELD_RANGE, "rAnGe"},
        {FIELD_REFERER, "Referer"},
        {FIELD_USER_AGENT, "User-Agent"},
        {FIELD_EXPECT, "Expect"},
        {FIELD_AUTHORIZATION, "authorizatioN"},
        {FIELD_FORWARDED, "Forwarded"},
        {FIELD_ORIGIN, "ORIGIN"},
        {FIELD_X_FORWARDED_FOR, "X-Forwarded-For"},
        {FIELD_X_FORWARDED_HOST, "X-Forwarded-Host"},
        {FIELD_X_FORWARDED_PROTO, "x-forwarded-proto"},
        {FIELD_X_REAL_IP, "X-Real-IP"},
        {FIELD_DATE, "date"},
        {FIELD_MAX_FORWARDS, "Max-Forwards"},
        {FIELD_TE, "te"},
        {FIELD_TRAILER, "Trailer"},
        {FIELD_UPGRADE, "upgrade"},
        {FIELD_VIA, "VIA"},
        {FIELD_HOP_BY_HOP, "Proxy"},
        {FIELD_HOP_BY_HOP, "Keep-Alive"},
        {FIELD_HOP_BY_HOP, "HTTP2-Settings"},
        {FIELD_HOP_BY_HOP, "Proxy-Connection"},
        {FIELD_HOP_BY_HOP, "Proxy-Authenticate"},
        {FIELD_HOP_BY_HOP, "Proxy-Authorization"},
        {FIELD_HOP_BY_HOP, "Proxy-Authentication-Info"},
    };

    for (size_t i = 0; i < COUNT(known); i++) {
        struct outcome outcome;
        const struct field *field;
        struct buf head;

        buf_init(&head, NULL, 0, 1000);
        buf_printf(&head, "GET / HTTP/1.1\r\nHost: a\r\n%s: b\r\n\r\n%c",
                   known[i].name, '\0');
        read_fields(&outcome, head.data);
        field = request_find(&outcome.request, known[i].id);
        assert_non_null(field);
        assert_bytes(field->name, known[i].name);
        assert_bytes(field->value, "b");
        assert_int_equal(field->id, known[i].id);
        assert_int_equal(outcome.request.seen,
                         1u << FIELD_HOST | 1u << known[i].id);
        outcome_fini(&outcome);
        buf_fini(&head);
    }
}

TEST(other_fields_are_kept_by_name)
{
    struct outcome outcome;
    const struct request *request = &outcome.request;

    read_fields(&outcome, "GET / HTTP/1.1\r\nX-Host: a\r\nHost: a\r\n"
                          "Hosts: b\r\nIf-Rangf: c\r\n\r\n");
    assert_int_equal(request->field_count, 4);
    assert_bytes(request->fields[0].name, "X-Host");
    assert_bytes(request->fields[2].name, "Hosts");
    assert_bytes(request->fields[3].name, "If-Rangf");
    assert_bytes(request->fields[3].value, "c");
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(request->fields[i].id,
                         i == 1 ? FIELD_HOST : FIELD_OTHER);
    assert_ptr_equal(request_find(request, FIELD_OTHER), &request->fields[0]);
    outcome_fini(&outcome);
}

TEST(a_field_that_is_not_there_is_not_found)
{
    struct outcome outcome;

    read_fields(&outcome, GET_WITH("Accept: b\r\n"));
    assert_null(request_find(&outcome.request, FIELD_RANGE));
    assert_null(request_single(&outcome.request, FIELD_RANGE));
    assert_null(request_find(&outcome.request, FIELD_OTHER));
    outcome_fini(&outcome);
}

TEST(repeated_fields_are_found_in_order)
{
    struct outcome outcome;
    const struct request *request = &outcome.request;
    const struct field *field;

    read_fields(&outcome, GET_WITH("Accept: 1\r\nRange: x\r\nACCEPT: 2\r\n"
                                   "A: b\r\naccept: 3\r\n"));
    field = request_find(request, FIELD_ACCEPT);
    assert_bytes(field->value, "1");
    field = request_next(request, field);
    assert_bytes(field->value, "2");
    field = request_next(request, field);
    assert_bytes(field->value, "3");
    assert_null(request_next(request, field));
    assert_null(request_single(request, FIELD_ACCEPT));
    assert_bytes(request_single(request, FIELD_RANGE)->value, "x");
    outcome_fini(&outcome);
}

TEST(values_come_without_white_space_around_them)
{
    static const char *const values[] = {"b", "", "", "b c\td", "", "e"};
    struct outcome outcome;

    read_fields(&outcome, "GET / HTTP/1.0\r\nA: \t b \t \r\nA:\r\nA: \r\n"
                          "A:b c\td\r\nA: \t\t \r\nA:  e\r\n\r\n");
    assert_int_equal(outcome.request.field_count, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++)
        assert_bytes(outcome.request.fields[i].value, values[i]);
    outcome_fini(&outcome);
}

TEST(nothing_is_left_of_the_request_before)
{
    static const char before[] =
        "OPTIONS http://b/c?d HTTP/1.1\r\nHost: a\r\nRange: x\r\nRange: y\r\n"
        "Expect: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n"
        "Connection: close\r\n\r\n";
    static const char after[] = "GET / HTTP/1.0\r\n"
                                "Connection: keep-alive\r\n\r\n";
    struct http1_progress progress = {0};
    struct outcome fresh;
    struct field few[REQUEST_FIELDS_FEW];
    struct request request = {.fields = few};
    struct buf dump;
    size_t used;
    enum reason reason;

    read_fields(&fresh, after);
    assert_int_equal(http1_parse(&progress, before, sizeof(before) - 1,
                                 &request, &used, &reason),
                     HTTP1_DONE);
    assert_int_equal(http1_parse(&progress, after, sizeof(after) - 1, &request,
                                 &used, &reason),
                     HTTP1_DONE);
    buf_init(&dump, NULL, 0, DUMP_BYTES_MAX);
    dump_request(&dump, &request);
    assert_int_equal(dump.len, fresh.dump.len);
    assert_memory_equal(dump.data, fresh.dump.data, dump.len);
    assert_null(request_find(&request, FIELD_RANGE));
    buf_fini(&dump);
    outcome_fini(&fresh);
}

/* --- What follows -------------------------------------------------------- */

TEST(what_follows_a_head_is_not_looked_at)
{
    static const struct bytes tails[] = {
        {"GET / HTTP/1.1\r\n", 16}, {"\n", 1},   {"\0\0\0", 3}, {"\r\n\r\n", 4},
        {"\x16\x03\x01", 3},        {"5\r\n", 3}};

    for (size_t i = 0; i < COUNT(tails); i++) {
        static const char head[] =
            GET_WITH("Connection: Upgrade\r\nUpgrade: h2c\r\n");
        struct outcome outcome;
        struct buf text;

        buf_init(&text, NULL, 0, 1000);
        buf_put_literal(&text, head);
        buf_put(&text, tails[i]);
        read_whole(&outcome, buf_bytes(&text));
        assert_int_equal(outcome.verdict, HTTP1_DONE);
        assert_int_equal(outcome.used, sizeof(head) - 1);
        outcome_fini(&outcome);
        buf_fini(&text);
    }
}

TEST(pipelined_heads_are_read_one_after_the_other)
{
    struct http1_progress progress = {0};
    struct buf text;
    size_t at = 0;

    buf_init(&text, NULL, 0, 100000);
    for (size_t i = 0; i < COUNT(good_cases); i++)
        buf_put(&text, bytes_of(good_cases[i].head));
    for (size_t i = 0; i < COUNT(good_cases); i++) {
        struct field few[REQUEST_FIELDS_FEW];
        struct request request = {.fields = few};
        size_t used;
        enum reason reason;

        assert_int_equal(http1_parse(&progress, text.data + at, text.len - at,
                                     &request, &used, &reason),
                         HTTP1_DONE);
        assert_int_equal(used, strlen(good_cases[i].head));
        assert_is_as_said(&request, &good_cases[i]);
        at += used;
    }
    assert_int_equal(at, text.len);
    buf_fini(&text);
}

TEST(the_parser_that_is_linked_is_known)
{
    assert_int_equal(http1_parser_version() >> 16, 2);
}
