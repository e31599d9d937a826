/* link: -Wl,--wrap=sendfile */
#include <sys/sendfile.h>

#include "engine/h2/h2_priv.h"
#include "unit/engine/conn_fixture.h"
#include "wrap.h"

/* How much of a connection is done in one turn, and how many of its streams
 * have an exchange. */

static struct client client;

enum {
    BEGUN_AT_ONCE = 16, /* of a client that has had no answer */
    PENDING_AT_ONCE = 3,
    GET_BYTES = 22,
    RESET_BYTES = 13
};

/* GET of a path of six letters, of so many streams that follow one another. */
static void ask_for(const struct client *who, const char *path, uint32_t stream,
                    uint32_t count)
{
    static char text[H2_STREAMS_MAX][GET_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        memcpy(text[i],
               "\0\0\x0d\1\5\0\0\0\0"
               "\x82\x86\x04\6/small\x41\1h",
               GET_BYTES);
        memcpy(text[i] + 13, path, 6);
        http2_write32(text[i] + 5, stream + 2 * i);
    }
    client_send_bytes(who, text[0], count * (size_t)GET_BYTES);
}

static void ask(const struct client *who, uint32_t stream, uint32_t count)
{
    ask_for(who, "/small", stream, count);
}

static void give_up(const struct client *who, uint32_t stream, uint32_t count)
{
    static char text[H2_STREAMS_MAX][RESET_BYTES];

    for (uint32_t i = 0; i < count; i++) {
        memcpy(text[i], "\0\0\4\3\0\0\0\0\0\0\0\0\x8", RESET_BYTES);
        http2_write32(text[i] + 5, stream + 2 * i);
    }
    client_send_bytes(who, text[0], count * (size_t)RESET_BYTES);
}

static bool has_bytes(const char *bytes, size_t len)
{
    return memmem(client.text, client.len, bytes, len);
}

static void make_turns(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        turn();
        (void)client_receive(&client, RECEIVED_MAX);
    }
}

/* --- In one turn --------------------------------------------------------- */

/* All is taken at once of a client that has taken what it asked for. */
TEST(a_client_is_trusted_when_it_has_had_answers)
{
    const struct session *session;

    client_open_http2(&client);
    session = &only_conn()->session;
    ask(&client, 1, H2_STREAMS_MAX);
    turn();
    assert_int_equal(session->requests, BEGUN_AT_ONCE);
    settle(&client);
    assert_int_equal(session->finished, H2_STREAMS_MAX);
    ask(&client, 201, H2_STREAMS_MAX);
    turn();
    assert_int_equal(session->requests, 2 * H2_STREAMS_MAX);
    settle(&client);
    assert_int_equal(session->finished, 2 * H2_STREAMS_MAX);
    client_close(&client);
}

TEST(a_client_that_gives_up_too_much_has_to_be_trusted_anew)
{
    enum { GIVEN_UP = 60, MORE = 40 };
    const struct session *session;
    uint32_t before;

    client_open_http2(&client);
    session = &only_conn()->session;
    ask(&client, 1, H2_STREAMS_MAX);
    settle(&client);
    ask(&client, 201, GIVEN_UP);
    give_up(&client, 201, GIVEN_UP);
    settle(&client);
    assert_int_equal(session->finished, H2_STREAMS_MAX + GIVEN_UP);
    before = session->requests;
    ask(&client, 401, MORE);
    turn();
    assert_int_equal(session->requests, before + BEGUN_AT_ONCE);
    settle(&client);
    assert_int_equal(session->finished, before + MORE);
    client_close(&client);
}

