#include "unit/engine/conn_fixture.h"

#include <signal.h>

#include "http/http2/http2_frame.h"
#include "unit/small_cache.h"

struct place place;
static struct docroot root;
struct ev_loop *loop;
struct now now;
struct access_log_options log_options;
static struct access_log access_log;
static struct access_log_buffer log_buffer;
struct location_options location;
static struct docroots_item root_item;
static struct docroots roots;
struct sites_options sites_options;
static struct sites *sites;
struct cidrs proxies;
struct link_shared link_shared;
struct stats stats;
struct conn_set set;
char large_bytes[LARGE_BYTES];

int place_make_files(void)
{
    for (size_t i = 0; i < sizeof(large_bytes); i++)
        large_bytes[i] = (char)('a' + i % 23);
    return place_write(&place, "small", "small body") ||
           place_write(&place, "other", "other body") ||
           place_write_bytes(&place, "middle", large_bytes, MIDDLE_BYTES) ||
           place_write_bytes(&place, "large", large_bytes, LARGE_BYTES);
}

int conn_fixture_init_set(enum sched_policy policy)
{
    return conn_set_init(&set, policy, (struct sched_bounds){256, 2},
                         &link_shared, 0);
}

int conn_fixture_init(enum sched_policy policy)
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
    set.shared.context.defaults = sites_options.cache.defaults;
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
    return conn_fixture_init_set(policy);
}

void conn_fixture_fini(void)
{
    conn_set_fini(&set);
    sites_release(&sites);
    access_log_buffer_fini(&log_buffer);
    access_log_close(&access_log);
}

int set_up(void **state)
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
                                           .cache = small_cache(mime, &now)};
    return link_shared_init(&link_shared, LINK_OFF, 0, 1) == 0
               ? conn_fixture_init(SCHED_POLICY_SRPT)
               : -1;
}

int tear_down(void **state)
{
    (void)state;
    conn_fixture_fini();
    link_shared_fini(&link_shared);
    docroot_close(&root);
    ev_loop_destroy(loop);
    return place_close(&place);
}

/* --- Clients ------------------------------------------------------------- */

struct address client_peer = {.family = ADDRESS_UNIX};

void client_open_with(struct client *client, const char *request)
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

void client_open(struct client *client)
{
    client_open_with(client, "");
}

void client_open_http2(struct client *client)
{
    static const char begin[] = HTTP2_PREFACE "\0\0\0\4\0\0\0\0\0"
                                              "\0\0\0\4\1\0\0\0\0";

    set.shared.context.limits.prior_knowledge = true;
    client_open(client);
    client_send_bytes(client, begin, sizeof(begin) - 1);
    settle(client);
}

void client_close(struct client *client)
{
    close(client->fd);
    test_free(client->text);
    client->text = NULL;
}

void client_leave(struct client *client)
{
    client_close(client);
    turn();
    assert_int_equal(set.count, 0);
}

void client_send_bytes(const struct client *client, const char *bytes,
                       size_t len)
{
    assert_int_equal(send(client->fd, bytes, len, MSG_NOSIGNAL), len);
}

void client_send(const struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

size_t client_receive(struct client *client, size_t most)
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

void turn(void)
{
    ev_run(loop, EVRUN_NOWAIT);
    conn_set_turn(&set);
}

void settle(struct client *client)
{
    for (int quiet = 0; quiet < 4; quiet++) {
        turn();
        if (client_receive(client, RECEIVED_MAX) > 0)
            quiet = 0;
    }
}

const char *talk(struct client *client, const char *request)
{
    client->len = 0;
    client->text[0] = '\0';
    client_send(client, request);
    settle(client);
    return client->text;
}

void pass(uint64_t ms)
{
    now.mono_ms += ms;
    if (ev_is_active(&set.shared.deadlines.timer))
        ev_invoke(loop, &set.shared.deadlines.timer, EV_TIMER);
    turn();
}

const char *read_log(void)
{
    static char text[65536];
    ssize_t n;
    int fd;

    conn_fixture_fini();
    assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
    fd = openat(place.fd, "log", O_RDONLY | O_CLOEXEC);
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

/* --- What was received --------------------------------------------------- */

unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

void assert_answer(const char *answer, unsigned status, const char *body)
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

struct conn *only_conn(void)
{
    assert_int_equal(set.count, 1);
    return OWNER_OF(set.open.next, struct conn, list_node);
}

struct h1 *only_h1(void)
{
    return h1_of(&only_conn()->session);
}
