/*
 * conn_place - connections over socket pairs, with a real handler over a
 * temporary root and a clock that the test moves.
 */
#ifndef UNIT_CONN_PLACE_H
#define UNIT_CONN_PLACE_H

#include "engine/conn_set.h"
#include "engine/h1_priv.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../place.h"
#include "handler/sites.h"

enum { LARGE_BYTES = 3 << 20, MIDDLE_BYTES = 60000, RECEIVED_MAX = 4 << 20 };

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

static struct place place;
static struct docroot root;
static struct ev_loop *loop;
static struct now now;
static struct access_log_options log_options;
static struct access_log access_log;
static struct access_log_buffer log_buffer;
static struct location_options location;
static struct docroots_item root_item;
static struct docroots roots;
static struct sites_options sites_options;
static struct sites *sites;
static struct cidrs proxies;
static struct link_shared link_shared;
static struct stats stats;
static struct conn_set set;

static char large_bytes[LARGE_BYTES]; /* the other large ones begin so too */

static inline int place_make_files(void)
{
    for (size_t i = 0; i < sizeof(large_bytes); i++)
        large_bytes[i] = (char)('a' + i % 23);
    return place_write(&place, "small", "small body") ||
           place_write(&place, "other", "other body") ||
           place_write_bytes(&place, "middle", large_bytes, MIDDLE_BYTES) ||
           place_write_bytes(&place, "large", large_bytes, LARGE_BYTES);
}

/* The connections alone, anew. */
static inline int conn_place_init_set(enum sched_policy policy)
{
    return conn_set_init(&set, policy, 256, &link_shared, 0);
}

/* Gives the set anew what it needs; between init and fini limits and the like
 * may be changed. */
static inline int conn_place_init(enum sched_policy policy)
{
    set.protocol = &h1_protocol;
    set.shared.loop = loop;
    set.shared.context.now = &now;
    set.shared.context.limits = (struct conn_limits){.connections_max = 1000,
                                                     .keepalive_ms = 5000,
                                                     .header_ms = 3000,
                                                     .body_ms = 4000,
                                                     .send_ms = 2000,
                                                     .quantum = 16384};
    set.shared.context.style = sites_options.cache.style;
    sites = sites_create(&sites_options);
    set.shared.context.access_log = &log_buffer;
    set.shared.context.stats = &stats;
    log_options.where = place_path(&place, "log");
    set.shared.context.handler = sites_handler(sites);
    set.proxies = &proxies;
    if (!sites || access_log_open(&access_log, &log_options) != 0 ||
        access_log_start(&access_log, 1) != 0)
        return -1;
    access_log_buffer_init(&log_buffer, &access_log, 0, &now);
    return conn_place_init_set(policy);
}

static inline void conn_place_fini(void)
{
    conn_set_fini(&set);
    sites_release(&sites);
    access_log_buffer_fini(&log_buffer);
    access_log_close(&access_log);
}

static inline int set_up(void **state)
{
    static struct mime *mime; /* for all tests; never given back */

    (void)state;
    /* As the server does: a sendfile to nobody is EPIPE then. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!mime)
        mime = mime_create(NULL);
    if (!loop || !mime || place_open(&place) != 0 ||
        docroot_open(&root, place.name, false) != 0 || place_make_files() != 0)
        return -1;
    now = (struct now){.mono_ms = 1000000, .wall_s = 1700000000};
    now.wall_ns = now.wall_s * 1000000000;
    log_options = (struct access_log_options){.format = "combined"};
    location = (struct location_options){.root = place.name,
                                         .index = "index.html"};
    root_item = (struct docroots_item){.directory = place.name, .root = &root};
    roots = (struct docroots){.items = &root_item, .count = 1};
    sites_options = (struct sites_options){.location = &location,
                                           .roots = &roots,
                                           .cache = {.mime = mime,
                                                     .style = {.now = &now},
                                                     .policy = EVICT_SIEVE,
                                                     .bytes_max = 1 << 20,
                                                     .entries_max = 100,
                                                     .descriptors_max = 10,
                                                     .snapshot_bytes = 16384}};
    return link_shared_init(&link_shared, LINK_OFF, 0, 1) == 0
               ? conn_place_init(SCHED_POLICY_SRPT)
               : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    conn_place_fini();
    link_shared_fini(&link_shared);
    docroot_close(&root);
    ev_loop_destroy(loop);
    return place_close(&place);
}

/* --- Clients --------------------------------------------------------------- */

struct client {
    int fd;
    bool has_ended; /* the server closed, or at least its sending side */
    size_t len;
    char *text; /* all received so far, with a NUL behind */
};

/* From where they connect. */
static struct address client_peer = {.family = ADDRESS_UNIX};

static inline void client_open_with(struct client *client, const char *request)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
                                fds),
                     0);
    *client = (struct client){.fd = fds[1], .text = test_calloc(1, 1)};
    if (*request)
        assert_int_equal(send(client->fd, request, strlen(request), 0),
                         strlen(request));
    conn_set_open(&set, &(struct mail){.fd = fds[0], .peer = client_peer});
}

