/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "upstream/upstream.h"

#include "unit/upstream/upstream_fixture.h"

/* --- Names --------------------------------------------------------------- */

TEST(it_waits_for_the_first_addresses)
{
    struct asker askers[3];

    listen_at(0, 8);
    start_pool();
    for (unsigned i = 0; i < 3; i++)
        start(&askers[i]);
    pass_ms(CONNECT_MS - 1);
    upstream_lease_cancel(&askers[1].lease);
    assert_int_equal(calls.sockets, 0);
    know_listener(0, 0);
    tell_change(0);
    assert_int_equal(askers[0].opened, 1);
    assert_int_equal(askers[1].opened, 0);
    assert_int_equal(askers[2].opened, 1);
    upstream_lease_cancel(&askers[0].lease);
    upstream_lease_cancel(&askers[2].lease);
}

TEST(but_no_longer_than_connect_ms)
{
    struct asker asker;

    start_pool();
    start(&asker);
    pass_ms(CONNECT_MS - 1);
    assert_int_equal(asker.failed, 0);
    pass_ms(1 + TICK);
    expect_failed(&asker, UPSTREAM_TIMEOUT);
    assert_int_equal(calls.sockets, 0);
    names[0].state = RESOLVER_FAILED;
    tell_change(0);
    assert_int_equal(asker.failed, 1);
}

/* Each asks once more from within its own failure, and waits for nothing. */
static void ask_again(struct asker *asker)
{
    if (asker->failed == 1 && asker->opened == 0)
        upstream_lease_start(pool, &asker->lease);
}

TEST(a_name_without_addresses_is_unresolved)
{
    struct asker asker;

    start_pool();
    start(&asker);
    names[0].state = RESOLVER_FAILED;
    names[0].why = "Domain name not found";
    tell_change(0);
    expect_failed(&asker, UPSTREAM_UNRESOLVED);
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "Domain name not found\n");
    names[0].why = NULL;
    now.mono_ms += 10000;
    start(&asker); /* it is known by now */
    expect_failed(&asker, UPSTREAM_UNRESOLVED);
    assert_non_null(strstr(log_text, "its name has no address\n"));
    assert_int_equal(counts[0].failures, 2);
    know(0, "127.0.0.1", 1); /* it has some later */
    tell_change(0);
    start(&asker);
    assert_int_equal(asker.lease.error, UPSTREAM_REFUSED);
}

TEST(who_waits_may_ask_another_server_when_that_fails)
{
    struct asker askers[3];

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
        assert_int_equal(askers[i].lease.server, 1);
        upstream_lease_cancel(&askers[i].lease);
    }
}

static struct asker waiting[3];

static void cancel_the_others(struct asker *asker)
{
    for (unsigned i = 0; i < 3; i++)
        if (&waiting[i] != asker)
            upstream_lease_cancel(&waiting[i].lease);
}

TEST(one_that_is_told_may_cancel_others_that_wait)
{
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

/* --- Unix sockets -------------------------------------------------------- */

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
    endpoints[0].unix_path = path;
    start_pool();
    assert_false(names[0].is_open);
}

TEST(a_unix_socket_is_connected_to_and_kept)
{
    const char *path = place_path(&place, "socket");
    struct asker asker;
    int end;

    listen_at_path(path, 8);
    start_with_path(path);
    start(&asker);
    assert_int_equal(asker.opened, 1);
    end = accept_at(0);
    release(&asker);
    start(&asker);
    assert_true(asker.lease.is_reused);
    release(&asker);
    close(end);
    AWAIT(idle_count(0) == 0);
}

TEST(a_path_may_be_as_long_as_the_kernel_takes)
{
    char path[UPSTREAM_UNIX_PATH_MAX + 1];
    struct asker asker;
    int len = snprintf(path, sizeof(path), "%s/", place.name);

    memset(path + len, 'x', sizeof(path) - 1 - (size_t)len);
    path[sizeof(path) - 1] = '\0';
    listen_at_path(path, 8);
    start_with_path(path);
    start(&asker);
    assert_int_equal(asker.opened, 1);
    upstream_lease_cancel(&asker.lease);
}

TEST(a_unix_socket_that_is_not_there_is_refused)
{
    struct asker asker;

    start_with_path(place_path(&place, "socket"));
    start(&asker);
    expect_failed(&asker, UPSTREAM_REFUSED);
    assert_non_null(strstr(log_text, "No such file or directory"));
}

TEST(a_unix_socket_whose_backlog_is_full_is_waited_for)
{
    const char *path = place_path(&place, "socket");
    struct asker first, second, third;

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
    assert_int_equal(second.opened ? third.lease.error : second.lease.error,
                     UPSTREAM_TIMEOUT);
    upstream_lease_cancel(&first.lease);
    upstream_lease_cancel(second.opened ? &second.lease : &third.lease);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
