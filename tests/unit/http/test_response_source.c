/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "http/response.h"

#include "unit/http/response_fixture.h"

enum { HEAD_BYTES = 6 }; /* "A: b" CRLF */

/* A response whose head has been sent; without the protocol's framing, unless
 * that is chunks. */
static void begin_with(const struct line lines[SCRIPT_MAX], bool is_chunked)
{
    restart_response();
    response.persists = true;
    head_field(&response.head, BYTES("A"), BYTES("b"));
    response_add_source(&response, begin_script(lines));
    if (is_chunked)
        frame();
    response_advance(&response, response.bytes_left);
    assert_false(response_is_done(&response));
    assert_true(response_has_more(&response));
}

#define PULL() assert_true(response_pull(&response, UINT64_MAX))

/* --- Of a length that nobody knows --------------------------------------- */

TEST(a_source_is_sent_piece_by_piece)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "001"),
                                                  SAY(END, "002")};

    begin_with(lines, false);
    PULL();
    assert_left("001");
    response_advance(&response, 2);
    assert_left("1");
    response_advance(&response, 1);
    assert_false(response_is_done(&response));
    PULL();
    assert_left("002");
    assert_false(response_is_done(&response));
    assert_false(response_has_more(&response));
    response_advance(&response, 3);
    assert_int_equal(response.body_bytes, 6);
    assert_int_equal(response.bytes_sent, HEAD_BYTES + 6);
    assert_done();
}

TEST(a_source_that_is_chunked_is_framed_piece_by_piece)
{
    static const struct line lines[SCRIPT_MAX] = {
        SAY(MORE, "00000000000000000000000001"),
        SAY(END, "00000000000000000000000002")};

    begin_with(lines, true);
    PULL();
    assert_left("0000001a\r\n00000000000000000000000001\r\n");
    response_advance(&response, response.bytes_left);
    PULL();
    assert_left("0000001a\r\n00000000000000000000000002\r\n0\r\n\r\n");
    response_advance(&response, response.bytes_left);
    assert_int_equal(response.body_bytes, 52);
    assert_done();
}

TEST(no_more_is_pulled_than_is_wished)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "abc"),
                                                  SAY(END, "de")};

    begin_with(lines, false);
    assert_true(response_pull(&response, 2));
    assert_left("ab");
    response_advance(&response, 2);
    assert_true(response_pull(&response, 2));
    assert_left("c");
    response_advance(&response, 1);
    assert_true(response_pull(&response, 2));
    assert_left("de");
    assert_false(response_has_more(&response));
    assert_int_equal(response.body_bytes, 5);
}

TEST(a_source_may_end_without_a_byte)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(END, "")};

    begin_with(lines, false);
    PULL();
    assert_left("");
    assert_done();
    restart_response();
    begin_with(lines, true);
    PULL();
    assert_left("0\r\n\r\n");
    assert_int_equal(response.body_bytes, 0);
    response_advance(&response, 5);
    assert_done();
}

/* An empty chunk would be the end of the body. */
TEST(an_empty_piece_is_no_part)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, ""), SAY(END, "1")};

    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        begin_with(lines, is_chunked);
        PULL();
        assert_left("");
        assert_int_equal(response.part_count, 0);
        assert_false(response.is_waiting);
        assert_false(response_is_done(&response));
        PULL();
        assert_left(is_chunked ? "00000001\r\n1\r\n0\r\n\r\n" : "1");
    }
}

TEST(a_source_may_have_nothing_until_later)
{
    static const struct line lines[SCRIPT_MAX] = {
        SAY(LATER, ""), SAY(LATER, "ab"), SAY(END, "001")};

    begin_with(lines, true);
    assert_int_equal(response.bytes_before, 0);
    PULL();
    assert_left("");
    assert_true(response.is_waiting);
    assert_int_equal(response.bytes_before, response.bytes_sent);
    assert_false(response_is_done(&response));
    PULL(); /* and again, behind bytes */
    assert_left("00000002\r\nab\r\n");
    assert_true(response.is_waiting);
    assert_int_equal(response.bytes_before, response.bytes_sent);
    response_advance(&response, response.bytes_left);
    PULL();
    assert_false(response.is_waiting);
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

TEST(a_source_that_fails_breaks_off)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "001"),
                                                  SAY(FAILED, "002")};

    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        begin_with(lines, is_chunked);
        PULL();
        response_advance(&response, response.bytes_left);
        assert_false(response_pull(&response, UINT64_MAX));
        assert_int_equal(script.destroyed, 0);
        response_fini(&response);
        assert_int_equal(script.destroyed, 1);
    }
}

TEST(a_source_not_sent_to_its_end_is_destroyed_all_the_same)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "1"),
                                                  SAY(MORE, "2")};

    begin_with(lines, true);
    PULL();
    response_fini(&response);
    assert_int_equal(script.destroyed, 1);
}

TEST(pieces_that_join_are_parts_of_one_pull)
{
    static const struct line lines[SCRIPT_MAX] = {
        {.state = PIECE_MORE, .text = "ab", .joins = true},
        {.state = PIECE_MORE, .text = "", .joins = true},
        SAY(MORE, "cd"),
        SAY(END, "e")};

    begin_with(lines, false);
    PULL();
    assert_left("abcd");
    assert_int_equal(response.part_count, 2);
    response_advance(&response, 3);
    assert_left("d");
}

/* --- Of a known length ---------------------------------------------------- */

static void begin_of(uint64_t length, const struct line lines[SCRIPT_MAX])
{
    restart_response();
    response.persists = true;
    response_add_source_of(&response, begin_script(lines), length);
}

