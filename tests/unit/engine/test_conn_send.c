#include "unit/engine/conn_fixture.h"

static void restart_with(enum sched_policy policy)
{
    conn_fixture_fini();
    assert_int_equal(conn_fixture_init(policy), 0);
}

/* --- Order --------------------------------------------------------------- */

/* A middle-sized answer is asked for, then a smaller one; both of several
 * slices. What the log says of them is in the order of their ends. */
static const char *order_of_answers(enum sched_policy policy)
{
    struct client clients[2];

    assert_int_equal(place_write(&place, "smaller", ""), 0);
    assert_int_equal(truncate(place_path(&place, "smaller"), 20000), 0);
    restart_with(policy);
    set.shared.context.limits.quantum = 5000;
    client_open_with(&clients[0], GET("/middle"));
    client_open_with(&clients[1], GET("/smaller"));
    assert_int_equal(set.shared.sched.heap.count, 2);
    for (int i = 0; i < 2; i++) {
        settle(&clients[i]);
        client_close(&clients[i]);
    }
    return read_log();
}

TEST(the_smaller_answer_overtakes_the_larger)
{
    const char *log = order_of_answers(SCHED_POLICY_SRPT);

    assert_true(strstr(log, "/smaller") < strstr(log, "/middle"));
}

TEST(in_turns_the_smaller_answer_ends_first)
{
    const char *log = order_of_answers(SCHED_POLICY_FAIR);

    assert_true(strstr(log, "/smaller") < strstr(log, "/middle"));
}

TEST(fifo_ends_the_first_answer_first)
{
    const char *log = order_of_answers(SCHED_POLICY_FIFO);

    assert_true(strstr(log, "/middle") < strstr(log, "/smaller"));
}

TEST(a_large_answer_does_not_hold_up_a_small_one)
{
    struct client large;
    struct client small;

    client_open_with(&large, GET("/large"));
    client_open(&small);
    turn();
    assert_int_equal(large.len, 0);
    client_send(&small, GET("/small"));
    turn();
    client_receive(&small, RECEIVED_MAX);
    assert_answer(small.text, 200, "small body");
    client_close(&small);
    client_close(&large);
}

TEST(a_turn_ends_though_there_is_more_to_send)
{
    struct client clients[40];
    size_t received = 0;

    for (int i = 0; i < 40; i++)
        client_open_with(&clients[i], GET("/middle"));
    turn();
    for (int i = 0; i < 40; i++)
        received += client_receive(&clients[i], RECEIVED_MAX);
    assert_in_range(received, 200000, 800000);
    for (int i = 0; i < 40; i++) {
        settle(&clients[i]);
        assert_true(clients[i].len > MIDDLE_BYTES);
        client_close(&clients[i]);
    }
}

/* --- Bodies -------------------------------------------------------------- */

static void assert_body_is(const struct client *client, size_t bytes)
{
    const char *body = strstr(client->text, "\r\n\r\n") + 4;

    assert_int_equal(client->text + client->len - body, bytes);
    assert_memory_equal(body, large_bytes, bytes);
}

TEST(large_files_arrive_whole_by_every_method)
{
    static const enum send_method methods[] = {SEND_AUTO, SEND_MMAP,
                                               SEND_SENDFILE, SEND_READ};
    static const uint64_t quanta[] = {1000, 16384, 1 << 20};

    for (int i = 0; i < 12; i++) {
        struct client client;

        sites_options.cache.send_method = methods[i % 4];
        restart_with(SCHED_POLICY_SRPT);
        conn_set_fini(&set);
        set.shared.context.limits.quantum = quanta[i / 4];
        assert_int_equal(conn_fixture_init_set(SCHED_POLICY_SRPT), 0);
        client_open(&client);
        talk(&client, GET("/large"));
        assert_body_is(&client, LARGE_BYTES);
        talk(&client, GET("/middle"));
        assert_body_is(&client, MIDDLE_BYTES);
        client_close(&client);
    }
}

