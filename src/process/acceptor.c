#include "process/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "engine/refusal.h"
#include "io/loop.h"
#include "observe/profile.h"
#include "process/dispatch.h"
#include "process/handshake_storm.h"
#include "process/short_runs.h"

enum {
    BATCH_MAX = 64,
    LAST_BATCH_MAX = 65536, /* accepted before the end: the longest backlog */
    /* The most waits for full mailboxes in a batch; they take 1 s in all. */
    MOMENTS_MAX = 1000,
    MOMENT_NS = 1000000,
    COMPLAIN_MS = 10000
};

static const double pause_s = 0.1;

/* A socket on which clients are accepted. */
struct accepting_socket {
    struct listener listener; /* a copy, which borrows the socket */
    ev_io io;
};

struct places {
    struct accepting_socket *items;
    size_t count;
};

struct acceptor {
    struct acceptor_options options;
    struct ev_loop *loop;
    struct dispatch *dispatch;
    struct places places;
    struct places next;      /* the places after the next change */
    atomic_bool is_prepared; /* if true, the acceptor's thread owns `next` */
    sem_t changed;
    ev_timer pause;
    ev_async change;
    ev_async stop;
    int spare_fd; /* in reserve; closed while a client is refused */
    struct log_limit complaint;
    struct handshake_storm storm;
    atomic_bool leaves; /* another process shall get the backlog */
    pthread_t thread;
};

/* --- Refusing ------------------------------------------------------------ */

static void complain(struct acceptor *acceptor, const char *what)
{
    char more[LOG_HELD_BACK_BYTES];
    struct now now;
    uint64_t silent;

    now_refresh(&now);
    if (log_limit_allows(&acceptor->complaint, now.mono_ms, COMPLAIN_MS,
                         &silent))
        log_warning("refusing connections: %s%s", what,
                    log_held_back(silent, more));
}

static void refuse(const struct acceptor *acceptor, int fd, bool is_tls,
                   enum stats_refusal reason)
{
    if (is_tls)
        close(fd); /* a client of TLS would not understand clear text */
    else
        refusal_send(fd);
    stats_note_refused(acceptor->options.stats, reason);
}

static void set_listening(struct acceptor *acceptor, bool listens)
{
    for (size_t i = 0; i < acceptor->places.count; i++) {
        if (listens)
            ev_io_start(acceptor->loop, &acceptor->places.items[i].io);
        else
            ev_io_stop(acceptor->loop, &acceptor->places.items[i].io);
    }
}

static void pause_listening(struct acceptor *acceptor)
{
    set_listening(acceptor, false);
    ev_timer_set(&acceptor->pause, pause_s, 0.);
    ev_timer_start(acceptor->loop, &acceptor->pause);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct acceptor *acceptor = timer->data;

    (void)loop;
    (void)events;
    if (acceptor->spare_fd == -1)
        acceptor->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    set_listening(acceptor, true);
}

/* Refuses a connection when no descriptor is free. The spare descriptor is
 * closed, so that the connection can have a descriptor. Returns false if there
 * is no connection, or no descriptor even so. */
