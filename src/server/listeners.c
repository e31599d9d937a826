#include "server/listeners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

/* "ADDRESS:PORT", "[ADDRESS]:PORT", "unix:PATH". 0 or -errno. */
static int open_listener(struct listener *listener, const char *where)
{
    const char *colon = strrchr(where, ':');
    char address[64];
    char *end;
    size_t len;
    unsigned long port;

    if (strncmp(where, "unix:", 5) == 0)
        return listener_open_unix(listener, where + 5);
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return -EINVAL;
    port = strtoul(colon + 1, &end, 10);
    len = (size_t)(colon - where);
    if (*end != '\0' || port > 65535 || len >= sizeof(address))
        return -EINVAL;
    if (where[0] == '[') {
        if (len < 2 || where[len - 1] != ']')
            return -EINVAL;
        where++;
        len -= 2;
    } else if (memchr(where, ':', len)) {
        return -EINVAL; /* IPv6 without brackets: where would it end? */
    }
    memcpy(address, where, len);
    address[len] = '\0';
    return listener_open_tcp(listener, len > 0 ? address : NULL,
                             (unsigned)port);
}

static int explain_listener(const char *option, const char *where, int err)
{
    const char *remedy = "";

    if (err == -EADDRINUSE)
        remedy = "; another server listens there: stop it, or choose another "
                 "with --port or --listen";
    else if (err == -EACCES && strncmp(where, "unix:", 5) == 0)
        remedy = "; the directory must be writable";
    else if (err == -EACCES)
        remedy = "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
    else if (err == -EADDRNOTAVAIL)
        remedy = "; this machine has no such address";
    else if (err == -EINVAL)
        remedy = "; give a numeric ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH";
    fprintf(stderr, "sprintd: %s: cannot listen on %s: %s%s\n", option, where,
            strerror(-err), remedy);
    return err == -EINVAL   ? EX_USAGE
           : err == -EACCES ? EX_NOPERM
                            : EX_UNAVAILABLE;
}

int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                   size_t *count_out, const struct options *options)
{
    int err;

    *count_out = 0;
    if (options->listen.count == 0) {
        char where[128];

        err = listener_open_tcp(&listeners[0], options->bind,
                                (unsigned)options->port);
        if (err == 0) {
            *count_out = 1;
            return EX_OK;
        }
        snprintf(where, sizeof(where), "%s port %llu",
                 options->bind ? options->bind : "any address",
                 (unsigned long long)options->port);
        return explain_listener(err == -EINVAL ? "--bind" : "--port", where,
                                err);
    }
    for (size_t i = 0; i < options->listen.count; i++) {
        err = open_listener(&listeners[i], options->listen.items[i]);
        if (err != 0)
            return explain_listener("--listen", options->listen.items[i], err);
        (*count_out)++;
    }
    return EX_OK;
}
