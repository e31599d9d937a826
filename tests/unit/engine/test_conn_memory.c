/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
#include "unit/engine/conn_fixture.h"
#include "unit/memory.h"

/* --- Bounds -------------------------------------------------------------- */

TEST(an_idle_connection_holds_no_buffer)
{
    struct client client;

    client_open(&client);
    assert_null(only_h1()->input);
    talk(&client, "GET /small HT");
    assert_non_null(only_h1()->input);
    talk(&client, "TP/1.1\r\nHost: h\r\n\r\n");
    assert_null(only_h1()->input);
    assert_true(list_is_empty(&only_h1()->exchanges));
    client_close(&client);
}

/* The request's views last as long as the answer is under way. */
TEST(a_client_that_reads_nothing_holds_a_small_buffer)
{
    struct client client;

    client_open(&client);
    client_send(&client, GET("/large"));
    for (int i = 0; i < 400 && only_conn()->state != CONN_BLOCKED; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
    assert_int_equal(only_h1()->input->room, INPUT_SMALL_BYTES);
    client_close(&client);
    turn();
    assert_int_equal(set.shared.context.inputs.free_count, 0);
}

/* A field more would be a cache line more for each of ten thousand. */
TEST(an_idle_connection_is_of_six_cache_lines)
{
    assert_in_range(set.conn_bytes, 1, 6 * 64);
}

TEST(pools_keep_a_reserve_and_no_more)
{
    enum { CLIENTS = 300 };
    struct client clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        client_send(&clients[i], GET("/large") "GET /");
    }
    for (int i = 0; i < 10; i++)
        turn();
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    for (int i = 0; i < 10; i++)
        turn();
    assert_int_equal(set.count, 0);
    assert_in_range(set.shared.context.small_inputs.free_count, 1, 64);
    assert_in_range(set.shared.context.exchanges.free_count, 1, 128);
}

/* The most that one read brings, of a client that takes nothing. */
TEST(a_row_holds_64_kib_with_its_buffer)
{
    static const char *const heads[] = {
        "GET /small HTTP/1.1\r\nHost: h\r\n",
        "GET /small HTTP/1.1\r\nHost: h\r\n"
        "a:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\n"
        "a:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:"
        "b\r\n"};
    static char text[INPUT_BYTES];

    for (size_t which = 0; which < 2; which++) {
        size_t step = strlen(heads[which]) + 2;
        struct client client;
        size_t held = INPUT_BLOCK_BYTES;
        size_t count = 0;

        text[0] = '\0';
        for (size_t len = 0; len + step < sizeof(text); len += step)
            snprintf(text + len, sizeof(text) - len, "%s\r\n", heads[which]);
        client_open(&client);
        for (int i = 0; i < 400 && only_conn()->state != CONN_BLOCKED; i++) {
            send(client.fd, text, strlen(text), MSG_NOSIGNAL);
            turn();
        }
        assert_int_equal(only_conn()->state, CONN_BLOCKED);
        for (struct list *list_node = only_h1()->exchanges.next;
             list_node != &only_h1()->exchanges;
             list_node = list_node->next, count++)
            held += exchange_bytes(OWNER_OF(list_node, struct exchange,
                                            list_node));
        assert_in_range(count, 1, 16);
        assert_in_range(held, 0, 65536);
        client_close(&client);
        turn();
    }
}

TEST(connections_beyond_the_limit_are_closed)
{
    struct client clients[130];

    set.shared.context.limits.connections_max = 128;
    for (int i = 0; i < 130; i++)
        client_open(&clients[i]);
    assert_int_equal(set.count, 128);
    assert_int_equal(conn_set_closed(&set), 2);
    settle(&clients[129]);
    assert_true(clients[129].has_ended);
    for (int i = 0; i < 130; i++)
        client_close(&clients[i]);
}

/* A connection for which, after so many, allocations fail. False: it needs
 * no more than these. */
static bool meets_failure(long after, const char *request)
{
    struct client client;
    struct client other;
    struct input *input;
    struct exchange *exchange;

    /* A set with empty pools and an empty cache. */
    conn_fixture_fini();
    assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
    client_open(&client);
    client_open(&other);
    assert_answer(talk(&other, GET("/small")), 200, "small body");
    input = pool_take(&set.shared.context.small_inputs);
    exchange = pool_take(&set.shared.context.exchanges);

    client_send(&client, request);
    allocation_failures = 0;
    allocations_left = after;
    for (int i = 0; i < 4; i++)
        turn();
    allocations_left = -1;
    settle(&client);
    assert_true(client.len > 0 || client.has_ended);
    if (client.len > 0)
        assert_memory_equal(client.text, "HTTP/1.1 ", 9);
    pool_give(&set.shared.context.small_inputs, input);
    pool_give(&set.shared.context.exchanges, exchange);
    assert_answer(talk(&other, GET("/other")), 200, "other body");
    client_close(&client);
    client_close(&other);
    turn();
    assert_int_equal(set.count, 0);
    return allocation_failures > 0;
}

static void fail_everywhere(void)
{
    static char long_target[9000];
    static const char *const requests[] = {
        GET("/small"), GET("/other") GET("/middle"), long_target,
        "GET /middle HTTP/1.1\r\nHost: h\r\nRange: bytes=1-2,5-6,9-9\r\n\r\n",
        "nonsense\r\n\r\n"};

    snprintf(long_target, sizeof(long_target), GET("/%sfolder?%06000d"), "", 0);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        fails_once = false;
        for (long after = 0; meets_failure(after, requests[i]); after++)
            assert_true(after < 100);
        fails_once = true;
        for (long after = 0; meets_failure(after, requests[i]); after++)
            assert_true(after < 100);
    }
}

TEST(without_memory_only_the_connection_in_need_suffers)
{
    mkdirat(place.fd, "folder", 0755);
    fail_everywhere();
}

/* An answer for which there is no memory has no bytes that a link could let
 * through. */
TEST(without_memory_nobody_waits_for_the_link)
{
    mkdirat(place.fd, "folder", 0755);
    link_shared_fini(&link_shared);
    assert_int_equal(link_shared_init(&link_shared, LINK_AUTO, 0, 1), 0);
    fail_everywhere();
}

TEST(without_memory_for_a_connection_it_is_closed)
{
    struct client client;

    while (!list_is_empty(&set.free))
        list_drop(set.free.next); /* they stay in their slab */
    allocations_left = 1;         /* what the client itself needs */
    client_open(&client);
    allocations_left = -1;
    settle(&client);
    assert_true(client.has_ended);
    assert_int_equal(conn_set_closed(&set), 1);
    client_close(&client);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
