/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "upstream/upstream.h"

#include <netinet/tcp.h>

#include "unit/upstream/upstream_fixture.h"

enum { STAGGER_MS = 250 };

/* --- One address --------------------------------------------------------- */

TEST(on_the_same_machine_it_is_open_at_once)
{
    struct asker asker;
    int fd;
    int on = 0;
    socklen_t len = sizeof(on);

    start_with_one();
    start(&asker);
    assert_int_equal(asker.opened, 1);
    assert_int_equal(asker.lease.server, 0);
    assert_int_equal(counts[0].connects, 1);
    fd = upstream_fd(asker.lease.upstream);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_not_equal(on, 0);
    upstream_lease_cancel(&asker.lease);
    assert_int_equal(played.given[BALANCE_NEITHER], 1);
}

TEST(from_afar_it_is_opened_by_the_loop)
{
    struct asker asker;
    char byte;
    int end;

    calls.is_late = true;
    start_with_one();
    start(&asker);
    assert_int_equal(asker.opened, 0);
    AWAIT(asker.opened == 1);
    end = accept_at(0);
    turn();
    assert_int_equal(asker.writable, 0);
    assert_int_equal(send(end, "x", 1, 0), 1);
    AWAIT(asker.readable > 0);
    assert_int_equal(recv(upstream_fd(asker.lease.upstream), &byte, 1, 0), 1);
    upstream_lease_cancel(&asker.lease);
    close(end);
}

TEST(where_nobody_listens_it_is_refused)
{
    listen_at(0, 8);
    know_listener(0, 0);
    start_pool();
    stop_listening(0);
    for (int i = 0; i < 2; i++) {
        struct asker asker;

        calls.is_late = i == 1;
        start(&asker);
        assert_int_equal(asker.failed, !calls.is_late);
        AWAIT(asker.failed == 1);
        assert_int_equal(asker.lease.error, UPSTREAM_REFUSED);
        assert_int_equal(asker.lease.server, 0);
        assert_int_equal(counts[0].failures, i + 1);
        assert_int_equal(played.given[BALANCE_FAILURE], i + 1);
    }
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "Connection refused\n");
    assert_int_equal(counts[0].connects, 0);
}

TEST(connecting_takes_no_longer_than_connect_ms)
{
    struct asker asker;

    start_in_silence(&asker);
    turn();
    pass_ms(CONNECT_MS - 1);
    assert_int_equal(asker.failed, 0);
    pass_ms(1 + TICK);
    expect_failed(&asker, UPSTREAM_TIMEOUT);
    assert_int_equal(counts[0].failures, 1);
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "it takes too long\n");
}

/* --- Several ------------------------------------------------------------- */

TEST(after_a_failure_the_next_address_is_tried_at_once)
{
    listen_at(0, 8);
    listen_at(1, 8);
    know_listener(0, 0);
    know_listener(0, 1);
    start_pool();
    stop_listening(0);
    for (int i = 0; i < 2; i++) {
        struct asker asker;

        calls.is_late = i == 1;
        start_open(&asker);
        close(accept_at(1));
        upstream_lease_cancel(&asker.lease);
    }
    assert_int_equal(counts[0].failures, 0);
    assert_string_equal(log_text, "");
}

TEST(after_a_silence_the_next_is_tried_beside_it)
{
    struct asker asker;

    listen_in_silence(0);
    listen_in_silence(1);
    listen_at(2, 8);
    for (unsigned i = 0; i < 3; i++)
        know_listener(0, i);
    start_pool();
    start(&asker);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(calls.connects, i);
        pass_ms(STAGGER_MS - 1);
        assert_int_equal(calls.connects, i);
        pass_ms(1 + TICK);
        assert_int_equal(calls.connects, i + 1);
    }
    assert_int_equal(asker.opened, 1);
    /* The others are closed: only it and the listeners' are left. */
    assert_int_equal(place_count_fds() - fds_before, 1 + 3 + 2);
    upstream_lease_cancel(&asker.lease);
}

