#include "server/listeners.h"

#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "server/option_table.h"

enum { ADDRESS_MAX = 64, WHERE_MAX = 128 };

/* Where to listen, as an option says it. */
struct wanted {
    const char *option;
    char where[WHERE_MAX]; /* in messages */
    const char *path;      /* of a unix socket; NULL: by TCP */
    bool is_everywhere;
    char address[ADDRESS_MAX];
    unsigned port;
};

/* --- What is wanted ---------------------------------------------------------- */

/* "ADDRESS:PORT", "[ADDRESS]:PORT", "unix:PATH". 0 or -EINVAL. */
static int read_where(struct wanted *wanted, const char *where)
{
    const char *colon = strrchr(where, ':');
    char *end;
    size_t len;
    unsigned long port;

    if (strncmp(where, "unix:", 5) == 0) {
        wanted->path = where + 5;
        return 0;
    }
    if (!colon || !byte_is_digit(colon[1]))
        return -EINVAL;
    port = strtoul(colon + 1, &end, 10);
    len = (size_t)(colon - where);
    if (*end != '\0' || port > 65535 || len >= sizeof(wanted->address))
        return -EINVAL;
    if (where[0] == '[') {
        if (len < 2 || where[len - 1] != ']')
            return -EINVAL;
        where++;
        len -= 2;
    } else if (memchr(where, ':', len)) {
        return -EINVAL; /* IPv6 without brackets: where would it end? */
    }
    memcpy(wanted->address, where, len);
    wanted->address[len] = '\0';
    wanted->is_everywhere = len == 0;
    wanted->port = (unsigned)port;
    return 0;
}

static size_t count_wanted(const struct options *options)
{
    return options->listen.count > 0 ? options->listen.count : 1;
}

/* 0 or -EINVAL; what messages need is there either way. */
static int find_wanted(struct wanted *wanted, const struct options *options,
                       size_t i)
{
    *wanted = (struct wanted){0};
    if (options->listen.count > 0) {
        const char *where = options->listen.items[i];

        wanted->option = "--listen";
        snprintf(wanted->where, sizeof(wanted->where), "%s", where);
        return read_where(wanted, where);
    }
    wanted->option = "--port";
    snprintf(wanted->where, sizeof(wanted->where), "%s port %llu",
             options->bind ? options->bind : "any address",
             (unsigned long long)options->port);
    wanted->port = (unsigned)options->port;
    wanted->is_everywhere = !options->bind;
    if (options->bind && strlen(options->bind) >= sizeof(wanted->address)) {
        wanted->option = "--bind";
        return -EINVAL;
    }
    snprintf(wanted->address, sizeof(wanted->address), "%s",
             options->bind ? options->bind : "");
    return 0;
}

static const char *address_of(const struct wanted *wanted)
{
    return wanted->is_everywhere ? NULL : wanted->address;
}

static bool is_there(const struct listener *listener,
                     const struct wanted *wanted)
{
    return wanted->path
               ? listener_is_at_path(listener, wanted->path)
               : listener_is_at(listener, address_of(wanted), wanted->port);
}

/* --- Opening ----------------------------------------------------------------- */

static int explain(FILE *errors, const struct wanted *wanted, int err)
{
    bool is_bind = err == -EINVAL && strcmp(wanted->option, "--port") == 0;
    const char *remedy = "";

    if (err == -EADDRINUSE)
        remedy = "; another server listens there: stop it, or choose another "
                 "with --port or --listen";
    else if (err == -EACCES && wanted->path)
        remedy = "; the directory must be writable";
    else if (err == -EACCES)
        remedy = "; ports below 1024 need root, CAP_NET_BIND_SERVICE or a "
                 "socket of systemd's";
    else if (err == -EADDRNOTAVAIL)
        remedy = "; this machine has no such address";
    else if (err == -EINVAL)
        remedy = "; give a numeric ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH";
    fprintf(errors, "sprintd: %s: cannot listen on %s: %s%s\n",
            is_bind ? "--bind" : wanted->option, wanted->where, strerror(-err),
            remedy);
    return err == -EINVAL   ? EX_USAGE
           : err == -EACCES ? EX_NOPERM
                            : EX_UNAVAILABLE;
}