static inline void client_open(struct client *client)
{
    client_open_with(client, "");
}

static inline void client_close(struct client *client)
{
    close(client->fd);
    test_free(client->text);
    client->text = NULL;
}

static inline void client_send(const struct client *client, const char *text)
{
    assert_int_equal(send(client->fd, text, strlen(text), MSG_NOSIGNAL),
                     strlen(text));
}

/* Takes what has come, at most so much. Returns how much. */
static inline size_t client_receive(struct client *client, size_t most)
{
    static char bytes[RECEIVED_MAX];
    ssize_t n = 0;
    size_t before = client->len;

    while (most > 0) {
        n = recv(client->fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes),
                 0);
        if (n <= 0)
            break;
        client->text = test_realloc(client->text, client->len + (size_t)n + 1);
        memcpy(client->text + client->len, bytes, (size_t)n);
        client->len += (size_t)n;
        client->text[client->len] = '\0';
        most -= (size_t)n;
    }
    if (n == 0 && most > 0)
        client->has_ended = true;
    return client->len - before;
}

/* A turn as a worker makes it. */
static inline void turn(void)
{
    ev_run(loop, EVRUN_NOWAIT);
    conn_set_turn(&set);
}

/* Turns until nothing more comes to the client. */
static inline void settle(struct client *client)
{
    for (int quiet = 0; quiet < 4; quiet++) {
        turn();
        if (client_receive(client, RECEIVED_MAX) > 0)
            quiet = 0;
    }
}

/* Forgets what was received, sends, and takes what comes. */
static inline const char *talk(struct client *client, const char *request)
{
    client->len = 0;
    client->text[0] = '\0';
    client_send(client, request);
    settle(client);
    return client->text;
}

/* Time goes by, and the deadlines are looked at. */
static inline void pass(uint64_t ms)
{
    now.mono_ms += ms;
    if (ev_is_active(&set.shared.deadlines.timer))
        ev_invoke(loop, &set.shared.deadlines.timer, EV_TIMER);
    turn();
}

/* What the access log says; closing it writes what it has. */
static inline const char *read_log(void)
{
    static char text[65536];
    ssize_t n;
    int fd;

    conn_place_fini();
    assert_int_equal(conn_place_init(SCHED_POLICY_SRPT), 0);
    fd = openat(place.fd, "log", O_RDONLY | O_CLOEXEC);
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

/* --- What was received -------------------------------------------------------- */

static inline unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static inline void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in: %s", part, text);
}

/* One answer of that status whose body is the text. */
static inline void assert_answer(const char *answer, unsigned status,
                                 const char *body)
{
    char line[32];
    const char *end = strstr(answer, "\r\n\r\n");

    snprintf(line, sizeof(line), "HTTP/1.1 %u ", status);
    assert_non_null(end);
    assert_memory_equal(answer, line, strlen(line));
    if (body)
        assert_string_equal(end + 4, body);
    assert_int_equal(count_of(answer, "HTTP/1.1 "), 1);
}

/* The only connection there is. */
static inline struct conn *only_conn(void)
{
    assert_int_equal(set.count, 1);
    return OWNER_OF(set.open.next, struct conn, link);
}

static inline struct h1 *only_h1(void)
{
    return h1_of(&only_conn()->session);
}

#endif
