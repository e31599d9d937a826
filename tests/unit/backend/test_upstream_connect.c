/* link: -Wl,--wrap=setsockopt,--wrap=address_is_local */
/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "backend/upstream.h"

#include <netinet/tcp.h>
#include <sys/un.h>

#include "upstream_place.h"

enum { STAGGER_MS = 250, SILENCE_MS = 800, KNOCK_MS = 10 };

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

/* --- One address ------------------------------------------------------------- */

static void on_the_same_machine_it_is_open_at_once(void **state)
{
    struct asker asker;
    int fd;
    int on = 0;
    socklen_t len = sizeof(on);

    (void)state;
    start_with_one();
    start(&asker);
    assert_int_equal(asker.opened, 1);
    assert_int_equal(asker.ask.server, 0);
    assert_int_equal(counts[0].connects, 1);
    fd = upstream_fd(asker.ask.upstream);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_not_equal(on, 0);
    upstream_ask_cancel(&asker.ask);
    assert_int_equal(played.given[BALANCE_NEITHER], 1);
}

static void from_afar_it_is_opened_by_the_loop(void **state)
{
    struct asker asker;
    char byte;
    int end;

    (void)state;
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
    assert_int_equal(recv(upstream_fd(asker.ask.upstream), &byte, 1, 0), 1);
    upstream_ask_cancel(&asker.ask);
    close(end);
}

static void where_nobody_listens_it_is_refused(void **state)
{
    (void)state;
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
        assert_int_equal(asker.ask.error, UPSTREAM_REFUSED);
        assert_int_equal(asker.ask.server, 0);
        assert_int_equal(counts[0].failures, i + 1);
        assert_int_equal(played.given[BALANCE_FAILURE], i + 1);
    }
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "Connection refused (0 more like it)\n");
    assert_int_equal(counts[0].connects, 0);
}

static void connecting_takes_no_longer_than_connect_ms(void **state)
{
    struct asker asker;

    (void)state;
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
    turn();
    pass_ms(CONNECT_MS - 1);
    assert_int_equal(asker.failed, 0);
    pass_ms(1 + TICK);
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_TIMEOUT);
    assert_int_equal(counts[0].failures, 1);
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "it takes too long (0 more like it)\n");
}

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
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
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
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
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
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
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
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
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

/* --- Several ------------------------------------------------------------------ */

static void after_a_failure_the_next_address_is_tried_at_once(void **state)
{
    (void)state;
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
        upstream_ask_cancel(&asker.ask);
    }
    assert_int_equal(counts[0].failures, 0);
    assert_string_equal(log_text, "");
}

static void after_a_silence_the_next_is_tried_beside_it(void **state)
{
    struct asker asker;

    (void)state;
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
    upstream_ask_cancel(&asker.ask);
}

static void of_several_under_way_one_wins(void **state)
{
    struct asker asker;
    unsigned winner;
    int ends[2];

    (void)state;
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
    winner = asker.ask.upstream->address.octets[3] == 2;
    assert_true(is_ended(ends[!winner]));
    upstream_release(&asker.ask, false, 0, BALANCE_SUCCESS);
    assert_true(is_ended(ends[winner]));
    close(ends[0]);
    close(ends[1]);
}

static void all_addresses_there_can_be_are_tried(void **state)
{
    struct asker asker;

    (void)state;
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
    upstream_ask_cancel(&asker.ask);
    /* The listener and its filler. */
    assert_int_equal(place_count_fds() - fds_before, 2);
}

static void what_failures_of_the_kernel_mean(void **state)
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

    (void)state;
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
        assert_int_equal(asker.failed, 1);
        assert_int_equal(asker.ask.error, cases[i].error);
        assert_int_equal(counts[0].failures, failures + !is_ours);
        assert_non_null(strstr(log_text, cases[i].why));
    }
    assert_int_equal(played.given[BALANCE_NEITHER], 4);
}

/* --- What we lack -------------------------------------------------------------- */

