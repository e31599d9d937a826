#include "unit/handler/files_fixture.h"

#include "http/range.h"

/* --- Conditions ---------------------------------------------------------- */

static void get_if(const char *field, const char *value)
{
    char fields[300];

    snprintf(fields, sizeof(fields), "%s: %s\r\n", field, value);
    get("/file.txt", fields);
}

TEST(what_the_client_has_is_304)
{
    static const char *const fields[] = {
        "If-None-Match: \"ae1b981bc490a00-a\"\r\n",
        "If-None-Match: \"other\", W/\"ae1b981bc490a00-a\"\r\n",
        "If-None-Match: *\r\n", "If-Modified-Since: " MODIFIED_TEXT "\r\n"};

    options.space.cache_control = BYTES("no-cache");
    remake();
    assert_string_equal(etag_of("/file.txt"), "\"ae1b981bc490a00-a\"");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        get("/file.txt", fields[i]);
        assert_int_equal(answer.status, 304);
        assert_int_equal(answer.body_len, 0);
        assert_has("HTTP/1.1 304 Not Modified\r\nDate: ");
        assert_has("\r\nETag: \"ae1b981bc490a00-a\"\r\n");
        assert_has("\r\nLast-Modified: " MODIFIED_TEXT "\r\n");
        assert_has("\r\nCache-Control: no-cache\r\n");
        assert_has_not("\r\nContent-");
    }
}

TEST(what_the_client_does_not_have_is_200)
{
    get_if("If-None-Match", "\"other\"");
    assert_int_equal(answer.status, 200);
    assert_body("0123456789");
    get_if("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT");
    assert_int_equal(answer.status, 200);
}

TEST(what_is_not_as_required_is_412)
{
    get_if("If-Match", "\"other\"");
    assert_int_equal(answer.status, 412);
    get_if("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT");
    assert_int_equal(answer.status, 412);
    get_if("If-Match", etag_of("/file.txt"));
    assert_int_equal(answer.status, 200);
    get_if("If-Match", "*");
    assert_int_equal(answer.status, 200);
}

/* --- One range ----------------------------------------------------------- */

static void get_range(const char *target, const char *range)
{
    char fields[600];

    snprintf(fields, sizeof(fields), "Range: %s\r\n", range);
    get(target, fields);
}

TEST(one_range_is_206_with_that_part)
{
    static const struct {
        const char *range;
        const char *content_range;
        const char *body;
    } cases[] = {{"bytes=0-0", "bytes 0-0/10", "0"},
                 {"bytes=2-4", "bytes 2-4/10", "234"},
                 {"bytes=7-", "bytes 7-9/10", "789"},
                 {"bytes=7-100", "bytes 7-9/10", "789"},
                 {"bytes=-2", "bytes 8-9/10", "89"},
                 {"bytes=-100", "bytes 0-9/10", "0123456789"},
                 {"bytes=0-1,2-3", "bytes 0-3/10", "0123"},
                 {"bytes=3-4,100-", "bytes 3-4/10", "34"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[100];

        get_range("/file.txt", cases[i].range);
        assert_int_equal(answer.status, 206);
        assert_has("HTTP/1.1 206 Partial Content\r\n");
        snprintf(expected, sizeof(expected), "\r\nContent-Range: %s\r\n",
                 cases[i].content_range);
        assert_has(expected);
        assert_has("\r\nETag: ");
        assert_has("\r\nContent-Type: text/plain; charset=utf-8\r\n");
        assert_body(cases[i].body);
    }
}

TEST(a_range_of_a_large_file_is_sent_from_the_file)
{
    for (int method = SEND_AUTO; method <= SEND_READ; method++) {
        cache_options.send_method = (enum send_method)method;
        remake();
        get_range("/large", "bytes=1000-40999");
        assert_int_equal(answer.status, 206);
        assert_int_equal(answer.body_len, 40000);
        assert_memory_equal(answer.body, large_bytes + 1000, 40000);
    }
}

TEST(a_range_beyond_the_end_is_416)
{
    get_range("/file.txt", "bytes=10-");
    assert_int_equal(answer.status, 416);
    assert_has("\r\nContent-Range: bytes */10\r\n");
    assert_true(answer.persists);
    write_file("empty", "");
    get_range("/empty", "bytes=0-");
    assert_int_equal(answer.status, 416);
    assert_has("\r\nContent-Range: bytes */0\r\n");
}

TEST(a_range_that_means_nothing_is_ignored)
{
    static const char *const ranges[] = {"lines=0-1", "bytes=", "bytes=5-2",
                                         "bytes=a-b", "0-1"};

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        get_range("/file.txt", ranges[i]);
        assert_int_equal(answer.status, 200);
        assert_body("0123456789");
    }
    ask("HEAD /file.txt HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\n\r\n");
    assert_int_equal(answer.status, 200);
    assert_has("\r\nContent-Length: 10\r\n");
}

