/*
 * upstream_fixture - a pool on a loop whose clock stands until it is moved,
 * with servers on loopback, and played parts below it: balance, names, memory,
 * the system calls that open a connection, and the log.
 *
 * Who includes it has the `link:` lines that test_upstream.c has.
 */
#ifndef UNIT_UPSTREAM_FIXTURE_H
#define UNIT_UPSTREAM_FIXTURE_H

#include "suite.h"
#include "unit/await.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "upstream/upstream_priv.h"

enum {
    SERVERS = 3,
    BEGIN_MS = 1000000,
    CONNECT_MS = 5000,
    IDLE_MS = 50000,
    IDLE_MAX = 4,
    TICK = DEADLINE_TICK_MS
};

extern struct place place;
extern struct ev_loop *loop;
extern struct now now;
extern struct upstream_options options;
extern struct upstream_endpoint endpoints[SERVERS];
extern struct upstream_counts counts[SERVERS];
extern struct upstream_pool *pool;
extern unsigned fds_before;

/* --- Balance ------------------------------------------------------------- */

/* Takes the first that is up and not tried. */
extern struct played {
    enum balance_state states[SERVERS];
    uint64_t hash; /* last taken with */
    int active[SERVERS];
    unsigned given[3]; /* by result */
    bool ejects;       /* at the next failure */
    bool has_no_memory;
    unsigned noted; /* requests, by the budget */
    unsigned budget;
} played;

extern char balance_stub; /* what stands for a struct balance */

/* --- Names --------------------------------------------------------------- */

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

extern struct resolver_name names[SERVERS];
extern struct resolver *const resolver;
extern int open_err;    /* of resolver_name_open() ... */
extern unsigned err_at; /* ... of this server */

void know(unsigned server, const char *text, uint16_t port);
void tell_change(unsigned server);

/* --- System calls, memory ------------------------------------------------ */

extern struct calls {
    int socket_errnos[4]; /* of the next calls; 0: as it is */
    unsigned sockets;
    int connect_errnos[RESOLVER_ADDRESSES_MAX];
    unsigned connects;
    bool is_late; /* connections are there only when the loop says so */
} calls;

int __real_socket(int family, int type, int protocol);

/* --- The log ------------------------------------------------------------- */

extern char log_text[4096]; /* all lines, each with its end */

/* --- Time ---------------------------------------------------------------- */

/* Moves the clock, and has the wheel look at it. */
void pass_ms(uint64_t ms);

/* What is there to be told is told. */
void turn(void);

/* --- Servers ------------------------------------------------------------- */

enum { LISTENERS = 4 };

extern struct listeners {
    int fd;
    uint16_t port;
    int filler; /* takes the only place of one that is full */
} listeners[LISTENERS];

/* One on 127.0.0.(1 + at) that takes `backlog` connections and one more. */
void listen_at(unsigned at, int backlog);

/* One that does not answer: its backlog is full. */
void listen_in_silence(unsigned at);

void stop_listening(unsigned at);

/* The other end of the next connection. */
int accept_at(unsigned at);

/* server is known to be at the listener. */
void know_listener(unsigned server, unsigned at);

/* Whether the end of fd comes, after nothing else. */
bool is_ended(int fd);

/* --- Asking -------------------------------------------------------------- */

/* An ask, and how often it was told what. */
struct asker {
    struct upstream_lease lease; /* first: callbacks know it by this */
    unsigned opened;
    unsigned failed;
    unsigned readable;
    unsigned writable;
    void (*and_then)(struct asker *asker); /* in each of them */
};

struct asker make_asker(void);

/* As for another request. */
void start(struct asker *asker);

/* The same, and it must be open now. */
void start_open(struct asker *asker);

/* The server is one, and the asker has the first connection to it: its other
 * end. */
int open_one(struct asker *asker);

void expect_failed(const struct asker *asker, enum upstream_error error);
void release(struct asker *asker);
unsigned idle_count(unsigned server);

/* Sends a byte to asker's server, whose end is fd, and one back. */
void exchange(struct asker *asker, int fd);

/* --- Set-up -------------------------------------------------------------- */

int set_up(void **state);

/* Nothing is left open, named or counted by any test. */
int tear_down(void **state);

int upstream_fd(const struct upstream *upstream);
void start_pool(void);

/* The usual: one server, which listens. */
void start_with_one(void);

/* The same, but it is silent; with one who asks. */
void start_in_silence(struct asker *asker);

#endif