/* Fifteen times 4,000 bytes that the table has, by a byte each. */
TEST(few_lists_that_are_long_are_decoded_in_a_turn)
{
    enum { VALUE = 4000, TIMES = 15, LISTS = 40, AT_ONCE = 5 };
    static char text[9 + 6 + 3 + 3 + VALUE + LISTS * (9 + 6 + TIMES)];
    const struct session *session;
    char *at = text;

    memcpy(at, "\0\xf\xac\1\5\0\0\0\1\x82\x86\x84\x01\1h\x40\1x\x7f\xa1\x1e",
           21);
    memset(at += 21, 'v', VALUE);
    at += VALUE;
    for (uint32_t i = 0; i < LISTS; i++, at += 9 + 6 + TIMES) {
        memcpy(at, "\0\0\x15\1\5\0\0\0\0\x82\x86\x84\x01\1h", 15);
        http2_write32(at + 5, 2 * i + 3);
        memset(at + 15, 0xbe, TIMES);
    }
    client_open_http2(&client);
    session = &only_conn()->session;
    client_send_bytes(&client, text, sizeof(text));
    for (uint32_t turns = 1; session->finished < LISTS + 1; turns++) {
        uint32_t before = session->requests;

        assert_true(turns < 100);
        make_turns(1);
        assert_in_range(session->requests - before, 0, AT_ONCE);
    }
    client_close(&client);
}

/* Three hundred lines of the table that all have, by a byte each. */
TEST(few_lists_of_many_lines_are_decoded_in_a_turn)
{
    enum { TIMES = 300, LISTS = 40, AT_ONCE = 2 };
    static char text[LISTS][9 + 6 + TIMES];
    const struct session *session;

    for (uint32_t i = 0; i < LISTS; i++) {
        memcpy(text[i], "\0\1\x32\1\5\0\0\0\0\x82\x86\x84\x01\1h", 15);
        http2_write32(text[i] + 5, 2 * i + 1);
        memset(text[i] + 15, 0x8f, TIMES);
    }
    client_open_http2(&client);
    session = &only_conn()->session;
    client_send_bytes(&client, text[0], sizeof(text));
    for (uint32_t turns = 1; session->finished < LISTS; turns++) {
        uint32_t before = session->requests;

        assert_true(turns < 100);
        make_turns(1);
        assert_in_range(session->requests - before, 0, AT_ONCE);
    }
    client_close(&client);
}

/* A byte each, of a body that nobody wants. */
TEST(short_pieces_of_bodies_are_read_by_turns)
{
    enum { PIECES = 300, BYTES = 10, AT_ONCE = 64 };
    static char text[PIECES][BYTES];
    const struct h2 *h2;
    int32_t window;

    client_open_http2(&client);
    h2 = h2_of(&only_conn()->session);
    CLIENT_SEND(&client, "\0\0\x0d\1\4\0\0\0\1"
                         "\x83\x86\x04\6/small\x41\1h");
    settle(&client);
    window = h2->receive_window;
    for (size_t i = 0; i < PIECES; i++)
        memcpy(text[i], "\0\0\1\0\0\0\0\0\1x", BYTES);
    client_send_bytes(&client, text[0], sizeof(text));
    for (int turns = 1; h2->receive_window > window - PIECES; turns++) {
        assert_true(turns < PIECES);
        turn();
        assert_in_range(window - h2->receive_window, 1, turns * AT_ONCE);
    }
    client_close(&client);
}

