/* link: -Wl,--wrap=transport_receive_bare,--wrap=transport_send_bare,--wrap=transport_look */
#include "unit/engine/conn_fixture.h"

#include <sys/eventfd.h>

#include "wrap.h"

/*
 * A second protocol, over a transport of memory: what the connection above
 * takes for granted is what protocol.h says, and nothing of HTTP.
 */

enum { WORD_MAX = 64, WIRE_MAX = 256 };

/* --- The transport: one client, who has written said and reads heard ----- */

static struct {
    int fd; /* an eventfd, for the loop: readable while there is something */
    const char *said;
    bool has_ended;
    char heard[WIRE_MAX];
    size_t heard_len;
    size_t room; /* in the client's window */
} wire;

WRAP(enum io_result, transport_receive_bare, const struct transport *transport,
     char *data, size_t len, size_t *len_out)
{
    uint64_t times;

    (void)transport;
    (void)!read(wire.fd, &times, sizeof(times));
    *len_out = strlen(wire.said);
    assert_true(*len_out <= len);
    memcpy(data, wire.said, *len_out);
    wire.said = "";
    if (*len_out == 0)
        return wire.has_ended ? IO_EOF : IO_AGAIN_READ;
    return IO_DONE;
}

WRAP(enum io_result, transport_send_bare, const struct transport *transport,
     struct iovec *parts, size_t count, bool more, size_t *len_out)
{
    (void)transport;
    (void)more;
    assert_int_equal(count, 1);
    *len_out = parts->iov_len < wire.room ? parts->iov_len : wire.room;
    memcpy(wire.heard + wire.heard_len, parts->iov_base, *len_out);
    wire.heard_len += *len_out;
    wire.room -= *len_out;
    return *len_out > 0 ? IO_DONE : IO_AGAIN_WRITE;
}

WRAP(enum transport_peer, transport_look, const struct transport *transport)
{
    (void)transport;
    return TRANSPORT_PEER_SILENT;
}

/* --- The protocol: two answers at once to each word, an echo and a sign -- */

struct echo {
    struct session session;
    char word[WORD_MAX];
    size_t sent[2], len[2]; /* of the echo, and of the sign */
};

static void echo_open(struct session *session)
{
    struct echo *echo = OWNER_OF(session, struct echo, session);

    *echo = (struct echo){.session = *session};
}

/* The answer with the fewest bytes left; 2: there is none. */
static size_t choose(const struct echo *echo)
{
    size_t echo_left = echo->len[0] - echo->sent[0];
    size_t sign_left = echo->len[1] - echo->sent[1];

    if (echo_left == 0)
        return sign_left > 0 ? 1 : 2;
    return sign_left > 0 && sign_left < echo_left ? 1 : 0;
}

static enum session_step echo_receive(struct session *session)
{
    struct echo *echo = OWNER_OF(session, struct echo, session);

    echo->sent[0] = echo->sent[1] = echo->len[0] = echo->len[1] = 0;
    switch (transport_receive(&session->transport, echo->word, WORD_MAX,
                              &echo->len[0])) {
    case IO_DONE:
        echo->len[1] = 1;
        return SESSION_GOES_ON;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        return SESSION_READS;
    case IO_EOF:
    case IO_FAILED:
        break;
    }
    return session_close(session, CONN_END_CLIENT);
}

static enum session_step echo_advance(struct session *session)
{
    return choose(OWNER_OF(session, struct echo, session)) < 2 ? SESSION_SENDS
                                                               : SESSION_READS;
}

static struct candidate echo_candidate(const struct session *session)
{
    const struct echo *echo = OWNER_OF(session, struct echo, session);
    size_t chosen = choose(echo);

    return (struct candidate){
        .bytes = chosen < 2 ? echo->len[chosen] - echo->sent[chosen] : 0};
}

static enum sender_result echo_send(struct session *session, uint64_t budget,
                                    uint64_t *sent_out)
{
    struct echo *echo = OWNER_OF(session, struct echo, session);
    size_t chosen = choose(echo);
    char *text = chosen == 1 ? (char[]){"!"} : echo->word;
    size_t left = echo->len[chosen] - echo->sent[chosen];
    struct iovec part = {text + echo->sent[chosen],
                         left < budget ? left : (size_t)budget};
    enum io_result result = transport_send(&session->transport, &part, 1, false,
                                           sent_out);

    echo->sent[chosen] += *sent_out;
    if (result != IO_DONE)
        return SENDER_FULL;
    return choose(echo) < 2 ? SENDER_MORE : SENDER_DONE;
}

static uint64_t echo_limit(struct session *session, enum session_wait wait)
{
    (void)wait;
    return session->context->now->mono_ms + 1000;
}

static enum session_step echo_expire(struct session *session)
{
    return session_close(session, CONN_END_IDLE);
}

static bool echo_is_idle(const struct session *session)
{
    return choose(OWNER_OF(session, struct echo, session)) == 2;
}

static void echo_leave(struct session *session)
{
    (void)session;
}

static bool echo_end(struct session *session)
{
    return !echo_is_idle(session);
}

static const struct protocol echo_protocol = {
    .session_bytes = sizeof(struct echo),
    .open = echo_open,
    .receive = echo_receive,
    .advance = echo_advance,
    .candidate = echo_candidate,
    .send = echo_send,
    .limit = echo_limit,
    .expire = echo_expire,
    .is_idle = echo_is_idle,
    .leave = echo_leave,
    .end = echo_end};

/* --- Talking ------------------------------------------------------------- */

static void say(const char *word)
{
    uint64_t once = 1;

    wire.said = word;
    assert_int_equal(write(wire.fd, &once, sizeof(once)), sizeof(once));
    for (int i = 0; i < 10; i++)
        turn();
}

static void open_echo(size_t room)
{
    conn_set_fini(&set);
    set.protocol = &echo_protocol;
    assert_int_equal(conn_fixture_init_set(SCHED_POLICY_SRPT), 0);
    wire.fd = eventfd(0, EFD_NONBLOCK);
    wire.said = "";
    wire.has_ended = false;
    wire.heard_len = 0;
    wire.room = room;
    memset(wire.heard, 0, sizeof(wire.heard));
    conn_set_open(&set, &(struct mail){.fd = wire.fd, .peer = client_peer});
}

TEST(the_shortest_answer_of_a_session_goes_first)
{
    open_echo(WIRE_MAX);
    say("hello");
    assert_string_equal(wire.heard, "!hello");
    assert_int_equal(only_conn()->state, CONN_READING);
    say("x");
    assert_string_equal(wire.heard, "!hellox!");
}

TEST(a_session_sends_no_more_than_its_budget)
{
    set.shared.context.limits.quantum = 2;
    open_echo(WIRE_MAX);
    say("abcdefg");
    assert_string_equal(wire.heard, "!abcdefg");
    assert_int_equal(only_conn()->state, CONN_READING);
}

TEST(a_full_transport_makes_the_connection_wait)
{
    open_echo(4);
    say("hello");
    assert_string_equal(wire.heard, "!hel");
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
    wire.room = WIRE_MAX;
    ev_feed_event(loop, &only_conn()->io, EV_WRITE);
    turn();
    assert_string_equal(wire.heard, "!hello");
    assert_int_equal(only_conn()->state, CONN_READING);
}

TEST(the_end_of_a_session_ends_the_connection)
{
    open_echo(WIRE_MAX);
    wire.has_ended = true;
    say("");
    assert_int_equal(set.count, 0);
    open_echo(WIRE_MAX);
    pass(5000);
    assert_int_equal(set.count, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
