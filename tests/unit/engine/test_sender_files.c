/* link: -Wl,--wrap=sendmsg,--wrap=sendfile,--wrap=send,--wrap=malloc */
#include "unit/engine/sender_fixture.h"

enum { DATE_AT = 23, DATE_LEN = 29 };

/* --- Files --------------------------------------------------------------- */

static void add_file_response(int number, enum part_kind kind)
{
    struct response *response = add(number);

    response_add_memory(response, BYTES("head "));
    response_add_file(response, kind, file, 10, 15);
    response->origin = origin;
}

TEST(a_head_is_held_back_for_the_file_behind_it)
{
    add_text(0, "before ");
    add_file_response(1, PART_SENDFILE);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(sent, 12);
    assert_true(last_flags & MSG_MORE);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    receive();
    assert_string_equal(got, "before head abcdefghijklmno");
}

TEST(a_head_that_uses_up_the_budget_is_not_held_back)
{
    add_file_response(0, PART_SENDFILE);
    assert_int_equal(step(5), SENDER_MORE);
    assert_false(last_flags & MSG_MORE);
}

TEST(a_file_is_sent_in_pieces_of_the_budget)
{
    static const enum part_kind kinds[] = {PART_SENDFILE, PART_READ};

    for (int i = 0; i < 2; i++) {
        response_add_file(add(i), kinds[i], file, 0, 30);
        assert_int_equal(step(11), SENDER_MORE);
        assert_int_equal(sent, 11);
        assert_int_equal(step(11), SENDER_MORE);
        assert_int_equal(step(11), SENDER_DONE);
        assert_int_equal(sent, 8);
    }
    receive();
    assert_int_equal(got_len, 60);
    assert_memory_equal(got, "0123456789abcdefghijklmnopqrst", 30);
    assert_memory_equal(got + 30, got, 30);
}

TEST(a_file_read_in_one_go_is_no_larger_than_the_quantum)
{
    assert_int_equal(truncate(place_path(&place, "file"), 3 * QUANTUM), 0);
    response_add_file(add(0), PART_READ, file, 0, 3 * QUANTUM);
    assert_int_equal(step(ENDLESS), SENDER_MORE);
    assert_int_equal(sent, QUANTUM);
}

/* What a socket does not take was read for nothing. */
TEST(after_a_short_piece_not_much_more_is_read)
{
    enum { LARGE = 1 << 20, LEAST = 1 << 16, TAKEN = 40000, FEW = 1000 };

    sender_fini(&sender);
    sender_init(&sender, LARGE);
    assert_int_equal(truncate(place_path(&place, "file"), 2 * LARGE), 0);
    response_add_file(add(0), PART_READ, file, 0, 2 * LARGE);
    room = TAKEN;
    assert_int_equal(step(ENDLESS), SENDER_FULL);
    assert_int_equal(last_bytes, LARGE);
    room = FEW;
    assert_int_equal(step(ENDLESS), SENDER_FULL);
    assert_int_equal(last_bytes, 2 * TAKEN);
    room = 0;
    assert_int_equal(step(ENDLESS), SENDER_FULL);
    assert_int_equal(last_bytes, LEAST);
    receive();
    room = LEAST;
    assert_int_equal(step(ENDLESS), SENDER_MORE);
    room = 0;
    assert_int_equal(step(ENDLESS), SENDER_FULL);
    assert_int_equal(last_bytes, 2 * LEAST);
}

TEST(a_file_that_was_cut_off_breaks_the_response_off)
{
    add_file_response(0, PART_SENDFILE);
    add_file_response(1, PART_READ);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(truncate(place_path(&place, "file"), 10), 0);
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
    assert_int_equal(sent, 0);
    list_drop(&exchanges[0].list_node);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
}

TEST(a_file_that_has_changed_breaks_the_response_off)
{
    add_file_response(0, PART_SENDFILE);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    is_intact = false;
    assert_int_equal(step(4), SENDER_MORE);
    assert_int_equal(step(ENDLESS), SENDER_FAILED);
    assert_int_equal(sent, 0); /* the end is never sent */
}

TEST(a_file_that_changes_with_its_last_piece_is_broken_off)
{
    add_file_response(0, PART_SENDFILE);
    assert_int_equal(step(ENDLESS), SENDER_MORE); /* the head */
    is_intact = false;
    assert_int_equal(step(ENDLESS), SENDER_FAILED);
}

