/* link: -Wl,--wrap=socket,--wrap=connect,--wrap=malloc,--wrap=calloc,--wrap=ev_timer_again,--wrap=log_write */
/* link: -Wl,--wrap=balance_create,--wrap=balance_destroy,--wrap=balance_take,--wrap=balance_give,--wrap=balance_state_of,--wrap=balance_retry_after_s */
/* link: -Wl,--wrap=retry_budget_note_request,--wrap=retry_budget_take */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close,--wrap=resolver_name_state,--wrap=resolver_name_addresses,--wrap=resolver_name_why */
#include "upstream/upstream.h"

#include "unit/upstream/upstream_fixture.h"

/* A pool of three servers, each listening. */
static void start_with_three(void)
{
    options.server_count = SERVERS;
    for (unsigned i = 0; i < SERVERS; i++) {
        listen_at(i, 8);
        know_listener(i, i);
    }
    start_pool();
}

/* --- Which server -------------------------------------------------------- */

TEST(balance_chooses_by_hash_among_those_not_tried)
{
    struct asker asker = make_asker();

    start_with_three();
    asker.lease.hash = 12345;
    asker.lease.tried = 1;
    upstream_lease_start(pool, &asker.lease);
    assert_int_equal(played.hash, 12345);
    assert_int_equal(asker.lease.server, 1);
    assert_int_equal(asker.lease.tried, 3);
    assert_int_equal(counts[0].requests, 0);
    assert_int_equal(counts[1].requests, 1);
    close(accept_at(1));
    upstream_lease_cancel(&asker.lease);
}

TEST(an_idle_one_serves_its_own_server_only)
{
    struct asker asker;

    start_with_three();
    start_open(&asker);
    release(&asker);
    played.states[0] = BALANCE_DOWN;
    start_open(&asker);
    assert_int_equal(asker.lease.server, 1);
    assert_false(asker.lease.is_reused);
    release(&asker);
    assert_int_equal(idle_count(0), 1);
    assert_int_equal(idle_count(1), 1);
}

TEST(with_nobody_up_it_fails_and_says_so_now_and_then)
{
    struct asker asker;

    start_with_three();
    for (unsigned i = 0; i < SERVERS; i++)
        played.states[i] = BALANCE_DOWN;
    for (unsigned i = 0; i < 5; i++) {
        start(&asker);
        expect_failed(&asker, UPSTREAM_NONE);
        assert_int_equal(asker.lease.server, -1);
        assert_false(upstream_may_retry(&asker.lease, 0, false));
    }
    now.mono_ms += UPSTREAM_LOG_INTERVAL_MS;
    start(&asker);
    assert_string_equal(log_text,
                        "no upstream to ask: 'a.test:80' and the others are "
                        "down or at the limit\n"
                        "no upstream to ask: 'a.test:80' and the others are "
                        "down or at the limit (4 more like it)\n");
    assert_int_equal(upstream_retry_after_s(pool), 17);
}

TEST(what_became_of_it_is_told_to_balance)
{
    struct asker asker;

    start_with_one();
    for (unsigned i = 0; i < 3; i++) {
        start_open(&asker);
        upstream_release(&asker.lease, i != BALANCE_FAILURE, 0,
                         (enum balance_result)i);
        assert_int_equal(played.given[i], 1);
        assert_int_equal(played.active[0], 0);
        assert_int_equal(counts[0].failures, i == BALANCE_FAILURE);
    }
}

/* --- Trying again -------------------------------------------------------- */

