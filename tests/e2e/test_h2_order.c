/*
 * HTTP/2: whose bytes come next. Within a connection urgency goes first (RFC
 * 9218), then the server's schedule; between connections the schedule alone.
 *
 * Within a connection the bottleneck is its window: the test opens it byte by
 * byte, so that nothing depends on time.
 */
#include "configured.h"
#include "h2_client.h"
#include "upstream.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { KB = 1024, STREAMS_MAX = 8, STEP = 1000 };
enum { AMPLE = 1 << 30 };

static int start(void **state)
{
    static const size_t sizes[] = {1, 2, 5, 10, 50, 100, 200, 1000};

    if (h2_begin(state) != 0)
        return -1;
    for (size_t i = 0; i < COUNT(sizes); i++)
        site_seeded(printed("%zuk", sizes[i]), sizes[i], sizes[i] * KB);
    return 0;
}

/* A connection whose window is shut, and of whose streams none is. */
static struct h2 *open_shut(const struct server *server)
{
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, AMPLE});
    uint32_t stream;
    struct h2_frame frame;

    h2->is_stingy = true;
    stream = h2_ask(h2, "GET", "/1000k", NULL, false);
    while (h2->window > 0 && h2_take(h2, &frame))
        ;
    h2_reset(h2, stream, NGHTTP2_CANCEL);
    h2_sync(h2);
    return h2;
}

/* With that Priority, unless it is NULL. */
static uint32_t get_file(struct h2 *h2, const char *path, const char *priority)
{
    uint32_t stream = h2_ask(h2, "GET", path,
                             priority ? H2_WITH("priority", priority) : NULL,
                             false);

    h2_wait_head(h2, stream);
    return stream;
}

/* Lets so many bytes come: of which stream the last of them were. */
static uint32_t let_come(struct h2 *h2, uint32_t bytes)
{
    uint32_t stream = 0;
    struct h2_frame frame;

    h2_window(h2, 0, bytes);
    while (h2->window > 0) {
        if (!h2_take(h2, &frame))
            flunk("the connection has ended");
        if (frame.type == NGHTTP2_DATA && frame.len > 0)
            stream = frame.stream;
    }
    return stream;
}

/* Fails unless they come one after the other. */
static void expect_one_by_one(struct h2 *h2, const uint32_t *streams,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct h2_reply *reply = h2_reply(h2, streams[i]);
        uint64_t left = strtoull(h2_field(&reply->fields, "content-length"),
                                 NULL, 10) -
                        reply->body_len;

        while (left > 0) {
            uint32_t step = left < STEP ? (uint32_t)left : STEP;
            uint32_t stream = let_come(h2, step);

            if (stream != streams[i])
                flunk("stream %u comes before stream %u, of which %llu bytes "
                      "are left",
                      stream, streams[i], (unsigned long long)left);
            left -= step;
        }
        h2_wait(h2, streams[i]);
        assert_true(reply->has_ended);
    }
}
#define EXPECT_ONE_BY_ONE(h2, ...)                   \
    expect_one_by_one(h2, (uint32_t[]){__VA_ARGS__}, \
                      sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* --- Size ---------------------------------------------------------------- */

TEST(the_shortest_comes_first)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t large = get_file(h2, "/100k", NULL);
    uint32_t small = get_file(h2, "/5k", NULL);
    uint32_t middle = get_file(h2, "/50k", NULL);

    EXPECT_ONE_BY_ONE(h2, small, middle, large);
}

TEST(equal_ones_come_in_the_order_in_which_they_were_asked)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t streams[STREAMS_MAX];

    for (size_t i = 0; i < STREAMS_MAX; i++)
        streams[i] = get_file(h2, "/10k", NULL);
    expect_one_by_one(h2, streams, STREAMS_MAX);
}

/* What counts is what is left. */
TEST(a_shorter_one_overtakes_and_one_that_is_nearly_done_does_not_wait)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t large = get_file(h2, "/200k", NULL);
    uint32_t small;

    assert_int_equal(let_come(h2, 20 * KB), large);
    small = get_file(h2, "/5k", NULL);
    EXPECT_ONE_BY_ONE(h2, small);
    let_come(h2, 178 * KB); /* 2 KiB are left */
    small = get_file(h2, "/5k", NULL);
    EXPECT_ONE_BY_ONE(h2, large, small);
}

