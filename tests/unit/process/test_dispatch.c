/* link: -Wl,--wrap=worker_give,--wrap=worker_wake,--wrap=worker_closed,--wrap=worker_reading,--wrap=calloc */
#include "process/dispatch.h"

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"
#include "wrap.h"

enum { WORKERS = 4 };

/* --- Workers that only count --------------------------------------------- */

static struct {
    uint64_t given;
    uint64_t closed;
    size_t reading;
    uint64_t room; /* in the mailbox */
    unsigned wakes;
    int last_fd;
} fakes[WORKERS];

static struct worker *workers[WORKERS];

static unsigned number_of(const struct worker *worker)
{
    return (unsigned)((const char *)worker - (const char *)fakes);
}

WRAP(bool, worker_give, struct worker *worker, const struct mail *mail)
{
    unsigned number = number_of(worker);

    if (fakes[number].room == 0)
        return false;
    fakes[number].room--;
    fakes[number].given++;
    fakes[number].last_fd = mail->fd;
    return true;
}

WRAP(void, worker_wake, struct worker *worker)
{
    fakes[number_of(worker)].wakes++;
}

WRAP(uint64_t, worker_closed, const struct worker *worker)
{
    return fakes[number_of(worker)].closed;
}

WRAP(size_t, worker_reading, const struct worker *worker)
{
    return fakes[number_of(worker)].reading;
}

static struct dispatch *dispatch;

static int set_up(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WORKERS; i++) {
        fakes[i].given = fakes[i].closed = 0;
        fakes[i].reading = 0;
        fakes[i].wakes = 0;
        fakes[i].room = UINT64_MAX;
        /* Never looked into: the place tells the number. */
        workers[i] = (struct worker *)(void *)((char *)fakes + i);
    }
    dispatch = dispatch_create(workers, WORKERS);
    return dispatch ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    dispatch_destroy(dispatch);
    return 0;
}

static bool give(void)
{
    return dispatch_give(dispatch, &(struct mail){.fd = 77});
}

static uint64_t open_at(unsigned number)
{
    return fakes[number].given - fakes[number].closed;
}

/* A batch of so many; how many were open before. */
static size_t give_batch(unsigned count)
{
    size_t open = dispatch_begin(dispatch);

    while (count-- > 0)
        assert_true(give());
    dispatch_end(dispatch);
    return open;
}

/* --- Whom ---------------------------------------------------------------- */

TEST(connections_are_spread_evenly)
{
    give_batch(10 * WORKERS);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(fakes[i].given, 10);
}

TEST(ties_go_round_from_batch_to_batch)
{
    for (unsigned round = 0; round < 3 * WORKERS; round++) {
        give_batch(1);
        for (unsigned i = 0; i < WORKERS; i++)
            fakes[i].closed = fakes[i].given; /* short ones, all done */
    }
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(fakes[i].given, 3);
}

TEST(the_worker_with_the_fewest_open_is_given_more)
{
    give_batch(10 * WORKERS);
    fakes[2].closed = 7;
    give_batch(7);
    assert_int_equal(fakes[2].given, 17);
}

TEST(what_was_closed_meanwhile_counts_from_the_next_batch)
{
    give_batch(10 * WORKERS);
    dispatch_begin(dispatch);
    fakes[2].closed = 5;
    for (unsigned i = 0; i < WORKERS; i++)
        assert_true(give());
    assert_int_equal(fakes[2].given, 11);
    dispatch_end(dispatch);
}

TEST(a_mail_is_handed_over_as_it_is)
{
    give_batch(WORKERS);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(fakes[i].last_fd, 77);
}

TEST(a_batch_begins_with_how_many_are_open)
{
    assert_int_equal(give_batch(9), 0);
    fakes[0].closed = 2;
    fakes[3].closed = 1;
    assert_int_equal(give_batch(1), 6);
    assert_int_equal(give_batch(0), 7);
}

/* --- Waking -------------------------------------------------------------- */

