/* link: -Wl,--wrap=setsockopt,--wrap=address_is_local */
/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "upstream/upstream.h"

#include "unit/upstream/upstream_fixture.h"
#include "wrap.h"

enum { SILENCE_MS = 800, KNOCK_MS = 10 };

/* --- Played besides ------------------------------------------------------ */

enum { RTO_MAX_MS = 44 }; /* Linux 6.15 */

static struct {
    bool is_afar; /* all addresses are */
    bool has_no_rto_max;
    int rto_max_ms; /* last set */
    unsigned sets;  /* of it */
} net;

WRAP(bool, address_is_local, const struct address *address)
{
    (void)address;
    return !net.is_afar;
}

WRAP(int, setsockopt, int fd, int level, int name, const void *value,
     socklen_t len)
{
    if (level != IPPROTO_TCP || name != RTO_MAX_MS)
        return __real_setsockopt(fd, level, name, value, len);
    memcpy(&net.rto_max_ms, value, sizeof(net.rto_max_ms));
    net.sets++;
    errno = ENOPROTOOPT;
    return net.has_no_rto_max ? -1 : 0;
}

static int set_up_net(void **state)
{
    memset(&net, 0, sizeof(net));
    return set_up(state);
}

/* --- Nobody says anything ------------------------------------------------ */

/* Its time has come, by the loop's clock. */
static void knock(void)
{
    ev_timer *backlog_retries = &pool->servers[0].backlog_retries;

    assert_true(net.is_afar || ev_is_active(backlog_retries));
    ev_invoke(loop, backlog_retries, EV_TIMER);
    turn();
}

TEST(where_a_backlog_is_full_each_end_of_another_is_knocked_at)
{
    struct asker first, others[2];

    listen_at(0, 0); /* one place */
    know_listener(0, 0);
    start_pool();
    start_open(&first);
    start(&others[0]);
    start(&others[1]);
    assert_int_equal(calls.connects, 3);
    knock(); /* by its clock no time has passed */
    assert_int_equal(calls.connects, 3);
    now.mono_ms += KNOCK_MS;
    for (unsigned i = 0; i < 2; i++) {
        int end = accept_at(0);

        if (i == 0)
            upstream_release(&first.lease, false, 0, BALANCE_SUCCESS);
        else
            upstream_lease_cancel(&others[0].lease);
        assert_int_equal(others[i].opened, 0); /* not from within that */
        now.mono_ms += KNOCK_MS;
        ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(others[i].opened, 1);
        assert_int_equal(others[1].opened, i); /* who has waited longest */
        close(end);
    }
    assert_int_equal(counts[0].failures, 0);
    upstream_lease_cancel(&others[1].lease);
}

TEST(or_else_every_now_and_then)
{
    struct asker asker;

    start_in_silence(&asker);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(calls.connects, i);
        now.mono_ms += KNOCK_MS - 1;
        knock();
        assert_int_equal(calls.connects, i);
        now.mono_ms++;
        knock();
    }
    assert_int_equal(asker.opened, 0);
    close(accept_at(0));
    now.mono_ms += KNOCK_MS;
    AWAIT(asker.opened == 1);
    upstream_lease_cancel(&asker.lease);
}

TEST(ever_more_patiently_for_a_machine_that_is_busy)
{
    struct asker asker;

    start_in_silence(&asker);
    for (unsigned i = 1; i <= 8; i++) {
        now.mono_ms += KNOCK_MS;
        knock();
    }
    assert_int_equal(calls.connects, 1 + 8);
    now.mono_ms += 2 * KNOCK_MS - 1;
    knock();
    assert_int_equal(calls.connects, 1 + 8);
    now.mono_ms++;
    knock();
    assert_int_equal(calls.connects, 1 + 9);
    pass_ms(CONNECT_MS);
    assert_int_equal(asker.lease.error, UPSTREAM_TIMEOUT);
}

TEST(who_knocks_may_find_that_nobody_listens_any_more)
{
    struct asker asker;

    start_in_silence(&asker);
    stop_listening(0);
    now.mono_ms += KNOCK_MS;
    AWAIT(asker.failed == 1);
    assert_int_equal(asker.lease.error, UPSTREAM_REFUSED);
}

TEST(afar_it_begins_anew_before_the_kernel_would_until_the_last)
{
    enum { ROUNDS = 4 };
    struct asker asker;

    net.is_afar = true;
    options.connect_ms = 60000;
    start_in_silence(&asker);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        assert_int_equal(calls.connects, i);
        pass_ms(SILENCE_MS - 1);
        assert_int_equal(calls.connects, i);
        pass_ms(1 + TICK);
    }
    pass_ms(20 * SILENCE_MS);
    knock();
    assert_int_equal(calls.connects, 1 + ROUNDS);
    assert_int_equal(net.sets, ROUNDS); /* the last has all the time */
    assert_int_equal(asker.failed, 0);
    close(accept_at(0)); /* the kernel's own attempts go on */
    AWAIT(asker.opened == 1);
    upstream_lease_cancel(&asker.lease);
}

/* --- What is lost -------------------------------------------------------- */

TEST(what_is_lost_is_sent_each_second_until_it_is_heard_of)
{
    struct asker asker;
    int end;

    start_with_one();
    start_open(&asker);
    assert_int_equal(net.rto_max_ms, 1000);
    end = accept_at(0);
    for (unsigned i = 1; i <= 2; i++) {
        assert_int_equal(send(end, "x", 1, 0), 1);
        AWAIT(asker.readable >= i);
        assert_int_equal(net.rto_max_ms, 120000); /* as ever */
        assert_int_equal(net.sets, 2);
    }
    upstream_lease_cancel(&asker.lease);
    close(end);
}

TEST(a_kernel_that_cannot_is_as_good)
{
    struct asker asker;
    int end;

    net.has_no_rto_max = true;
    start_with_one();
    start_open(&asker);
    end = accept_at(0);
    assert_int_equal(send(end, "x", 1, 0), 1);
    AWAIT(asker.readable > 0);
    assert_int_equal(net.sets, 1);
    upstream_lease_cancel(&asker.lease);
    close(end);
}

SUITE(.each_begin = set_up_net, .each_end = tear_down);
