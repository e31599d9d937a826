#include "unit/upstream/upstream_fixture.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "wrap.h"

struct place place;
struct ev_loop *loop;
struct now now;
struct upstream_options options;
struct upstream_endpoint endpoints[SERVERS];
static struct balance_server servers[SERVERS];
static struct balance_server_shared balances[SERVERS];
struct upstream_counts counts[SERVERS];
static struct upstream_shared shared = {balances, counts};
struct upstream_pool *pool;
unsigned fds_before;

/* --- Balance ------------------------------------------------------------- */

struct played played;
char balance_stub;

WRAP(struct balance *, balance_create,
     const struct balance_options *its_options,
     const struct balance_server *its_servers,
     struct balance_server_shared *its_shared, size_t count, uint64_t seed)
{
    (void)its_options;
    (void)seed;
    assert_ptr_equal(its_servers, servers);
    assert_ptr_equal(its_shared, balances);
    assert_int_equal(count, options.server_count);
    return played.has_no_memory ? NULL : (struct balance *)&balance_stub;
}

WRAP(void, balance_destroy, struct balance *balance)
{
    assert_ptr_equal(balance, &balance_stub);
}

static bool is_up(int server)
{
    return played.states[server] == BALANCE_UP ||
           played.states[server] == BALANCE_SLOW;
}

WRAP(int, balance_take, struct balance *balance, uint64_t hash, uint64_t tried,
     uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    played.hash = hash;
    for (int i = 0; i < (int)options.server_count; i++) {
        if (is_up(i) && !(tried >> i & 1)) {
            played.active[i]++;
            return i;
        }
    }
    return -1;
}

WRAP(bool, balance_give, struct balance *balance, int server,
     enum balance_result result, uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    assert_true(played.active[server]-- > 0);
    played.given[result]++;
    if (result != BALANCE_FAILURE || !played.ejects)
        return false;
    played.states[server] = BALANCE_EJECTED;
    return true;
}

WRAP(enum balance_state, balance_state_of, const struct balance *balance,
     int server, uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    return played.states[server];
}

WRAP(unsigned, balance_retry_after_s, const struct balance *balance,
     uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    return 17;
}

WRAP(void, retry_budget_note_request, struct retry_budget *budget,
     uint64_t now_ms)
{
    (void)budget;
    assert_int_equal(now_ms, now.mono_ms);
    played.noted++;
}

WRAP(bool, retry_budget_take, struct retry_budget *budget, uint64_t now_ms)
{
    (void)budget;
    assert_int_equal(now_ms, now.mono_ms);
    return played.budget > 0 && played.budget--;
}

/* --- Names --------------------------------------------------------------- */

struct resolver_name names[SERVERS];
struct resolver *const resolver = (struct resolver *)&balance_stub;
int open_err;
unsigned err_at;

WRAP(int, resolver_name_open, struct resolver_name **name_out,
     struct resolver *its_resolver, struct bytes host, uint16_t port,
     resolver_fn on_change, void *context)
{
    unsigned at = (unsigned)(host.data[0] - 'a');

    assert_ptr_equal(its_resolver, resolver);
    assert_int_equal(port, 80 + at);
    if (open_err != 0 && at == err_at)
        return open_err;
    assert_false(names[at].is_open);
    names[at].is_open = true;
    names[at].on_change = on_change;
    names[at].context = context;
    *name_out = &names[at];
    return 0;
}

WRAP(void, resolver_name_close, struct resolver_name *name)
{
    assert_true(name->is_open);
    name->is_open = false;
}

WRAP(enum resolver_state, resolver_name_state, const struct resolver_name *name)
{
    assert_true(name->is_open);
    return name->state;
}

WRAP(const struct address *, resolver_name_addresses,
     const struct resolver_name *name, size_t *count_out)
{
    assert_true(name->is_open);
    *count_out = name->state == RESOLVER_KNOWN ? name->count : 0;
    return name->addresses;
}

WRAP(const char *, resolver_name_why, const struct resolver_name *name)
{
    assert_true(name->is_open);
    return name->why;
}

void know(unsigned server, const char *text, uint16_t port)
{
    struct resolver_name *name = &names[server];
    struct address *address = &name->addresses[name->count++];

    assert_true(address_parse(address, bytes_of(text)));
    address->port = port;
    name->state = RESOLVER_KNOWN;
}

void tell_change(unsigned server)
{
    names[server].on_change(names[server].context, &names[server]);
}

/* --- System calls, memory ------------------------------------------------ */