TEST(another_server_may_be_tried)
{
    struct asker asker;

    options.retries_max = 2;
    played.budget = 10;
    start_with_three();
    for (unsigned i = 0; i < SERVERS; i++)
        stop_listening(i);
    start(&asker);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(upstream_may_retry(&asker.lease, i, false));
        upstream_lease_start(pool, &asker.lease);
        assert_int_equal(asker.failed, i + 2);
        assert_int_equal(asker.lease.server, i + 1);
        assert_int_equal(counts[i].retries, 1);
    }
    assert_false(upstream_may_retry(&asker.lease, 1, false)); /* nobody left */
    assert_int_equal(counts[2].retries, 0);
    assert_int_equal(played.budget, 8);
    assert_int_equal(played.noted, 1); /* one request, tried three times */
    start(&asker);
    assert_int_equal(played.noted, 2);
}

TEST(trying_again_has_limits)
{
    struct asker asker;

    options.retries_max = 2;
    played.budget = 1;
    start_with_three();
    start_open(&asker);
    upstream_release(&asker.lease, false, 0, BALANCE_FAILURE);
    assert_false(upstream_may_retry(&asker.lease, 2, false));
    assert_false(upstream_may_retry(&asker.lease, UINT32_MAX, false));
    played.states[1] = BALANCE_EJECTED;
    played.states[2] = BALANCE_DOWN;
    assert_false(upstream_may_retry(&asker.lease, 0, false));
    played.states[2] = BALANCE_SLOW;
    assert_int_equal(played.budget, 1);
    assert_true(upstream_may_retry(&asker.lease, 1, false));
    assert_false(upstream_may_retry(&asker.lease, 1, false)); /* budget */
    assert_int_equal(counts[0].retries, 1);
}

TEST(a_stale_one_is_tried_anew_over_a_new_connection)
{
    struct asker askers[2];

    start_with_one(); /* retries_max and the budget are 0 */
    start_open(&askers[0]);
    start_open(&askers[1]);
    release(&askers[0]);
    release(&askers[1]);
    start_open(&askers[0]);
    assert_true(askers[0].lease.is_reused);
    upstream_release(&askers[0].lease, false, 0, BALANCE_NEITHER);
    assert_true(upstream_may_retry(&askers[0].lease, 0, true));
    upstream_lease_start(pool, &askers[0].lease);
    assert_int_equal(askers[0].opened, 2);
    assert_int_equal(askers[0].lease.server, 0);
    assert_false(askers[0].lease.is_reused);
    assert_int_equal(idle_count(0), 1); /* the other one is left alone */
    assert_int_equal(counts[0].retries, 1);
    assert_int_equal(counts[0].failures, 0);
    assert_int_equal(played.noted, 3);
    /* That was new: it cannot have been stale. */
    upstream_lease_cancel(&askers[0].lease);
    assert_false(upstream_may_retry(&askers[0].lease, 0, true));
    start_open(&askers[0]);
    assert_true(askers[0].lease.is_reused);
    release(&askers[0]);
}

/* --- What is said -------------------------------------------------------- */

TEST(failures_are_logged_now_and_then)
{
    struct asker asker;

    start_with_one();
    stop_listening(0);
    for (unsigned i = 0; i < 10; i++)
        start(&asker);
    now.mono_ms += UPSTREAM_LOG_INTERVAL_MS;
    start(&asker);
    assert_string_equal(log_text, "connect to upstream 'a.test:80': "
                                  "Connection refused\n"
                                  "connect to upstream 'a.test:80': "
                                  "Connection refused (9 more like it)\n");
    assert_int_equal(counts[0].failures, 11);
}

TEST(who_is_ejected_and_back_is_said_once)
{
    struct asker asker, early;

    start_with_three();
    start_open(&early);
    start_open(&asker);
    played.ejects = true;
    upstream_release(&asker.lease, false, 0, BALANCE_FAILURE);
    assert_string_equal(log_text, "upstream 'a.test:80' is left out for a "
                                  "while: it has failed too often\n");
    log_text[0] = '\0';
    release(&early); /* asked before: it is still left out */
    assert_string_equal(log_text, "");
    played.states[0] = BALANCE_SLOW;
    for (unsigned i = 0; i < 3; i++) {
        start_open(&asker);
        assert_int_equal(asker.lease.server, 0);
        release(&asker);
    }
    assert_string_equal(log_text, "upstream 'a.test:80' is back\n");
}

