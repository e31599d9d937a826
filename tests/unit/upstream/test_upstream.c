/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "upstream/upstream.h"

#include <sys/epoll.h>
#include <sys/syscall.h>

#include "unit/draw.h"
#include "unit/upstream/upstream_fixture.h"

/* --- Counted: libev finds this one before the C library's ---------------- */

static unsigned epoll_calls;

int epoll_ctl(int epoll_fd, int how, int fd, struct epoll_event *event)
{
    epoll_calls++;
    return (int)syscall(SYS_epoll_ctl, epoll_fd, how, fd, event);
}

/* --- Helpers ------------------------------------------------------------- */

/* As many at once, from the first listener; fds_out: their other ends. */
static void start_many(struct asker *askers, int *fds_out, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        start_open(&askers[i]);
        fds_out[i] = accept_at(0);
    }
}

static void close_all(const int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        close(fds[i]);
}

/* --- Reuse --------------------------------------------------------------- */

TEST(a_released_one_serves_the_next)
{
    struct asker first, second;
    int fd, end;

    start_with_one();
    start_open(&first);
    fd = upstream_fd(first.lease.upstream);
    end = accept_at(0);
    assert_false(first.lease.is_reused);
    exchange(&first, end);
    release(&first);
    assert_null(first.lease.upstream);
    assert_int_equal(idle_count(0), 1);
    start(&second);
    assert_int_equal(second.opened, 1);
    assert_true(second.lease.is_reused);
    assert_int_equal(upstream_fd(second.lease.upstream), fd);
    assert_int_equal(idle_count(0), 0);
    exchange(&second, end);
    release(&second);
    assert_int_equal(counts[0].connects, 1);
    assert_int_equal(counts[0].reuses, 1);
    assert_int_equal(counts[0].requests, 2);
    close(end);
}

TEST(its_whole_life_takes_one_epoll_ctl)
{
    struct asker asker;
    int end;

    start_with_one();
    epoll_calls = 0;
    start_open(&asker);
    end = accept_at(0);
    for (int i = 0; i < 10; i++) {
        exchange(&asker, end);
        release(&asker);
        turn();
        start_open(&asker);
    }
    assert_int_equal(counts[0].connects, 1);
    assert_int_equal(epoll_calls, 1);
    upstream_lease_cancel(&asker.lease);
    close(end);
}

TEST(the_newest_idle_one_is_taken_first)
{
    struct asker askers[3];
    int ends[3];
    int fd;

    start_with_one();
    start_many(askers, ends, 3);
    fd = upstream_fd(askers[1].lease.upstream);
    release(&askers[0]);
    release(&askers[2]);
    release(&askers[1]);
    start_open(&askers[0]);
    assert_int_equal(upstream_fd(askers[0].lease.upstream), fd);
    release(&askers[0]);
    close_all(ends, 3);
}

TEST(of_more_than_idle_max_the_oldest_is_closed)
{
    struct asker askers[IDLE_MAX + 1];
    int ends[IDLE_MAX + 1];

    start_with_one();
    start_many(askers, ends, IDLE_MAX + 1);
    for (unsigned i = 0; i < IDLE_MAX; i++)
        release(&askers[i]);
    assert_int_equal(idle_count(0), IDLE_MAX);
    release(&askers[IDLE_MAX]);
    assert_int_equal(idle_count(0), IDLE_MAX);
    assert_true(is_ended(ends[0]));
    close_all(ends, IDLE_MAX + 1);
}

TEST(with_an_idle_max_of_0_none_is_kept)
{
    struct asker asker;
    int end;

    options.idle_max = 0;
    end = open_one(&asker);
    release(&asker);
    assert_int_equal(idle_count(0), 0);
    assert_true(is_ended(end));
    close(end);
}

TEST(one_that_is_not_reusable_is_closed)
{
    struct asker asker;
    int end = open_one(&asker);

    upstream_release(&asker.lease, false, 0, BALANCE_SUCCESS);
    assert_true(is_ended(end));
    assert_int_equal(idle_count(0), 0);
    assert_int_equal(played.given[BALANCE_SUCCESS], 1);
    close(end);
}

