/* link: -Wl,--wrap=setsockopt,--wrap=address_is_local */
/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "backend/upstream.h"

#include "upstream_place.h"

enum { SILENCE_MS = 800, KNOCK_MS = 10 };

/* --- Played besides ----------------------------------------------------------- */

enum { RTO_MAX_MS = 44 }; /* Linux 6.15 */

static struct {
    bool is_afar; /* all addresses are */
    bool has_no_rto_max;
    int rto_max_ms; /* last set */
    unsigned sets;  /* of it */
} net;

bool __wrap_address_is_local(const struct address *address);
bool __wrap_address_is_local(const struct address *address)
{
    (void)address;
    return !net.is_afar;
}

int __real_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
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

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_net, tear_down)

/* --- Nobody says anything ------------------------------------------------------- */

/* Its time has come, by the loop's clock. */
static void knock(void)
{
    ev_timer *knocks = &pool->servers[0].knocks;

    assert_true(net.is_afar || ev_is_active(knocks));
    ev_invoke(loop, knocks, EV_TIMER);
    turn();
}

static void where_a_backlog_is_full_each_end_of_another_is_knocked_at(void **
                                                                          state)
{
    struct asker first, others[2];

    (void)state;
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
            upstream_release(&first.ask, false, 0, BALANCE_SUCCESS);
        else
            upstream_ask_cancel(&others[0].ask);
        assert_int_equal(others[i].opened, 0); /* not from within that */
        now.mono_ms += KNOCK_MS;
        ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(others[i].opened, 1);
        assert_int_equal(others[1].opened, i); /* who has waited longest */
        close(end);
    }
    assert_int_equal(counts[0].failures, 0);
    upstream_ask_cancel(&others[1].ask);
}

static void or_else_every_now_and_then(void **state)
{
    struct asker asker;

    (void)state;
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
    upstream_ask_cancel(&asker.ask);
}

static void ever_more_patiently_for_a_machine_that_is_busy(void **state)
{
    struct asker asker;

    (void)state;
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
    assert_int_equal(asker.ask.error, UPSTREAM_TIMEOUT);
}

static void who_knocks_may_find_that_nobody_listens_any_more(void **state)
{
    struct asker asker;

    (void)state;
    start_in_silence(&asker);
    stop_listening(0);
    now.mono_ms += KNOCK_MS;
    AWAIT(asker.failed == 1);
    assert_int_equal(asker.ask.error, UPSTREAM_REFUSED);
}

static void afar_it_begins_anew_before_the_kernel_would_until_the_last(
    void **state)
{
    enum { ROUNDS = 4 };
    struct asker asker;

    (void)state;
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
    upstream_ask_cancel(&asker.ask);
}

/* --- What is lost --------------------------------------------------------------- */

static void what_is_lost_is_sent_each_second_until_it_is_heard_of(void **state)
{
    struct asker asker;
    int end;

    (void)state;
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
    upstream_ask_cancel(&asker.ask);
    close(end);
}

static void a_kernel_that_cannot_is_as_good(void **state)
{
    struct asker asker;
    int end;

    (void)state;
    net.has_no_rto_max = true;
    start_with_one();
    start_open(&asker);
    end = accept_at(0);
    assert_int_equal(send(end, "x", 1, 0), 1);
    AWAIT(asker.readable > 0);
    assert_int_equal(net.sets, 1);
    upstream_ask_cancel(&asker.ask);
    close(end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(where_a_backlog_is_full_each_end_of_another_is_knocked_at),
        TEST(or_else_every_now_and_then),
        TEST(ever_more_patiently_for_a_machine_that_is_busy),
        TEST(who_knocks_may_find_that_nobody_listens_any_more),
        TEST(afar_it_begins_anew_before_the_kernel_would_until_the_last),
        TEST(what_is_lost_is_sent_each_second_until_it_is_heard_of),
        TEST(a_kernel_that_cannot_is_as_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