TEST(a_known_length_is_said_and_frames_the_body)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "001"),
                                                  SAY(END, "002")};

    begin_of(6, lines);
    assert_left("Content-Length: 6\r\n");
    frame();
    assert_memory_equal(left().data + left().len - 23,
                        "\r\nContent-Length: 6\r\n\r\n", 23);
    response_advance(&response, response.bytes_left);
    PULL();
    assert_left("001");
    assert_int_equal(response.length_left, 3);
    response_advance(&response, 3);
    PULL();
    assert_left("002");
    response_advance(&response, 3);
    assert_true(response.persists);
    assert_int_equal(response.body_bytes, 6);
    assert_done();
}

TEST(the_end_of_a_known_length_may_come_alone)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "001"),
                                                  SAY(END, "")};

    begin_of(3, lines);
    response_advance(&response, response.bytes_left);
    PULL();
    response_advance(&response, 3);
    assert_false(response_is_done(&response));
    PULL();
    assert_done();
}

TEST(a_source_that_makes_more_than_it_said_breaks_off)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(MORE, "001"),
                                                  SAY(END, "002")};

    begin_of(5, lines);
    response_advance(&response, response.bytes_left);
    PULL();
    response_advance(&response, 3);
    assert_false(response_pull(&response, UINT64_MAX));
    assert_int_equal(response.bytes_left, 0);
}

TEST(a_source_that_makes_less_than_it_said_breaks_off)
{
    static const struct line some[SCRIPT_MAX] = {SAY(END, "001")};
    static const struct line none[SCRIPT_MAX] = {SAY(END, "")};

    begin_of(4, some);
    response_advance(&response, response.bytes_left);
    assert_false(response_pull(&response, UINT64_MAX));
    begin_of(1, none);
    response_advance(&response, response.bytes_left);
    assert_false(response_pull(&response, UINT64_MAX));
}

TEST(the_length_of_what_is_not_sent_is_said_to_head)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(END, "001002")};

    response.is_head = response.persists = true;
    response_add_source_of(&response, begin_script(lines), 1234);
    assert_left("Content-Length: 1234\r\n");
    assert_null(response.source);
    assert_int_equal(script.pulls, 0);
    assert_int_equal(script.destroyed, 1);
    response_advance(&response, response.bytes_left);
    assert_true(response_is_done(&response));
}

TEST(without_a_head_there_is_no_source)
{
    static const struct line lines[SCRIPT_MAX] = {SAY(END, "001")};

    for (int has_length = 0; has_length < 2; has_length++) {
        restart_response();
        response.persists = response.head.failed = true;
        if (has_length)
            response_add_source_of(&response, begin_script(lines), 3);
        else
            response_add_source(&response, begin_script(lines));
        assert_left("");
        frame();
        assert_left("");
        assert_null(response.source);
        assert_int_equal(script.destroyed, 1);
        assert_true(response_is_done(&response));
        assert_false(response.persists);
    }
}

/* --- With a trailer ------------------------------------------------------- */

TEST(a_trailer_follows_the_last_chunk)
{
    static const struct line lines[SCRIPT_MAX] = {
        {.state = PIECE_END, .text = "001", .trailer = "A: b\r\nC: d\r\n"}};
    static const struct line bare[SCRIPT_MAX] = {SAY(END, "001")};

    begin_with(lines, true);
    PULL();
    assert_left("00000003\r\n001\r\n0\r\nA: b\r\nC: d\r\n");
    assert_int_equal(response.part_count, RESPONSE_PARTS_INLINE);
    assert_int_equal(response.body_bytes, 3);
    response_advance(&response, response.bytes_left);
    PULL();
    assert_left("\r\n");
    assert_true(response.has_ended);
    begin_with(bare, true);
    PULL();
    assert_left("00000003\r\n001\r\n0\r\n\r\n");
}

TEST(without_chunks_there_is_no_trailer)
{
    static const struct line lines[SCRIPT_MAX] = {
        {.state = PIECE_END, .text = "001", .trailer = "A: b\r\n"}};

    begin_with(lines, false);
    PULL();
    assert_left("001");
}

/* --- What is lent in a pipe ---------------------------------------------- */

static const struct line piped[SCRIPT_MAX] = {{.state = PIECE_MORE, .pipe = 7},
                                              {.state = PIECE_END, .pipe = 7}};

TEST(a_pipe_is_lent_as_memory_is)
{
    begin_of(14, piped);
    response_advance(&response, response.bytes_left);
    PULL();
    assert_left("#######");
    assert_int_equal(response.parts[0].kind, PART_PIPE);
    assert_int_equal(response.parts[0].fd, 42);
    assert_int_equal(response.length_left, 7);
    assert_int_equal(response.body_bytes, 7);
    response_advance(&response, 7);
    PULL();
    assert_int_equal(response.length_left, 0);
    /* It is not closed before all of it has been sent. */
    assert_false(response_has_more(&response));
    assert_non_null(response.source);
    assert_int_equal(script.destroyed, 0);
    response_advance(&response, 7);
    assert_done();
}

TEST(what_is_in_a_pipe_may_be_a_chunk)
{
    begin_with(piped, true);
    PULL();
    assert_left("00000007\r\n#######\r\n");
    response_advance(&response, response.bytes_left);
    PULL();
    assert_left("00000007\r\n#######\r\n0\r\n\r\n");
}

TEST(no_more_is_lent_than_was_said)
{
    begin_of(6, piped);
    response_advance(&response, response.bytes_left);
    assert_false(response_pull(&response, UINT64_MAX));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
