#include "handler/encode.h"

#include <stdio.h>

#include "unit/handler/asked.h"

enum { STREAMS = 32, LENGTH = 300000 };

static char text[LENGTH];
static struct compress_rules rules;
static struct encoder encoder;
static struct encode encode;
static struct exchange exchanges[STREAMS];
static bool is_awake[STREAMS], has_ended[STREAMS];
static char requests[STREAMS][100];
static unsigned turns_wanted;

static void want_turn(void *context)
{
    (void)context;
    turns_wanted++;
}

static void on_wake(struct exchange *woken)
{
    is_awake[woken - exchanges] = true;
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = "the shortest answer first "[(i * i / 613 + i) % 26];
    rules = (struct compress_rules){.bytes_min = 1, .bytes_max = UINT64_MAX};
    compress_rules_add_codings(&rules);
    compress_rules_add_types(&rules);
    encoder_init(&encoder, STREAMS, want_turn, NULL);
    encode = (struct encode){.encoder = &encoder, .rules = &rules};
    turns_wanted = 0;
    memset(is_awake, 0, sizeof(is_awake));
    memset(has_ended, 0, sizeof(has_ended));
    for (unsigned i = 0; i < STREAMS; i++)
        response_init(&exchanges[i].response, &exchanges[i].room.response);
    return begin_asking(state);
}

static void end_one(unsigned number)
{
    exchange_fini(&exchanges[number]);
    response_init(&exchanges[number].response,
                  &exchanges[number].room.response);
    is_awake[number] = false;
}

static int tear_down(void **state)
{
    for (unsigned i = 0; i < STREAMS; i++)
        end_one(i);
    assert_int_equal(encoder.streams, 0);
    assert_int_equal(codec_meter_read(&encoder.meter), 0);
    return end_asking(state);
}

SUITE(.each_begin = set_up, .each_end = tear_down);

/* Begins an answer to who takes that coding. */
static void begin_head(unsigned number, const char *coding)
{
    static const struct exchange_side side = {.on_wake = on_wake};
    struct exchange *asked = &exchanges[number];
    struct http1_progress progress = {0};
    enum reason reason;
    size_t used;
    int len = snprintf(requests[number], sizeof(*requests),
                       "GET / HTTP/1.1\r\nHost: h\r\n"
                       "Accept-Encoding: %s\r\n\r\n",
                       coding);

    exchange_init(asked, &side);
    asked->request.fields = asked->room.fields;
    assert_int_equal(http1_parse(&progress, requests[number], (size_t)len,
                                 &asked->request, &used, &reason),
                     HTTP1_DONE);
    response_begin(&asked->response, 200, &defaults);
    head_field(&asked->response.head, BYTES("Content-Type"),
               BYTES("text/plain"));
}

/* An answer to who takes that coding, of all the text. */
static void begin(unsigned number, const char *coding)
{
    struct exchange *asked = &exchanges[number];

    begin_head(number, coding);
    assert_true(encode_add_memory(&encode, asked,
                                  (struct bytes){text, LENGTH}));
    assert_non_null(asked->response.source);
    is_awake[number] = true;
}

/* Pulls at whatever may go on, till all wait or have ended; how many have not
 * ended. */
static unsigned pull_all(unsigned count)
{
    unsigned open = 0;

    for (unsigned i = 0; i < count; i++) {
        struct source *source = exchanges[i].response.source;
        enum piece_state state = PIECE_MORE;

        while (is_awake[i] && state == PIECE_MORE) {
            struct piece piece = source->next(source, UINT64_MAX);

            state = piece.state;
            assert_true(state != PIECE_FAILED);
            assert_int_equal(state == PIECE_LATER, piece.is_paused);
            is_awake[i] = state == PIECE_MORE;
        }
        if (state == PIECE_END)
            has_ended[i] = true;
        open += !has_ended[i];
    }
    return open;
}