TEST(a_stream_whose_window_is_shut_waits_for_nobodys_harm)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1"));
    struct h2_setting none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    uint32_t small;
    uint32_t large;

    h2->is_stingy = true;
    h2_settings(h2, &none, 1);
    small = get_file(h2, "/5k", NULL);
    large = get_file(h2, "/50k", NULL);
    h2_window(h2, large, 20000);
    h2_settle(h2, 50);
    assert_int_equal(h2_reply(h2, large)->body_len, 20000);
    h2_window(h2, small, 5 * KB);
    h2_window(h2, large, 50 * KB);
    expect_h2_seeded(h2_wait(h2, small), 5, 0, 5 * KB);
    assert_true(h2_reply(h2, large)->body_len < 50 * KB);
}

/* --- Urgency ------------------------------------------------------------- */

TEST(what_is_urgent_comes_before_what_is_short)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t usual = get_file(h2, "/1k", NULL);
    uint32_t later = get_file(h2, "/2k", "u=7");
    uint32_t urgent = get_file(h2, "/50k", "u=0");
    uint32_t large = get_file(h2, "/100k", "u=0");
    uint32_t soon = get_file(h2, "/10k", "u=2");

    EXPECT_ONE_BY_ONE(h2, urgent, large, soon, usual, later);
}

/* RFC 9218 10: of those that are equally urgent the one that was asked for
 * first. A client that says priorities can tell what it wants first. */
TEST(who_says_priorities_has_equals_in_the_order_of_his_requests)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t large = get_file(h2, "/100k", "u=2");
    uint32_t small = get_file(h2, "/5k", "u=2, i");
    uint32_t usual = get_file(h2, "/50k", NULL);
    uint32_t last = get_file(h2, "/1k", "i");

    EXPECT_ONE_BY_ONE(h2, large, small, usual, last);
}

/* What waits already is put in order, too. */
TEST(the_first_word_of_priorities_counts_for_all)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t large = get_file(h2, "/100k", NULL);
    uint32_t small = get_file(h2, "/5k", NULL);
    uint32_t urgent = get_file(h2, "/10k", NULL);

    assert_int_equal(let_come(h2, KB), small);
    h2_priority_update(h2, urgent, "u=1");
    h2_sync(h2);
    EXPECT_ONE_BY_ONE(h2, urgent, large, small);
}

/* RFC 9218 4: what cannot be read says nothing; 3 is what is not said. */
TEST(a_priority_that_is_none_is_not_heard)
{
    static const char *const none[] = {"u=8",   "u=-1", "u=1.5", "u=\"0\"",
                                       "u",     "U=0",  "u=0;;", "u=0,,i",
                                       "u=01x", "=",    "u= 0",  ""};
    struct server *server = H2_START("--workers=1");

    for (size_t i = 0; i < COUNT(none); i++) {
        struct h2 *h2 = open_shut(server);
        uint32_t small = get_file(h2, "/5k", "u=3");
        uint32_t large = get_file(h2, "/10k", none[i]);
        uint32_t larger = get_file(h2, "/50k", "u=3, x=?1, y;z=(1 2)");

        going_on("%s", none[i]);
        EXPECT_ONE_BY_ONE(h2, small, large, larger);
        h2_close(h2);
    }
}

TEST(an_update_moves_what_waits)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t small = get_file(h2, "/5k", NULL);
    uint32_t large = get_file(h2, "/50k", NULL);
    uint32_t middle = get_file(h2, "/10k", NULL);

    h2_priority_update(h2, large, "u=1");
    h2_priority_update(h2, small, "u=6");
    h2_sync(h2);
    EXPECT_ONE_BY_ONE(h2, large, middle, small);
}

/* The middle one has begun, and is stopped by the update. */
TEST(an_update_moves_what_is_being_sent)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t small = get_file(h2, "/10k", NULL);
    uint32_t large = get_file(h2, "/50k", NULL);

    assert_int_equal(let_come(h2, 2 * KB), small);
    h2_priority_update(h2, small, "u=4");
    h2_sync(h2);
    EXPECT_ONE_BY_ONE(h2, large, small);
}

/* RFC 9218 7.1: before the stream it is meant for; then its field is not
 * asked. */
TEST(an_update_may_come_before_its_stream)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t small;
    uint32_t large;

    h2_priority_update(h2, h2->next_stream + 2, "u=0");
    small = get_file(h2, "/5k", NULL);
    large = get_file(h2, "/50k", "u=5");
    EXPECT_ONE_BY_ONE(h2, large, small);
}

