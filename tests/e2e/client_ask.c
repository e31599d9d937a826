#include "client.h"

struct reply *client_ask_host(struct client *client, const char *method,
                              const char *host, const char *target,
                              const char *fields)
{
    static const char scheme[] = "http://";
    size_t len = sizeof(scheme) - 1;
    bool goes_over = client_secured(client) &&
                     strncmp(target, scheme, len) == 0;

    client_say(client, "%s %s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method,
               goes_over ? "https://" : "", target + (goes_over ? len : 0),
               host, fields ? fields : "");
    return strcmp(method, "HEAD") == 0 ? client_reply_to_head(client)
                                       : client_reply(client);
}

struct reply *client_ask(struct client *client, const char *method,
                         const char *target, const char *fields)
{
    return client_ask_host(client, method, "localhost", target, fields);
}

struct reply *ask(const struct server *server, const char *method,
                  const char *target, const char *fields)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, method, target, fields);

    client_close(client);
    return reply;
}

void client_say_each(const struct server *server, const char *const *requests,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct client *client = client_open(server);

        going_on("%s", requests[i]);
        client_say(client, "%s", requests[i]);
        client_reply(client);
        client_close(client);
    }
}

struct reply *get(const struct server *server, const char *target)
{
    return ask(server, "GET", target, NULL);
}

void check_status(const struct reply *reply, unsigned wanted, const char *file,
                  int line)
{
    if (reply->status != wanted)
        flunk("%s:%d: answered %u, not %u", file, line, reply->status, wanted);
}

void check_body(const struct reply *reply, const char *wanted, const char *file,
                int line)
{
    if (reply->body_len != strlen(wanted) ||
        memcmp(reply->body, wanted, reply->body_len) != 0)
        flunk("%s:%d: the body is '%.*s', not '%s'", file, line,
              (int)(reply->body_len < 500 ? reply->body_len : 500), reply->body,
              wanted);
}

void check_seeded(const struct reply *reply, uint64_t seed, uint64_t offset,
                  size_t len, const char *file, int line)
{
    if (reply->body_len != len)
        flunk("%s:%d: the body has %zu bytes, not %zu", file, line,
              reply->body_len, len);
    if (!seeded_is(seed, offset, reply->body, len))
        flunk("%s:%d: the body is not what it should be", file, line);
}

void client_expect_usable(struct client *client)
{
    struct reply *reply = client_ask(client, "GET", "/canary", NULL);

    expect_status(reply, 200);
    expect_body(reply, "canary\n");
}

unsigned client_status_unix(const char *path, const char *target,
                            const char *fields)
{
    struct client *client = client_open_unix(path);
    unsigned status = client_ask(client, "GET", target, fields)->status;

    client_close(client);
    return status;
}