TEST(after_requests_max_it_is_closed)
{
    struct asker asker;
    int end;

    options.requests_max = 3;
    end = open_one(&asker);
    for (int i = 1; i < 3; i++) {
        release(&asker);
        start_open(&asker);
        assert_true(asker.lease.is_reused);
    }
    release(&asker);
    assert_int_equal(idle_count(0), 0);
    assert_true(is_ended(end));
    close(end);
    start_open(&asker);
    assert_false(asker.lease.is_reused);
    upstream_lease_cancel(&asker.lease);
}

/* --- In use -------------------------------------------------------------- */

TEST(nothing_is_told_while_it_is_paused)
{
    struct asker asker;
    int end = open_one(&asker);

    upstream_pause(&asker.lease);
    assert_int_equal(send(end, "x", 1, 0), 1);
    turn();
    assert_int_equal(asker.readable, 0);
    upstream_resume(&asker.lease);
    AWAIT(asker.readable > 0);
    upstream_pause(&asker.lease);
    asker.readable = 0;
    close(end);
    turn();
    assert_int_equal(asker.readable, 0);
    upstream_lease_cancel(&asker.lease);
}

TEST(one_released_while_paused_is_watched_again)
{
    struct asker asker;
    int end = open_one(&asker);

    upstream_pause(&asker.lease);
    turn();
    release(&asker);
    close(end);
    AWAIT(idle_count(0) == 0);
}

TEST(room_to_write_is_told_once)
{
    static char bytes[65536];
    struct asker asker;
    int end = open_one(&asker);

    while (send(upstream_fd(asker.lease.upstream), bytes, sizeof(bytes), 0) > 0)
        continue;
    assert_int_equal(errno, EAGAIN);
    upstream_wait_writable(&asker.lease);
    turn();
    assert_int_equal(asker.writable, 0);
    while (asker.writable == 0) {
        assert_true(recv(end, bytes, sizeof(bytes), 0) > 0);
        ev_run(loop, EVRUN_NOWAIT);
    }
    turn();
    assert_int_equal(asker.writable, 1);
    upstream_lease_cancel(&asker.lease);
    close(end);
}

TEST(one_released_while_waiting_for_room_tells_nothing)
{
    struct asker asker;
    int end = open_one(&asker);

    upstream_wait_writable(&asker.lease);
    release(&asker);
    turn();
    assert_int_equal(asker.writable, 0);
    assert_int_equal(idle_count(0), 1);
    close(end);
}

TEST(its_end_is_readable)
{
    struct asker asker;
    char byte;

    start_with_one();
    start_open(&asker);
    close(accept_at(0));
    AWAIT(asker.readable > 0);
    assert_int_equal(recv(upstream_fd(asker.lease.upstream), &byte, 1, 0), 0);
    upstream_release(&asker.lease, false, 0, BALANCE_FAILURE);
    assert_int_equal(counts[0].failures, 1);
    assert_int_equal(played.given[BALANCE_FAILURE], 1);
}

/* The kernel has no memory to watch it: libev says so by EV_ERROR. */
TEST(one_that_cannot_be_watched_is_found_closed)
{
    struct asker asker;
    char byte;
    int end;

    start_with_one();
    for (int i = 0; i < 2; i++) {
        start_open(&asker);
        end = accept_at(0);
        ev_feed_event(loop,
                      i == 0 ? &asker.lease.upstream->reading
                             : &asker.lease.upstream->writing,
                      EV_ERROR);
        turn();
        assert_true(asker.readable + asker.writable > 0);
        assert_int_equal(recv(upstream_fd(asker.lease.upstream), &byte, 1, 0),
                         0);
        upstream_lease_cancel(&asker.lease);
        close(end);
    }
    start_open(&asker);
    release(&asker);
    ev_feed_event(loop,
                  &OWNER_OF(pool->servers[0].idle.next, struct upstream,
                            list_node)
                       ->reading,
                  EV_ERROR);
    turn();
    assert_int_equal(idle_count(0), 0);
}

static void cancel_in_and_then(struct asker *asker)
{
    upstream_lease_cancel(&asker->lease);
    upstream_lease_cancel(&asker->lease);
    memset(asker, 0x55, sizeof(*asker)); /* as if it were freed */
}

