#include "origin.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "origin_priv.h"
#include "secure.h"
#include "upstream.h"

enum { ORIGINS_MAX = 8, GUESTS_MAX = 1200, TURN_MS = 10 };

static struct {
    struct origin origins[ORIGINS_MAX];
    size_t count;
} all;

/* In an origin's own process. */
static struct {
    const struct origin *origin;
    struct guest *guests[GUESTS_MAX];
    struct pollfd fds[GUESTS_MAX + 1];
    size_t count;
} here;

/* --- Requests ------------------------------------------------------------ */

static void note_malformed(const struct guest *guest, const char *fault)
{
    struct origin_counts *counts = here.origin->counts;

    if (atomic_fetch_add(&counts->malformed, 1) == 0)
        snprintf(counts->why, sizeof(counts->why), "%s: '%.*s'", fault,
                 (int)(guest->in_len < 300 ? guest->in_len : 300), guest->in);
}

static void note_whole(const struct guest *guest)
{
    struct origin_counts *counts = here.origin->counts;

    atomic_fetch_add(strcmp(guest->request.target, "/health") == 0
                         ? &counts->probes
                         : &counts->requests,
                     1);
}

/* One step. False: nothing more to do for now. */
static bool advance(struct guest *guest)
{
    struct origin_request *request = &guest->request;
    const char *fault;
    size_t body;
    size_t used;

    if (request->state == ORIGIN_WHOLE) {
        if (!guest->is_answering)
            guest_answer(guest, here.origin);
        if (guest->is_echo && !guest->has_ended)
            guest_end_echo(guest);
        return false;
    }
    if (guest->is_echo &&
        OUT_BYTES - guest->out_len < guest->in_len + FRAME_BYTES)
        return false;
    used = origin_request_read(request, guest->in, guest->in_len, &body,
                               &fault);
    if (fault) {
        note_malformed(guest, fault);
        shutdown(guest->fd, SHUT_RDWR);
        guest->in_len = 0;
        return false;
    }
    if (used == 0)
        return false;
    if (request->state != ORIGIN_HEAD && !guest->is_echo &&
        strcmp(request->target, "/echo") == 0)
        guest_begin_echo(guest);
    if (guest->is_echo && body > 0)
        guest_echo(guest, body);
    memmove(guest->in, guest->in + used, guest->in_len - used);
    guest->in_len -= used;
    if (request->state == ORIGIN_WHOLE)
        note_whole(guest);
    return true;
}

/* --- Guests -------------------------------------------------------------- */

static void part(size_t i)
{
    struct guest *guest = here.guests[i];

    atomic_fetch_sub(&here.origin->counts->open, 1);
    secure_end(guest->secure);
    close(guest->fd);
    free(guest);
    here.guests[i] = here.guests[--here.count];
}

/* False: it has gone. */
static bool send_out(struct guest *guest)
{
    ssize_t n;

    if (guest->out_at == guest->out_len)
        return true;
    n = guest->secure ? secure_send(guest->secure, guest->out + guest->out_at,
                                    guest->out_len - guest->out_at)
                      : send(guest->fd, guest->out + guest->out_at,
                             guest->out_len - guest->out_at, MSG_NOSIGNAL);
    if (n == -1)
        return errno == EAGAIN;
    guest->out_at += (size_t)n;
    if (guest->out_at == guest->out_len)
        guest->out_at = guest->out_len = 0;
    return true;
}

static bool hear(struct guest *guest)
{
    ssize_t n;

    if (guest->in_len == IN_BYTES)
        return true;
    n = guest->secure ? secure_receive(guest->secure, guest->in + guest->in_len,
                                       IN_BYTES - guest->in_len)
                      : recv(guest->fd, guest->in + guest->in_len,
                             IN_BYTES - guest->in_len, 0);
    if (n == -1)
        return errno == EAGAIN;
    guest->in_len += (size_t)n;
    return n > 0;
}

/* False: its connection is over. */
static bool serve(struct guest *guest, short events)
{
    if ((events & (POLLIN | POLLHUP | POLLERR) ||
         (guest->secure && secure_has_more(guest->secure))) &&
        !hear(guest))
        return false;
    while (advance(guest))
        continue;
    if (guest->is_answering && !guest->is_echo)
        guest_make_more(guest);
    if (!send_out(guest))
        return false;
    if (!guest->has_ended || guest->out_len > 0)
        return true;
    if (guest->framing == BY_CLOSE)
        return false;
    guest->request = (struct origin_request){0};
    guest->is_answering = guest->is_echo = guest->has_ended = false;
    return guest->in_len == 0 || serve(guest, 0);
}

