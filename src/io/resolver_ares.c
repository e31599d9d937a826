#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "io/resolver_priv.h"

const char *const resolver_paths[] = {"/etc/hosts", "/etc/resolv.conf",
                                      "/dev/urandom", NULL};

/* --- Answers -------------------------------------------------------------- */

/* Returns the least TTL of all records that led to the addresses. A TTL with
 * its highest bit set is 0 (RFC 2181, 8). */
static uint64_t ttl_ms_of(const struct ares_addrinfo *found)
{
    int ttl_s = RESOLVER_TTL_MAX_MS / MS_PER_S;

    for (const struct ares_addrinfo_node *node = found->nodes; node;
         node = node->ai_next)
        if (node->ai_ttl < ttl_s)
            ttl_s = node->ai_ttl;
    for (const struct ares_addrinfo_cname *cname = found->cnames; cname;
         cname = cname->next)
        if (cname->ttl < ttl_s)
            ttl_s = cname->ttl;
    if (ttl_s < RESOLVER_TTL_MIN_MS / MS_PER_S)
        return RESOLVER_TTL_MIN_MS;
    return (uint64_t)ttl_s * MS_PER_S;
}

static void note_found(struct resolver_name *name,
                       const struct ares_addrinfo *found)
{
    struct address_merge merge;
    struct address address;

    address_merge_init(&merge, name->addresses, name->count);
    for (const struct ares_addrinfo_node *node = found->nodes; node;
         node = node->ai_next) {
        address_from(&address, node->ai_addr);
        address.port = name->port;
        address_merge_put(&merge, &address);
    }
    name->resolver->events->on_found(name, &merge,
                                     name->is_asked_just ? RESOLVER_HOSTS_TTL_MS
                                                         : ttl_ms_of(found));
}

static void on_answer(void *context, int status, int timeouts,
                      struct ares_addrinfo *found)
{
    struct resolver_name *name = context;

    (void)timeouts;
    name->is_asking = false;
    if (name->is_closed)
        free(name);
    else if (status == ARES_SUCCESS)
        note_found(name, found);
    else
        name->resolver->events->on_failure(name, ares_strerror(status));
    ares_freeaddrinfo(found);
}

void resolver_ares_ask(struct resolver_name *name)
{
    /* To sort the addresses, c-ares would open a socket for each. */
    static const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
                                                     .ai_family = AF_UNSPEC};

    name->ends_ms = 0;
    name->is_asking = name->is_asked_just = true;
    ares_getaddrinfo(name->resolver->channel, name->host, NULL, &hints,
                     on_answer, name);
    name->is_asked_just = false;
}

/* --- The loop's part ------------------------------------------------------ */

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct resolver *resolver = watcher->data;
    int fd = watcher->fd;

    (void)loop;
    ares_process_fd(resolver->channel, events & EV_READ ? fd : ARES_SOCKET_BAD,
                    events & EV_WRITE ? fd : ARES_SOCKET_BAD);
    resolver->events->on_turn_end(resolver);
}

/* Returns the watcher of `fd`, or an unused one. There always is one, because
 * c-ares has at most two sockets for each server. */
static ev_io *find_watcher(struct resolver *resolver, int fd)
{
    ev_io *unused = NULL;

    for (size_t i = 0; i < resolver->watcher_count; i++) {
        ev_io *watcher = &resolver->watchers[i];

        if (watcher->fd == fd)
            return watcher;
        if (watcher->fd == -1)
            unused = watcher;
    }
    assert(unused);
    return unused;
}

/* Notes that c-ares waits for `fd` to be readable or writable from now on. If
 * neither is set, c-ares is about to close `fd`. */
static void on_socket(void *context, int fd, int readable, int writable)
{
    struct resolver *resolver = context;
    ev_io *watcher = find_watcher(resolver, fd);
    int events = (readable ? EV_READ : 0) | (writable ? EV_WRITE : 0);

    ev_io_stop(resolver->loop, watcher);
    ev_io_set(watcher, events != 0 ? fd : -1, events);
    if (events != 0)
        ev_io_start(resolver->loop, watcher);
}

