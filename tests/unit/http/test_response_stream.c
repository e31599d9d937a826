/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/response.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "response_fixture.h"

static void begin_stream(int pieces, int digits, bool is_chunked)
{
    response_fini(&response);
    response_init(&response);
    response.is_chunked = is_chunked;
    response.persists = true;
    head_field(&response.head, BYTES("A"), BYTES("b"));
    response_add_head(&response);
    add_stream(pieces, digits);
    response_advance(&response, response.bytes_left);
    assert_false(response_is_done(&response));
}

static void a_stream_is_sent_piece_by_piece(void **state)
{
    (void)state;
    begin_stream(2, 3, false);
    assert_true(response_refill(&response));
    assert_left("001");
    response_advance(&response, 2);
    assert_left("1");
    response_advance(&response, 1);
    assert_false(response_is_done(&response));
    assert_true(response_refill(&response));
    assert_left("002");
    assert_false(response_is_done(&response));
    response_advance(&response, 3);
    assert_true(response_is_done(&response));
    assert_int_equal(counter.destroyed, 1);
    assert_int_equal(response.body_bytes, 6);
    assert_int_equal(response.head_bytes, strlen("A: b\r\n\r\n"));
    assert_int_equal(response.bytes_sent, 6 + strlen("A: b\r\n\r\n"));
}

static void a_chunked_stream_is_framed_piece_by_piece(void **state)
{
    (void)state;
    begin_stream(2, 26, true);
    assert_true(response_refill(&response));
    assert_left("0000001a\r\n00000000000000000000000001\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    assert_left("0000001a\r\n00000000000000000000000002\r\n0\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
    assert_int_equal(counter.destroyed, 1);
    assert_int_equal(response.body_bytes, 52);
}

static void a_stream_may_end_without_a_byte(void **state)
{
    (void)state;
    begin_stream(0, 1, false);
    assert_true(response_refill(&response));
    assert_left("");
    assert_true(response_is_done(&response));
    begin_stream(0, 1, true);
    assert_true(response_refill(&response));
    assert_left("0\r\n\r\n");
    assert_int_equal(response.body_bytes, 0);
    assert_int_equal(counter.destroyed, 1);
}

/* An empty chunk would be the end of the body. */
static void an_empty_piece_is_no_chunk(void **state)
{
    (void)state;
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        begin_stream(0, 1, is_chunked);
        counter.failure = 1; /* more will follow, but nothing yet */
        assert_true(response_refill(&response));
        assert_left("");
        assert_false(response_is_done(&response));
        counter.failure = 0;
        counter.pieces = 1;
        assert_true(response_refill(&response));
        assert_left(is_chunked ? "00000001\r\n1\r\n0\r\n\r\n" : "1");
        response_fini(&response);
    }
}

