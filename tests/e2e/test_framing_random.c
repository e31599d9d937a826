/*
 * Requests with random faults in them: whatever comes back is a row of well
 * formed replies, then the end; and the server lives.
 */
#include "client.h"
#include "raw_case.h"
#include "volley.h"

enum { SHOTS = 4000, BYTES_MAX = 2000 };

static const char *const pieces[] = {
    "GET /f HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /f HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,3-4\r\n\r\n",
    "GET /none HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip;q=0.5, br\r\n\r\n",
    "GET /%66?x HTTP/1.1\r\nHost: a:80\r\nIf-None-Match: \"a\", "
    "W/\"b\"\r\n\r\n",
    "POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "GET /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "GET /d/../f HTTP/1.1\r\nHost: [::1]\r\nExpect: 100-continue\r\n"
    "Content-Length: 1\r\n\r\nx",
    "GET http://a/f HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET /f HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /d HTTP/1.1\r\nHost: a\r\n"
    "If-Modified-Since: Sun, 09 Sep 2001 01:46:40 GMT\r\n\r\n",
};
enum { PIECES = sizeof(pieces) / sizeof(*pieces) };

static uint64_t random_state = 20261121;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 32) * limit >> 32);
}

/* A byte changed, left out or put in, or a run moved elsewhere. */
static size_t spoil(char *data, size_t len)
{
    static const char likely[] = "\r\n\0 \t:;,/%#*-0159aFx\"\\\x7f\xff";
    size_t at = random_below((uint32_t)len);
    char byte = likely[random_below(sizeof(likely) - 1)];
    size_t run = 1 + random_below(8);

    switch (random_below(5)) {
    case 0:
        data[at] = byte;
        return len;
    case 1:
        data[at] = (char)random_below(256);
        return len;
    case 2:
        memmove(data + at, data + at + 1, len - at - 1);
        return len - 1;
    case 3:
        memmove(data + at + 1, data + at, len - at);
        data[at] = byte;
        return len + 1;
    default:
        if (at + run > len)
            run = len - at;
        memmove(data + random_below((uint32_t)(len - run + 1)), data + at, run);
        return len;
    }
}

static struct shot make_shot(void)
{
    char *data = scratch(BYTES_MAX);
    size_t len = 0;

    for (uint32_t i = 0, count = 1 + random_below(4); i < count; i++) {
        const char *piece = pieces[random_below(PIECES)];

        memcpy(data + len, piece, strlen(piece));
        len += strlen(piece);
    }
    for (uint32_t i = 0, count = 1 + random_below(3); i < count; i++)
        len = spoil(data, len);
    return (struct shot){.data = data,
                         .len = len,
                         .split = random_below(2)
                                      ? SHOT_WHOLE
                                      : (int)random_below((uint32_t)len),
                         .ends = true};
}

static void judge(const struct shot *shot, char *data, size_t len,
                  bool was_reset)
{
    static struct reply reply;
    size_t count = 0;

    (void)was_reset;
    going_on("'%.*s'", (int)shot->len, shot->data);
    for (size_t at = 0; at < len; count++) {
        size_t used;

        reply_begin(&reply);
        used = reply_parse(&reply, data + at, len - at, true, false);
        if (used == 0)
            flunk("no whole reply: '%.200s'", data + at);
        if (reply.status == 500 || reply.status == 502 || reply.status == 503)
            flunk("answered %u", reply.status);
        at += used;
    }
    assert_in_range(count, 0, 16); /* of four pieces, some with 100 before */
}

E2E_BEGIN(start)
{
    site_text("f", "file f\n");
    site_text("f.gz", "gz\n");
    site_text("d/index.html", "index\n");
}

TEST(random_faults_are_answered_in_form)
{
    struct server *server = raw_case_start();
    struct shot *shots = scratch(SHOTS * sizeof(*shots));

    for (size_t i = 0; i < SHOTS; i++)
        shots[i] = make_shot();
    volley_fire(server, shots, SHOTS, judge);
    client_expect_usable(client_open(server));
    raw_case_check_origin();
}

SUITE(.begin = start, .each_end = harness_after_test, .run = raw_case_run);
