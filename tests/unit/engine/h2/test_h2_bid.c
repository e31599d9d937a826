#include "engine/h2/h2_priv.h"
#include "suite.h"
#include "unit/draw.h"

/*
 * What a connection bids, whatever its streams are sent: as if the shortest of
 * them were.
 */

enum { STREAMS = 24, RUNS = 2000, STEPS = 60, BYTES_MAX = 20 };

static struct exchange exchanges[STREAMS];
static struct h2_stream streams[STREAMS];
static struct session_context session_context;
static struct session session;
static struct h2_context context;
static struct h2 h2;
static uint32_t count;

static uint64_t key_of(const struct session *of, const struct sched_item *place,
                       uint64_t bytes)
{
    (void)of;
    (void)place;
    return bytes;
}

static const struct session_hooks hooks = {.key_of = key_of};

static void begin(void)
{
    memset(exchanges, 0, sizeof(exchanges));
    memset(streams, 0, sizeof(streams));
    session_context.hooks = &hooks;
    session.context = &session_context;
    h2 = (struct h2){
        .session = &session, .context = &context, .is_ordered = true};
    list_init(&h2.streams);
    count = 0;
}

static int set_up(void **state)
{
    (void)state;
    begin();
    return 0;
}

/* A stream with so many bytes. */
static struct h2_stream *ask(uint64_t bytes)
{
    struct h2_stream *stream = &streams[count];

    assert_true(count < STREAMS);
    exchanges[count].response.bytes_left = bytes;
    *stream = (struct h2_stream){.h2 = &h2,
                                 .id = 2 * count + 1,
                                 .exchange = &exchanges[count],
                                 .has_head = true,
                                 .is_put = true};
    count++;
    list_put_last(&h2.streams, &stream->list_node);
    h2_bid_begin(stream);
    return stream;
}

static uint64_t left_of(const struct h2_stream *stream)
{
    return stream->exchange->response.bytes_left;
}

/* The stream is sent so many of its bytes. */
static void send_some(struct h2_stream *stream, uint64_t bytes)
{
    assert_true(bytes <= left_of(stream));
    stream->exchange->response.bytes_left -= bytes;
    h2_bid_spend(&h2, bytes);
    if (left_of(stream) > 0)
        return;
    stream->is_framed = true;
    h2_bid_pass_on(stream);
    list_drop(&stream->list_node);
}

static void give_up(struct h2_stream *stream)
{
    h2_bid_drop(stream);
    list_drop(&stream->list_node);
}

static uint64_t bid(void)
{
    return h2.bidder ? h2.bidder->bid : 0;
}

/* --- Tests --------------------------------------------------------------- */

TEST(the_shortest_is_bid_and_spent_whatever_is_sent)
{
    struct h2_stream *large;

    large = ask(100);
    assert_int_equal(bid(), 100);
    ask(7);
    ask(3);
    assert_int_equal(bid(), 3);
    send_some(large, 2);
    assert_int_equal(bid(), 1);
    send_some(large, 4); /* one of the shortest, three of the next */
    assert_int_equal(bid(), 4);
    send_some(large, 4);
    assert_int_equal(bid(), 100);
}

/* What the large one has had was the small ones' turn, and they have its. */
TEST(what_is_left_of_a_bid_goes_to_those_who_have_none)
{
    struct h2_stream *large, *small, *other;

    large = ask(10);
    small = ask(4);
    other = ask(5);
    send_some(large, 10);
    assert_int_equal(bid(), 9);
    assert_true(h2.bidder == small || h2.bidder == other);
    send_some(small, 4);
    assert_int_equal(bid(), 5);
    assert_true(h2.bidder == other);
    send_some(other, 5);
    assert_null(h2.bidder);
}

/* Small ones that are asked for and taken back carry nothing any further than
 * they would have gone themselves. */
TEST(who_gives_a_stream_up_has_no_bid_of_it)
{
    struct h2_stream *small;

    ask(100);
    small = ask(5);
    assert_int_equal(bid(), 5);
    give_up(small);
    assert_int_equal(bid(), 100);
}

TEST(who_says_nothing_of_priorities_bids_nothing_apart)
{
    h2.is_ordered = false;
    ask(5);
    assert_null(h2.bidder);
}

TEST(answers_that_wait_already_bid_from_the_first_word_on)
{
    h2.is_ordered = false;
    ask(9);
    ask(5);
    h2_heed_client(&h2);
    assert_int_equal(bid(), 5);
}

/* --- Against a naive model ----------------------------------------------- */

/* Whatever is sent: the least bid is the first, all bids are as many bytes as are
 * left, and they are spent no sooner than those of connections of their own,
 * shortest first, would be. */
static uint64_t alone[STREAMS];

static void spend_alone(uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t *first = NULL;
        uint64_t step;

        for (uint32_t i = 0; i < count; i++)
            if (alone[i] > 0 && (!first || alone[i] < *first))
                first = &alone[i];
        assert_non_null(first);
        step = bytes < *first ? bytes : *first;
        *first -= step;
        bytes -= step;
    }
}

static void compare(void)
{
    uint64_t least = UINT64_MAX;
    uint64_t least_alone = UINT64_MAX;
    uint64_t bids = 0;
    uint64_t left = 0;

    for (uint32_t i = 0; i < count; i++) {
        left += left_of(&streams[i]);
        bids += streams[i].bid;
        if (streams[i].bid > 0 && streams[i].bid < least)
            least = streams[i].bid;
        if (alone[i] > 0 && alone[i] < least_alone)
            least_alone = alone[i];
    }
    assert_int_equal(bids, left);
    assert_int_equal(bid(), bids > 0 ? least : 0);
    assert_true(bids == 0 || least >= least_alone);
}

TEST(a_connection_is_ordered_as_if_the_shortest_were_sent)
{
    for (uint32_t seed = 1; seed <= RUNS; seed++) {
        draw_seed = seed;
        begin();
        memset(alone, 0, sizeof(alone));
        for (int step = 0; step < STEPS; step++) {
            struct h2_stream *stream = &streams[count ? draw(count) : 0];

            if (count == 0 || (count < STREAMS && draw(3) == 0)) {
                alone[count] = 1 + draw(BYTES_MAX);
                ask(alone[count]);
            } else if (left_of(stream) > 0) {
                uint64_t bytes = 1 + draw((unsigned)left_of(stream));

                spend_alone(bytes);
                send_some(stream, bytes);
            }
            compare();
        }
    }
}

SUITE(.each_begin = set_up);
