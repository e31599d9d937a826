#include "server/top_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Takes text in pieces of so many bytes, then the end of the connection. */
static void read_reply(struct top_reply *reply, struct bytes text, size_t step)
{
    top_reply_init(reply);
    while (text.len > 0) {
        size_t len = text.len < step ? text.len : step;

        top_reply_take(reply, (struct bytes){text.data, len});
        text.data += len;
        text.len -= len;
    }
    top_reply_end(reply);
}

struct reply_case {
    const char *text;
    int status;
    const char *body; /* NULL: the reply is bad */
};

static void check_case(const struct reply_case *one)
{
    struct bytes text = bytes_of(one->text);

    for (size_t step = 1; step <= text.len; step++) {
        struct top_reply reply;

        read_reply(&reply, text, step);
        if ((reply.state == TOP_REPLY_DONE) != (one->body != NULL))
            fail_msg("in steps of %zu: %s", step, one->text);
        if (one->body) {
            assert_int_equal(reply.status, one->status);
            assert_true(bytes_eq(buf_bytes(&reply.body), bytes_of(one->body)));
        }
        top_reply_fini(&reply);
    }
}

static void reads_replies_of_every_framing(void **state)
{
    static const struct reply_case cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", 200,
         "hello"},
        {"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, ""},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
         200, "hello"},
        {"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked \r\n\r\n0\r\n\r\n", 200,
         ""},
        {"HTTP/1.0 200 OK\r\n\r\nhello", 200, "hello"},
        {"HTTP/1.1 200\r\n\r\n", 200, ""},
        {"HTTP/1.1 404 Not Found\r\nA: b:c\r\nContent-Length: 2\r\n\r\nno", 404,
         "no"},
        {"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_case(&cases[i]);
}

static void whatever_is_unclear_is_bad(void **state)
{
    static const struct reply_case cases[] = {
        {"x", 0, NULL},
        {"\r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\n\nhello", 0, NULL},
        {"HTTP/2.0 200 OK\r\n\r\n", 0, NULL},
        {"HTTP/1.1  200 OK\r\n\r\n", 0, NULL},
        {"HTTP/1.1 20 OK\r\n\r\n", 0, NULL},
        {"HTTP/1.1 2x0 OK\r\n\r\n", 0, NULL},
        {"HTTP/1.1 2000 OK\r\n\r\n", 0, NULL},
        {"HTTP/1.1 100 Continue\r\n\r\n", 0, NULL},
        {"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\na", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\na", 0,
         NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
         0, NULL},
        {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
         "Transfer-Encoding: chunked\r\n\r\na",
         0, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
         "Content-Length: 1\r\n\r\na",
         0, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\na", 0, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 0, NULL},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel", 0,
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_case(&cases[i]);
}

static void a_head_has_a_longest(void **state)
{
    static const char begin[] = "HTTP/1.1 200 OK\r\nA: ";
    static const char end[] = "\r\nContent-Length: 0\r\n\r\n";
    static char text[TOP_HEAD_BYTES_MAX + 1];
    struct top_reply reply;

    (void)state;
    for (size_t over = 0; over < 2; over++) {
        size_t len = TOP_HEAD_BYTES_MAX + over;

        memset(text, 'a', len);
        memcpy(text, begin, sizeof(begin) - 1);
        memcpy(text + len - sizeof(end) + 1, end, sizeof(end) - 1);
        read_reply(&reply, (struct bytes){text, len}, len);
        assert_int_equal(reply.state,
                         over == 0 ? TOP_REPLY_DONE : TOP_REPLY_BAD);
        top_reply_fini(&reply);
    }
}

/* A reply without a length, of so many bytes. */
static enum top_reply_state read_endless(size_t bytes)
{
    static char piece[65536];
    struct top_reply reply;
    enum top_reply_state state;

    top_reply_init(&reply);
    top_reply_take(&reply, BYTES("HTTP/1.1 200 OK\r\n\r\n"));
    for (size_t left = bytes; left > 0;) {
        size_t len = left < sizeof(piece) ? left : sizeof(piece);

        top_reply_take(&reply, (struct bytes){piece, len});
        left -= len;
    }
    top_reply_end(&reply);
    state = reply.state;
    top_reply_fini(&reply);
    return state;
}

static void a_body_has_a_longest(void **state)
{
    (void)state;
    assert_int_equal(read_endless(TOP_REPLY_BYTES_MAX), TOP_REPLY_DONE);
    assert_int_equal(read_endless(TOP_REPLY_BYTES_MAX + 1), TOP_REPLY_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_replies_of_every_framing),
        cmocka_unit_test(whatever_is_unclear_is_bad),
        cmocka_unit_test(a_head_has_a_longest),
        cmocka_unit_test(a_body_has_a_longest),
    };

    return cmocka_run_group_tests_name("top_reply", tests, NULL, NULL);
}