TEST(origins_are_asked_before_and_after_the_last_piece)
{
    add_file_response(0, PART_SENDFILE);
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(intact_calls, 0);
    failure = EAGAIN;
    assert_int_equal(step(4), SENDER_FULL);
    assert_int_equal(intact_calls, 0);
    failure = 0;
    assert_int_equal(step(ENDLESS), SENDER_DONE);
    assert_int_equal(intact_calls, 2);
}

TEST(a_file_that_cannot_be_read_breaks_the_response_off)
{
    response_add_file(add(0), PART_READ, place.fd, 0, 30); /* EISDIR */
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
}

TEST(without_memory_to_read_into_the_response_is_broken_off)
{
    response_add_file(add(0), PART_READ, file, 0, 30);
    allocations_left = 0;
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
    allocations_left = -1;
}

/* --- Heads of cached entries --------------------------------------------- */

static char block[] =
    "HTTP/1.1 200 OK\r\nDate: AAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
    "X: y\r\n\r\nbody of it";

static void set_date(char c)
{
    memset(block + DATE_AT, c, DATE_LEN);
}

/* As a handler lays out an answer from a cache: all in one piece; or head,
 * its end and a file. */
static void add_cached(int number, bool in_one_piece)
{
    struct response *response = add(number);
    struct bytes whole = BYTES(block);
    size_t head = whole.len - BYTES("\r\nbody of it").len;

    if (in_one_piece) {
        response->head_bytes = (uint32_t)head + 2;
        response_add_memory(response, whole);
    } else {
        response_add_memory(response, (struct bytes){block, head});
        response_add_memory(response, BYTES("Connection: close\r\n\r\n"));
        response->head_bytes = (uint32_t)response->bytes_left;
        response_add_file(response, PART_SENDFILE, file, 0, 10);
    }
    response->origin = origin;
}

/* Three exchanges of different kinds; how long all is. */
static uint64_t make_row(void)
{
    uint64_t bytes = 0;

    list_init(&row);
    for (int i = 0; i < 3; i++) {
        response_fini(&exchanges[i].response);
        response_init(&exchanges[i].response, &exchanges[i].room.response);
        if (i == 2)
            add_file_response(i, PART_READ);
        else
            add_cached(i, i == 0);
        bytes += exchanges[i].response.bytes_left;
    }
    got_len = 0;
    return bytes;
}

/* Sends it all, in slices the socket takes of at most most bytes. */
static void send_all(size_t most)
{
    for (int steps = 0; !list_is_empty(&row); steps++) {
        assert_true(steps < 100000);
        room = most;
        assert_int_not_equal(step(QUANTUM), SENDER_FAILED);
        receive();
    }
}

TEST(slices_of_any_length_give_the_same_stream)
{
    static char expected[RECEIVED_MAX];
    uint64_t bytes = make_row();

    set_date('A');
    send_all(ENDLESS);
    assert_int_equal(got_len, bytes);
    memcpy(expected, got, got_len + 1);
    for (size_t most = 1; most < bytes; most++) {
        make_row();
        send_all(most);
        assert_string_equal(got, expected);
    }
}

/* Of a text that may have changed its date meanwhile: one date in all. */
static char date_in(const char *head)
{
    const char *date = head + DATE_AT;

    for (int i = 1; i < DATE_LEN; i++)
        assert_int_equal(date[i], date[0]);
    return date[0];
}

TEST(a_head_half_sent_keeps_its_date)
{
    uint64_t bytes = make_row();
    uint64_t first = exchanges[0].response.bytes_left;

    for (size_t taken = 1; taken < bytes; taken++) {
        set_date('A');
        make_row();
        for (room = taken; room > 0;)
            assert_int_not_equal(step(QUANTUM), SENDER_FAILED);
        set_date('B');
        send_all(ENDLESS);
        assert_int_equal(got_len, bytes);
        assert_int_equal(date_in(got), 'A');
        assert_int_equal(date_in(got + first), taken > first ? 'A' : 'B');
    }
}

TEST(without_memory_to_keep_a_head_the_response_is_broken_off)
{
    static char long_head[RESPONSE_HEAD_INLINE + 100];
    struct response *response = add(0);

    response->head_bytes = sizeof(long_head);
    response->origin = origin;
    response_add_memory(response, (struct bytes){long_head, sizeof(long_head)});
    room = 1;
    allocations_left = 0;
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
    allocations_left = -1;
}

SUITE(.each_begin = set_up, .each_end = tear_down);