static void for_want_of_descriptors_an_idle_one_is_closed(void **state)
{
    static const int errnos[] = {EMFILE, ENFILE};
    struct asker asker;
    int end;

    (void)state;
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
        assert_int_equal(asker.ask.server, 0);
        assert_int_equal(idle_count(1), 0);
        assert_true(is_ended(end));
        upstream_ask_cancel(&asker.ask);
        close(end);
        calls.socket_errnos[0] = 0;
    }
}

static void without_an_idle_one_or_when_that_does_not_help_it_is_short(
    void **state)
{
    struct asker asker;
    int end;

    (void)state;
    start_with_one();
    calls.socket_errnos[0] = EMFILE;
    start(&asker);
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_SHORT);
    assert_int_equal(calls.sockets, 1);
    assert_non_null(strstr(log_text, "Too many open files"));
    start_open(&asker);
    end = accept_at(0);
    release(&asker);
    assert_int_equal(idle_count(0), 1);
    calls.sockets = 0;
    calls.socket_errnos[1] = ENFILE;
    asker = make_asker();
    asker.ask.wants_new = true;
    upstream_ask_start(pool, &asker.ask);
    assert_int_equal(asker.ask.error, UPSTREAM_SHORT);
    assert_int_equal(calls.sockets, 2);
    assert_int_equal(idle_count(0), 0);
    assert_int_equal(counts[0].failures, 0);
    assert_int_equal(played.given[BALANCE_NEITHER], 2);
    close(end);
}

static void what_no_socket_can_be_had_for_is_judged_too(void **state)
{
    static const struct {
        int err;
        enum upstream_error error;
    } cases[] = {{ENOMEM, UPSTREAM_SHORT},
                 {ENOBUFS, UPSTREAM_SHORT},
                 {EAFNOSUPPORT, UPSTREAM_REFUSED}};

    (void)state;
    start_with_one();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct asker asker;

        calls.sockets = 0;
        calls.socket_errnos[0] = cases[i].err;
        start(&asker);
        assert_int_equal(asker.ask.error, cases[i].error);
    }
}

static void without_memory_it_is_short(void **state)
{
    struct asker asker;

    (void)state;
    start_with_one();
    for (unsigned i = 0; i < 2; i++) { /* of a race, of a connection */
        calls.memory_left = i;
        start(&asker);
        assert_int_equal(asker.failed, 1);
        assert_int_equal(asker.ask.error, UPSTREAM_SHORT);
    }
    assert_int_equal(calls.sockets, 0);
    calls.memory_left = UINT32_MAX;
    start_open(&asker);
    upstream_ask_cancel(&asker.ask);
}

/* The kernel has no memory to watch it: libev says so by EV_ERROR. */
static void one_that_cannot_be_watched_is_short(void **state)
{
    struct asker asker;

    (void)state;
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(&asker);
    ev_feed_event(loop,
                  &OWNER_OF(asker.ask.race->attempts.next, struct upstream,
                            link)
                       ->writing,
                  EV_ERROR);
    turn();
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_SHORT);
}

/* --- Names --------------------------------------------------------------------- */

static void it_waits_for_the_first_addresses(void **state)
{
    struct asker askers[3];

    (void)state;
    listen_at(0, 8);
    start_pool();
    for (unsigned i = 0; i < 3; i++)
        start(&askers[i]);
    pass_ms(CONNECT_MS - 1);
    upstream_ask_cancel(&askers[1].ask);
    assert_int_equal(calls.sockets, 0);
    know_listener(0, 0);
    tell_change(0);
    assert_int_equal(askers[0].opened, 1);
    assert_int_equal(askers[1].opened, 0);
    assert_int_equal(askers[2].opened, 1);
    upstream_ask_cancel(&askers[0].ask);
    upstream_ask_cancel(&askers[2].ask);
}

static void but_no_longer_than_connect_ms(void **state)
{
    struct asker asker;

    (void)state;
    start_pool();
    start(&asker);
    pass_ms(CONNECT_MS - 1);
    assert_int_equal(asker.failed, 0);
    pass_ms(1 + TICK);
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_TIMEOUT);
    assert_int_equal(calls.sockets, 0);
    names[0].state = RESOLVER_FAILED;
    tell_change(0);
    assert_int_equal(asker.failed, 1);
}

