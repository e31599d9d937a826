/* link: -Wl,--wrap=setsockopt */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "http/http2/http2_frame.h"
#include "unit/engine/conn_fixture.h"
#include "wrap.h"

/* What of HTTP/2 is between a session and its connection; what clients see of
 * it is tested end to end. */

static struct client client;

static void open_http2(void)
{
    client_open_http2(&client);
    assert_true(only_conn()->session.overlaps);
}

/* GET /small of stream 1. */
#define GET_SMALL          \
    "\0\0\x0d\1\5\0\0\0\1" \
    "\x82\x86\x04\6/small\x41\1h"

static bool has_bytes(const char *bytes, size_t len)
{
    return memmem(client.text, client.len, bytes, len);
}

TEST(a_stream_is_answered)
{
    open_http2();
    CLIENT_SEND(&client, GET_SMALL);
    settle(&client);
    assert_true(has_bytes("small body", 10));
    assert_int_equal(only_conn()->state, CONN_READING);
    client_close(&client);
}

TEST(without_prior_knowledge_it_is_a_version_that_nobody_speaks)
{
    client_open(&client);
    CLIENT_SEND(&client, HTTP2_PREFACE);
    settle(&client);
    assert_non_null(strstr(client.text, "505"));
    client_close(&client);
}

/* The end of the server had queued the connection already. */
TEST(a_byte_may_come_when_the_server_has_begun_to_leave)
{
    open_http2();
    conn_set_leave(&set);
    CLIENT_SEND(&client, "\0");
    settle(&client);
    assert_int_equal(set.count, 1);
    assert_true(has_bytes("\0\0\x8\7\0\0\0\0\0\x7f\xff\xff\xff", 13));
    /* The rest of an answer to the server's PING. */
    CLIENT_SEND(&client, "\0\x8\6\1\0\0\0\0goodbye\0");
    settle(&client);
    assert_true(client.has_ended);
    client_close(&client);
}

/* Few bytes may ask for much: others have their turn between. */
TEST(requests_that_come_at_once_are_read_by_turns)
{
    enum { COUNT = 300, BYTES = 50, READ = 4096 };
    static char requests[COUNT][BYTES];

    for (uint32_t i = 0; i < COUNT; i++) {
        memcpy(requests[i], GET_SMALL "\x40\1x\x18", 26);
        memset(requests[i] + 26, 'y', 24);
        requests[i][2] = BYTES - HTTP2_FRAME_HEAD;
        http2_write32(requests[i] + 5, 2 * i + 1);
    }
    open_http2();
    client_send_bytes(&client, requests[0], sizeof(requests));
    for (uint32_t turns = 1; only_conn()->session.requests < COUNT; turns++) {
        assert_true(turns < 100);
        turn();
        assert_in_range(only_conn()->session.requests, 1,
                        turns * READ / BYTES + turns);
    }
    settle(&client);
    assert_int_equal(only_conn()->session.finished, COUNT);
    client_close(&client);
}

/* --- Few bytes that cost much -------------------------------------------- */

enum { FLOOD = 300, PAIR_BYTES = 35, FLOODERS = 40, COSTLY_AT_ONCE = 8 };

/* As many streams as that, each given up by its client at once. */
static void say_resets(void)
{
    static char pairs[FLOOD][PAIR_BYTES];

    for (uint32_t i = 0; i < FLOOD; i++) {
        memcpy(pairs[i], GET_SMALL "\0\0\4\3\0\0\0\0\0\0\0\0\x8", PAIR_BYTES);
        http2_write32(pairs[i] + 5, 2 * i + 1);
        http2_write32(pairs[i] + 27, 2 * i + 1);
    }
    client_send_bytes(&client, pairs[0], sizeof(pairs));
}

static uint64_t resets(void)
{
    return counter_read(&stats.http2.events[STATS_HTTP2_RESET_BY_CLIENT]);
}

