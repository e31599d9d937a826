/* link: -Wl,--wrap=sendmsg,--wrap=sendfile,--wrap=send,--wrap=malloc */
#include "unit/engine/sender_fixture.h"

/* --- Memory -------------------------------------------------------------- */

TEST(a_row_in_memory_leaves_in_one_call)
{
    add_text(0, "one ");
    add_text(1, "two ");
    response_add_memory(&exchanges[1].response, BYTES("and a half "));
    add_text(2, "three");
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_int_equal(sent, 24);
    assert_int_equal(calls, 1);
    assert_true(last_flags & MSG_NOSIGNAL);
    assert_false(last_flags & MSG_MORE);
    receive();
    assert_string_equal(got, "one two and a half three");
}

/* The end of the connection leaves in the same segment. */
TEST(the_last_row_of_a_connection_is_held_back_for_its_end)
{
    add_text(0, "one ");
    add_text(1, "two");
    exchanges[1].response.persists = false;
    assert_int_equal(step(3), SENDER_MORE);
    assert_false(last_flags & MSG_MORE);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_true(last_flags & MSG_MORE);
    assert_int_equal(calls, 2);
}

TEST(the_head_of_a_tunnel_is_not_its_end)
{
    add_text(0, "101");
    exchanges[0].response.persists = false;
    exchanges[0].is_tunnel = true;
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_false(last_flags & MSG_MORE);
}

TEST(more_parts_than_a_call_takes_leave_in_two)
{
    for (int i = 0; i < ROW_MAX; i++)
        add_text(i, "x");
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(sent, GATHERED_MAX);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_int_equal(sent, ROW_MAX - GATHERED_MAX);
}

TEST(no_more_than_the_budget_is_sent)
{
    add_text(0, "0123456789");
    add_text(1, "0123456789");
    assert_int_equal(step(7), SENDER_MORE);
    assert_int_equal(sent, 7);
    assert_int_equal(step(3), SENDER_MORE);
    assert_int_equal(sent, 3);
    assert_int_equal(step(1), SENDER_MORE);
    assert_int_equal(step(9), SENDER_DONE);
    receive();
    assert_string_equal(got, "01234567890123456789");
}

TEST(a_short_write_means_the_socket_is_full)
{
    add_text(0, "0123456789");
    room = 4;
    assert_int_equal(step(QUANTUM), SENDER_FULL);
    assert_int_equal(sent, 4);
    assert_int_equal(exchanges[0].response.bytes_left, 6);
    assert_int_equal(exchanges[0].response.bytes_sent, 4);
}

/* --- Errors -------------------------------------------------------------- */

static void assert_result_of(int err, enum sender_result expected)
{
    failure = err;
    assert_int_equal(step(QUANTUM), expected);
    assert_int_equal(sent, 0);
    failure = 0;
}

/* What passes leaves the row as it was; what does not ends it. */
static void assert_survives(uint64_t bytes)
{
    static const int passing[] = {EAGAIN, EINTR, ENOBUFS};
    static const int fatal[] = {EPIPE, ECONNRESET, EFAULT, ETIMEDOUT};

    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        assert_result_of(passing[i], SENDER_FULL);
        assert_int_equal(exchanges[0].response.bytes_left, bytes);
        assert_int_equal(exchanges[0].response.bytes_sent, 0);
    }
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        assert_result_of(fatal[i], SENDER_FAILED);
}

TEST(errors_of_sendmsg_are_told_apart)
{
    add_text(0, "text");
    assert_survives(4);
}

TEST(errors_of_sendfile_are_told_apart)
{
    response_add_file(add(0), PART_SENDFILE, file, 0, 30);
    assert_survives(30);
}

TEST(errors_of_send_are_told_apart)
{
    response_add_file(add(0), PART_READ, file, 0, 30);
    assert_survives(30);
}

/* --- Sources ------------------------------------------------------------- */

/* Each piece is given by a call of fill; NULL: that is all. A piece "!" is a
 * failure, "?" nothing until later. */
