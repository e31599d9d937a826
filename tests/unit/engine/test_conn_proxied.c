#include "unit/engine/conn_fixture.h"

/* Connections of which a proxy says for whom they are, and how many an address
 * may have. */

static struct cidr everybody[2];

static int set_up_proxied(void **state)
{
    if (!cidr_parse(&everybody[0], "0.0.0.0/0") ||
        !cidr_parse(&everybody[1], "::/0") || set_up(state) != 0)
        return -1;
    proxies = (struct cidrs){everybody, 2};
    set.proxies_introduce = true;
    return 0;
}

static int tear_down_proxied(void **state)
{
    int status;

    address_count_destroy(set.shared.addresses);
    set.shared.addresses = NULL;
    status = tear_down(state);
    proxies = (struct cidrs){0};
    set.proxies_introduce = false;
    return status;
}

#define INTRODUCTION "PROXY TCP4 192.0.2.7 198.51.100.1 56324 80\r\n"

TEST(the_client_is_whom_the_proxy_names)
{
    struct client client;

    client_open_with(&client, INTRODUCTION GET("/small"));
    settle(&client);
    assert_answer(client.text, 200, "small body");
    assert_answer(talk(&client, GET("/other")), 200, "other body");
    client_close(&client);
    turn();
    assert_int_equal(count_of(read_log(), "192.0.2.7 - - ["), 2);
}

TEST(an_introduction_may_come_in_any_pieces)
{
    static const char all[] = INTRODUCTION GET("/small");

    for (size_t at = 1; at < sizeof(all) - 1; at++) {
        struct client client;
        char first[sizeof(all)];

        snprintf(first, sizeof(first), "%.*s", (int)at, all);
        client_open_with(&client, first);
        turn();
        client_send(&client, all + at);
        settle(&client);
        assert_answer(client.text, 200, "small body");
        client_close(&client);
        turn();
    }
}

TEST(without_an_introduction_there_is_no_answer)
{
    struct client client;

    client_open_with(&client, GET("/small"));
    settle(&client);
    assert_int_equal(client.len, 0);
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(a_client_may_be_unknown_to_its_proxy)
{
    struct client client;

    client_open_with(&client, "PROXY UNKNOWN\r\n" GET("/small"));
    settle(&client);
    assert_answer(client.text, 200, "small body");
    client_close(&client);
    turn();
    assert_int_equal(count_of(read_log(), "unknown - - ["), 1);
}

TEST(who_is_no_proxy_is_not_believed)
{
    struct client client;

    proxies.count = 0;
    client_open_with(&client, INTRODUCTION GET("/small"));
    settle(&client);
    assert_int_equal(count_of(client.text, "HTTP/1.1 400 "), 1);
    client_close(&client);
}

TEST(half_an_introduction_times_out)
{
    struct client client;

    client_open_with(&client, "PROXY TCP4 192.");
    turn();
    assert_int_equal(set.count, 1);
    pass(3001);
    settle(&client);
    client_leave(&client);
}

TEST(an_address_has_only_so_many_connections)
{
    struct client clients[3];
    struct client other;

    assert_int_equal(address_count_create(&set.shared.addresses, 2, false, 100),
                     0);
    for (int i = 0; i < 3; i++) {
        client_open_with(&clients[i], INTRODUCTION GET("/small"));
        settle(&clients[i]);
        assert_int_equal(clients[i].len > 0, i < 2);
    }
    client_open_with(
        &other, "PROXY TCP4 192.0.2.8 198.51.100.1 1 80\r\n" GET("/small"));
    settle(&other);
    assert_answer(other.text, 200, "small body");
    assert_int_equal(set.count, 3);
    client_close(&clients[0]);
    turn();
    client_close(&clients[2]);
    client_open_with(&clients[2], INTRODUCTION GET("/small"));
    settle(&clients[2]);
    assert_answer(clients[2].text, 200, "small body");
    client_close(&clients[1]);
    client_close(&clients[2]);
    client_close(&other);
    turn();
    assert_int_equal(set.count, 0);
}

TEST(without_proxies_the_peer_counts_itself)
{
    struct client clients[2];

    proxies.count = 0;
    client_peer.family = ADDRESS_IPV4;
    assert_int_equal(address_count_create(&set.shared.addresses, 1, false, 100),
                     0);
    for (int i = 0; i < 2; i++) {
        client_open_with(&clients[i], GET("/small"));
        settle(&clients[i]);
        assert_int_equal(clients[i].len > 0, i == 0);
    }
    assert_true(clients[1].has_ended);
    client_close(&clients[0]);
    client_close(&clients[1]);
    turn();
    client_peer.family = ADDRESS_UNIX;
}

TEST(who_comes_through_a_unix_socket_is_not_counted)
{
    struct client clients[2];

    proxies.count = 0;
    assert_int_equal(address_count_create(&set.shared.addresses, 1, false, 100),
                     0);
    for (int i = 0; i < 2; i++) {
        client_open_with(&clients[i], GET("/small"));
        settle(&clients[i]);
        assert_answer(clients[i].text, 200, "small body");
    }
    client_close(&clients[0]);
    client_close(&clients[1]);
    turn();
}

SUITE(.each_begin = set_up_proxied, .each_end = tear_down_proxied);