/* Of one stream the last word counts, whatever was said of others. */
TEST(of_several_updates_before_a_stream_the_last_counts)
{
    enum { OTHERS = 90 };
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t small = get_file(h2, "/5k", NULL);
    uint32_t large = h2->next_stream;

    h2_priority_update(h2, large, "u=7");
    h2_priority_update(h2, large, "u=0");
    for (uint32_t i = 1; i <= OTHERS; i++)
        h2_priority_update(h2, large + 2 * i, "u=3");
    assert_int_equal(get_file(h2, "/50k", NULL), large);
    EXPECT_ONE_BY_ONE(h2, large, small);
}

/* RFC 9218 7.1: they and the open streams are no more than may be open, and
 * those that are over count no more. */
TEST(updates_for_too_many_streams_are_an_error)
{
    enum { OPEN = 3, STREAMS = 100 };
    struct h2 *h2 = open_shut(H2_START("--workers=1"));
    uint32_t next;

    for (int i = 0; i < OPEN; i++)
        (void)get_file(h2, "/5k", NULL);
    next = h2->next_stream;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < STREAMS - OPEN; i++)
            h2_priority_update(h2, next + 2 * i, "u=1");
    h2_sync(h2);
    assert_int_equal(h2->goaways, 0);
    h2->next_stream = next + 2 * (STREAMS - OPEN);
    h2_reset(h2, get_file(h2, "/5k", NULL), NGHTTP2_CANCEL);
    for (uint32_t i = 0; i < STREAMS - OPEN; i++)
        h2_priority_update(h2, h2->next_stream + 2 * i, "u=1");
    h2_sync(h2);
    assert_int_equal(h2->goaways, 0);
    h2_priority_update(h2, h2->next_stream + 1000, "u=1");
    h2_expect_goaway(h2, NGHTTP2_PROTOCOL_ERROR);
}

/* RFC 9218 8: the server behind knows better than the client. */
TEST(the_reply_overrules_the_client)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = open_shut(H2_START("--workers=1",
                                       printed("--proxy=/p=%s", upstream->at)));
    uint32_t urgent = h2_ask(h2, "GET", "/p", H2_WITH("priority", "u=0"),
                             false);
    struct client *peer = upstream_accept(upstream);
    uint32_t usual;

    hear_head(peer);
    client_say(peer, OK "Content-Length: 2000\r\nPriority: u=6\r\n\r\n%02000d",
               0);
    h2_wait_head(h2, urgent);
    usual = get_file(h2, "/50k", NULL);
    EXPECT_ONE_BY_ONE(h2, usual, urgent);
}

/* The rule of the place is heard before a byte is sent, of files and of other
 * servers, and of each as if it were the first. */
TEST(a_rule_overrules_the_client)
{
    struct upstream *upstream = upstream_open();
    struct server *server = H2_START("--workers=1",
                                     printed("--proxy=/p=%s", upstream->at),
                                     "--priority=5k u=6", "--priority=/50k u=1",
                                     "--priority=p u=7");

    for (int i = 0; i < 2; i++) {
        struct h2 *h2 = open_shut(server);
        uint32_t late = get_file(h2, "/5k", "u=0");
        uint32_t usual = get_file(h2, "/10k", NULL);
        uint32_t soon = get_file(h2, "/50k", "u=7");
        uint32_t last = h2_ask(h2, "GET", "/p", H2_WITH("priority", "u=0"),
                               false);
        struct client *peer = upstream_accept(upstream);

        hear_head(peer);
        client_say(peer,
                   OK "Connection: close\r\nContent-Length: 2000\r\n"
                      "\r\n%02000d",
                   0);
        h2_wait_head(h2, last);
        h2_priority_update(h2, late, "u=0"); /* comes too late */
        h2_sync(h2);
        EXPECT_ONE_BY_ONE(h2, soon, usual, late, last);
        h2_close(h2);
        client_close(peer);
    }
}

TEST(a_location_has_rules_of_its_own)
{
    struct server *server = start_configured("http2 = all\n"
                                             "workers = 1\n"
                                             "site all {\n"
                                             "    root = site\n"
                                             "    priority = \"*k u=5\"\n"
                                             "    location /50k {\n"
                                             "        priority = {} }\n"
                                             "    location /10k {\n"
                                             "        priority = \"1* u=6\" }\n"
                                             "}\n");
    struct h2 *h2 = open_shut(server);
    uint32_t last = get_file(h2, "/10k", "u=0");
    uint32_t site = get_file(h2, "/5k", "u=0");
    uint32_t none = get_file(h2, "/50k", "u=4");

    EXPECT_ONE_BY_ONE(h2, none, site, last);
}

