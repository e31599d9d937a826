#include "certified.h"

#include "configured.h"
#include "secure.h"

/* --- Files --------------------------------------------------------------- */

const char *certificate_write(const char *name, const struct made *const *chain,
                              const struct made *key)
{
    char *path = printed("%s/%s", folder(), name);
    char *new_path = printed("%s.new", path);
    char *certificates = made_chain(chain);
    char *secret = made_key(key, NULL);
    FILE *file = fopen(new_path, "we");

    if (!file || fprintf(file, "%s%s", certificates, secret) < 0 ||
        fclose(file) != 0 || rename(new_path, path) != 0)
        flunk("no certificate in '%s'", path);
    free(certificates);
    free(secret);
    return path;
}

const char *certify(const char *name, const struct making *making)
{
    struct made made = make_certificate(making);
    const char *path =
        certificate_write(name, (const struct made *const[]){&made, NULL},
                          &made);

    made_free(&made);
    return path;
}

/* --- Servers ------------------------------------------------------------- */

struct server *serve_certified(const char *text, const char *argument)
{
    struct launch launch = {.root = "", .is_bare = true};

    return server_start(&launch,
                        (const char *const[]){"-c", configuration(text),
                                              argument, NULL});
}

struct server *next_listener(const struct server *server)
{
    struct server *other = scratch(sizeof(*other));
    char *line = scratch(512);
    const char *at;

    *other = *server;
    if (!server_line(server, line, 512))
        flunk("no other listener");
    other->is_tls = strstr(line, "https://");
    at = strstr(line, "://127.0.0.1:");
    other->port = at ? (unsigned)strtoul(at + 13, NULL, 10) : 0;
    if (other->port == 0)
        flunk("no port in '%s'", line);
    return other;
}

/* --- Clients ------------------------------------------------------------- */

struct client *come_as(const struct server *server, const char *name)
{
    struct client *client = client_open_clear(server);
    bool is_secure;

    secure_ask_for(name);
    is_secure = client_secure(client);
    secure_ask_for(NULL);
    if (is_secure)
        return client;
    client_close(client);
    return NULL;
}

struct reply *ask_as(const struct server *server, const char *name,
                     const char *host, const char *target)
{
    struct client *client = come_as(server, name);
    struct reply *reply;

    if (!client)
        flunk("no handshake for '%s': %s", name, secure_fault());
    client_say(client, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host);
    reply = client_reply(client);
    client_close(client);
    return reply;
}

const char *shown_to(const struct server *server, const char *name)
{
    struct client *client = come_as(server, name);
    const char *shown;

    if (!client)
        flunk("no handshake for '%s': %s", name, secure_fault());
    shown = secure_shown(client_secured(client));
    client_close(client);
    return shown;
}
