/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "unit/upstream/upstream_fixture.h"

TEST(an_idle_one_is_closed_after_its_time)
{
    static const struct {
        uint64_t said_ms; /* by the server */
        uint64_t kept_ms;
    } cases[] = {
        {0, IDLE_MS}, {5000, 4000},          {2000, 1000},
        {1000, 500},  {IDLE_MS, 49000},      {IDLE_MS + 1000, IDLE_MS},
        {1, 1},       {UINT64_MAX, IDLE_MS},
    };
    struct asker asker;
    int end;

    start_with_one();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        start_open(&asker);
        end = accept_at(0);
        upstream_release(&asker.lease, true, cases[i].said_ms, BALANCE_SUCCESS);
        pass_ms(cases[i].kept_ms - 1);
        assert_int_equal(idle_count(0), 1);
        pass_ms(1 + TICK);
        assert_int_equal(idle_count(0), 0);
        assert_true(is_ended(end));
        close(end);
    }
}

TEST(one_that_is_due_is_not_taken_though_the_wheel_is_late)
{
    struct asker asker;
    int end = open_one(&asker);

    release(&asker);
    now.mono_ms += IDLE_MS;
    start_open(&asker);
    assert_false(asker.lease.is_reused);
    assert_true(is_ended(end));
    upstream_lease_cancel(&asker.lease);
    close(end);
}

TEST(time_in_use_is_no_idle_time)
{
    struct asker asker;
    int end = open_one(&asker);

    release(&asker);
    start_open(&asker);
    pass_ms(2 * IDLE_MS);
    exchange(&asker, end);
    release(&asker);
    pass_ms(IDLE_MS - 1);
    assert_int_equal(idle_count(0), 1);
    start_open(&asker);
    assert_true(asker.lease.is_reused);
    release(&asker);
    close(end);
}

TEST(an_idle_one_that_the_server_closes_is_closed)
{
    struct asker asker;

    start_with_one();
    start_open(&asker);
    close(accept_at(0));
    release(&asker);
    AWAIT(idle_count(0) == 0);
    start_open(&asker);
    assert_false(asker.lease.is_reused);
    upstream_lease_cancel(&asker.lease);
}

TEST(an_idle_one_that_speaks_unasked_is_closed)
{
    struct asker asker;
    int end = open_one(&asker);

    release(&asker);
    assert_int_equal(send(end, "HTTP/1.1 408", 12, 0), 12);
    AWAIT(idle_count(0) == 0);
    assert_true(is_ended(end));
    close(end);
}

/* Called once, before all that the same turn of the loop has to tell. */
static void call_early(ev_io *io,
                       void (*fn)(struct ev_loop *its_loop, ev_io *its_io,
                                  int events),
                       struct asker *asker)
{
    ev_io_init(io, fn, place.fd, EV_READ); /* a folder is always ready */
    io->data = asker;
    ev_set_priority(io, EV_MAXPRI);
    ev_io_start(loop, io);
}

static void start_early(struct ev_loop *its_loop, ev_io *io, int events)
{
    (void)events;
    ev_io_stop(its_loop, io);
    start(io->data);
}

TEST(an_end_that_is_yet_to_be_told_is_known_at_reuse)
{
    struct asker asker;
    ev_io io;
    int end = open_one(&asker);

    release(&asker);
    turn();
    close(end);
    call_early(&io, start_early, &asker);
    ev_run(loop, EVRUN_ONCE);
    assert_int_equal(asker.opened, 1);
    assert_false(asker.lease.is_reused);
    upstream_lease_cancel(&asker.lease);
}

static void read_early(struct ev_loop *its_loop, ev_io *io, int events)
{
    struct asker *asker = io->data;
    char byte;

    (void)events;
    ev_io_stop(its_loop, io);
    assert_int_equal(recv(upstream_fd(asker->lease.upstream), &byte, 1, 0), 1);
    release(asker);
}

TEST(what_is_released_before_all_is_told_is_looked_at)
{
    start_with_one();
    for (unsigned i = 0; i < 2; i++) {
        bool has_more = i == 1;
        struct asker asker;
        ev_io io;
        int end;

        start_open(&asker);
        end = accept_at(0);
        turn();
        assert_int_equal(send(end, "xy", 1 + has_more, 0), 1 + has_more);
        call_early(&io, read_early, &asker);
        ev_run(loop, EVRUN_ONCE);
        assert_int_equal(idle_count(0), !has_more);
        turn();
        assert_int_equal(idle_count(0), !has_more);
        close(end);
        AWAIT(idle_count(0) == 0);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