/* Whatever is kept of the head. */
TEST(a_field_that_the_place_sets_is_heard_each_time)
{
    struct server *server = H2_START("--workers=1",
                                     "--header-set=Priority: i=?0, u=1");

    for (int i = 0; i < 3; i++) {
        struct h2 *h2 = open_shut(server);
        uint32_t large = get_file(h2, "/50k", "u=7");
        uint32_t small = get_file(h2, "/5k", "u=0");

        EXPECT_ONE_BY_ONE(h2, large, small);
        h2_close(h2);
    }
}

/* --- By turns ------------------------------------------------------------ */

/* How many bytes of the others come until the first of them has ended. */
static void expect_together(struct h2 *h2, const uint32_t *streams,
                            size_t count, size_t bytes)
{
    for (;;) {
        size_t least = SIZE_MAX;
        bool has_ended = false;

        let_come(h2, STEP);
        for (size_t i = 0; i < count; i++) {
            struct h2_reply *reply = h2_reply(h2, streams[i]);

            has_ended = has_ended || reply->body_len == bytes;
            if (reply->body_len < least)
                least = reply->body_len;
        }
        if (!has_ended)
            continue;
        if (least < bytes / 2)
            flunk("one was at %zu of %zu bytes when another had ended", least,
                  bytes);
        return;
    }
}

TEST(incremental_ones_come_by_turns)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--chunk-size=16K"));
    uint32_t streams[4];
    uint32_t last = get_file(h2, "/50k", "u=4");
    uint32_t first = get_file(h2, "/1k", "u=3");

    for (size_t i = 0; i < 4; i++)
        streams[i] = get_file(h2, "/100k", "i");
    EXPECT_ONE_BY_ONE(h2, first);
    expect_together(h2, streams, 4, 100 * KB);
    assert_int_equal(h2_reply(h2, last)->body_len, 0);
}

/* Behind its turn a long one goes on when those have come that were there. */
TEST(between_turns_others_come_in_the_order_of_their_requests)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--chunk-size=16K"));
    uint32_t streams[2] = {get_file(h2, "/100k", "i"),
                           get_file(h2, "/100k", "i")};
    uint32_t whole = get_file(h2, "/50k", "u=3");

    assert_int_equal(let_come(h2, 16 * KB), streams[0]);
    assert_int_equal(let_come(h2, 16 * KB), streams[1]);
    EXPECT_ONE_BY_ONE(h2, whole);
    expect_together(h2, streams, 2, 100 * KB);
}

TEST(a_rule_says_who_takes_turns)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--chunk-size=16K",
                                       "--priority=100k i"));
    uint32_t last = get_file(h2, "/5k", "u=4");
    uint32_t streams[2] = {get_file(h2, "/100k", NULL),
                           get_file(h2, "/100k", "u=3, i=?0")};

    expect_together(h2, streams, 2, 100 * KB);
    assert_int_equal(h2_reply(h2, last)->body_len, 0);
}

TEST(short_incremental_ones_come_one_by_one)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--chunk-size=16K"));
    uint32_t streams[4];

    for (size_t i = 0; i < 4; i++)
        streams[i] = get_file(h2, "/10k", "i");
    expect_one_by_one(h2, streams, 4);
}

/* --- Other schedules ----------------------------------------------------- */

TEST(fifo_completes_them_as_they_were_asked)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--schedule=fifo"));
    uint32_t large = get_file(h2, "/100k", NULL);
    uint32_t small = get_file(h2, "/5k", NULL);
    uint32_t middle = get_file(h2, "/50k", NULL);
    uint32_t urgent = get_file(h2, "/200k", "u=1");

    EXPECT_ONE_BY_ONE(h2, urgent, large, small, middle);
}

TEST(fair_serves_them_by_turns)
{
    struct h2 *h2 = open_shut(H2_START("--workers=1", "--schedule=fair",
                                       "--chunk-size=16K"));
    uint32_t streams[4];

    for (size_t i = 0; i < 4; i++)
        streams[i] = get_file(h2, "/100k", NULL);
    expect_together(h2, streams, 4, 100 * KB);
}

E2E_SUITE(start);