TEST(the_last_one_up_is_not_said_to_be_left_out)
{
    struct asker asker;

    start_with_three();
    played.states[1] = BALANCE_DOWN;
    played.states[2] = BALANCE_EJECTED;
    start_open(&asker);
    played.ejects = true;
    upstream_release(&asker.lease, false, 0, BALANCE_FAILURE);
    assert_string_equal(log_text, "upstream 'a.test:80' has failed too often; "
                                  "it is asked all the same, for no other is "
                                  "up\n");
}

TEST(a_failure_names_what_was_asked_for)
{
    struct asker asker = make_asker();
    char uri[300];

    start_with_one();
    stop_listening(0);
    asker.lease.uri = BYTES("/x?y");
    asker.lease.request_id = BYTES("4bf9");
    upstream_lease_start(pool, &asker.lease);
    now.mono_ms += UPSTREAM_LOG_INTERVAL_MS;
    memset(uri, 'u', sizeof(uri));
    asker = make_asker();
    asker.lease.uri = (struct bytes){uri, sizeof(uri)};
    upstream_lease_start(pool, &asker.lease);
    memset(uri + UPSTREAM_LEASE_URI_MAX, '\0', 1);
    assert_non_null(strstr(log_text, "Connection refused; URI '/x?y', request "
                                     "4bf9\n"));
    assert_non_null(strstr(log_text, uri));
    assert_non_null(strstr(log_text, "u'...\n"));
}

/* --- A pool's life ------------------------------------------------------- */

TEST(a_name_that_cannot_be_one_is_an_error_of_start)
{
    struct upstream_loop its_loop = {
        .loop = loop, .now = &now, .resolver = resolver};

    options.server_count = SERVERS;
    for (err_at = 0; err_at < SERVERS; err_at++) {
        open_err = -EINVAL;
        pool = upstream_pool_create(&options);
        assert_non_null(pool);
        assert_int_equal(upstream_pool_start(pool, &its_loop), -EINVAL);
        for (unsigned i = 0; i < SERVERS; i++)
            assert_int_equal(names[i].is_open, i < err_at);
        upstream_pool_destroy(pool);
        for (unsigned i = 0; i < SERVERS; i++)
            assert_false(names[i].is_open);
    }
    pool = NULL;
}

TEST(a_name_that_has_no_address_is_none)
{
    names[0].state = RESOLVER_FAILED;
    start_pool();
    assert_string_equal(log_text, "");
}

TEST(without_memory_there_is_no_pool)
{
    allocations_left = 0;
    assert_null(upstream_pool_create(&options));
    allocations_left = 1;
    played.has_no_memory = true;
    assert_null(upstream_pool_create(&options));
}

TEST(one_that_was_never_started_or_made_is_destroyed)
{
    upstream_pool_destroy(upstream_pool_create(&options));
    upstream_pool_destroy(NULL);
}

TEST(destroying_it_closes_what_is_idle)
{
    struct asker askers[3];
    int end;

    start_with_three();
    for (unsigned i = 0; i < 3; i++) {
        start_open(&askers[i]);
        played.states[i] = BALANCE_DOWN;
    }
    end = accept_at(1);
    for (unsigned i = 0; i < 3; i++)
        release(&askers[i]);
    assert_int_equal(idle_count(0) + idle_count(1) + idle_count(2), 3);
    upstream_pool_destroy(pool);
    pool = NULL;
    assert_int_equal(idle_count(0) + idle_count(1) + idle_count(2), 0);
    assert_true(is_ended(end));
    close(end);
}

TEST(it_tells_what_it_is_made_of)
{
    start_with_three();
    assert_ptr_equal(upstream_endpoint_of(pool, 2), &endpoints[2]);
    assert_ptr_equal(upstream_balance(pool), &balance_stub);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