static const char *const *pieces;
static unsigned destroyed;

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    (void)text;
    if (!*pieces)
        return PIECE_END;
    if (strcmp(*pieces, "!") == 0)
        return PIECE_FAILED;
    if (strcmp(*pieces, "?") == 0) {
        pieces++;
        return PIECE_LATER;
    }
    buf_put(out, bytes_of(*pieces++));
    return PIECE_MORE;
}

static void destroy(struct text_source *text)
{
    (void)text;
    destroyed++;
}

static void add_source(int number, const char *const *all, bool is_chunked)
{
    static struct text_source text;
    struct response *response = add(number);

    pieces = all;
    destroyed = 0;
    text_source_init(&text, fill, destroy);
    response->source = is_chunked ? chunk_source_create(&text.source)
                                  : &text.source;
    assert_non_null(response->source);
    response_add_memory(response, BYTES("head "));
}

/* Steps until the row is empty; how many. */
static unsigned step_to_the_end(void)
{
    unsigned steps = 0;

    while (!list_is_empty(&row) && steps < 100) {
        assert_int_not_equal(step(QUANTUM), SENDER_FAILED);
        steps++;
    }
    receive();
    return steps;
}

TEST(a_source_is_sent_piece_by_piece)
{
    static const char *const all[] = {"one ", "two ", "three", NULL};

    add_source(0, all, false);
    assert_int_equal(step_to_the_end(), 5);
    assert_string_equal(got, "head one two three");
    response_fini(&exchanges[0].response);
    assert_int_equal(destroyed, 1);
}

TEST(pieces_of_a_source_are_framed_as_chunks)
{
    static const char *const all[] = {"one", "two and a half more", NULL};

    add_source(0, all, true);
    step_to_the_end();
    assert_string_equal(got, "head 00000003\r\none\r\n"
                             "00000013\r\ntwo and a half more\r\n"
                             "0\r\n\r\n");
}

TEST(a_source_with_nothing_yet_lets_others_go_on)
{
    static const char *const all[] = {"", "", "x", NULL};

    add_source(0, all, false);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(step(QUANTUM), SENDER_MORE);
        assert_int_equal(sent, 0);
    }
    step_to_the_end();
    assert_string_equal(got, "head x");
}

TEST(a_source_with_nothing_until_later_says_so)
{
    static const char *const all[] = {"?", "x", "?", "?", NULL};
    unsigned before;

    add_source(0, all, true);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    before = calls;
    assert_int_equal(step(QUANTUM), SENDER_LATER);
    assert_int_equal(calls, before);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(step(QUANTUM), SENDER_LATER);
    assert_int_equal(step(QUANTUM), SENDER_LATER);
    step_to_the_end();
    assert_string_equal(got, "head 00000001\r\nx\r\n0\r\n\r\n");
}

TEST(a_source_that_fails_is_broken_off)
{
    static const char *const all[] = {"x", "!"};

    add_source(0, all, true);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
    assert_int_equal(sent, 0);
}

TEST(what_waits_behind_a_source_is_sent_after_it)
{
    static const char *const all[] = {"x ", NULL};

    add_source(0, all, false);
    response_add_file(add(1), PART_SENDFILE, file, 0, 10);
    step_to_the_end();
    assert_string_equal(got, "head x 0123456789");
}

/* What is sent before it are interim responses. */
TEST(what_stands_behind_an_answer_that_is_to_come_waits_for_it)
{
    struct pending pending = {.look = NULL}; /* that is not the sender's */

    add_text(0, "one ");
    add_text(1, "interim ");
    exchanges[1].pending = &pending;
    add_text(2, "three");
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(sent, 12);
    assert_ptr_equal(row.next, &exchanges[1].list_node);
    exchanges[1].pending = NULL;
    exchanges[1].response.part_at = exchanges[1].response.part_count = 0;
    response_add_memory(&exchanges[1].response, BYTES("two "));
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    receive();
    assert_string_equal(got, "one interim two three");
}

/* --- Nothing ------------------------------------------------------------- */

TEST(an_answer_without_a_byte_is_done_at_once)
{
    add(0);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_int_equal(calls, 0);
    add(1);
    response_add_file(add(2), PART_SENDFILE, file, 0, 10);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
