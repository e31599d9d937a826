/*
 * What clients that read slowly hold of a store's values: so much, of all
 * workers together.
 */
#include "store.h"

enum { VALUE_BYTES = 8 << 20, READERS = 8, NARROW = 4096, HEAD_BYTES = 12 };

static void put_large(struct client *client)
{
    char *text = scratch(VALUE_BYTES);

    seeded_fill(1, 0, text, VALUE_BYTES);
    client_say(client,
               "PUT /kv/large HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
               "%d\r\n\r\n",
               VALUE_BYTES);
    client_send(client, text, VALUE_BYTES);
    expect_status(client_reply(client), 201);
}

/* Those who are there when memory is used up are served to the end; then there
 * is room again. A quarter is not for one address. */
TEST(all_workers_share_what_values_may_have)
{
    struct server *one = START_STORE(store_place(), "--workers=4",
                                     "--kv-max-value=8M", "--kv-memory=32M");
    struct client *other;
    struct client *readers[READERS];
    unsigned served = 0, refused = 0;

    put_large(client_open(one));
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = client_open_narrow(one, NARROW);
        client_say(readers[i],
                   "GET /kv/large HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_take(readers[i], HEAD_BYTES);
        if (memcmp(client_raw(readers[i]), "HTTP/1.1 200", HEAD_BYTES) == 0)
            served++;
        else if (memcmp(client_raw(readers[i]), "HTTP/1.1 503", HEAD_BYTES) ==
                 0)
            refused++;
    }
    assert_int_equal(served, 3);
    assert_int_equal(refused, READERS - 3);
    other = client_open_from(one, "127.0.0.2");
    expect_status(store_ask(other, "GET", "large", NULL, NULL), 200);
    client_close(other);
    expect_status(store_ask_alone(one, "HEAD", "large", NULL, NULL), 200);
    for (unsigned i = 0; i < READERS; i++)
        client_close(readers[i]);
    assert_true(eventually(
        store_ask_alone(one, "GET", "large", NULL, NULL)->status == 200, 5000));
}

/* Where a quarter has no room for the longest value, it is of no use to others.
 */
TEST(who_is_alone_with_little_has_all_of_it)
{
    struct server *one = START_STORE(store_place(), "--kv-max-value=8M",
                                     "--kv-memory=16M");
    struct client *reader;

    put_large(client_open(one));
    for (int i = 0; i < 2; i++) {
        reader = client_open_narrow(one, NARROW);
        client_say(reader, "GET /kv/large HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_take(reader, HEAD_BYTES);
        assert_memory_equal(client_raw(reader), "HTTP/1.1 200", HEAD_BYTES);
    }
}

/* The longest value and batch find room however little is allowed. */
TEST(a_value_always_finds_room)
{
    struct server *one = START_STORE(store_place(), "--kv-max-value=8M",
                                     "--kv-memory=1");
    struct client *client = client_open(one);
    struct reply *reply;

    put_large(client);
    reply = store_ask(client, "GET", "large", NULL, NULL);
    expect_status(reply, 200);
    expect_seeded(reply, 1, 0, VALUE_BYTES);
}

E2E_SUITE(harness_begin_site);