static void a_stream_may_have_nothing_until_later(void **state)
{
    (void)state;
    begin_stream(1, 3, true);
    counter.pieces = 0;
    counter.failure = STREAM_LATER;
    assert_true(response_refill(&response));
    assert_left("");
    assert_true(response.is_waiting);
    assert_int_equal(response.bytes_before, response.bytes_sent);
    assert_false(response_is_done(&response));
    counter.pieces = 1;
    counter.failure = 0;
    assert_true(response_refill(&response));
    assert_false(response.is_waiting);
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

static void a_stream_that_fails_breaks_off(void **state)
{
    (void)state;
    begin_stream(5, 3, true);
    assert_true(response_refill(&response));
    response_advance(&response, response.bytes_left);
    counter.failure = -1;
    assert_false(response_refill(&response));
    assert_int_equal(counter.destroyed, 0);
    response_fini(&response);
    assert_int_equal(counter.destroyed, 1);
}

static void a_full_piece_fits_with_its_frame(void **state)
{
    (void)state;
    begin_stream(1, RESPONSE_STREAM_BYTES - 1, true);
    allocations = 0;
    assert_true(response_refill(&response));
    assert_int_equal(allocations, 1); /* room is made once, not twice */
    assert_int_equal(response.bytes_left,
                     10 + RESPONSE_STREAM_BYTES - 1 + 2 + 5);
    assert_memory_equal(left().data, "00003fff\r\n0", 11);
}

static void a_piece_over_the_ceiling_breaks_off(void **state)
{
    (void)state;
    begin_stream(1, RESPONSE_HEAD_BYTES_MAX, true);
    assert_false(response_refill(&response));
}

static void no_memory_for_a_piece_breaks_off(void **state)
{
    (void)state;
    begin_stream(1, 1, true);
    has_memory = false;
    assert_false(response_refill(&response));
    response_fini(&response);
    assert_int_equal(counter.destroyed, 1);
}

static void a_stream_not_sent_to_its_end_is_destroyed_all_the_same(void **state)
{
    (void)state;
    begin_stream(9, 1, true);
    assert_true(response_refill(&response));
    response_fini(&response);
    assert_int_equal(counter.destroyed, 1);
}

/* --- Of a known length ---------------------------------------------------- */

static void begin_stream_of(uint64_t length, int pieces, int digits)
{
    response_fini(&response);
    response_init(&response);
    response.persists = true;
    add_stream(pieces, digits);
    response_add_stream_of(&response, &counter.stream, length);
}

static void a_known_length_is_said_and_frames_the_body(void **state)
{
    (void)state;
    begin_stream_of(6, 2, 3);
    assert_left("Content-Length: 6\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    assert_left("001");
    response_advance(&response, 3);
    assert_true(response_refill(&response));
    assert_left("002");
    response_advance(&response, 3);
    assert_true(response_is_done(&response));
    assert_true(response.persists);
    assert_int_equal(response.body_bytes, 6);
    assert_int_equal(counter.destroyed, 1);
}

static void a_known_length_serves_a_client_of_http10_that_goes_on(void **state)
{
    (void)state;
    response.persists = response.is_http10 = true;
    response_add_stream_of(&response, NULL, 0);
    assert_left("Content-Length: 0\r\nConnection: keep-alive\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

static void a_stream_that_makes_more_than_it_said_breaks_off(void **state)
{
    (void)state;
    begin_stream_of(5, 2, 3);
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    response_advance(&response, 3);
    assert_false(response_refill(&response));
    assert_int_equal(response.bytes_left, 0);
}

static void a_stream_that_makes_less_than_it_said_breaks_off(void **state)
{
    (void)state;
    begin_stream_of(4, 1, 3);
    response_advance(&response, response.bytes_left);
    assert_false(response_refill(&response));
    begin_stream_of(1, 0, 1);
    response_advance(&response, response.bytes_left);
    assert_false(response_refill(&response));
}

static void the_length_of_what_is_not_sent_is_said_to_head(void **state)
{
    (void)state;
    response.is_head = response.persists = true;
    add_stream(2, 3);
    response.stream = NULL; /* not yet */
    response_add_stream_of(&response, &counter.stream, 1234);
    assert_left("Content-Length: 1234\r\n\r\n");
    assert_int_equal(counter.destroyed, 1);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

/* --- With a trailer ------------------------------------------------------- */

static void a_trailer_follows_the_last_chunk(void **state)
{
    (void)state;
    begin_stream(1, 3, true);
    response.trailer = BYTES("A: b\r\nC: d\r\n");
    assert_true(response_refill(&response));
    assert_left("00000003\r\n001\r\n0\r\nA: b\r\nC: d\r\n\r\n");
    begin_stream(1, 3, true);
    assert_true(response_refill(&response));
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

static void without_chunks_there_is_no_trailer(void **state)
{
    (void)state;
    begin_stream(1, 3, false);
    response.trailer = BYTES("A: b\r\n");
    assert_true(response_refill(&response));
    assert_left("001");
}

/* Of an answer that has all but its framing. */
static void add_to_head(void)
{
    response.persists = true;
    head_field(&response.head, BYTES("A"), BYTES("b"));
    add_stream(1, 3);
    response.stream = NULL;
    response_add_stream(&response, &counter.stream);
}

static void a_stream_goes_in_chunks_and_the_connection_stays(void **state)
{
    (void)state;
    add_to_head();
    assert_left("A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_true(response.persists);
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

static void to_http10_a_stream_ends_with_the_connection(void **state)
{
    (void)state;
    response.is_http10 = true;
    add_to_head();
    assert_left("A: b\r\nConnection: close\r\n\r\n");
    assert_false(response.persists);
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    assert_left("001");
}

static void head_says_the_framing_and_has_no_stream(void **state)
{
    (void)state;
    response.is_head = true;
    add_to_head();
    assert_left("A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_null(response.stream);
    assert_int_equal(counter.fills, 0);
    assert_int_equal(counter.destroyed, 1);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

static void head_needs_no_stream(void **state)
{
    (void)state;
    response.is_head = true;
    response.persists = true;
    response_add_stream(&response, NULL);
    assert_left("Transfer-Encoding: chunked\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

static void without_a_head_there_is_no_stream(void **state)
{
    (void)state;
    response.head.failed = true;
    add_to_head();
    assert_left("");
    assert_null(response.stream);
    assert_int_equal(counter.destroyed, 1);
}

/* --- What is lent in a pipe ----------------------------------------------------- */

/* Lends seven bytes of a pipe with that number, twice. */
static int fill_pipe(struct stream *stream, struct buf *out)
{
    struct counter *of = OWNER_OF(stream, struct counter, stream);

    (void)out;
    response.lent = (struct bytes){NULL, 7};
    response.lent_pipe = 42;
    return ++of->fills < 2 ? STREAM_MORE : STREAM_END;
}

static void begin_pipe(bool is_chunked)
{
    begin_stream(0, 0, is_chunked);
    counter.stream.fill = fill_pipe;
    counter.stream.lends = true;
}

static void a_pipe_is_lent_as_memory_is(void **state)
{
    (void)state;
    begin_pipe(false);
    response.has_length = true;
    response.length_left = 14;
    assert_true(response_refill(&response));
    assert_left("#######");
    assert_int_equal(response.parts[0].kind, PART_PIPE);
    assert_int_equal(response.parts[0].fd, 42);
    assert_int_equal(response.length_left, 7);
    assert_int_equal(response.body_bytes, 7);
    response_advance(&response, 7);
    assert_true(response_refill(&response));
    assert_int_equal(response.length_left, 0);
    /* It is not closed before all of it has been sent. */
    assert_null(response.stream);
    assert_int_equal(counter.destroyed, 0);
    response_advance(&response, 7);
    assert_true(response_is_done(&response));
}

static void what_is_in_a_pipe_may_be_a_chunk(void **state)
{
    (void)state;
    begin_pipe(true);
    assert_true(response_refill(&response));
    assert_left("00000007\r\n#######\r\n");
    response_advance(&response, response.bytes_left);
    assert_true(response_refill(&response));
    assert_left("00000007\r\n#######\r\n0\r\n\r\n");
}

static void no_more_is_lent_than_was_said(void **state)
{
    (void)state;
    begin_pipe(false);
    response.has_length = true;
    response.length_left = 6;
    assert_false(response_refill(&response));
}

int main(void)
{
#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FRESH(a_stream_is_sent_piece_by_piece),
        FRESH(a_chunked_stream_is_framed_piece_by_piece),
        FRESH(a_stream_may_end_without_a_byte),
        FRESH(an_empty_piece_is_no_chunk),
        FRESH(a_stream_may_have_nothing_until_later),
        FRESH(a_stream_that_fails_breaks_off),
        FRESH(a_full_piece_fits_with_its_frame),
        FRESH(a_piece_over_the_ceiling_breaks_off),
        FRESH(no_memory_for_a_piece_breaks_off),
        FRESH(a_stream_not_sent_to_its_end_is_destroyed_all_the_same),
        FRESH(a_known_length_is_said_and_frames_the_body),
        FRESH(a_known_length_serves_a_client_of_http10_that_goes_on),
        FRESH(a_stream_that_makes_more_than_it_said_breaks_off),
        FRESH(a_stream_that_makes_less_than_it_said_breaks_off),
        FRESH(the_length_of_what_is_not_sent_is_said_to_head),
        FRESH(a_trailer_follows_the_last_chunk),
        FRESH(without_chunks_there_is_no_trailer),
        FRESH(a_stream_goes_in_chunks_and_the_connection_stays),
        FRESH(to_http10_a_stream_ends_with_the_connection),
        FRESH(head_says_the_framing_and_has_no_stream),
        FRESH(head_needs_no_stream),
        FRESH(without_a_head_there_is_no_stream),
        FRESH(a_pipe_is_lent_as_memory_is),
        FRESH(what_is_in_a_pipe_may_be_a_chunk),
        FRESH(no_more_is_lent_than_was_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
