#include "caching.h"

const char *answer(struct client *peer, const char *text)
{
    const char *head = hear_head(peer);

    client_say(peer, "%s", text);
    return head;
}

struct reply *ask_through(struct client *client,
                          const struct upstream *upstream, const char *request,
                          const char *text)
{
    client_say(client, "%s", request);
    (void)answer(upstream_accept(upstream), text);
    return client_reply(client);
}

struct reply *fetch_a(const struct server *server,
                      const struct upstream *upstream, const char *text)
{
    return ask_through(client_open(server), upstream, GET("/a", ""), text);
}

struct reply *ask_a(struct client *client, const char *fields)
{
    return client_ask_host(client, "GET", "a", "/a", fields);
}

struct reply *get_a(const struct server *server)
{
    return ask_a(client_open(server), NULL);
}

struct reply *ask_path(const struct server *server, const char *path,
                       const char *fields)
{
    return client_ask_host(client_open(server), "GET", "a", path, fields);
}

struct reply *purge(struct client *client, const char *target,
                    const char *fields)
{
    return client_ask_host(client, "PURGE", "a", target, fields);
}

void expect_cache_status(const struct reply *reply, const char *part)
{
    const char *status = reply_field(reply, "Cache-Status");

    if (!status || strncmp(status, "sprintd; ", 9) != 0 ||
        !strstr(status, part))
        flunk("Cache-Status is '%s', without '%s'", status ? status : "", part);
}