static bool refuse_with_spare(struct acceptor *acceptor,
                              const struct listener *listener)
{
    struct address peer;
    int fd;

    if (acceptor->spare_fd >= 0)
        close(acceptor->spare_fd);
    fd = listener_accept(listener, &peer);
    if (fd >= 0)
        refuse(acceptor, fd, listener->is_tls, STATS_REFUSAL_DESCRIPTORS);
    acceptor->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

/* --- Accepting ------------------------------------------------------------ */

/* Handles an error of accept(2). Returns true if the acceptor may try the next
 * connection. */
static bool survive(struct acceptor *acceptor, const struct listener *listener,
                    int err)
{
    switch (err) {
    case -EAGAIN:
        return false;
    case -EMFILE:
    case -ENFILE:
        complain(acceptor, "descriptors have run out");
        (void)refuse_with_spare(acceptor, listener);
        pause_listening(acceptor);
        return false;
    case -ENOBUFS:
    case -ENOMEM:
        complain(acceptor, "the kernel has no memory");
        pause_listening(acceptor);
        return false;
    case -ECONNABORTED:
    case -EINTR:
    case -EPERM:
    case -EPROTO:
    case -ENOPROTOOPT:
    case -EOPNOTSUPP:
    case -EHOSTDOWN:
    case -ENONET:
    case -EHOSTUNREACH:
    case -ENETDOWN:
    case -ENETUNREACH:
        /* The connection has ended, or its network has failed (accept(2)); the
         * next connection may work. */
        return true;
    default:
        complain(acceptor, strerror(-err));
        pause_listening(acceptor);
        return false;
    }
}

/* Gives a connection to a worker. While all mailboxes are full after a burst,
 * the function waits, and other clients stay in the kernel's backlog. *moments
 * is how many waits the batch has left; *open is set to the number of open
 * connections after each wait. Returns false if no wait is left. */
static bool give(struct acceptor *acceptor, const struct mail *mail,
                 size_t *open, unsigned *moments)
{
    static const struct timespec moment = {.tv_nsec = MOMENT_NS};

    while (!dispatch_give(acceptor->dispatch, mail)) {
        if (*moments == 0)
            return false;
        (*moments)--;
        dispatch_end(acceptor->dispatch);
        nanosleep(&moment, NULL);
        *open = dispatch_begin(acceptor->dispatch);
    }
    return true;
}

/* Gives a connection to a worker although the maximum of connections is open.
 * In exchange, another connection is closed. Returns false if none can be
 * closed. */
static bool replace(struct acceptor *acceptor, const struct mail *mail)
{
    struct address_count *addresses = acceptor->options.addresses;

    return dispatch_replace(acceptor->dispatch, mail) ||
           (addresses && address_count_gives_way(addresses, &mail->peer) &&
            dispatch_displace(acceptor->dispatch, mail));
}

/* Accepts at most batch_max connections. Returns how many connections have
 * come. */
static size_t accept_batch(struct acceptor *acceptor,
                           const struct listener *listener, unsigned batch_max)
{
    enum stats_phase before = profile_enter(STATS_PHASE_ACCEPT);
    size_t open = dispatch_begin(acceptor->dispatch);
    unsigned moments = MOMENTS_MAX;
    size_t count = 0;

    for (unsigned i = 0; i < batch_max; i++) {
        struct mail mail;

        mail.fd = listener_accept(listener, &mail.peer);
        if (mail.fd < 0) {
            if (survive(acceptor, listener, mail.fd))
                continue;
            break;
        }
        count++;
        mail.is_tls = listener->is_tls;
        mail.makes_room = open >= acceptor->options.connections_max;
        if (mail.makes_room && replace(acceptor, &mail))
            continue;
        if (mail.makes_room) {
            complain(acceptor, "as many open as --max-connections allows");
            refuse(acceptor, mail.fd, mail.is_tls, STATS_REFUSAL_LIMIT);
        } else if (!give(acceptor, &mail, &open, &moments)) {
            complain(acceptor, "workers do not keep up");
            refuse(acceptor, mail.fd, mail.is_tls, STATS_REFUSAL_LIMIT);
        } else {
            open++;
        }
    }
    dispatch_end(acceptor->dispatch);
    profile_leave(before);
    return count;
}

static void follow(const struct handshake_storm *storm)
{
    if (storm->blows)
        short_runs_give_up();
    else
        short_runs_ask();
}

static void on_connection(struct ev_loop *loop, ev_io *io, int events)
{
    struct accepting_socket *place = OWNER_OF(io, struct accepting_socket, io);
    struct acceptor *acceptor = io->data;
    size_t count;

    if (events & EV_ERROR) { /* libev has stopped watching the socket */
        complain(acceptor, "the kernel has no memory");
        pause_listening(acceptor);
        return;
    }
    count = accept_batch(acceptor, &place->listener, BATCH_MAX);
    if (handshake_storm_note(&acceptor->storm, ev_now(loop),
                             place->listener.is_tls ? count : 0,
                             acceptor->options.worker_count))
        follow(&acceptor->storm);
}

/* Accepts the connections that wait at a listener which is about to close. The
 * kernel has told these clients that they are connected; closing the listener
 * would reset their connections. If descriptors run out, the others are
 * refused, so that they know why. */
static void accept_rest(struct acceptor *acceptor,
                        const struct listener *listener)
{
    unsigned refused = 0;

    (void)accept_batch(acceptor, listener, LAST_BATCH_MAX);
    while (ev_is_active(&acceptor->pause) && refused < LAST_BATCH_MAX &&
           refuse_with_spare(acceptor, listener))
        refused++;
}

static bool has_place(const struct places *places, int fd)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].listener.fd == fd)
            return true;
    return false;
}

static void on_change(struct ev_loop *loop, ev_async *change, int events)
{
    struct acceptor *acceptor = change->data;
    struct places before = acceptor->places;

    (void)loop;
    (void)events;
    if (!atomic_exchange(&acceptor->is_prepared, false))
        return;
    set_listening(acceptor, false);
    for (size_t i = 0; i < before.count; i++)
        if (!has_place(&acceptor->next, before.items[i].listener.fd))
            accept_rest(acceptor, &before.items[i].listener);
    acceptor->places = acceptor->next;
    acceptor->next = before;
    if (!ev_is_active(&acceptor->pause))
        set_listening(acceptor, true);
    sem_post(&acceptor->changed);
}

