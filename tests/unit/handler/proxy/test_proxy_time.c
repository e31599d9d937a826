/* link: -Wl,--wrap=socketpair */
#include "unit/handler/proxy/proxy_fixture.h"

#include <sys/un.h>

#include "wrap.h"

/* What a client does not take at once waits in the server. */
WRAP(int, socketpair, int family, int type, int protocol, int fds[2])
{
    int least = 1;

    if (__real_socketpair(family, type, protocol, fds) != 0)
        return -1;
    return setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
}

TEST(silence_is_504)
{
    struct client client;

    client_open_with(&client, GET("/p"));
    hear();
    pass_there(options.reply_ms - 1000);
    assert_string_equal(await(&client), "");
    pass_there(1000);
    assert_answer(await(&client), 504, NULL);
    client_close(&client);
}

/* Only of a unix socket is it known at once that nobody reads any more. */
static void listen_at_path(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    stop_proxy();
    close(listener);
    server_place.unix_path = place_path(&place, "socket");
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", server_place.unix_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (void *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(start_proxy(), 0);
}

TEST(who_hears_no_more_of_a_body_has_to_reply_in_time)
{
    struct client client;

    listen_at_path();
    client_open_with(&client, "POST /p HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 100\r\n\r\nabc");
    assert_has(hear(), "\r\n\r\nabc");
    assert_int_equal(shutdown(served, SHUT_RD), 0);
    client_send(&client, "def");
    assert_string_equal(await(&client), "");
    pass_there(options.reply_ms);
    assert_answer(await(&client), 504, NULL);
    assert_true(client.has_ended);
    assert_int_equal(server_counts.failures, 1);
    client_close(&client);
}

TEST(a_reply_that_waits_behind_a_slow_client_is_in_time)
{
    struct client client;

    set.shared.context.limits.send_ms = 1000000;
    client_open_with(&client, GET("/middle") GET("/p"));
    assert_has(hear(), "GET /p ");
    say("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" OK(
        "Content-Length: 2\r\n", "ok"));
    for (int i = 0; i < 20; i++) {
        turn();
        usleep(500);
    }
    pass_there(2 * options.reply_ms);
    await(&client);
    assert_has(client.text, "HTTP/1.1 103 Early Hints\r\n");
    assert_has(client.text, "\r\n\r\nok");
    assert_int_equal(server_counts.failures, 0);
    client_close(&client);
}

SUITE(.each_begin = set_up_proxy, .each_end = tear_down_proxy);