void resolver_ares_mind_time(struct resolver *resolver)
{
    ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

uint64_t resolver_ares_left_ms(struct resolver *resolver)
{
    struct timeval left;

    if (!ares_timeout(resolver->channel, NULL, &left))
        return UINT64_MAX;
    return (uint64_t)left.tv_sec * MS_PER_S +
           (uint64_t)left.tv_usec / US_PER_MS + 1;
}

/* --- Opening -------------------------------------------------------------- */

static void start_library(void)
{
    (void)ares_library_init(ARES_LIB_INIT_ALL); /* cannot fail on Unix */
}

static int errno_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return 0;
    case ARES_ENOMEM:
        return -ENOMEM;
    default:
        return -EINVAL;
    }
}

static int check_readable(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd == -1)
        return -errno;
    close(fd);
    return 0;
}

/* Checks that c-ares can read its files. If resolv.conf is there but cannot be
 * read, c-ares would ask 127.0.0.1. Without /dev/urandom c-ares would draw the
 * ids of its questions from rand(3), so that answers could be forged. Returns 0
 * or -errno. */
static int check_files(const struct resolver_options *options)
{
    int err = check_readable(options->resolv_conf ? options->resolv_conf
                                                  : "/etc/resolv.conf");

    return err != 0 && err != -ENOENT ? err : check_readable("/dev/urandom");
}

/* Opens the channel to c-ares. Returns 0 or -errno. */
static int open_channel(struct resolver *resolver,
                        const struct resolver_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char lookups[] = "fb"; /* /etc/hosts, then DNS, whatever nsswitch says */
    struct ares_options ares = {
        .flags = ARES_FLAG_NOALIASES,
        .timeout = options->try_ms > 0 ? options->try_ms : RESOLVER_TRY_MS,
        .tries = RESOLVER_TRIES,
        .lookups = lookups,
        .sock_state_cb = on_socket,
        .sock_state_cb_data = resolver,
        .resolvconf_path = (char *)options->resolv_conf /* copied */};
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
               ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB |
               (options->resolv_conf ? ARES_OPT_RESOLVCONF : 0);
    struct ares_addr_port_node *servers;
    int status;

    pthread_once(&once, start_library);
    status = ares_init_options(&resolver->channel, &ares, mask);
    if (status == ARES_SUCCESS && options->servers)
        status = ares_set_servers_ports_csv(resolver->channel,
                                            options->servers);
    if (status == ARES_SUCCESS)
        status = ares_get_servers_ports(resolver->channel, &servers);
    if (status != ARES_SUCCESS)
        return errno_of(status);
    for (struct ares_addr_port_node *at = servers; at; at = at->next)
        resolver->watcher_count += 2;
    ares_free_data(servers);
    return 0;
}

/* Makes all watchers, which are unused at first. Returns 0 or -errno. */
static int make_watchers(struct resolver *resolver)
{
    resolver->watchers = calloc(resolver->watcher_count,
                                sizeof(*resolver->watchers));
    if (!resolver->watchers)
        return -ENOMEM;
    for (size_t i = 0; i < resolver->watcher_count; i++) {
        ev_io_init(&resolver->watchers[i], on_ready, -1, 0);
        resolver->watchers[i].data = resolver;
    }
    return 0;
}

int resolver_ares_open(struct resolver *resolver,
                       const struct resolver_options *options)
{
    int err = check_files(options);

    if (err == 0)
        err = open_channel(resolver, options);
    return err != 0 ? err : make_watchers(resolver);
}

void resolver_ares_close(struct resolver *resolver)
{
    ares_destroy(resolver->channel); /* on_answer() frees asked names */
    free(resolver->watchers);
}
