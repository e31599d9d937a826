/*
 * Several ranges at once (RFC 9110 14.6): parts in a multipart body, joined
 * where they overlap, and never more than it is worth.
 */
#include "client.h"

enum { SEED = 7, SMALL = 1000, LARGE = 3 * 1048576 };

static struct server *server;

E2E_BEGIN(start)
{
    site_seeded("small", SEED, SMALL);
    site_seeded("large", SEED, LARGE);
    server = START(NULL);
}

enum { PARTS_MAX = 64 };

struct part {
    size_t first;
    size_t last;
};

/* The head and body of one part; returns where it ends. */
static const char *read_part(const char *at, const char *end, size_t length,
                             const char *type, struct part *part)
{
    const char *stop = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
    const char *range;
    size_t total;
    size_t len;
    char *head;

    assert_non_null(stop);
    head = printed("%.*s", (int)(stop - at), at);
    range = strstr(head, "\r\nContent-Range: bytes ");
    if (!strstr(head, type) || !range ||
        sscanf(range + 23, "%zu-%zu/%zu", &part->first, &part->last, &total) !=
            3)
        flunk("part head '%s'", head);
    at = stop + 4;
    assert_int_equal(total, length);
    assert_in_range(part->last, part->first, length - 1);
    len = part->last - part->first + 1;
    assert_true((size_t)(end - at) >= len);
    assert_true(seeded_is(SEED, part->first, at, len));
    return at + len;
}

/* Reads a multipart/byteranges body of a seeded file strictly (RFC 2046 5.1,
 * RFC 9110 14.6). Returns how many parts. */
static size_t read_parts(const struct reply *reply, size_t length,
                         const char *type, struct part parts[PARTS_MAX])
{
    const char *field = reply_field(reply, "Content-Type");
    const char *end = reply->body + reply->body_len;
    const char *at = reply->body;
    const char *delimiter;
    size_t count = 0;

    expect_status(reply, 206);
    expect_no_field(reply, "Content-Range");
    if (strncmp(field, "multipart/byteranges; boundary=", 31) != 0)
        flunk("type '%s'", field);
    assert_in_range(strlen(field + 31), 1, 70);
    delimiter = printed("\r\n--%s", field + 31);
    if (reply->body_len > 2 && memcmp(at, "--", 2) == 0)
        delimiter += 2; /* the line end before the first may be missing */
    for (;;) {
        size_t len = strlen(delimiter);

        assert_true((size_t)(end - at) >= len + 4);
        assert_memory_equal(at, delimiter, len);
        at += len;
        if (memcmp(at, "--\r\n", 4) == 0)
            break;
        assert_memory_equal(at, "\r\n", 2);
        assert_in_range(count, 0, PARTS_MAX - 1);
        at = read_part(at, end, length, type, &parts[count++]);
        delimiter = printed("\r\n--%s", field + 31);
    }
    assert_ptr_equal(at + 4, end);
    return count;
}

static void expect_parts(const struct server *from)
{
    static const char type[] = "Content-Type: application/octet-stream";
    struct client *client = client_open(from);
    struct part parts[PARTS_MAX];
    struct reply *reply;

    reply = client_ask(client, "GET", "/small",
                       "Range: bytes=0-9, 100-109, 500-500, -5\r\n");
    assert_int_equal(read_parts(reply, SMALL, type, parts), 4);
    assert_int_equal(parts[0].last, 9);
    assert_int_equal(parts[1].first, 100);
    assert_int_equal(parts[3].first, 995);

    reply = client_ask(client, "GET", "/small",
                       "Range: bytes=900-909,5000-,100-109\r\n");
    assert_int_equal(read_parts(reply, SMALL, type, parts), 2);
    assert_int_equal(parts[0].first, 900);
    assert_int_equal(parts[1].first, 100);

    reply = client_ask(client, "GET", "/large",
                       "Range: bytes=0-99999,1000000-2099999,-1\r\n");
    assert_int_equal(read_parts(reply, LARGE, type, parts), 3);
    assert_int_equal(parts[1].first, 1000000);
    assert_int_equal(parts[1].last, 2099999);
    client_expect_usable(client);
}

TEST(several_ranges_come_as_parts_in_the_order_asked)
{
    static const char *const methods[] = {
        "--send-method=mmap", "--send-method=sendfile", "--send-method=read"};

    expect_parts(server);
    for (size_t m = 0; m < 3; m++) {
        going_on("%s", methods[m]);
        expect_parts(START(methods[m], "--chunk-size=1000"));
    }
}

TEST(overlapping_ranges_are_joined)
{
    static const char *const ranges[] = {
        "0-99,50-149",       "50-149,0-99",     "0-149,10-20",
        "10-20,0-149",       "0-99,100-149",    "0-50,49-100,99-149",
        "0-149,0-149,0-149", "-1000,0-149,-851"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        size_t last = i == 7 ? 999 : 149;
        struct part parts[PARTS_MAX];
        struct reply *reply;

        going_on("%s", ranges[i]);
        reply = client_ask(client, "GET", "/small",
                           printed("Range: bytes=%s\r\n", ranges[i]));
        if (reply_field(reply, "Content-Range")) {
            expect_status(reply, 206);
            expect_field(reply, "Content-Range",
                         printed("bytes 0-%zu/%d", last, SMALL));
            expect_seeded(reply, SEED, 0, last + 1);
            continue;
        }
        /* RFC 9110 15.3.7.2 lets one part be a multipart of one. */
        assert_int_equal(read_parts(reply, SMALL, "Content-Type: ", parts), 1);
        assert_int_equal(parts[0].first, 0);
        assert_int_equal(parts[0].last, last);
    }
}

TEST(many_ranges_cannot_make_much_of_little)
{
    static const char *const pieces[] = {"0-,", "-999,", "0-0,", "5-99,"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        char fields[8000] = "Range: bytes=";
        size_t len = strlen(fields);
        struct reply *reply;

        while (len < 7000)
            len += (size_t)snprintf(fields + len, sizeof(fields) - len, "%s",
                                    pieces[i]);
        snprintf(fields + len, sizeof(fields) - len, "1-1\r\n");
        reply = client_ask(client, "GET", "/small", fields);
        going_on("%s", pieces[i]);
        assert_true(reply->status == 200 || reply->status == 206 ||
                    reply->status == 416);
        assert_in_range(reply->body_len, 1, 2 * SMALL);
    }
    client_expect_usable(client);
}

E2E_SUITE(start);
