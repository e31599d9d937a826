#include "engine/h2/h2_priv.h"
#include "suite.h"

enum { STREAMS = 4, PIECE = 8192 };

/* --- Sinks that keep what they are told to ------------------------------- */

struct keeping {
    struct sink sink;
    size_t bytes;
    unsigned eased;
    bool lets_go; /* when it is asked to */
};

static struct keeping keeps[STREAMS];
static struct exchange exchanges[STREAMS];
static struct h2_stream streams[STREAMS];
static struct h2_context context;
static struct h2 h2;

static size_t kept(const struct sink *sink)
{
    return OWNER_OF(sink, const struct keeping, sink)->bytes;
}

static void ease(struct sink *sink)
{
    struct keeping *keeping = OWNER_OF(sink, struct keeping, sink);

    keeping->eased++;
    if (keeping->lets_go)
        keeping->bytes = 0;
}

static int set_up(void **state)
{
    (void)state;
    memset(keeps, 0, sizeof(keeps));
    memset(exchanges, 0, sizeof(exchanges));
    memset(streams, 0, sizeof(streams));
    h2 = (struct h2){.context = &context,
                     .body_window = H2_STREAM_WINDOW,
                     .receive_window = H2_CONN_WINDOW,
                     .receive_size = H2_CONN_WINDOW};
    buf_init(&h2.control, NULL, 0, H2_CONTROL_BYTES_MAX);
    list_init(&h2.streams);
    for (size_t i = 0; i < STREAMS; i++) {
        keeps[i].sink = (struct sink){.kept = kept, .ease = ease};
        exchanges[i].sink = &keeps[i].sink;
        streams[i] = (struct h2_stream){.h2 = &h2,
                                        .id = 2 * (uint32_t)i + 1,
                                        .exchange = &exchanges[i],
                                        .receive_window = H2_STREAM_WINDOW,
                                        .receive_size = H2_STREAM_WINDOW};
        list_put_last(&h2.streams, &streams[i].list_node);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&h2.control);
    return 0;
}

/* A piece comes, and its sink keeps so much of it. */
static void take(size_t number, size_t bytes)
{
    assert_true(h2.receive_window >= PIECE);
    h2.receive_window -= PIECE;
    streams[number].receive_window -= PIECE;
    keeps[number].bytes += bytes;
    h2_give_taken(&h2, &streams[number], PIECE);
    assert_int_equal(h2.receive_window + (int64_t)h2.owed + h2.credit,
                     h2.receive_size);
}

/* --- Tests --------------------------------------------------------------- */

TEST(what_goes_on_at_once_is_given_back)
{
    for (int i = 0; i < 1000; i++) {
        take(0, 0);
        assert_true(h2.receive_window >= H2_CONN_WINDOW / 2 - PIECE);
    }
    assert_int_equal(keeps[0].eased, 0);
}

TEST(what_is_kept_is_not_given_back)
{
    size_t pieces = 0;

    for (; h2.receive_window >= PIECE; pieces++)
        take(pieces % STREAMS, PIECE);
    assert_int_equal(pieces, H2_CONN_WINDOW / PIECE);
    for (size_t i = 0; i < STREAMS; i++)
        assert_int_equal(keeps[i].eased, 1); /* and no more often */
    keeps[0].bytes = keeps[1].bytes = 0;
    h2_settle_windows(&h2);
    assert_true(h2.receive_window >= 2 * (int)(pieces / STREAMS) * PIECE);
    assert_int_equal(h2.owed, keeps[2].bytes + keeps[3].bytes);
}

TEST(who_keeps_most_is_told_first)
{
    for (size_t i = 0; i < STREAMS; i++)
        keeps[i].lets_go = true;
    take(0, PIECE);
    take(2, PIECE);
    while (!keeps[1].eased)
        take(1, PIECE);
    assert_int_equal(keeps[0].eased + keeps[2].eased + keeps[3].eased, 0);
    assert_int_equal(h2.owed, 2 * PIECE);
    while (h2.credit > 0)
        take(3, 0);
    assert_true(h2.receive_window > H2_CONN_WINDOW / 2);
}

/* Else one that stands still would hold what others have given back. */
TEST(little_that_is_given_back_is_of_use_where_much_is_kept)
{
    while (h2.receive_window > 3 * PIECE)
        take(0, PIECE);
    for (int i = 0; i < 1000; i++)
        take(1, 0);
    assert_int_equal(keeps[1].eased, 0);
}

TEST(who_is_gone_keeps_nothing)
{
    while (h2.receive_window >= PIECE)
        take(0, PIECE);
    exchanges[0].sink = NULL;
    h2_settle_windows(&h2);
    assert_int_equal(h2.owed, 0);
    assert_int_equal(h2.receive_window, H2_CONN_WINDOW);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
