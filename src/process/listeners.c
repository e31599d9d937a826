#include "process/listeners.h"

#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>

#include "config/listen_address.h"
#include "config/option_table.h"

enum { WHERE_MAX = 128 };

/* An address to listen at, which an option names. */
struct wanted {
    const char *option;
    char where[WHERE_MAX]; /* the address as text, for messages */
    struct listen_address place;
};

/* --- Reading the options ------------------------------------------------- */

static size_t count_in_clear(const struct options *options)
{
    return options->listen.count > 0 ? options->listen.count : 1;
}

static size_t count_wanted(const struct options *options)
{
    return count_in_clear(options) + (options->https != OPTIONS_HTTPS_OFF);
}

/* Reads a port, to be used with the address that --bind gives. Returns 0 or
 * -EINVAL. */
static int want_port(struct wanted *wanted, const struct options *options,
                     const char *option, uint64_t port)
{
    struct listen_address *place = &wanted->place;

    wanted->option = option;
    snprintf(wanted->where, sizeof(wanted->where), "%s port %llu",
             options->bind ? options->bind : "any address",
             (unsigned long long)port);
    place->port = (unsigned)port;
    place->is_everywhere = !options->bind;
    if (options->bind && strlen(options->bind) >= sizeof(place->address)) {
        wanted->option = "--bind";
        return -EINVAL;
    }
    snprintf(place->address, sizeof(place->address), "%s",
             options->bind ? options->bind : "");
    return 0;
}

/* Reads the address number `i` to listen at. Returns 0, -EINVAL, or -E2BIG if
 * there are too many addresses. Sets wanted->where in any case. */
static int find_wanted(struct wanted *wanted, const struct options *options,
                       size_t i)
{
    *wanted = (struct wanted){0};
    if (i == OPTIONS_LISTEN_MAX) { /* --https comes after all --listen */
        (void)!want_port(wanted, options, "--https", options->https);
        return -E2BIG;
    }
    if (i == count_in_clear(options)) {
        wanted->place.is_tls = true;
        return want_port(wanted, options, "--https", options->https);
    }
    if (options->listen.count > 0) {
        const char *where = options->listen.items[i];

        wanted->option = "--listen";
        snprintf(wanted->where, sizeof(wanted->where), "%s", where);
        return listen_address_read(&wanted->place, where) ? 0 : -EINVAL;
    }
    return want_port(wanted, options, "--port", options->port);
}

static const char *address_of(const struct wanted *wanted)
{
    return wanted->place.is_everywhere ? NULL : wanted->place.address;
}

static bool is_there(const struct listener *listener,
                     const struct wanted *wanted)
{
    return wanted->place.path
               ? listener_is_at_path(listener, wanted->place.path)
               : listener_is_at(listener, address_of(wanted),
                                wanted->place.port);
}

/* --- Opening ------------------------------------------------------------- */

static int explain(FILE *errors, const struct wanted *wanted, int err)
{
    bool is_bind = err == -EINVAL && strcmp(wanted->option, "--listen") != 0;
    const char *remedy = "";

    if (err == -EADDRINUSE)
        remedy = "; another server listens there: stop it, or choose another "
                 "with --port, --https or --listen";
    else if (err == -EACCES && wanted->place.path)
        remedy = "; the directory must be writable";
    else if (err == -EACCES)
        remedy = "; ports below 1024 need root, CAP_NET_BIND_SERVICE or a "
                 "socket of systemd's";
    else if (err == -E2BIG)
        remedy = "; sixteen places of --listen are all there can be";
    else if (err == -EADDRNOTAVAIL)
        remedy = "; this machine has no such address";
    else if (err == -EINVAL)
        remedy = "; give a numeric ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH, "
                 "perhaps behind https://";
    fprintf(errors, "sprintd: %s: cannot listen on %s: %s%s\n",
            is_bind ? "--bind" : wanted->option, wanted->where, strerror(-err),
            remedy);
    return err == -EINVAL   ? EX_USAGE
           : err == -EACCES ? EX_NOPERM
                            : EX_UNAVAILABLE;
}

static int open_wanted(struct listener *listener, const struct wanted *wanted)
{
    return wanted->place.path ? listener_open_unix(listener, wanted->place.path)
                              : listener_open_tcp(listener, address_of(wanted),
                                                  wanted->place.port);
}

static bool take(struct activation *activation, struct listener *listener,
                 const struct wanted *wanted)
{
    return wanted->place.path
               ? activation_take_path(activation, listener, wanted->place.path)
               : activation_take(activation, listener, address_of(wanted),
                                 wanted->place.port);
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
    static const char *const names[] = {"listen", "port", "bind", "https"};

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
        listener_mark_tls(&listeners[i], wanted.place.is_tls);
        (*count_out)++;
    }
    return EX_OK;
}

int listeners_check(const struct listener *listeners, size_t count,
                    bool has_certificate, FILE *errors)
{
    for (size_t i = 0; i < count && !has_certificate; i++)
        if (listeners[i].is_tls) {
            fprintf(errors,
                    "sprintd: %s needs a certificate: --certificate FILE\n",
                    listeners[i].text);
            return EX_CONFIG;
        }
    return EX_OK;
}

uint16_t listeners_https_port(const struct listener *listeners, size_t count,
                              const struct options *options)
{
    enum { HTTPS_PORT = 443 };
    unsigned port = (unsigned)options->redirect_port;

    for (size_t i = 0; i < count && options->redirect_port == 0; i++) {
        if (!listeners[i].is_tls || listeners[i].port == port)
            continue;
        if (port != 0)
            return HTTPS_PORT;
        port = listeners[i].port;
    }
    return (uint16_t)(port != 0 ? port : HTTPS_PORT);
}

/* --- Changing ------------------------------------------------------------ */

static bool has(const struct listeners_change *change, int fd)
{
    for (size_t i = 0; i < change->count; i++)
        if (change->next[i].fd == fd)
            return true;
    return false;
}

/* Finds an open listener at the wanted address. Skips the listeners that
 * *change uses already. */
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
        listener_mark_tls(&change->next[i], wanted.place.is_tls);
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
