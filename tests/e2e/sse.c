#include "sse.h"

enum { SOON_MS = 10000 };

/* Reads until text is there; where. Heartbeats come meanwhile, for ever. */
static const char *await(struct client *client, const char *text)
{
    uint64_t until_ms = now_ms() + patience(SOON_MS);
    const char *at;
    size_t len = client_take(client, 1);

    while (!(at = strstr(client_raw(client), text))) {
        size_t more = client_take(client, len + 1);

        if (more == len || now_ms() > until_ms)
            flunk("'%s' did not come, but: %s", text, client_raw(client));
        len = more;
    }
    return at;
}

/* Away with what has been looked at, up to behind text. */
static void pass(struct client *client, const char *at, const char *text)
{
    client_skip(client, (size_t)(at - client_raw(client)) + strlen(text));
}

void sse_open(struct client *client, const char *target, const char *fields)
{
    const char *end;
    char *head;

    client_say(client, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", target,
               fields ? fields : "");
    end = await(client, "\r\n\r\n");
    head = printed("%.*s", (int)(end - client_raw(client)), client_raw(client));
    if (!strstr(head, " 200 ") ||
        !strstr(head, "Content-Type: text/event-stream\r\n") ||
        !strstr(head, "Cache-Control: no-store\r\n"))
        flunk("%s: %s", target, head);
    pass(client, end, "\r\n\r\n");
}

/* An event is never cut by the end of a chunk. */
struct sse_event sse_next(struct client *client)
{
    struct sse_event event = {.name = ""};
    const char *begin, *end, *data;
    char *text, *id;

    begin = await(client, "event: ");
    pass(client, begin, "");
    end = await(client, "\n\n");
    text = printed("%.*s", (int)(end - client_raw(client)), client_raw(client));
    pass(client, end, "\n\n");
    data = strstr(text, "\ndata: ");
    id = strstr(text, "\nid: ");
    if (!data)
        flunk("no event: %s", text);
    event.data = data + strlen("\ndata: ");
    if (id && id < data)
        event.id = strtoull(id + strlen("\nid: "), NULL, 10);
    event.name = printed("%.*s", (int)strcspn(text + strlen("event: "), "\n"),
                         text + strlen("event: "));
    return event;
}

unsigned long long sse_expect(struct client *client, const char *name,
                              const char *data)
{
    struct sse_event event = sse_next(client);

    if (strcmp(event.name, name) != 0 ||
        strncmp(event.data, data, strlen(data)) != 0)
        flunk("'%s %s', and not '%s %s'", event.name, event.data, name, data);
    return event.id;
}

void sse_expect_end(struct client *client)
{
    const char *end = await(client, "0\r\n\r\n");

    if (strstr(client_raw(client), "event: "))
        flunk("there is more: %s", client_raw(client));
    pass(client, end, "0\r\n\r\n");
}
