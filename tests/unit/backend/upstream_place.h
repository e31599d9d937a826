/*
 * upstream_place - a pool on a loop whose clock stands until it is moved, with
 * servers on loopback, and played parts below it: balance, names, memory, the
 * system calls that open a connection, and the log.
 *
 * Who includes it has the `link:` lines that test_upstream.c has.
 */
#ifndef UNIT_UPSTREAM_PLACE_H
#define UNIT_UPSTREAM_PLACE_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

#include "../place.h"
#include "backend/upstream_priv.h"

enum {
    SERVERS = 3,
    BEGIN_MS = 1000000,
    CONNECT_MS = 5000,
    IDLE_MS = 50000,
    IDLE_MAX = 4,
    TICK = DEADLINE_TICK_MS,
    PATIENCE_S = 60
};

static struct place place;
static struct ev_loop *loop;
static struct now now;
static struct upstream_options options;
static struct upstream_place places[SERVERS];
static struct balance_server servers[SERVERS];
static struct balance_server_shared balances[SERVERS];
static struct upstream_counts counts[SERVERS];
static struct upstream_shared shared = {balances, counts};
static struct upstream_pool *pool;
static unsigned fds_before;

/* --- Balance ---------------------------------------------------------------- */

/* Takes the first that is up and not tried. */
static struct {
    enum balance_state states[SERVERS];
    uint64_t hash; /* last taken with */
    int active[SERVERS];
    unsigned given[3]; /* by result */
    bool ejects;       /* at the next failure */
    bool has_no_memory;
    unsigned noted; /* requests, by the budget */
    unsigned budget;
} played;

static char balance_stub; /* what stands for a struct balance */

struct balance *__wrap_balance_create(const struct balance_options *its_options,
                                      const struct balance_server *its_servers,
                                      struct balance_server_shared *its_shared,
                                      size_t count, uint64_t seed);
struct balance *__wrap_balance_create(const struct balance_options *its_options,
                                      const struct balance_server *its_servers,
                                      struct balance_server_shared *its_shared,
                                      size_t count, uint64_t seed)
{
    (void)its_options;
    (void)seed;
    assert_ptr_equal(its_servers, servers);
    assert_ptr_equal(its_shared, balances);
    assert_int_equal(count, options.server_count);
    return played.has_no_memory ? NULL : (struct balance *)&balance_stub;
}

void __wrap_balance_destroy(struct balance *balance);
void __wrap_balance_destroy(struct balance *balance)
{
    assert_ptr_equal(balance, &balance_stub);
}

static inline bool is_up(int server)
{
    return played.states[server] == BALANCE_UP ||
           played.states[server] == BALANCE_SLOW;
}

int __wrap_balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
                        uint64_t now_ms);
int __wrap_balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
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

bool __wrap_balance_give(struct balance *balance, int server,
                         enum balance_result result, uint64_t now_ms);
