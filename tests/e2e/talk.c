#include "talk.h"

void talk_play(const struct server *server, const struct upstream *upstream,
               const struct talk *talk)
{
    struct client *client = client_open(server);
    struct client *peer;

    going_on("%s", talk->name);
    client_say(client, "%s", talk->asked ? talk->asked : GET "\r\n");
    peer = upstream_accept(upstream);
    expect_hears(peer, talk->heard ? talk->heard : GET ASKER "\r\n");
    if (talk->heard_chunks)
        assert_string_equal(hear_chunks(peer), talk->heard_chunks);
    client_say(peer, "%s", talk->said ? talk->said : HI);
    if (talk->upstream_ends && !talk->said_later)
        client_close(peer);
    expect_hears(client, talk->answered ? talk->answered
                                        : OK VIA "Content-Length: 2\r\n\r\nhi");
    if (talk->said_later)
        client_say(peer, "%s", talk->said_later);
    if (talk->upstream_ends)
        client_close(peer);
    if (talk->answered_later)
        expect_hears(client, talk->answered_later);
    if (talk->answered_chunks)
        assert_string_equal(hear_chunks(client), talk->answered_chunks);
    if (talk->client_ends)
        client_expect_orderly_end(client);
    client_close(client);
    client_close(peer);
}

void talks_play(const struct talk *talks, size_t count)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-keepalive=0");

    for (size_t i = 0; i < count; i++)
        talk_play(server, upstream, &talks[i]);
}