static void on_stop(struct ev_loop *loop, ev_async *stop, int events)
{
    struct acceptor *acceptor = stop->data;

    (void)events;
    for (size_t i = 0; i < acceptor->places.count && !acceptor->leaves; i++)
        accept_rest(acceptor, &acceptor->places.items[i].listener);
    ev_break(loop, EVBREAK_ALL);
}

static void *run(void *context)
{
    struct acceptor *acceptor = context;

    short_runs_ask();
    if (acceptor->options.is_profiled) {
        int err = profile_start(&acceptor->options.stats->profile);

        if (err != 0)
            log_warning("--profile: the acceptor: %s", strerror(-err));
    }
    ev_run(acceptor->loop, 0);
    profile_stop();
    return NULL;
}

/* --- Coming and going ----------------------------------------------------- */

static bool set_places(struct acceptor *acceptor, struct places *places,
                       const struct listener *listeners, size_t count)
{
    places->items = calloc(count, sizeof(*places->items));
    if (!places->items)
        return false;
    places->count = count;
    for (size_t i = 0; i < count; i++) {
        struct accepting_socket *place = &places->items[i];

        place->listener = listeners[i];
        ev_io_init(&place->io, on_connection, listeners[i].fd, EV_READ);
        place->io.data = acceptor;
    }
    return true;
}

static bool set_up(struct acceptor *acceptor)
{
    acceptor->loop = loop_create();
    acceptor->dispatch = dispatch_create(acceptor->options.workers,
                                         acceptor->options.worker_count);
    acceptor->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!acceptor->loop || !acceptor->dispatch || acceptor->spare_fd == -1 ||
        !set_places(acceptor, &acceptor->places, acceptor->options.listeners,
                    acceptor->options.listener_count))
        return false;
    set_listening(acceptor, true);
    ev_timer_init(&acceptor->pause, on_pause_over, pause_s, 0.);
    acceptor->pause.data = acceptor;
    ev_async_init(&acceptor->change, on_change);
    acceptor->change.data = acceptor;
    ev_async_start(acceptor->loop, &acceptor->change);
    ev_async_init(&acceptor->stop, on_stop);
    acceptor->stop.data = acceptor;
    ev_async_start(acceptor->loop, &acceptor->stop);
    return true;
}

struct acceptor *acceptor_create(const struct acceptor_options *options)
{
    struct acceptor *acceptor = calloc(1, sizeof(*acceptor));

    if (!acceptor)
        return NULL;
    acceptor->options = *options;
    acceptor->spare_fd = -1;
    sem_init(&acceptor->changed, 0, 0);
    if (set_up(acceptor))
        return acceptor;
    acceptor_destroy(acceptor);
    return NULL;
}

void acceptor_destroy(struct acceptor *acceptor)
{
    if (!acceptor)
        return;
    if (acceptor->spare_fd >= 0)
        close(acceptor->spare_fd);
    dispatch_destroy(acceptor->dispatch);
    if (acceptor->loop)
        ev_loop_destroy(acceptor->loop);
    free(acceptor->places.items);
    free(acceptor->next.items);
    sem_destroy(&acceptor->changed);
    free(acceptor);
}

int acceptor_start(struct acceptor *acceptor)
{
    return -pthread_create(&acceptor->thread, NULL, run, acceptor);
}

static void forget(struct places *places)
{
    free(places->items);
    *places = (struct places){0};
}

int acceptor_prepare(struct acceptor *acceptor,
                     const struct listener *listeners, size_t count)
{
    forget(&acceptor->next);
    return set_places(acceptor, &acceptor->next, listeners, count) ? 0
                                                                   : -ENOMEM;
}

void acceptor_change(struct acceptor *acceptor)
{
    acceptor->is_prepared = true;
    ev_async_send(acceptor->loop, &acceptor->change);
    while (sem_wait(&acceptor->changed) == -1)
        continue;            /* interrupted by the profiler's signal */
    forget(&acceptor->next); /* `next` has the former sockets now */
}

void acceptor_stop(struct acceptor *acceptor)
{
    ev_async_send(acceptor->loop, &acceptor->stop);
    pthread_join(acceptor->thread, NULL);
}

void acceptor_leave(struct acceptor *acceptor)
{
    acceptor->leaves = true;
    acceptor_stop(acceptor);
}