TEST(who_was_given_something_is_woken_once)
{
    give_batch(2);
    assert_int_equal(fakes[0].wakes, 1);
    assert_int_equal(fakes[1].wakes, 1);
    assert_int_equal(fakes[2].wakes, 0);
    assert_int_equal(fakes[3].wakes, 0);
    give_batch(50);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(fakes[i].wakes, i < 2 ? 2 : 1);
    give_batch(0);
    assert_int_equal(fakes[0].wakes, 2);
}

/* --- Full mailboxes ------------------------------------------------------ */

TEST(a_full_mailbox_passes_the_connection_on)
{
    fakes[1].room = 0;
    fakes[2].room = 2;
    give_batch(20);
    assert_int_equal(fakes[1].given, 0);
    assert_int_equal(fakes[1].wakes, 0);
    assert_int_equal(fakes[2].given, 2);
    assert_int_equal(fakes[0].given + fakes[3].given, 18);
}

TEST(when_all_are_full_the_caller_keeps_the_connection)
{
    for (unsigned i = 0; i < WORKERS; i++)
        fakes[i].room = 1;
    assert_int_equal(give_batch(WORKERS), 0);
    dispatch_begin(dispatch);
    assert_false(give());
    assert_false(give());
    dispatch_end(dispatch);
    fakes[3].room = 1;
    give_batch(1);
    assert_int_equal(fakes[3].given, 2);
}

TEST(without_memory_there_is_no_dispatch)
{
    allocations_left = 0;
    assert_null(dispatch_create(workers, WORKERS));
    allocations_left = -1;
}

/* --- Against a naive model ----------------------------------------------- */

TEST(nobody_gets_more_while_another_has_fewer)
{
    draw_seed = 1961;
    for (int batch = 0; batch < 5000; batch++) {
        for (unsigned i = 0; i < WORKERS; i++)
            if (open_at(i) > 0)
                fakes[i].closed += draw((unsigned)open_at(i) + 1);
        dispatch_begin(dispatch);
        for (unsigned left = draw(10); left > 0; left--) {
            uint64_t before[WORKERS];
            uint64_t fewest = UINT64_MAX;

            for (unsigned i = 0; i < WORKERS; i++) {
                before[i] = open_at(i);
                if (before[i] < fewest)
                    fewest = before[i];
            }
            assert_true(give());
            for (unsigned i = 0; i < WORKERS; i++)
                assert_true(open_at(i) == before[i] || before[i] == fewest);
        }
        dispatch_end(dispatch);
    }
}

static bool replace(void)
{
    return dispatch_replace(dispatch, &(struct mail){.makes_room = true});
}

TEST(where_most_wait_one_makes_room)
{
    fakes[1].reading = 2;
    fakes[3].reading = 4;
    dispatch_begin(dispatch);
    for (unsigned i = 0; i < 6; i++)
        assert_true(replace());
    assert_false(replace());
    dispatch_end(dispatch);
    assert_int_equal(fakes[1].given, 2);
    assert_int_equal(fakes[3].given, 4);
    fakes[1].room = 0;
    dispatch_begin(dispatch);
    for (unsigned i = 0; i < 4; i++)
        assert_true(replace());
    assert_false(replace());
    dispatch_end(dispatch);
    assert_int_equal(fakes[3].given, 8);
}

TEST(where_nobody_waits_all_are_asked_in_turn)
{
    static const struct mail mail = {.makes_room = true};
    uint64_t given[WORKERS];

    dispatch_begin(dispatch);
    assert_false(dispatch_displace(dispatch, &mail)); /* nothing is open */
    for (unsigned i = 0; i < WORKERS; i++)
        assert_true(give());
    dispatch_end(dispatch);
    for (unsigned i = 0; i < WORKERS; i++)
        given[i] = fakes[i].given;
    fakes[1].room = 0;
    dispatch_begin(dispatch);
    for (unsigned i = 0; i < 2 * (WORKERS - 1); i++)
        assert_true(dispatch_displace(dispatch, &mail));
    dispatch_end(dispatch);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(fakes[i].given, given[i] + (i == 1 ? 0 : 2));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