bool __wrap_balance_give(struct balance *balance, int server,
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

enum balance_state __wrap_balance_state_of(const struct balance *balance,
                                           int server, uint64_t now_ms);
enum balance_state __wrap_balance_state_of(const struct balance *balance,
                                           int server, uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    return played.states[server];
}

unsigned __wrap_balance_retry_after_s(const struct balance *balance,
                                      uint64_t now_ms);
unsigned __wrap_balance_retry_after_s(const struct balance *balance,
                                      uint64_t now_ms)
{
    assert_ptr_equal(balance, &balance_stub);
    assert_int_equal(now_ms, now.mono_ms);
    return 17;
}

void __wrap_retry_budget_note_request(struct retry_budget *budget,
                                      uint64_t now_ms);
void __wrap_retry_budget_note_request(struct retry_budget *budget,
                                      uint64_t now_ms)
{
    (void)budget;
    assert_int_equal(now_ms, now.mono_ms);
    played.noted++;
}

bool __wrap_retry_budget_take(struct retry_budget *budget, uint64_t now_ms);
bool __wrap_retry_budget_take(struct retry_budget *budget, uint64_t now_ms)
{
    (void)budget;
    assert_int_equal(now_ms, now.mono_ms);
    return played.budget > 0 && played.budget--;
}

/* --- Names ------------------------------------------------------------------ */

/* One for each server; what it says is set by the test. */
struct resolver_name {
    enum resolver_state state;
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    size_t count;
    resolver_fn on_change;
    void *context;
    const char *why;
    bool is_open;
};

static struct resolver_name names[SERVERS];
static struct resolver *const resolver = (struct resolver *)&balance_stub;
static int open_err;    /* of resolver_name_open() ... */
static unsigned err_at; /* ... of this server */

int __wrap_resolver_name_open(struct resolver_name **name_out,
                              struct resolver *its_resolver, struct bytes host,
                              uint16_t port, resolver_fn on_change,
                              void *context);
int __wrap_resolver_name_open(struct resolver_name **name_out,
                              struct resolver *its_resolver, struct bytes host,
                              uint16_t port, resolver_fn on_change,
                              void *context)
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

void __wrap_resolver_name_close(struct resolver_name *name);
void __wrap_resolver_name_close(struct resolver_name *name)
{
    assert_true(name->is_open);
    name->is_open = false;
}

enum resolver_state __wrap_resolver_name_state(const struct resolver_name
                                                   *name);
enum resolver_state __wrap_resolver_name_state(const struct resolver_name *name)
{
    assert_true(name->is_open);
    return name->state;
}

const struct address *__wrap_resolver_name_addresses(
    const struct resolver_name *name, size_t *count_out);
const struct address *__wrap_resolver_name_addresses(
    const struct resolver_name *name, size_t *count_out)
{
    assert_true(name->is_open);
    *count_out = name->state == RESOLVER_KNOWN ? name->count : 0;
    return name->addresses;
}

const char *__wrap_resolver_name_why(const struct resolver_name *name);
const char *__wrap_resolver_name_why(const struct resolver_name *name)
{
    assert_true(name->is_open);
    return name->why;
}

static inline void know(unsigned server, const char *text, uint16_t port)
{
    struct resolver_name *name = &names[server];
    struct address *address = &name->addresses[name->count++];

    assert_true(address_parse(address, bytes_of(text)));
    address->port = port;
    name->state = RESOLVER_KNOWN;
}

static inline void tell_change(unsigned server)
{
    names[server].on_change(names[server].context, &names[server]);
}

/* --- System calls, memory ---------------------------------------------------- */

static struct {
    int socket_errnos[4]; /* of the next calls; 0: as it is */
    unsigned sockets;
    int connect_errnos[RESOLVER_ADDRESSES_MAX];
    unsigned connects;
    bool is_late; /* connections are there only when the loop says so */
    unsigned memory_left;
} calls;

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
    unsigned at = calls.sockets++;

    if (at >= 4 || calls.socket_errnos[at] == 0)
        return __real_socket(family, type, protocol);
    errno = calls.socket_errnos[at];
    return -1;
}

int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
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

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return calls.memory_left > 0 && calls.memory_left-- ? __real_malloc(bytes)
                                                        : NULL;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return calls.memory_left > 0 && calls.memory_left--
               ? __real_calloc(count, bytes)
               : NULL;
}

/* --- The log ------------------------------------------------------------------ */

static char log_text[4096]; /* all lines, each with its end */

__attribute__((format(printf, 2, 3))) void __wrap_log_write(
    enum log_level level, const char *format, ...);
void __wrap_log_write(enum log_level level, const char *format, ...)
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

/* --- Time --------------------------------------------------------------------- */

static ev_timer *timer; /* the wheel's */

void __real_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer);
void __wrap_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer);
void __wrap_ev_timer_again(struct ev_loop *its_loop, ev_timer *its_timer)
{
    timer = its_timer;
    __real_ev_timer_again(its_loop, its_timer);
}

/* Moves the clock, and has the wheel look at it. */
static inline void pass_ms(uint64_t ms)
{
    now.mono_ms += ms;
    if (timer && ev_is_active(timer))
        ev_invoke(loop, timer, EV_TIMER);
}

static inline void give_up(struct ev_loop *its_loop, ev_timer *its_timer,
                           int events)
{
    (void)its_loop;
    (void)its_timer;
    (void)events;
    fail_msg("the loop has waited for %d s", PATIENCE_S);
}

#define AWAIT(condition)                                 \
    do {                                                 \
        ev_timer guard_;                                 \
                                                         \
        ev_timer_init(&guard_, give_up, PATIENCE_S, 0.); \
        ev_timer_start(loop, &guard_);                   \
        while (!(condition))                             \
            ev_run(loop, EVRUN_ONCE);                    \
        ev_timer_stop(loop, &guard_);                    \
    } while (0)

/* What is there to be told is told. */
static inline void turn(void)
{
    for (int i = 0; i < 3; i++)
        ev_run(loop, EVRUN_NOWAIT);
}

/* --- Servers ------------------------------------------------------------------ */

enum { LISTENERS = 4 };

static struct {
    int fd;
    uint16_t port;
    int filler; /* takes the only place of one that is full */
} listeners[LISTENERS];

/* One on 127.0.0.(1 + at) that takes `backlog` connections and one more. */
static inline void listen_at(unsigned at, int backlog)
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