TEST(a_range_of_another_version_is_answered_whole)
{
    char fields[200];

    get("/file.txt", "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n");
    assert_int_equal(answer.status, 200);
    get("/file.txt", "Range: bytes=0-1\r\nIf-Range: " MODIFIED_TEXT "\r\n");
    assert_int_equal(answer.status, 206);
    snprintf(fields, sizeof(fields), "Range: bytes=0-1\r\nIf-Range: %s\r\n",
             etag_of("/file.txt"));
    get("/file.txt", fields);
    assert_int_equal(answer.status, 206);
}

/* A client that takes codings may have a part of the other form. */
TEST(a_date_joins_no_part_to_a_file_with_another_form)
{
    static const char part[] = "Range: bytes=0-1\r\n"
                               "If-Range: " MODIFIED_TEXT "\r\n";
    char fields[200];

    write_file("page.css", "plain");
    write_file("page.css.gz", "zipped");
    snprintf(fields, sizeof(fields), "Accept-Encoding: br\r\n%s", part);
    get("/page.css", fields);
    assert_int_equal(answer.status, 200);
    assert_body("plain");
    get("/page.css", part);
    assert_int_equal(answer.status, 206);
    assert_body("pl");
    get("/file.txt", fields);
    assert_int_equal(answer.status, 206);
}

TEST(a_range_of_a_coded_file_is_of_its_coded_bytes)
{
    write_file("page.css", "plain");
    write_file("page.css.gz", "zipped");
    get("/page.css", "Accept-Encoding: gzip\r\nRange: bytes=3-\r\n");
    assert_int_equal(answer.status, 206);
    assert_has("\r\nContent-Encoding: gzip\r\n");
    assert_has("\r\nContent-Range: bytes 3-5/6\r\n");
    assert_body("ped");
}

TEST(conditions_come_before_ranges)
{
    char fields[200];

    snprintf(fields, sizeof(fields),
             "Range: bytes=0-1\r\nIf-None-Match: %s\r\n", etag_of("/file.txt"));
    get("/file.txt", fields);
    assert_int_equal(answer.status, 304);
    get("/file.txt", "Range: bytes=50-\r\nIf-Match: \"other\"\r\n");
    assert_int_equal(answer.status, 412);
}

/* --- Several ranges ------------------------------------------------------ */

/* What the answer says delimits its parts. */
static const char *boundary_of(void)
{
    static const char before[] =
        "\r\nContent-Type: multipart/byteranges; boundary=";
    static char boundary[80];
    const char *at = strstr(answer.text, before);

    assert_non_null(at);
    at += sizeof(before) - 1;
    snprintf(boundary, sizeof(boundary), "%.*s", (int)strcspn(at, "\r"), at);
    assert_in_range(strlen(boundary), 16, 70); /* RFC 2046 5.1.1 */
    return boundary;
}

TEST(several_ranges_come_as_multipart)
{
    char expected[1000];
    const char *b;

    get_range("/file.txt", "bytes=5-6, 0-1, -1");
    assert_int_equal(answer.status, 206);
    b = boundary_of();
    snprintf(expected, sizeof(expected),
             "--%s\r\n"
             "Content-Type: text/plain; charset=utf-8\r\n"
             "Content-Range: bytes 5-6/10\r\n"
             "\r\n"
             "56\r\n"
             "--%s\r\n"
             "Content-Type: text/plain; charset=utf-8\r\n"
             "Content-Range: bytes 0-1/10\r\n"
             "\r\n"
             "01\r\n"
             "--%s\r\n"
             "Content-Type: text/plain; charset=utf-8\r\n"
             "Content-Range: bytes 9-9/10\r\n"
             "\r\n"
             "9\r\n"
             "--%s--\r\n",
             b, b, b, b);
    assert_body(expected);
    assert_has_not("Content-Range");
    assert_has("\r\nETag: ");
}

TEST(as_many_ranges_as_allowed_are_sent_from_any_source)
{
    char range[500] = "bytes=0-0";
    size_t len = strlen(range);

    for (int i = 1; i < RANGE_COUNT_MAX; i++)
        len += (size_t)snprintf(range + len, sizeof(range) - len, ",%d-%d",
                                i * 1000, i * 1000 + 9);
    for (int method = SEND_AUTO; method <= SEND_READ; method++) {
        const char *at;

        cache_options.send_method = (enum send_method)method;
        remake();
        get_range("/large", range);
        assert_int_equal(answer.status, 206);
        assert_int_equal(answer.body_bytes, answer.body_len);
        at = answer.body;
        for (int i = 1; i < RANGE_COUNT_MAX; i++) {
            char expected[100];

            snprintf(expected, sizeof(expected),
                     "\r\nContent-Range: bytes %d-%d/50000\r\n\r\n", i * 1000,
                     i * 1000 + 9);
            at = strstr(at, expected);
            assert_non_null(at);
            at += strlen(expected);
            assert_memory_equal(at, large_bytes + i * 1000, 10);
        }
    }
}

TEST(no_two_answers_have_the_same_boundary)
{
    char first[80];

    get_range("/file.txt", "bytes=0-0,5-5");
    snprintf(first, sizeof(first), "%s", boundary_of());
    get_range("/file.txt", "bytes=0-0,5-5");
    assert_string_not_equal(first, boundary_of());
}

SUITE(.each_begin = set_up, .each_end = tear_down);
