/* link: -Wl,--wrap=sendmsg,--wrap=sendfile,--wrap=send,--wrap=malloc */
/* link: -Wl,--wrap=splice */

#include "unit/engine/sender_fixture.h"
#include "wrap.h"

static int ends[2];

WRAP(ssize_t, splice, int from, off_t *from_at, int to, off_t *to_at,
     size_t count, unsigned flags)
{
    last_flags = (int)flags;
    count = admit(count);
    return count > 0 ? __real_splice(from, from_at, to, to_at, count, flags)
                     : -1;
}

static int set_up_pipe(void **state)
{
    return set_up(state) == 0 ? pipe2(ends, O_NONBLOCK | O_CLOEXEC) : -1;
}

static int tear_down_pipe(void **state)
{
    close(ends[0]);
    close(ends[1]);
    return tear_down(state);
}

static void add_piped(int number, const char *text)
{
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    response_add_file(add(number), PART_PIPE, ends[0], 0, strlen(text));
}

TEST(what_is_in_a_pipe_is_sent)
{
    add_text(0, "head ");
    add_piped(1, "from a pipe");
    add_text(2, " tail");
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_true(last_flags & MSG_MORE); /* the head shares its segment */
    assert_int_equal(step(QUANTUM), SENDER_MORE);
    assert_int_equal(sent, 11);
    assert_false(last_flags & (int)SPLICE_F_MORE);
    assert_true(last_flags & (int)SPLICE_F_NONBLOCK);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    receive();
    assert_string_equal(got, "head from a pipe tail");
}

TEST(no_more_of_a_pipe_is_sent_than_its_part_or_the_budget)
{
    struct response *response = &exchanges[0].response;
    char rest[8];

    add_piped(0, "0123456789");
    assert_int_equal(write(ends[1], "next", 4), 4); /* not lent yet */
    assert_int_equal(step(6), SENDER_MORE);
    assert_int_equal(sent, 6);
    assert_true(last_flags & (int)SPLICE_F_MORE);
    assert_int_equal(response->bytes_left, 4);
    assert_int_equal(response->bytes_sent, 6);
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    assert_int_equal(sent, 4);
    receive();
    assert_string_equal(got, "0123456789");
    assert_int_equal(read(ends[0], rest, sizeof(rest)), 4);
}

TEST(a_full_socket_takes_the_rest_of_a_pipe_later)
{
    add_piped(0, "0123456789");
    room = 3;
    assert_int_equal(step(QUANTUM), SENDER_FULL);
    assert_int_equal(sent, 3);
    assert_int_equal(step(QUANTUM), SENDER_FULL); /* EAGAIN */
    assert_int_equal(sent, 0);
    failure = EINTR;
    assert_int_equal(step(QUANTUM), SENDER_FULL);
    failure = 0;
    room = ENDLESS;
    assert_int_equal(step(QUANTUM), SENDER_DONE);
    receive();
    assert_string_equal(got, "0123456789");
}

TEST(a_client_that_is_gone_ends_the_response)
{
    add_piped(0, "0123456789");
    failure = EPIPE;
    assert_int_equal(step(QUANTUM), SENDER_FAILED);
    assert_int_equal(sent, 0);
}

SUITE(.each_begin = set_up_pipe, .each_end = tear_down_pipe);