/* As after a start: nobody is sent away, nor waits for a turn of his own. */
TEST(many_new_clients_that_ask_for_much_are_all_answered)
{
    enum { CLIENTS = CONN_COSTLY_MAX + 44, EACH = 40, TURNS = 60 };
    static struct client clients[CLIENTS];

    set.shared.context.limits.prior_knowledge = true;
    for (size_t i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        client_send_bytes(&clients[i], HTTP2_PREFACE "\0\0\0\4\0\0\0\0\0", 33);
        ask(&clients[i], 1, EACH);
    }
    for (unsigned i = 0; i < TURNS; i++)
        turn();
    assert_int_equal(set.count, CLIENTS);
    for (struct list *node = set.open.next; node != &set.open;
         node = node->next)
        assert_int_equal(
            OWNER_OF(node, struct conn, list_node)->session.finished, EACH);
    for (size_t i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
}

/* --- In one call --------------------------------------------------------- */

static unsigned sendfiles;

WRAP(ssize_t, sendfile, int to, int from, off_t *at, size_t count)
{
    sendfiles++;
    return __real_sendfile(to, from, at, count);
}

/* Windows of a byte over many streams of a large file. */
TEST(short_frames_of_a_file_take_no_call_each)
{
    client_open_http2(&client);
    CLIENT_SEND(&client, "\0\0\6\4\0\0\0\0\0\0\4\0\0\0\1");
    ask_for(&client, "/large", 1, BEGUN_AT_ONCE);
    sendfiles = 0;
    make_turns(5);
    assert_true(has_bytes("\0\0\1\0\0\0\0\0\1a", 10));
    assert_true(has_bytes("\0\0\1\0\0\0\0\0\x1f"
                          "a",
                          10));
    assert_int_equal(sendfiles, 0);
    CLIENT_SEND(&client, "\0\0\4\x8\0\0\0\0\1\0\0\x3f\xff");
    make_turns(5);
    assert_int_equal(sendfiles, 1);
    client_close(&client);
}

/* --- At a time ----------------------------------------------------------- */

static struct handler files;
static bool is_late;

static struct answer look_in_vain(struct pending *pending)
{
    (void)pending;
    return (struct answer){.state = ANSWER_LATER};
}

static void forget(struct pending *pending)
{
    (void)pending;
}

static struct pending never = {.look = look_in_vain, .destroy = forget};

static void answer_late(void *self, struct exchange *exchange,
                        struct bytes rest)
{
    if (is_late)
        exchange->pending = &never;
    else
        files.answer(self, exchange, rest);
}

static void begin_late(void)
{
    files = set.shared.context.handler;
    set.shared.context.handler.answer = answer_late;
    is_late = true;
    client_open_http2(&client);
}

/* Whoever waits for an answer may listen on for a while. */
static void leave(void)
{
    client_close(&client);
    turn();
    for (int i = 0; i < 3 && set.count > 0; i++)
        pass(1500);
    assert_int_equal(set.count, 0);
}

/* A hundred that an upstream server never answers, as it were. */
TEST(what_waits_for_others_leaves_room_for_the_rest)
{
    const struct h2 *h2;

    begin_late();
    h2 = h2_of(&only_conn()->session);
    ask(&client, 1, H2_STREAMS_MAX);
    make_turns(1);
    assert_int_equal(h2->session->requests, PENDING_AT_ONCE);
    make_turns(H2_STREAMS_MAX / PENDING_AT_ONCE + 1);
    assert_int_equal(h2->live_count, H2_STREAMS_MAX);
    assert_int_equal(h2->idle_count, H2_STREAMS_MAX);
    assert_int_equal(h2->context->extra_count, H2_STREAMS_MAX - H2_LIVE_MAX);
    is_late = false;
    give_up(&client, 1, 1);
    ask(&client, 201, 1);
    make_turns(5);
    assert_true(has_bytes("small body", 10));
    assert_int_equal(h2->live_count, H2_STREAMS_MAX - 1);
    leave();
    assert_int_equal(set.shared.context.h2->extra_count, 0);
}

TEST(all_connections_have_so_much_room_for_that_and_no_more)
{
    struct h2_context *context = set.shared.context.h2;
    const struct h2 *h2;

    begin_late();
    h2 = h2_of(&only_conn()->session);
    context->extra_count = H2_EXTRA_MAX - 1; /* of others */
    ask(&client, 1, H2_STREAMS_MAX);
    make_turns(H2_STREAMS_MAX / PENDING_AT_ONCE + 1);
    assert_int_equal(h2->live_count, H2_LIVE_MAX + 1);
    assert_int_equal(context->extra_count, H2_EXTRA_MAX);
    context->extra_count = 1; /* those are gone */
    CLIENT_SEND(&client, "\0\0\x8\6\0\0\0\0\0"
                         "a change");
    make_turns(H2_STREAMS_MAX / PENDING_AT_ONCE + 1);
    assert_int_equal(h2->live_count, H2_STREAMS_MAX);
    leave();
    assert_int_equal(context->extra_count, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