/* One that does not answer: its backlog is full. */
static inline void listen_in_silence(unsigned at)
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

static inline void stop_listening(unsigned at)
{
    if (listeners[at].fd != -1)
        close(listeners[at].fd);
    if (listeners[at].filler != -1)
        close(listeners[at].filler);
    listeners[at].fd = listeners[at].filler = -1;
}

/* The other end of the next connection. */
static inline int accept_at(unsigned at)
{
    struct pollfd ready = {.fd = listeners[at].fd, .events = POLLIN};
    int fd;

    assert_int_equal(poll(&ready, 1, PATIENCE_S * 1000), 1);
    fd = accept4(listeners[at].fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* server is known to be at the listener. */
static inline void know_listener(unsigned server, unsigned at)
{
    char text[ADDRESS_TEXT_MAX];

    snprintf(text, sizeof(text), "127.0.0.%u", 1 + at);
    know(server, text, listeners[at].port);
}

/* Whether the end of fd comes, after nothing else. */
static inline bool is_ended(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&ready, 1, PATIENCE_S * 1000) == 1 && recv(fd, &byte, 1, 0) < 1;
}

/* --- Asking -------------------------------------------------------------------- */

/* An ask, and how often it was told what. */
struct asker {
    struct upstream_ask ask; /* first: callbacks know it by this */
    unsigned opened;
    unsigned failed;
    unsigned readable;
    unsigned writable;
    void (*and_then)(struct asker *asker); /* in each of them */
};

static inline void note(struct upstream_ask *ask, unsigned *what)
{
    struct asker *asker = (struct asker *)ask;

    ++*what;
    if (asker->and_then)
        asker->and_then(asker);
}

static inline void on_open(struct upstream_ask *ask)
{
    assert_non_null(ask->upstream);
    assert_int_equal(ask->error, UPSTREAM_OK);
    note(ask, &((struct asker *)ask)->opened);
}

static inline void on_failed(struct upstream_ask *ask)
{
    assert_null(ask->upstream);
    assert_int_not_equal(ask->error, UPSTREAM_OK);
    note(ask, &((struct asker *)ask)->failed);
}

static inline void on_readable(struct upstream_ask *ask)
{
    note(ask, &((struct asker *)ask)->readable);
}

static inline void on_writable(struct upstream_ask *ask)
{
    note(ask, &((struct asker *)ask)->writable);
}

static inline struct asker make_asker(void)
{
    return (struct asker){.ask = {.on_open = on_open,
                                  .on_failed = on_failed,
                                  .on_readable = on_readable,
                                  .on_writable = on_writable}};
}

/* As for another request. */
static inline void start(struct asker *asker)
{
    *asker = make_asker();
    upstream_ask_start(pool, &asker->ask);
}

/* The same, and it must be open now. */
static inline void start_open(struct asker *asker)
{
    start(asker);
    AWAIT(asker->opened == 1);
    assert_int_equal(asker->failed, 0);
}

static inline void expect_failed(const struct asker *asker,
                                 enum upstream_error error)
{
    assert_int_equal(asker->failed, 1);
    assert_int_equal(asker->ask.error, error);
}

static inline void release(struct asker *asker)
{
    upstream_release(&asker->ask, true, 0, BALANCE_SUCCESS);
}

static inline unsigned idle_count(unsigned server)
{
    return atomic_load_explicit(&counts[server].idle, memory_order_relaxed);
}

/* --- Set-up -------------------------------------------------------------------- */

static inline int set_up(void **state)
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
    calls.memory_left = UINT32_MAX;
    for (unsigned i = 0; i < LISTENERS; i++)
        listeners[i].fd = listeners[i].filler = -1;
    for (unsigned i = 0; i < SERVERS; i++)
        places[i] = (struct upstream_place){
            .host = bytes_of(hosts[i]),
            .port = (uint16_t)(80 + i),
            .authority = bytes_of(authorities[i]),
        };
    options = (struct upstream_options){
        .places = places,
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

/* Nothing is left open, named or counted by any test. */
static inline int tear_down(void **state)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static inline void start_pool(void)
{
    struct upstream_loop its_loop = {loop, &now, resolver};

    pool = upstream_pool_create(&options);
    assert_non_null(pool);
    assert_int_equal(upstream_pool_start(pool, &its_loop), 0);
}

/* The usual: one server, which listens. */
static inline void start_with_one(void)
{
    listen_at(0, 64);
    know_listener(0, 0);
    start_pool();
}

/* The same, but it is silent; with one who asks. */
static inline void start_in_silence(struct asker *asker)
{
    listen_in_silence(0);
    know_listener(0, 0);
    start_pool();
    start(asker);
}

#endif