TEST(of_several_under_way_one_wins)
{
    struct asker asker;
    unsigned winner;
    int ends[2];

    calls.is_late = true;
    for (unsigned i = 0; i < 2; i++) {
        listen_at(i, 8);
        know_listener(0, i);
    }
    start_pool();
    start(&asker);
    pass_ms(STAGGER_MS + TICK);
    assert_int_equal(calls.connects, 2);
    for (unsigned i = 0; i < 2; i++)
        ends[i] = accept_at(i);
    AWAIT(asker.opened == 1);
    turn();
    assert_int_equal(asker.opened, 1);
    assert_int_equal(counts[0].connects, 1);
    winner = asker.lease.upstream->address.octets[3] == 2;
    assert_true(is_ended(ends[!winner]));
    upstream_release(&asker.lease, false, 0, BALANCE_SUCCESS);
    assert_true(is_ended(ends[winner]));
    close(ends[0]);
    close(ends[1]);
}

TEST(all_addresses_there_can_be_are_tried)
{
    struct asker asker;

    options.connect_ms = 60000;
    listen_in_silence(0);
    for (unsigned i = 0; i < RESOLVER_ADDRESSES_MAX; i++)
        know_listener(0, 0);
    start_pool();
    start(&asker);
    for (unsigned i = 1; i < RESOLVER_ADDRESSES_MAX; i++)
        pass_ms(STAGGER_MS + TICK);
    assert_int_equal(calls.connects, RESOLVER_ADDRESSES_MAX);
    pass_ms(STAGGER_MS + TICK);
    assert_int_equal(calls.connects, RESOLVER_ADDRESSES_MAX);
    assert_int_equal(asker.failed, 0);
    upstream_lease_cancel(&asker.lease);
    /* The listener and its filler. */
    assert_int_equal(place_count_fds() - fds_before, 2);
}

TEST(what_failures_of_the_kernel_mean)
{
    static const struct {
        int errnos[3];
        enum upstream_error error;
        const char *why;
    } cases[] = {
        {{ECONNREFUSED}, UPSTREAM_REFUSED, "Connection refused"},
        {{ENETUNREACH}, UPSTREAM_REFUSED, "Network is unreachable"},
        {{EHOSTUNREACH}, UPSTREAM_REFUSED, "No route to host"},
        {{ECONNRESET}, UPSTREAM_REFUSED, "Connection reset by peer"},
        {{EACCES}, UPSTREAM_REFUSED, "Permission denied"},
        {{ETIMEDOUT}, UPSTREAM_TIMEOUT, "Connection timed out"},
        {{EADDRNOTAVAIL}, UPSTREAM_SHORT, "Cannot assign requested address"},
        {{EAGAIN}, UPSTREAM_SHORT, "Resource temporarily unavailable"},
        {{ENOBUFS}, UPSTREAM_SHORT, "No buffer space available"},
        {{ENOMEM}, UPSTREAM_SHORT, "Cannot allocate memory"},
        {{EADDRNOTAVAIL, ECONNREFUSED, ENOMEM},
         UPSTREAM_REFUSED,
         "Connection refused"},
        {{ECONNREFUSED, ETIMEDOUT, ENOMEM},
         UPSTREAM_REFUSED,
         "Connection refused"},
    };

    start_pool();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool is_ours = cases[i].error == UPSTREAM_SHORT;
        unsigned failures = (unsigned)counts[0].failures;
        struct asker asker;

        names[0].count = 0;
        calls.connects = 0;
        for (unsigned j = 0; j < 3; j++) {
            calls.connect_errnos[j] = cases[i].errnos[j];
            if (cases[i].errnos[j] != 0)
                know(0, "127.0.0.1", 1);
        }
        log_text[0] = '\0';
        now.mono_ms += 10000; /* the log speaks again */
        start(&asker);
        expect_failed(&asker, cases[i].error);
        assert_int_equal(counts[0].failures, failures + !is_ours);
        assert_non_null(strstr(log_text, cases[i].why));
    }
    assert_int_equal(played.given[BALANCE_NEITHER], 4);
}

/* --- What we lack -------------------------------------------------------- */

