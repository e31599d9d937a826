/*
 * harness - a folder to serve, and the real server serving it.
 *
 * A test program says E2E_SUITE(harness_begin), or names what it begins with
 * in an E2E_BEGIN(). Whatever a test opened or started is closed and
 * stopped after it, also when it failed; what the group's set-up started
 * stays when it calls harness_keep(). A server that does not end with status
 * 0 on SIGTERM fails the test that used it.
 *
 * The server is the program that SPRINTD names, and gets the argument that
 * SPRINTD_ARGS is, if any (make e2e-strict). With SPRINTD_TLS set it listens by
 * TLS, unless the test says where it listens (make e2e-tls). TEST_SLOW=N makes
 * all patience N times longer; it is 1, or 5 with a sanitizer.
 *
 * Thread: one; there are no others in test programs.
 * Owns:   the folder below /tmp, the servers.
 */
#ifndef E2E_HARNESS_H
#define E2E_HARNESS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "suite.h"

#define E2E_SUITE(start) \
    SUITE(.begin = (start), .end = harness_end, .each_end = harness_after_test)

/* The text of a literal and how long it is, NULs inside included. */
#define RAW(literal) (literal), sizeof(literal) - 1

/* Begins a suite with what its braces make: files of the site, which has
 * "canary" already, and servers, which stay for all tests. */
#define E2E_BEGIN(start)                               \
    static void e2e_##start(void);                     \
    static int start(void **state)                     \
    {                                                  \
        return harness_begin_with(state, e2e_##start); \
    }                                                  \
    static void e2e_##start(void)
int harness_begin_with(void **state, void (*make)(void));
/* The same with nothing but the canary. */
int harness_begin_site(void **state);

int harness_begin(void **state);
int harness_begin_in_memory(void **state); /* for very many files */
int harness_end(void **state);
int harness_after_test(void **state);
void harness_keep(void);

/* Fails the test, saying what was going on. */
__attribute__((noreturn, format(printf, 1, 2))) void flunk(const char *format,
                                                           ...);
/* What flunk() says it happened in; "" for nothing. */
__attribute__((format(printf, 1, 2))) void going_on(const char *format, ...);

/* --- Time ---------------------------------------------------------------- */

uint64_t now_ms(void);
unsigned slowness(void);
uint64_t patience(unsigned ms); /* ms as long as it may take here */
void pause_ms(unsigned ms);

/* Whether this program, and so the server, runs with a sanitizer. */
bool is_sanitized(void);

/* Tries condition every few milliseconds, for as long as ms on a fast
 * machine. Is whether it came true. */
#define eventually(condition, ms)                               \
    __extension__({                                             \
        uint64_t until_ms = now_ms() + patience(ms);            \
        bool is_true;                                           \
        while (!(is_true = (condition)) && now_ms() < until_ms) \
            pause_ms(5);                                        \
        is_true;                                                \
    })

/* --- The folder ---------------------------------------------------------- */

const char *folder(void); /* holds all that follows and more; absolute */
const char *site(void);   /* the root that is served; below folder() */
int site_open(void);      /* a descriptor of it, borrowed */

/* Names are relative to the site; folders on the way are made. */
void site_write(const char *name, const void *data, size_t len);
void site_text(const char *name, const char *text);
void site_seeded(const char *name, uint64_t seed, size_t len);
void site_replace(const char *name, const void *data, size_t len);
void site_remove(const char *name);
void site_folder(const char *name);
void site_link(const char *name, const char *target);
void site_mode(const char *name, unsigned mode);
void site_date(const char *name, int64_t seconds, long nanoseconds);

/* Byte i of the endless text that a seed stands for. */
void seeded_fill(uint64_t seed, uint64_t offset, char *out, size_t len);
bool seeded_is(uint64_t seed, uint64_t offset, const char *data, size_t len);

/* Memory that is freed after the test, and text in such memory. */
void *scratch(size_t len);
__attribute__((format(printf, 1, 2))) char *printed(const char *format, ...);

/* The whole text of a file anywhere; NUL-terminated; freed after the test. */
char *read_text(const char *path, size_t *len_out);

/* --- The server ---------------------------------------------------------- */

struct server {
    pid_t pid; /* 0: none runs here */
    int pidfd;
    int out;       /* what it prints */
    unsigned port; /* of the first listener; 0: a unix socket */
    bool kept;
    bool is_tls;         /* the first listener speaks it, and so do clients */
    const char *address; /* where clients find it, numeric */
    char banner[512];    /* the first line it printed */
    char errors[96];     /* the file its standard error goes to */
};

struct launch {
    const char *root;    /* NULL: the site; "": none is named */
    const char *folder;  /* it starts there; NULL: in folder() */
    bool is_tls;         /* it listens by TLS, with a certificate of ours */
    bool is_bare;        /* the arguments say all; no --bind, no --port */
    bool as_nobody;      /* when the tests run as root */
    rlim_t descriptors;  /* 0: as many as we may have */
    const char *address; /* it listens there; NULL: 127.0.0.1 */
    int netns;           /* it runs there; 0: where the tests do */
    int listener;        /* a socket it gets as from systemd; 0: none */
    const char *listener_name; /* that systemd gives it; NULL: http */
};

/* Another program is the server from now on. 0 or -1. */
int servers_choose(const char *path);

/* Starts it, and waits until it says that it serves. */
struct server *server_start(const struct launch *launch,
                            const char *const arguments[]);
#define START(...) \
    server_start(&(struct launch){0}, (const char *const[]){__VA_ARGS__, NULL})

/* Reads one more line of its standard output. False: none in time. */
bool server_line(const struct server *server, char *line, size_t size);

void server_signal(const struct server *server, int number);

/* The status it exits with; 128 + N when killed by signal N; -1: it still
 * runs after ms, which are not made longer. */
int server_wait(struct server *server, uint64_t ms);

/* SIGTERM; fails unless it exits with status 0 in time. */
void server_stop(struct server *server);

uint64_t server_cpu_ms(const struct server *server);
uint64_t server_memory(const struct server *server); /* resident bytes */
/* Of those, what is no file: a page of the program or of the cache is counted
 * when it is touched first, whoever did it. */
uint64_t server_own_memory(const struct server *server);
size_t server_descriptors(const struct server *server);

/* Runs it as a command that ends by itself. */
struct outcome {
    int status;
    char out[32768];
    char err[4096];
};
void server_run(const struct launch *launch, const char *const arguments[],
                struct outcome *outcome);
#define RUN(outcome, ...)                                     \
    server_run(&(struct launch){.is_bare = true, .root = ""}, \
               (const char *const[]){__VA_ARGS__, NULL}, outcome)

#endif