static int open_wanted(struct listener *listener, const struct wanted *wanted)
{
    return wanted->path
               ? listener_open_unix(listener, wanted->path)
               : listener_open_tcp(listener, address_of(wanted), wanted->port);
}

static bool take(struct activation *activation, struct listener *listener,
                 const struct wanted *wanted)
{
    return wanted->path
               ? activation_take_path(activation, listener, wanted->path)
               : activation_take(activation, listener, address_of(wanted),
                                 wanted->port);
}

static int take_all(struct listener listeners[OPTIONS_LISTEN_MAX],
                    size_t *count_out, struct activation *activation)
{
    while (*count_out < OPTIONS_LISTEN_MAX &&
           activation_take_next(activation, &listeners[*count_out]))
        (*count_out)++;
    return EX_OK;
}

bool listeners_are_systemds(const struct options *options, bool is_activated)
{
    static const char *const names[] = {"listen", "port", "bind"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && is_activated; i++)
        is_activated =
            options->origins
                .rows[option_number(option_find(bytes_of(names[i])))] ==
            ORIGIN_DEFAULT;
    return is_activated;
}

int listeners_open(struct listener listeners[OPTIONS_LISTEN_MAX],
                   size_t *count_out, const struct options *options,
                   struct activation *activation)
{
    *count_out = 0;
    if (listeners_are_systemds(options, activation->is_systemds))
        return take_all(listeners, count_out, activation);
    for (size_t i = 0; i < count_wanted(options); i++) {
        struct wanted wanted;
        int err = find_wanted(&wanted, options, i);

        if (err == 0 && !take(activation, &listeners[i], &wanted))
            err = open_wanted(&listeners[i], &wanted);
        if (err != 0)
            return explain(stderr, &wanted, err);
        (*count_out)++;
    }
    return EX_OK;
}

/* --- Changing ---------------------------------------------------------------- */

static bool has(const struct listeners_change *change, int fd)
{
    for (size_t i = 0; i < change->count; i++)
        if (change->next[i].fd == fd)
            return true;
    return false;
}

/* One that is open there and has not been taken for another. */
static const struct listener *find_open(const struct listeners_change *change,
                                        const struct listener *listeners,
                                        size_t count,
                                        const struct wanted *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (is_there(&listeners[i], wanted) && !has(change, listeners[i].fd))
            return &listeners[i];
    return NULL;
}

int listeners_prepare(struct listeners_change *change,
                      const struct listener *listeners, size_t count,
                      const struct options *options, FILE *errors)
{
    *change = (struct listeners_change){0};
    for (size_t i = 0; i < count_wanted(options); i++) {
        const struct listener *open = NULL;
        struct wanted wanted;
        int err = find_wanted(&wanted, options, i);

        if (err == 0)
            open = find_open(change, listeners, count, &wanted);
        if (open)
            change->next[i] = *open;
        else if (err == 0)
            err = open_wanted(&change->next[i], &wanted);
        if (err != 0) {
            listeners_discard(change);
            return explain(errors, &wanted, err);
        }
        change->is_new[i] = !open;
        change->count++;
    }
    return EX_OK;
}

void listeners_apply(struct listeners_change *change,
                     struct listener listeners[OPTIONS_LISTEN_MAX],
                     size_t *count_ref)
{
    for (size_t i = 0; i < *count_ref; i++)
        if (!has(change, listeners[i].fd))
            listener_close(&listeners[i]);
    memcpy(listeners, change->next, change->count * sizeof(*listeners));
    *count_ref = change->count;
}

void listeners_discard(struct listeners_change *change)
{
    for (size_t i = 0; i < change->count; i++)
        if (change->is_new[i])
            listener_close(&change->next[i]);
    change->count = 0;
}
