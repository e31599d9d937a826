#include "process/activation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

enum { LISTEN_FDS_START = 3 };

/* Reads a number from 0 to INT_MAX, and sets *end_out to the text behind the
 * number. Returns -1 if there is no such number. */
static long read_number(const char *text, char **end_out)
{
    long number = strtol(text, end_out, 10);

    return byte_is_digit(*text) && number <= INT_MAX ? number : -1;
}

static int refuse(const char *variable, const char *value)
{
    fprintf(stderr, "sprintd: %s='%s' names no sockets\n", variable, value);
    return EX_CONFIG;
}

static int adopt(struct activation *activation, int fd, bool owns_file)
{
    int err;

    if (activation->count == ACTIVATION_MAX) {
        fprintf(stderr, "sprintd: more than %d sockets were handed over\n",
                ACTIVATION_MAX);
        return EX_CONFIG;
    }
    err = listener_adopt(&activation->listeners[activation->count], fd,
                         owns_file);
    if (err != 0) {
        fprintf(stderr,
                "sprintd: descriptor %d was handed over, but is no listening "
                "stream socket: %s\n",
                fd, strerror(-err));
        return EX_CONFIG;
    }
    activation->names[activation->count++] = "";
    return EX_OK;
}

/* Names the sockets by LISTEN_FDNAMES, a text like "a:b:c". If the text has too
 * few names, the other sockets stay unnamed. Returns a status of sysexits.h. */
static int name_all(struct activation *activation)
{
    const char *text = getenv("LISTEN_FDNAMES");
    char *at;

    if (!text)
        return EX_OK;
    activation->names_text = strdup(text);
    if (!activation->names_text) {
        fputs("sprintd: out of memory\n", stderr);
        return EX_OSERR;
    }
    at = activation->names_text;
    for (size_t i = 0; at && i < activation->count; i++)
        activation->names[i] = strsep(&at, ":");
    for (size_t i = 0; i < activation->count; i++)
        listener_mark_tls(&activation->listeners[i],
                          strcmp(activation->names[i], "https") == 0);
    return EX_OK;
}

static int adopt_from_systemd(struct activation *activation)
{
    const char *pid = getenv("LISTEN_PID");
    const char *fds = getenv("LISTEN_FDS");
    char *end;
    long count;
    int status = EX_OK;

    /* If LISTEN_PID is not this process, the variables were meant for another
     * process, which has not unset them. */
    if (!pid || !fds || read_number(pid, &end) != getpid() || *end != '\0')
        return EX_OK;
    count = read_number(fds, &end);
    if (count == -1 || *end != '\0')
        return refuse("LISTEN_FDS", fds);
    activation->is_systemds = count > 0;
    for (long i = 0; i < count && status == EX_OK; i++)
        status = adopt(activation, (int)(LISTEN_FDS_START + i), false);
    return status == EX_OK ? name_all(activation) : status;
}

/* Marks the sockets that spoke TLS in the previous server. Returns a status of
 * sysexits.h. */
static int mark_tls(struct activation *activation)
{
    const char *text = getenv(ACTIVATION_TLS);
    const char *at = text;

    while (at && *at != '\0') {
        char *end;
        long fd = read_number(at, &end);

        if (fd == -1 || (*end != ';' && *end != '\0'))
            return refuse(ACTIVATION_TLS, text);
        for (size_t i = 0; i < activation->count; i++)
            if (activation->listeners[i].fd == fd)
                listener_mark_tls(&activation->listeners[i], true);
        at = *end == ';' ? end + 1 : end;
    }
    return EX_OK;
}

static int adopt_from_predecessor(struct activation *activation)
{
    const char *text = getenv(ACTIVATION_VARIABLE);
    const char *at = text;
    int status = EX_OK;

    /* If systemd opened the sockets, their files belong to systemd. */
    if (text && getenv(ACTIVATION_ORIGIN))
        activation->is_systemds = true;
    while (at && *at != '\0' && status == EX_OK) {
        char *end;
        long fd = read_number(at, &end);

        if (fd == -1 || (*end != ';' && *end != '\0'))
            return refuse(ACTIVATION_VARIABLE, text);
        status = adopt(activation, (int)fd, !activation->is_systemds);
        at = *end == ';' ? end + 1 : end;
    }
    return status == EX_OK ? mark_tls(activation) : status;
}

int activation_open(struct activation *activation)
{
    int status;

    memset(activation, 0, sizeof(*activation));
    status = adopt_from_systemd(activation);
    if (status == EX_OK)
        status = adopt_from_predecessor(activation);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    unsetenv(ACTIVATION_VARIABLE);
    unsetenv(ACTIVATION_TLS);
    unsetenv(ACTIVATION_ORIGIN);
    return status;
}

static bool take_at(struct activation *activation, size_t i,
                    struct listener *listener)
{
    *listener = activation->listeners[i];
    activation->listeners[i] = (struct listener){.fd = -1};
    return true;
}

bool activation_take(struct activation *activation, struct listener *listener,
                     const char *address, unsigned port)
{
    for (size_t i = 0; i < activation->count; i++)
        if (activation->listeners[i].fd >= 0 &&
            listener_is_at(&activation->listeners[i], address, port))
            return take_at(activation, i, listener);
    return false;
}

bool activation_take_path(struct activation *activation,
                          struct listener *listener, const char *path)
{
    for (size_t i = 0; i < activation->count; i++)
        if (listener_is_at_path(&activation->listeners[i], path))
            return take_at(activation, i, listener);
    return false;
}

bool activation_take_name(struct activation *activation,
                          struct listener *listener, const char *name)
{
    for (size_t i = 0; i < activation->count; i++)
        if (activation->listeners[i].fd >= 0 &&
            strcmp(activation->names[i], name) == 0)
            return take_at(activation, i, listener);
    return false;
}

bool activation_take_next(struct activation *activation,
                          struct listener *listener)
{
    for (size_t i = 0; i < activation->count; i++)
        if (activation->listeners[i].fd >= 0)
            return take_at(activation, i, listener);
    return false;
}

void activation_close(struct activation *activation, bool serves)
{
    for (size_t i = 0; i < activation->count; i++) {
        if (serves)
            listener_close(&activation->listeners[i]);
        else
            listener_leave(&activation->listeners[i]);
    }
    free(activation->names_text);
    memset(activation, 0, sizeof(*activation));
}