/* What one client does in a turn has a limit that is far below what it may do
 * in all; and many such clients share it. */
TEST(resets_are_read_by_turns_however_many_connections_send_them)
{
    struct client flooders[FLOODERS];
    struct client other;
    uint64_t before = resets();
    uint64_t seen;

    for (size_t i = 0; i < FLOODERS; i++) {
        set.shared.context.limits.prior_knowledge = true;
        client_open(&client);
        CLIENT_SEND(&client, HTTP2_PREFACE "\0\0\0\4\0\0\0\0\0");
        say_resets();
        flooders[i] = client;
    }
    client_open(&other);
    for (int i = 0; i < 3; i++) /* until it is known what they are */
        turn();
    assert_in_range(resets() - before, 1, FLOODERS * (uint64_t)COSTLY_AT_ONCE);
    for (unsigned turns = 0; resets() - before < FLOODERS * FLOOD; turns++) {
        assert_in_range(turns, 0, FLOODERS * FLOOD / (COSTLY_AT_ONCE - 1));
        client_send(&other, GET("/small"));
        seen = resets();
        turn();
        assert_in_range(resets() - seen, 1, COSTLY_AT_ONCE);
        (void)client_receive(&other, RECEIVED_MAX);
        assert_non_null(strstr(other.text, "small body"));
        other.len = 0;
        other.text[0] = 0;
    }
    for (size_t i = 0; i < FLOODERS; i++)
        client_close(&flooders[i]);
    client_close(&other);
}

/* A few hundred of them may wait for that, and no more. */
TEST(whoever_would_wait_behind_too_many_costly_ones_is_sent_away)
{
    enum { TOO_MANY = CONN_COSTLY_MAX + 20 };
    static struct client flooders[TOO_MANY];

    set.shared.context.limits.prior_knowledge = true;
    for (size_t i = 0; i < TOO_MANY; i++) {
        client_open(&client);
        CLIENT_SEND(&client, HTTP2_PREFACE "\0\0\0\4\0\0\0\0\0");
        say_resets();
        flooders[i] = client;
    }
    for (int i = 0; i < 3; i++)
        turn();
    assert_in_range(set.shared.costly.count, 1, CONN_COSTLY_MAX);
    assert_in_range(set.count, CONN_COSTLY_MAX - 20, CONN_COSTLY_MAX + 10);
    for (size_t i = 0; i < TOO_MANY; i++)
        client_close(&flooders[i]);
}

/* --- What lies in the socket --------------------------------------------- */

static int
    unsent_max; /* TCP_NOTSENT_LOWAT, as it was set last; 0: the system's */

WRAP(int, setsockopt, int fd, int level, int name, const void *value,
     socklen_t len)
{
    if (level != IPPROTO_TCP || name != TCP_NOTSENT_LOWAT)
        return __real_setsockopt(fd, level, name, value, len);
    assert_int_equal(len, sizeof(unsent_max));
    memcpy(&unsent_max, value, sizeof(unsent_max));
    return 0;
}

TEST(a_socket_that_the_link_lets_go_of_takes_no_more_ahead_than_before)
{
    int before;

    unsent_max = 0;
    open_http2();
    before = unsent_max;
    assert_true(before > 0);
    link_shared.mode = LINK_AUTO;
    only_conn()->flow.is_bounded = true; /* it was narrow, and is no more */
    CLIENT_SEND(&client, GET_SMALL);
    settle(&client);
    link_shared.mode = LINK_OFF;
    assert_false(only_conn()->flow.is_bounded);
    assert_int_equal(unsent_max, before);
    client_close(&client);
}

TEST(an_idle_connection_is_told_before_it_is_closed)
{
    open_http2();
    pass(6000);
    settle(&client);
    assert_true(has_bytes("\0\0\x8\7\0\0\0\0\0\0\0\0\0\0\0\0\0", 17));
    assert_true(client.has_ended);
    client_close(&client);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