TEST(for_want_of_descriptors_an_idle_one_is_closed)
{
    static const int errnos[] = {EMFILE, ENFILE};
    struct asker asker;
    int end;

    options.server_count = 2;
    listen_at(1, 8);
    know_listener(1, 1);
    start_with_one();
    for (size_t i = 0; i < 2; i++) {
        played.states[0] = BALANCE_DOWN; /* the idle one is the other's */
        start_open(&asker);
        end = accept_at(1);
        release(&asker);
        played.states[0] = BALANCE_UP;
        calls.sockets = 0;
        calls.socket_errnos[0] = errnos[i];
        start_open(&asker);
        assert_int_equal(calls.sockets, 2);
        assert_int_equal(asker.lease.server, 0);
        assert_int_equal(idle_count(1), 0);
        assert_true(is_ended(end));
        upstream_lease_cancel(&asker.lease);
        close(end);
        calls.socket_errnos[0] = 0;
    }
}

TEST(without_an_idle_one_or_when_that_does_not_help_it_is_short)
{
    struct asker asker;
    int end;

    start_with_one();
    calls.socket_errnos[0] = EMFILE;
    start(&asker);
    expect_failed(&asker, UPSTREAM_SHORT);
    assert_int_equal(calls.sockets, 1);
    assert_non_null(strstr(log_text, "Too many open files"));
    start_open(&asker);
    end = accept_at(0);
    release(&asker);
    assert_int_equal(idle_count(0), 1);
    calls.sockets = 0;
    calls.socket_errnos[1] = ENFILE;
    asker = make_asker();
    asker.lease.wants_new = true;
    upstream_lease_start(pool, &asker.lease);
    assert_int_equal(asker.lease.error, UPSTREAM_SHORT);
    assert_int_equal(calls.sockets, 2);
    assert_int_equal(idle_count(0), 0);
    assert_int_equal(counts[0].failures, 0);
    assert_int_equal(played.given[BALANCE_NEITHER], 2);
    close(end);
}

TEST(what_no_socket_can_be_had_for_is_judged_too)
{
    static const struct {
        int err;
        enum upstream_error error;
    } cases[] = {{ENOMEM, UPSTREAM_SHORT},
                 {ENOBUFS, UPSTREAM_SHORT},
                 {EAFNOSUPPORT, UPSTREAM_REFUSED}};

    start_with_one();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct asker asker;

        calls.sockets = 0;
        calls.socket_errnos[0] = cases[i].err;
        start(&asker);
        assert_int_equal(asker.lease.error, cases[i].error);
    }
}

TEST(without_memory_it_is_short)
{
    struct asker asker;

    start_with_one();
    for (unsigned i = 0; i < 2; i++) { /* of a race, of a connection */
        allocations_left = i;
        start(&asker);
        expect_failed(&asker, UPSTREAM_SHORT);
    }
    assert_int_equal(calls.sockets, 0);
    allocations_left = -1;
    start_open(&asker);
    upstream_lease_cancel(&asker.lease);
}

/* The kernel has no memory to watch it: libev says so by EV_ERROR. */
TEST(one_that_cannot_be_watched_is_short)
{
    struct asker asker;

    start_in_silence(&asker);
    ev_feed_event(loop,
                  &OWNER_OF(asker.lease.connecting->attempts.next,
                            struct upstream, list_node)
                       ->writing,
                  EV_ERROR);
    turn();
    expect_failed(&asker, UPSTREAM_SHORT);
}

/* --- Cancelling ---------------------------------------------------------- */

TEST(connecting_can_be_cancelled_at_any_step)
{
    struct asker asker;

    listen_in_silence(0);
    listen_in_silence(1);
    start_pool();
    start(&asker); /* waits for a name */
    upstream_lease_cancel(&asker.lease);
    know_listener(0, 0);
    know_listener(0, 1);
    tell_change(0);
    for (unsigned steps = 0; steps < 3; steps++) {
        start(&asker);
        for (unsigned i = 0; i < steps; i++)
            pass_ms(STAGGER_MS + TICK);
        turn();
        upstream_lease_cancel(&asker.lease);
        upstream_lease_cancel(&asker.lease);
        turn();
        pass_ms(2 * CONNECT_MS);
        /* The listeners and their fillers. */
        assert_int_equal(place_count_fds() - fds_before, 4);
    }
    assert_int_equal(asker.opened + asker.failed, 0);
    assert_int_equal(played.given[BALANCE_NEITHER], 4);
    assert_string_equal(log_text, "");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