struct calls calls;

WRAP(int, socket, int family, int type, int protocol)
{
    unsigned at = calls.sockets++;

    if (at >= 4 || calls.socket_errnos[at] == 0)
        return __real_socket(family, type, protocol);
    errno = calls.socket_errnos[at];
    return -1;
}

WRAP(int, connect, int fd, const struct sockaddr *to, socklen_t len)
{
    static int under_way = -1;
    unsigned at;

    if (fd == under_way) { /* asked again */
        under_way = -1;
        errno = EALREADY;
        return calls.is_late ? -1 : __real_connect(fd, to, len);
    }
    at = calls.connects++;
    if (at < RESOLVER_ADDRESSES_MAX && calls.connect_errnos[at] != 0) {
        errno = calls.connect_errnos[at];
        return -1;
    }
    if (__real_connect(fd, to, len) == 0)
        return 0;
    if (errno == EINPROGRESS)
        under_way = fd;
    return -1;
}

/* --- The log ------------------------------------------------------------- */

char log_text[4096];

__attribute__((format(printf, 2, 3))) void __wrap_log_write(
    enum log_level level, const char *format, ...);
WRAP(void, log_write, enum log_level level, const char *format, ...)
{
    size_t len = strlen(log_text);
    va_list args;

    assert_true(level == LOG_LEVEL_WARNING || level == LOG_LEVEL_NOTICE);
    va_start(args, format);
    vsnprintf(log_text + len, sizeof(log_text) - len - 1, format, args);
    va_end(args);
    len += strlen(log_text + len);
    memcpy(log_text + len, "\n", 2);
}

/* --- Time ---------------------------------------------------------------- */

static ev_timer *timer; /* the wheel's */
WRAP(void, ev_timer_again, struct ev_loop *its_loop, ev_timer *its_timer)
{
    timer = its_timer;
    __real_ev_timer_again(its_loop, its_timer);
}

void pass_ms(uint64_t ms)
{
    now.mono_ms += ms;
    if (timer && ev_is_active(timer))
        ev_invoke(loop, timer, EV_TIMER);
}

void turn(void)
{
    for (int i = 0; i < 3; i++)
        ev_run(loop, EVRUN_NOWAIT);
}

/* --- Servers ------------------------------------------------------------- */

struct listeners listeners[LISTENERS];

void listen_at(unsigned at, int backlog)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof(in);
    int fd = __real_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + at);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
    listeners[at].fd = fd;
    listeners[at].port = ntohs(in.sin_port);
}

void listen_in_silence(unsigned at)
{
    struct sockaddr_in in = {.sin_family = AF_INET};

    listen_at(at, 0);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + at);
    in.sin_port = htons(listeners[at].port);
    listeners[at].filler = __real_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
                                         0);
    assert_int_equal(__real_connect(listeners[at].filler,
                                    (struct sockaddr *)&in, sizeof(in)),
                     0);
}

void stop_listening(unsigned at)
{
    if (listeners[at].fd != -1)
        close(listeners[at].fd);
    if (listeners[at].filler != -1)
        close(listeners[at].filler);
    listeners[at].fd = listeners[at].filler = -1;
}