TEST(an_ask_may_end_in_any_of_its_callbacks)
{
    struct asker asker;
    int end;

    start_with_one();
    start_open(&asker); /* when it can be read */
    end = accept_at(0);
    asker.and_then = cancel_in_and_then;
    send(end, "x", 1, 0);
    close(end);
    AWAIT(played.given[BALANCE_NEITHER] == 1);
    start_open(&asker); /* when it can be written */
    asker.and_then = cancel_in_and_then;
    upstream_wait_writable(&asker.lease);
    AWAIT(played.given[BALANCE_NEITHER] == 2);
    asker = make_asker(); /* when it is open, at once */
    asker.and_then = cancel_in_and_then;
    upstream_lease_start(pool, &asker.lease);
    assert_int_equal(played.given[BALANCE_NEITHER], 3);
    calls.is_late = true; /* and from the loop */
    asker = make_asker();
    asker.and_then = cancel_in_and_then;
    upstream_lease_start(pool, &asker.lease);
    AWAIT(played.given[BALANCE_NEITHER] == 4);
}

/* --- Other addresses ----------------------------------------------------- */

TEST(idle_ones_to_addresses_that_are_gone_are_closed)
{
    struct asker asker;
    int end;

    start_with_one();
    listen_at(1, 8);
    start_open(&asker);
    end = accept_at(0);
    release(&asker);
    know_listener(0, 1);
    tell_change(0); /* one more */
    assert_int_equal(idle_count(0), 1);
    names[0].addresses[0] = names[0].addresses[1];
    names[0].count = 1;
    tell_change(0);
    assert_int_equal(idle_count(0), 0);
    assert_true(is_ended(end));
    close(end);
    start_open(&asker);
    close(accept_at(1));
    upstream_lease_cancel(&asker.lease);
}

TEST(those_in_use_are_closed_when_that_is_over)
{
    struct asker stays, goes;
    int ends[2];

    start_with_one();
    listen_at(1, 8);
    start_open(&goes);
    ends[0] = accept_at(0);
    names[0].count = 0;
    know_listener(0, 1);
    tell_change(0);
    start_open(&stays);
    ends[1] = accept_at(1);
    exchange(&goes, ends[0]);
    release(&goes);
    assert_true(is_ended(ends[0]));
    tell_change(0);
    release(&stays);
    assert_int_equal(idle_count(0), 1);
    close_all(ends, 2);
}

/* --- All of it ----------------------------------------------------------- */

enum { ASKERS = 24, STEPS = 4000 };

/* Asks, answers, ends and closings at random: at each time there are as many
 * connections as are in use or idle, and none is with two askers. */
TEST(any_order_of_events_leaves_nothing_behind)
{
    static struct asker askers[ASKERS];
    static int ends[ASKERS + IDLE_MAX];
    unsigned end_count = 0;

    draw_seed = 7;
    start_with_one();
    memset(askers, 0, sizeof(askers));
    for (unsigned step = 0; step < STEPS; step++) {
        struct asker *asker = &askers[draw(ASKERS)];
        unsigned used = 0;

        if (!asker->lease.upstream) {
            bool is_reused;

            start_open(asker);
            is_reused = asker->lease.is_reused;
            if (!is_reused && end_count < ASKERS + IDLE_MAX)
                ends[end_count++] = accept_at(0);
            else if (!is_reused)
                close(accept_at(0));
        } else if (draw(4) == 0) {
            upstream_lease_cancel(&asker->lease);
        } else {
            upstream_release(&asker->lease, draw(4) != 0, draw(3) * 1000,
                             BALANCE_SUCCESS);
        }
        if (end_count > 0 && draw(8) == 0)
            close(ends[--end_count]);
        if (draw(4) == 0)
            turn();
        if (draw(16) == 0)
            pass_ms(draw(2000));
        for (unsigned i = 0; i < ASKERS; i++)
            used += askers[i].lease.upstream != NULL;
        assert_int_equal(played.active[0], used);
        assert_true(idle_count(0) <= IDLE_MAX);
        /* Of ours and theirs and the listener. */
        assert_int_equal(place_count_fds() - fds_before,
                         1 + used + idle_count(0) + end_count);
    }
    for (unsigned i = 0; i < ASKERS; i++)
        upstream_lease_cancel(&askers[i].lease);
    close_all(ends, end_count);
}

TEST(in_a_steady_state_no_memory_is_asked_for)
{
    struct asker asker;

    start_with_one();
    start_open(&asker);
    close(accept_at(0));
    upstream_lease_cancel(&asker.lease);
    allocations_left = 0;
    for (int i = 0; i < 10; i++) {
        start_open(&asker);
        close(accept_at(0));
        upstream_release(&asker.lease, i % 2 == 0, 0, BALANCE_SUCCESS);
        turn();
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