/* Each asks once more from within its own failure, and waits for nothing. */
static void ask_again(struct asker *asker)
{
    if (asker->failed == 1 && asker->opened == 0)
        upstream_ask_start(pool, &asker->ask);
}

static void a_name_without_addresses_is_unresolved(void **state)
{
    struct asker asker;

    (void)state;
    start_pool();
    start(&asker);
    names[0].state = RESOLVER_FAILED;
    names[0].why = "Domain name not found";
    tell_change(0);
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_UNRESOLVED);
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "Domain name not found (0 more like it)\n");
    names[0].why = NULL;
    now.mono_ms += 10000;
    start(&asker); /* it is known by now */
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_UNRESOLVED);
    assert_non_null(strstr(log_text, "its name has no address (0 more"));
    assert_int_equal(counts[0].failures, 2);
    know(0, "127.0.0.1", 1); /* it has some later */
    tell_change(0);
    start(&asker);
    assert_int_equal(asker.ask.error, UPSTREAM_REFUSED);
}

static void who_waits_may_ask_another_server_when_that_fails(void **state)
{
    struct asker askers[3];

    (void)state;
    options.server_count = 2;
    listen_at(0, 8);
    know_listener(1, 0);
    start_pool();
    for (unsigned i = 0; i < 3; i++) {
        start(&askers[i]);
        askers[i].and_then = ask_again;
    }
    names[0].state = RESOLVER_FAILED;
    tell_change(0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(askers[i].failed, 1);
        assert_int_equal(askers[i].opened, 1);
        assert_int_equal(askers[i].ask.server, 1);
        upstream_ask_cancel(&askers[i].ask);
    }
}

static struct asker waiting[3];

static void cancel_the_others(struct asker *asker)
{
    for (unsigned i = 0; i < 3; i++)
        if (&waiting[i] != asker)
            upstream_ask_cancel(&waiting[i].ask);
}

static void one_that_is_told_may_cancel_others_that_wait(void **state)
{
    (void)state;
    start_pool();
    for (unsigned i = 0; i < 3; i++) {
        start(&waiting[i]);
        waiting[i].and_then = cancel_the_others;
    }
    names[0].state = RESOLVER_FAILED;
    tell_change(0);
    assert_int_equal(waiting[0].failed + waiting[1].failed + waiting[2].failed,
                     1);
}

/* --- Cancelling ------------------------------------------------------------------ */

static void connecting_can_be_cancelled_at_any_step(void **state)
{
    struct asker asker;

    (void)state;
    listen_in_silence(0);
    listen_in_silence(1);
    start_pool();
    start(&asker); /* waits for a name */
    upstream_ask_cancel(&asker.ask);
    know_listener(0, 0);
    know_listener(0, 1);
    tell_change(0);
    for (unsigned steps = 0; steps < 3; steps++) {
        start(&asker);
        for (unsigned i = 0; i < steps; i++)
            pass_ms(STAGGER_MS + TICK);
        turn();
        upstream_ask_cancel(&asker.ask);
        upstream_ask_cancel(&asker.ask);
        turn();
        pass_ms(2 * CONNECT_MS);
        /* The listeners and their fillers. */
        assert_int_equal(place_count_fds() - fds_before, 4);
    }
    assert_int_equal(asker.opened + asker.failed, 0);
    assert_int_equal(played.given[BALANCE_NEITHER], 4);
    assert_string_equal(log_text, "");
}

/* --- Unix sockets ------------------------------------------------------------------ */

static void listen_at_path(const char *path, int backlog)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    listeners[0].fd = __real_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listeners[0].fd, (struct sockaddr *)&un, sizeof(un)),
                     0);
    assert_int_equal(listen(listeners[0].fd, backlog), 0);
}

static void start_with_path(const char *path)
{
    places[0].unix_path = path;
    start_pool();
    assert_false(names[0].is_open);
}

