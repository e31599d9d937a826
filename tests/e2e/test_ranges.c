/*
 * Ranges (RFC 9110 14): single, suffix, open-ended; If-Range; what is refused
 * and what is ignored. Several at once: test_multipart.c.
 */

#include "client.h"

enum { SEED = 7, SMALL = 1000, LARGE = 3 * 1048576, LONG_AGO = 1000000000 };

static struct server *server;

E2E_BEGIN(start)
{
    site_seeded("small", SEED, SMALL);
    site_seeded("large", SEED, LARGE);
    site_text("empty", "");
    site_date("small", LONG_AGO, 0);
    server = START(NULL);
}

static void expect_range(const struct reply *reply, size_t first, size_t last,
                         size_t length)
{
    char range[96];

    expect_status(reply, 206);
    snprintf(range, sizeof(range), "bytes %zu-%zu/%zu", first, last, length);
    expect_field(reply, "Content-Range", range);
    expect_seeded(reply, SEED, first, last - first + 1);
}

TEST(one_range_is_sent_alone)
{
    static const struct {
        const char *range;
        size_t first;
        size_t last;
    } cases[] = {
        {"bytes=0-0", 0, 0},
        {"bytes=0-9", 0, 9},
        {"bytes=500-500", 500, 500},
        {"bytes=500-599", 500, 599},
        {"bytes=999-999", 999, 999},
        {"bytes=999-", 999, 999},
        {"bytes=500-", 500, 999},
        {"bytes=0-", 0, 999},
        {"bytes=-1", 999, 999},
        {"bytes=-500", 500, 999},
        {"bytes=-1000", 0, 999},
        {"bytes=-1001", 0, 999},
        {"bytes=-18446744073709551615", 0, 999},
        {"bytes=500-5000", 500, 999},
        {"bytes=0-18446744073709551615", 0, 999},
        {"bytes=990-9223372036854775807", 990, 999},
        {"BYTES=10-19", 10, 19},
        {"bytes=0010-0019", 10, 19},
        {"bytes=10-19 ,", 10, 19},
        {"bytes=,,10-19", 10, 19},
        {"bytes=10-19, 2000-3000", 10, 19}, /* the other cannot be */
        {"bytes=-0,10-19", 10, 19},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("%s", cases[i].range);
        reply = client_ask(client, "GET", "/small",
                           printed("Range: %s\r\n", cases[i].range));
        expect_range(reply, cases[i].first, cases[i].last, SMALL);
        expect_field(reply, "Content-Type", "application/octet-stream");
        assert_non_null(reply_field(reply, "ETag"));
        assert_non_null(reply_field(reply, "Last-Modified"));
    }
}

TEST(ranges_of_large_files_are_exact)
{
    static const size_t edges[] = {0,        1,      4095,      4096,
                                   16383,    16384,  16385,     262143,
                                   262144,   262145, LARGE / 2, LARGE - 2,
                                   LARGE - 1};
    enum { EDGES = sizeof(edges) / sizeof(*edges) };
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};

    for (size_t m = 0; m < 4; m++) {
        struct server *other = START(methods[m]);
        struct client *client = client_open(other);

        for (size_t i = 0; i < EDGES; i++)
            for (size_t j = i; j < EDGES; j += 3) {
                going_on("%s, %zu to %zu", methods[m], edges[i], edges[j]);
                expect_range(client_ask(client, "GET", "/large",
                                        printed("Range: bytes=%zu-%zu\r\n",
                                                edges[i], edges[j])),
                             edges[i], edges[j], LARGE);
            }
        client_expect_usable(client);
        server_stop(other);
    }
}

TEST(what_is_no_range_of_bytes_is_ignored)
{
    static const char *const ranges[] = {
        "bytes",       "bytes=",     "bytes=a-b",    "bytes=5",
        "bytes=-",     "bytes=--5",  "bytes=5-2",    "bytes=5-1,0-1",
        "bytes 0-5",   "items=0-5",  "bytes=0-5x",   "bytes=0x1-2",
        "bytes=+1-2",  "bytes=0-5;", "0-5",          "bytes=0--5",
        "bytes=1 - 2", "",           "bytes=0-1, a", "seconds=0-1"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        struct reply *reply;

        going_on("%s", ranges[i]);
        reply = client_ask(client, "GET", "/small",
                           printed("Range: %s\r\n", ranges[i]));
        expect_status(reply, 200);
        expect_seeded(reply, SEED, 0, SMALL);
    }
}