int accept_at(unsigned at)
{
    struct pollfd ready = {.fd = listeners[at].fd, .events = POLLIN};
    int fd;

    assert_int_equal(poll(&ready, 1, PATIENCE_S * 1000), 1);
    fd = accept4(listeners[at].fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

void know_listener(unsigned server, unsigned at)
{
    char text[ADDRESS_TEXT_MAX];

    snprintf(text, sizeof(text), "127.0.0.%u", 1 + at);
    know(server, text, listeners[at].port);
}

bool is_ended(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&ready, 1, PATIENCE_S * 1000) == 1 && recv(fd, &byte, 1, 0) < 1;
}

/* --- Asking -------------------------------------------------------------- */

static void note(struct upstream_lease *lease, unsigned *what)
{
    struct asker *asker = (struct asker *)lease;

    ++*what;
    if (asker->and_then)
        asker->and_then(asker);
}

static void on_open(struct upstream_lease *lease)
{
    assert_non_null(lease->upstream);
    assert_int_equal(lease->error, UPSTREAM_OK);
    note(lease, &((struct asker *)lease)->opened);
}

static void on_failed(struct upstream_lease *lease)
{
    assert_null(lease->upstream);
    assert_int_not_equal(lease->error, UPSTREAM_OK);
    note(lease, &((struct asker *)lease)->failed);
}

static void on_readable(struct upstream_lease *lease)
{
    note(lease, &((struct asker *)lease)->readable);
}

static void on_writable(struct upstream_lease *lease)
{
    note(lease, &((struct asker *)lease)->writable);
}

struct asker make_asker(void)
{
    return (struct asker){.lease = {.on_open = on_open,
                                    .on_failed = on_failed,
                                    .on_readable = on_readable,
                                    .on_writable = on_writable}};
}

void start(struct asker *asker)
{
    *asker = make_asker();
    upstream_lease_start(pool, &asker->lease);
}

void start_open(struct asker *asker)
{
    start(asker);
    AWAIT(asker->opened == 1);
    assert_int_equal(asker->failed, 0);
}

void expect_failed(const struct asker *asker, enum upstream_error error)
{
    assert_int_equal(asker->failed, 1);
    assert_int_equal(asker->lease.error, error);
}

void release(struct asker *asker)
{
    upstream_release(&asker->lease, true, 0, BALANCE_SUCCESS);
}

unsigned idle_count(unsigned server)
{
    return atomic_load_explicit(&counts[server].idle, memory_order_relaxed);
}

/* --- Set-up -------------------------------------------------------------- */

int set_up(void **state)
{
    static const char *const hosts[SERVERS] = {"a.test", "b.test", "c.test"};
    static const char *const authorities[SERVERS] = {"a.test:80", "b.test:81",
                                                     "c.test:82"};

    (void)state;
    now = (struct now){.mono_ms = BEGIN_MS};
    memset(&played, 0, sizeof(played));
    memset(&calls, 0, sizeof(calls));
    memset(names, 0, sizeof(names));
    memset(counts, 0, sizeof(counts));
    memset(servers, 0, sizeof(servers));
    log_text[0] = '\0';
    open_err = 0;
    timer = NULL;
    pool = NULL;
    allocations_left = -1;
    for (unsigned i = 0; i < LISTENERS; i++)
        listeners[i].fd = listeners[i].filler = -1;
    for (unsigned i = 0; i < SERVERS; i++)
        endpoints[i] = (struct upstream_endpoint){
            .host = bytes_of(hosts[i]),
            .port = (uint16_t)(80 + i),
            .authority = bytes_of(authorities[i]),
        };
    options = (struct upstream_options){
        .endpoints = endpoints,
        .servers = servers,
        .shared = &shared,
        .server_count = 1,
        .connect_ms = CONNECT_MS,
        .idle_max = IDLE_MAX,
        .idle_ms = IDLE_MS,
    };
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!loop || place_open(&place) != 0)
        return -1;
    ev_run(loop, EVRUN_NOWAIT); /* opens what it keeps open */
    fds_before = place_count_fds();
    return 0;
}

int tear_down(void **state)
{
    bool is_tidy = true;

    (void)state;
    upstream_pool_destroy(pool);
    for (unsigned i = 0; i < LISTENERS; i++)
        stop_listening(i);
    for (unsigned i = 0; i < SERVERS; i++)
        is_tidy = is_tidy && !names[i].is_open && idle_count(i) == 0 &&
                  played.active[i] == 0;
    is_tidy = is_tidy && place_count_fds() == fds_before;
    ev_loop_destroy(loop);
    return place_close(&place) == 0 && is_tidy ? 0 : -1;
}

int upstream_fd(const struct upstream *upstream)
{
    return upstream_transport(upstream)->fd;
}

void start_pool(void)
{
    struct upstream_loop its_loop = {
        .loop = loop, .now = &now, .resolver = resolver};

    pool = upstream_pool_create(&options);
    assert_non_null(pool);
    assert_int_equal(upstream_pool_start(pool, &its_loop), 0);
}

void start_with_one(void)
{
    listen_at(0, 64);
    know_listener(0, 0);
    start_pool();
}

void start_in_silence(struct asker *asker)
{
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(asker);
}

int open_one(struct asker *asker)
{
    start_with_one();
    start_open(asker);
    return accept_at(0);
}

void exchange(struct asker *asker, int fd)
{
    char byte = 'q';

    assert_int_equal(send(upstream_fd(asker->lease.upstream), &byte, 1, 0), 1);
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    assert_int_equal(send(fd, "r", 1, 0), 1);
    asker->readable = 0;
    AWAIT(asker->readable > 0);
    assert_int_equal(recv(upstream_fd(asker->lease.upstream), &byte, 1, 0), 1);
    assert_int_equal(byte, 'r');
}