static void a_unix_socket_is_connected_to_and_kept(void **state)
{
    const char *path = place_path(&place, "socket");
    struct asker asker;
    int end;

    (void)state;
    listen_at_path(path, 8);
    start_with_path(path);
    start(&asker);
    assert_int_equal(asker.opened, 1);
    end = accept_at(0);
    release(&asker);
    start(&asker);
    assert_true(asker.ask.is_reused);
    release(&asker);
    close(end);
    AWAIT(idle_count(0) == 0);
}

static void a_path_may_be_as_long_as_the_kernel_takes(void **state)
{
    char path[UPSTREAM_UNIX_PATH_MAX + 1];
    struct asker asker;
    int len = snprintf(path, sizeof(path), "%s/", place.name);

    (void)state;
    memset(path + len, 'x', sizeof(path) - 1 - (size_t)len);
    path[sizeof(path) - 1] = '\0';
    listen_at_path(path, 8);
    start_with_path(path);
    start(&asker);
    assert_int_equal(asker.opened, 1);
    upstream_ask_cancel(&asker.ask);
}

static void a_unix_socket_that_is_not_there_is_refused(void **state)
{
    struct asker asker;

    (void)state;
    start_with_path(place_path(&place, "socket"));
    start(&asker);
    assert_int_equal(asker.failed, 1);
    assert_int_equal(asker.ask.error, UPSTREAM_REFUSED);
    assert_non_null(strstr(log_text, "No such file or directory"));
}

static void a_unix_socket_whose_backlog_is_full_is_waited_for(void **state)
{
    const char *path = place_path(&place, "socket");
    struct asker first, second, third;

    (void)state;
    listen_at_path(path, 0);
    start_with_path(path);
    start_open(&first);
    start(&second);
    start(&third);
    pass_ms(10 * TICK);
    assert_int_equal(second.opened + second.failed, 0);
    close(accept_at(0));
    pass_ms(2 * TICK);
    assert_int_equal(second.opened + third.opened, 1);
    pass_ms(CONNECT_MS);
    assert_int_equal(second.failed + third.failed, 1);
    assert_int_equal(second.opened ? third.ask.error : second.ask.error,
                     UPSTREAM_TIMEOUT);
    upstream_ask_cancel(&first.ask);
    upstream_ask_cancel(second.opened ? &second.ask : &third.ask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(on_the_same_machine_it_is_open_at_once),
        TEST(from_afar_it_is_opened_by_the_loop),
        TEST(where_nobody_listens_it_is_refused),
        TEST(connecting_takes_no_longer_than_connect_ms),
        TEST(where_a_backlog_is_full_each_end_of_another_is_knocked_at),
        TEST(or_else_every_now_and_then),
        TEST(ever_more_patiently_for_a_machine_that_is_busy),
        TEST(who_knocks_may_find_that_nobody_listens_any_more),
        TEST(afar_it_begins_anew_before_the_kernel_would_until_the_last),
        TEST(what_is_lost_is_sent_each_second_until_it_is_heard_of),
        TEST(a_kernel_that_cannot_is_as_good),
        TEST(after_a_failure_the_next_address_is_tried_at_once),
        TEST(after_a_silence_the_next_is_tried_beside_it),
        TEST(of_several_under_way_one_wins),
        TEST(all_addresses_there_can_be_are_tried),
        TEST(what_failures_of_the_kernel_mean),
        TEST(for_want_of_descriptors_an_idle_one_is_closed),
        TEST(without_an_idle_one_or_when_that_does_not_help_it_is_short),
        TEST(what_no_socket_can_be_had_for_is_judged_too),
        TEST(without_memory_it_is_short),
        TEST(one_that_cannot_be_watched_is_short),
        TEST(it_waits_for_the_first_addresses),
        TEST(but_no_longer_than_connect_ms),
        TEST(a_name_without_addresses_is_unresolved),
        TEST(who_waits_may_ask_another_server_when_that_fails),
        TEST(one_that_is_told_may_cancel_others_that_wait),
        TEST(connecting_can_be_cancelled_at_any_step),
        TEST(a_unix_socket_is_connected_to_and_kept),
        TEST(a_path_may_be_as_long_as_the_kernel_takes),
        TEST(a_unix_socket_that_is_not_there_is_refused),
        TEST(a_unix_socket_whose_backlog_is_full_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