static void expect_turns(unsigned count, uint64_t bytes_a_turn)
{
    uint64_t before = 0;
    unsigned turns = 0;

    for (;;) {
        unsigned open = pull_all(count);

        assert_true(encoder.counts.bytes_in - before <= bytes_a_turn);
        if (open == 0)
            break;
        /* All that there is goes into turns that are full, and there is
         * another, which is asked for once. */
        assert_int_equal(encoder.counts.bytes_in - before, bytes_a_turn);
        turns++;
        assert_int_equal(turns_wanted, turns);
        before = encoder.counts.bytes_in;
        encoder_turn(&encoder);
    }
    assert_int_equal(encoder.counts.bytes_in, (uint64_t)count * LENGTH);
}

/* Small answers have to wait for a turn, whose bytes are what
 * can be counted on a machine that does other things, too. */
TEST(all_streams_together_compress_so_much_in_a_turn)
{
    static const struct {
        const char *coding;
        uint64_t bytes;
    } cases[] = {{"zstd", 8192}, {"br", 8192}, {"gzip", 2048}};
    static const unsigned counts[] = {1, STREAMS};

    for (size_t i = 0; i < 6; i++) {
        unsigned count = counts[i % 2];

        encoder_init(&encoder, STREAMS, want_turn, NULL);
        turns_wanted = 0;
        memset(has_ended, 0, sizeof(has_ended));
        for (unsigned k = 0; k < count; k++)
            begin(k, cases[i / 2].coding);
        expect_turns(count, cases[i / 2].bytes);
        for (unsigned k = 0; k < count; k++)
            end_one(k);
    }
}

TEST(what_gzip_leaves_of_a_turn_others_take)
{
    begin(0, "gzip");
    begin(1, "zstd");
    memset(has_ended, 0, sizeof(has_ended));
    while (pull_all(2) > 0) {
        uint64_t before = encoder.counts.bytes_in;

        encoder_turn(&encoder);
        assert_true(is_awake[0] || is_awake[1]);
        (void)pull_all(2);
        assert_in_range(encoder.counts.bytes_in - before, 1, 8192);
        encoder_turn(&encoder);
    }
    assert_int_equal(encoder.counts.bytes_in, 2 * LENGTH);
}

/* Whoever ends while he waits for a turn is not woken any more. */
TEST(who_leaves_is_not_waited_for)
{
    begin(0, "zstd");
    begin(1, "zstd");
    assert_int_equal(pull_all(2), 2);
    assert_int_equal(turns_wanted, 1);
    end_one(0);
    encoder_turn(&encoder);
    assert_false(is_awake[0]);
    assert_true(is_awake[1]);
}

/* --- Bodies that take time ----------------------------------------------- */

struct slow {
    struct source source;
    unsigned pulls;
};

/* Gives nothing many times, although it never waits, and then a little. */
static struct piece give_slowly(struct source *source, uint64_t at_most)
{
    struct slow *slow = (struct slow *)source;
    struct bytes some = {text, ++slow->pulls % 100 == 0 ? 10 : 0};

    (void)at_most;
    return (struct piece){.state = slow->pulls < 300 ? PIECE_MORE : PIECE_END,
                          .part = part_of_memory(some)};
}

static void keep(struct source *source)
{
    (void)source;
}

TEST(a_body_that_works_for_nothing_yet_lets_others_go_on)
{
    static struct slow slow = {
        .source = {.next = give_slowly, .destroy = keep}};
    struct source *source;
    struct piece piece;

    begin_head(0, "gzip");
    encode_add_source(&encode, &exchanges[0], &slow.source, ENCODE_UNSIZED);
    source = exchanges[0].response.source;
    assert_non_null(source);
    do {
        unsigned before = slow.pulls;

        piece = source->next(source, UINT64_MAX);
        assert_in_range(piece.state, PIECE_END, PIECE_MORE);
        /* A pull that gives something may come before one that gives
         * nothing. */
        assert_in_range(slow.pulls - before, 1, 2);
    } while (piece.state == PIECE_MORE);
    assert_int_equal(slow.pulls, 300);
    assert_int_equal(encoder.counts.bytes_in, 30);
}