TEST(ranges_beyond_the_end_are_416)
{
    static const struct {
        const char *target;
        const char *range;
        const char *content_range;
    } cases[] = {
        {"/small", "bytes=1000-", "bytes */1000"},
        {"/small", "bytes=1000-1001", "bytes */1000"},
        {"/small", "bytes=5000-6000", "bytes */1000"},
        {"/small", "bytes=18446744073709551614-", "bytes */1000"},
        {"/small", "bytes=1000-,2000-", "bytes */1000"},
        {"/small", "bytes=-0", "bytes */1000"},
        {"/empty", "bytes=0-0", "bytes */0"},
        {"/empty", "bytes=1-", "bytes */0"},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("%s %s", cases[i].target, cases[i].range);
        reply = client_ask(client, "GET", cases[i].target,
                           printed("Range: %s\r\n", cases[i].range));
        expect_status(reply, 416);
        expect_field(reply, "Content-Range", cases[i].content_range);
    }
    client_expect_usable(client);
}

TEST(only_get_has_ranges)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "HEAD", "/small",
                                     "Range: bytes=0-9\r\n");

    /* RFC 9110 14.2: defined for GET only, ignored with others. */
    expect_status(reply, 200);
    assert_int_equal(reply->length, SMALL);
    reply = client_ask(client, "HEAD", "/small", "Range: bytes=5000-\r\n");
    expect_status(reply, 200);
    expect_status(client_ask(client, "GET", "/none", "Range: bytes=0-9\r\n"),
                  404);
    client_expect_usable(client);
}

TEST(a_range_applies_if_the_validator_still_does)
{
    const char *tag = printed("%s", reply_field(get(server, "/small"), "ETag"));
    const struct {
        const char *validator;
        unsigned status;
    } cases[] = {
        {tag, 206},
        {printed("W/%s", tag), 200},
        {"\"other\"", 200},
        {"Sun, 09 Sep 2001 01:46:40 GMT", 206},
        {"Sunday, 09-Sep-01 01:46:40 GMT", 206},
        {"Sun, 09 Sep 2001 01:46:41 GMT", 200}, /* exactly, not "since" */
        {"Sun, 09 Sep 2001 01:46:39 GMT", 200},
        {"yesterday", 200},
        {"*", 200},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool applies = cases[i].status == 206;
        struct reply *reply;

        going_on("%s", cases[i].validator);
        reply = client_ask(client, "GET", "/small",
                           printed("If-Range: %s\r\nRange: bytes=10-19\r\n",
                                   cases[i].validator));
        expect_status(reply, cases[i].status);
        expect_seeded(reply, SEED, applies ? 10 : 0, applies ? 10 : SMALL);
        /* One that cannot be met is only refused when it applies. */
        reply = client_ask(client, "GET", "/small",
                           printed("Range: bytes=5000-\r\nIf-Range: %s\r\n",
                                   cases[i].validator));
        expect_status(reply, applies ? 416 : 200);
    }
    expect_status(client_ask(client, "GET", "/small", "If-Range: \"x\"\r\n"),
                  200);
}

TEST(ranges_reach_beyond_four_gigabytes)
{
    enum { GIB = 1073741824 };
    const uint64_t length = 5ull * GIB + 100;
    struct client *client = client_open(server);
    struct reply *reply;
    int fd;

    site_text("huge", "");
    fd = openat(site_open(), "huge", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)length), 0);
    assert_int_equal(pwrite(fd, "hello", 5, (off_t)length - 5), 5);
    close(fd);
    reply = client_ask(client, "HEAD", "/huge", NULL);
    assert_int_equal(reply->length, length);
    reply = client_ask(client, "GET", "/huge", "Range: bytes=-5\r\n");
    expect_status(reply, 206);
    expect_body(reply, "hello");
    expect_field(reply, "Content-Range",
                 "bytes 5368709215-5368709219/5368709220");
    reply = client_ask(client, "GET", "/huge",
                       "Range: bytes=4294967295-4294967296,5368709215-\r\n");
    expect_status(reply, 206);
    client_expect_usable(client);
    site_remove("huge");
}

E2E_SUITE(start);
