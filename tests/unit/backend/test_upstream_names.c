/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "backend/upstream.h"

#include "upstream_place.h"

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
    expect_failed(&asker, UPSTREAM_REFUSED);
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
        TEST(it_waits_for_the_first_addresses),
        TEST(but_no_longer_than_connect_ms),
        TEST(a_name_without_addresses_is_unresolved),
        TEST(who_waits_may_ask_another_server_when_that_fails),
        TEST(one_that_is_told_may_cancel_others_that_wait),
        TEST(a_unix_socket_is_connected_to_and_kept),
        TEST(a_path_may_be_as_long_as_the_kernel_takes),
        TEST(a_unix_socket_that_is_not_there_is_refused),
        TEST(a_unix_socket_whose_backlog_is_full_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