/* While the large file is being sent, something happens to it. */
static void assert_broken_off(enum send_method method,
                              void (*happen)(const char *path))
{
    struct client client;

    sites_options.cache.send_method = method;
    restart_with(SCHED_POLICY_SRPT);
    client_open(&client);
    client_send(&client, GET("/large"));
    turn();
    assert_int_equal(set.count, 1);
    happen(place_path(&place, "large"));
    settle(&client);
    assert_true(client.has_ended);
    /* With its head, a whole answer is longer than that. */
    assert_in_range(client.len, 1, LARGE_BYTES);
    assert_int_equal(set.count, 0);
    client_close(&client);
    assert_int_equal(place_make_files(), 0);
}

static void cut_off(const char *path)
{
    assert_int_equal(truncate(path, 1000), 0);
}

static void touch(const char *path)
{
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(a_file_that_changes_while_it_is_sent_is_broken_off)
{
    static const enum send_method methods[] = {SEND_MMAP, SEND_SENDFILE,
                                               SEND_READ};

    for (int i = 0; i < 3; i++) {
        assert_broken_off(methods[i], cut_off);
        assert_broken_off(methods[i], touch);
    }
}

static void remove_it(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

TEST(a_file_that_is_removed_while_it_is_sent_arrives_whole)
{
    struct client client;

    client_open(&client);
    client_send(&client, GET("/large"));
    turn();
    remove_it(place_path(&place, "large"));
    settle(&client);
    assert_body_is(&client, LARGE_BYTES);
    client_close(&client);
}

TEST(a_listing_is_sent_in_chunks_and_the_connection_goes_on)
{
    struct client client;

    location.autoindex = true;
    restart_with(SCHED_POLICY_SRPT);
    client_open(&client);
    talk(&client, GET("/") GET("/small"));
    assert_has(client.text, "\r\nTransfer-Encoding: chunked\r\n");
    assert_has(client.text, "\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_string_equal(client.text + client.len - 10, "small body");
    talk(&client, "GET / HTTP/1.0\r\n\r\n");
    assert_has_not(client.text, "Transfer-Encoding");
    assert_has(client.text, "</html>");
    assert_true(client.has_ended);
    client_close(&client);
}

/* --- The access log ------------------------------------------------------ */

TEST(every_exchange_is_logged_with_what_was_sent)
{
    static const char expected[] =
        "unix: - - [14/Nov/2023:22:13:20 +0000] "
        "\"GET /small?q HTTP/1.1\" 200 10 \"there\" \"me\"\n"
        "unix: - - [14/Nov/2023:22:13:20 +0000] "
        "\"HEAD /small HTTP/1.1\" 200 0 \"-\" \"-\"\n"
        "unix: - - [14/Nov/2023:22:13:20 +0000] "
        "\"GET /large HTTP/1.1\" 200 3145728 \"-\" \"-\"\n";
    static const char last[] = "unix: - - [14/Nov/2023:22:13:20 +0000] "
                               "\"bad line\" 400 ";
    const char *log;
    struct client client;

    client_open(&client);
    talk(&client, "GET /small?q HTTP/1.1\r\nHost: h\r\nUser-Agent: me\r\n"
                  "Referer: there\r\n\r\n"
                  "HEAD /small HTTP/1.1\r\nHost: h\r\n\r\n" GET("/large"));
    talk(&client, "bad line\r\n\r\n");
    client_close(&client);
    log = read_log();
    assert_memory_equal(log, expected, sizeof(expected) - 1);
    assert_memory_equal(log + sizeof(expected) - 1, last, sizeof(last) - 1);
}

TEST(what_was_broken_off_is_logged_with_what_went)
{
    struct client client;
    unsigned long bytes;
    const char *status;

    client_open(&client);
    client_send(&client, GET("/large"));
    turn();
    client_close(&client);
    for (int i = 0; i < 4; i++)
        turn();
    status = strstr(read_log(), "\" 200 ");
    assert_non_null(status);
    bytes = strtoul(status + 6, NULL, 10);
    assert_in_range(bytes, 1, LARGE_BYTES - 1);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
