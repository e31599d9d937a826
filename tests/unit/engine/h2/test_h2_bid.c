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

/* --- A page --------------------------------------------------------------- */

enum { KB = 1024 };

static uint64_t bid_bytes(void)
{
    return h2.bidder ? h2_bid_bytes(&h2) : 0;
}

static uint64_t four_averages(uint64_t bytes, uint32_t files)
{
    return bytes * 4 / files;
}

TEST(a_file_alone_is_no_page)
{
    ask(200 * KB);
    assert_int_equal(bid_bytes(), 200 * KB);
    send_some(&streams[0], 150 * KB);
    assert_int_equal(bid_bytes(), 50 * KB);
}

/* The less is missing of the page, the sooner the rest is sent. */
TEST(the_last_of_a_page_bids_what_is_left_of_it_for_each_file)
{
    struct h2_stream *large = ask(200 * KB);

    for (int i = 0; i < 9; i++)
        ask(20 * KB);
    assert_int_equal(bid_bytes(), 20 * KB);
    for (int i = 1; i < 10; i++)
        send_some(&streams[i], 20 * KB);
    assert_int_equal(bid(), 200 * KB);
    assert_int_equal(bid_bytes(), four_averages(200 * KB, 10));
    send_some(large, 100 * KB);
    assert_int_equal(bid(), 100 * KB);
    assert_int_equal(bid_bytes(), four_averages(100 * KB, 10));
}

TEST(no_page_bids_less_than_what_is_small)
{
    struct h2_stream *large = ask(40 * KB);

    for (int i = 0; i < 19; i++)
        ask(1);
    for (int i = 1; i < 20; i++)
        send_some(&streams[i], 1);
    assert_int_equal(bid_bytes(), H2_PAGE_BID_MIN);
    send_some(large, 39 * KB);
    assert_int_equal(bid_bytes(), KB);
}

/* Small files do not carry a download past everybody. */
TEST(what_is_larger_than_files_of_a_page_bids_all_of_itself)
{
    ask(H2_PAGE_FILE + 1);
    for (int i = 0; i < 19; i++)
        ask(KB);
    for (int i = 1; i < 20; i++)
        send_some(&streams[i], KB);
    assert_int_equal(bid_bytes(), H2_PAGE_FILE + 1);
    assert_int_equal(h2.page_bytes, 0);
}

/* An upload is refused when its large answer was known already. */
TEST(an_answer_in_place_of_a_larger_one_joins_with_its_own_bytes)
{
    struct h2_stream *stream = ask(H2_PAGE_FILE + 1);

    stream->exchange->response.bytes_left = KB;
    h2_bid_begin(stream);
    assert_int_equal(h2.page_bytes, KB);
    send_some(stream, KB);
    assert_int_equal(h2.page_bytes, 0);
}

TEST(what_is_asked_for_when_all_is_there_is_another_page)
{
    for (int i = 0; i < 9; i++)
        ask(KB);
    for (int i = 0; i < 9; i++)
        send_some(&streams[i], KB);
    ask(200 * KB);
    assert_int_equal(bid_bytes(), 200 * KB);
}

TEST(a_file_that_is_given_up_is_none_of_the_page)
{
    ask(200 * KB);
    for (int i = 0; i < 9; i++)
        ask(150 * KB);
    for (int i = 1; i < 6; i++)
        give_up(&streams[i]);
    assert_int_equal(h2.page_files, 5);
    for (int i = 6; i < 10; i++)
        send_some(&streams[i], 150 * KB);
    assert_int_equal(bid_bytes(), four_averages(200 * KB, 5));
    give_up(&streams[0]);
    assert_int_equal(h2.page_bytes, 0);
    ask(200 * KB);
    assert_int_equal(h2.page_files, 1);
    assert_int_equal(bid_bytes(), 200 * KB);
}

/* Who asks for one small file after the other beside a larger one does not
 * make that smaller and smaller. */
TEST(who_goes_on_asking_begins_another_page)
{
    ask(200 * KB);
    for (int i = 1; i < H2_PAGE_FILES; i++) {
        struct h2_stream *small = ask(KB);

        send_some(small, KB);
        count--;
    }
    assert_int_equal(h2.page_files, H2_PAGE_FILES);
    assert_int_equal(bid_bytes(), H2_PAGE_BID_MIN);
    ask(KB);
    assert_int_equal(h2.page_files, 2);
    send_some(&streams[1], KB);
    assert_int_equal(bid_bytes(), 200 * KB);
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
    assert_int_equal(h2.page_bytes, bids);
    assert_int_equal(bid_bytes(), bid()); /* all are small */
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
