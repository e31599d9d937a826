#include "configured.h"

#include <strings.h>

const char *configuration(const char *text)
{
    site_text("../test.conf", text);
    return printed("%s/test.conf", folder());
}

struct server *start_configured_at(const char *address, const char *text,
                                   const char *argument)
{
    struct launch launch = {.root = "", .address = address};

    return server_start(&launch,
                        (const char *const[]){"-c", configuration(text),
                                              argument, NULL});
}

struct server *start_configured(const char *text)
{
    return start_configured_at(NULL, text, NULL);
}

struct reply *ask_host(const struct server *server, const char *method,
                       const char *host, const char *target, const char *fields)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask_host(client, method, host, target, fields);
    client_close(client);
    return reply;
}

struct reply *get_host(const struct server *server, const char *host,
                       const char *target)
{
    return ask_host(server, "GET", host, target, NULL);
}

bool reply_says(const struct reply *reply, const char *name, const char *value)
{
    for (size_t i = 0; i < reply->field_count; i++)
        if (strcasecmp(reply->fields[i].name, name) == 0 &&
            strcmp(reply->fields[i].value, value) == 0)
            return true;
    return false;
}