static void meet(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct guest *guest;
    int yes = 1;

    if (fd == -1)
        return;
    guest = here.count < GUESTS_MAX ? calloc(1, sizeof(*guest)) : NULL;
    if (!guest) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    guest->fd = fd;
    if (here.origin->secure)
        guest->secure = secure_adopt(here.origin->secure, fd);
    here.guests[here.count++] = guest;
    atomic_fetch_add(&here.origin->counts->connected, 1);
    atomic_fetch_add(&here.origin->counts->open, 1);
}

static short wanted(const struct guest *guest)
{
    bool reads = guest->in_len < IN_BYTES &&
                 (!guest->is_echo ||
                  OUT_BYTES - guest->out_len > guest->in_len + FRAME_BYTES);
    bool sends = guest->out_len > 0;

    return (short)((reads ? POLLIN : 0) | (sends ? POLLOUT : 0));
}

static _Noreturn void live(int listener)
{
    for (;;) {
        size_t count = here.count;

        here.fds[count] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (size_t i = 0; i < count; i++)
            here.fds[i] = (struct pollfd){.fd = here.guests[i]->fd,
                                          .events = wanted(here.guests[i])};
        poll(here.fds, count + 1, TURN_MS);
        if (here.fds[count].revents)
            meet(listener);
        /* From the end, so that who takes the place of one that has gone has
         * been served already. */
        for (size_t i = count; i-- > 0;)
            if (!serve(here.guests[i], here.fds[i].revents))
                part(i);
    }
}

/* --- In the test's process ----------------------------------------------- */

void origin_again(struct origin *origin)
{
    if (origin->listener == -1) {
        origin->listener = hold_port(&origin->port);
        if (listen(origin->listener, 1024) == -1)
            flunk("listen: %s", strerror(errno));
    }
    atomic_store(&origin->counts->open, 0);
    origin->pid = child_fork();
    if (origin->pid == 0) {
        /* Whatever else is open is the test's to close. */
        if (dup2(origin->listener, 3) == -1 || close_range(4, ~0U, 0) == -1)
            _exit(1);
        here.origin = origin;
        live(3);
    }
}

struct origin *origin_start(const char *name)
{
    static struct secure_server *usual;

    if (!usual && secure_is_wanted_upstream())
        usual = secure_serve(&(struct secure_identity){0});
    return origin_start_as(name, usual);
}

struct origin *origin_start_as(const char *name, struct secure_server *server)
{
    struct origin *origin = &all.origins[all.count];

    if (all.count == ORIGINS_MAX)
        flunk("too many origins");
    *origin = (struct origin){.name = name, .secure = server, .listener = -1};
    origin->holder = hold_port(&origin->port);
    origin->counts = mmap(NULL, sizeof(*origin->counts), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (origin->counts == MAP_FAILED)
        flunk("mmap: %s", strerror(errno));
    all.count++;
    snprintf(origin->at, sizeof(origin->at), "http%s://127.0.0.1:%u",
             server ? "s" : "", origin->port);
    origin_again(origin);
    return origin;
}

void origin_crash(struct origin *origin)
{
    if (origin->pid <= 0)
        return;
    kill(origin->pid, SIGKILL);
    waitpid(origin->pid, NULL, 0);
    origin->pid = 0;
}

void origin_kill(struct origin *origin)
{
    if (origin->listener != -1) {
        shutdown(origin->listener, SHUT_RDWR); /* a crowd may have it too */
        close(origin->listener);
    }
    origin->listener = -1;
    origin_crash(origin);
}

void origin_check(const struct origin *origin)
{
    if (atomic_load(&origin->counts->malformed) > 0)
        flunk("the origin has got %lu malformed requests; the first: %s",
              atomic_load(&origin->counts->malformed), origin->counts->why);
}

void origins_end(void)
{
    for (size_t i = 0; i < all.count; i++) {
        origin_kill(&all.origins[i]);
        close(all.origins[i].holder);
        munmap(all.origins[i].counts, sizeof(*all.origins[i].counts));
    }
    all.count = 0;
}

int origins_after_test(void **state)
{
    int result = harness_after_test(state);

    origins_end();
    return result;
}
