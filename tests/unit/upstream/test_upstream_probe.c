/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=socket,--wrap=log_write */
/* link: -Wl,--wrap=resolver_name_open,--wrap=resolver_name_close */
/* link: -Wl,--wrap=resolver_name_state,--wrap=resolver_name_addresses */
/* link: -Wl,--wrap=ev_timer_start */
#include "upstream/upstream_probe.h"

#include "base/log.h"
#include "probed_server.h"
#include "suite.h"
#include "unit/await.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "wrap.h"

enum { LONG_MS = PATIENCE_S * 1000, INTERVAL_MS = 40 };

static struct ev_loop *loop;
static struct now now; /* stands, unless a test moves it */
static struct place place;
static struct probed_server server;
static struct upstream_endpoint target;
static struct balance_server configured = {.weight = 1};
static struct balance_server_shared shared;
static struct balance *balance;
static struct upstream_probe_options options;
static struct upstream_probe *probe;
static unsigned fds_before;

/* --- What is played ------------------------------------------------------- */

static int socket_error; /* 0: none */
static unsigned sockets_refused;

WRAP(int, socket, int family, int type, int protocol)
{
    if (socket_error == 0)
        return __real_socket(family, type, protocol);
    sockets_refused++;
    errno = socket_error;
    return -1;
}

static char logged[256]; /* the last line */
static unsigned lines_logged;

__attribute__((format(printf, 2, 3))) void __wrap_log_write(
    enum log_level level, const char *format, ...);
WRAP(void, log_write, enum log_level level, const char *format, ...)
{
    va_list arguments;

    (void)level;
    va_start(arguments, format);
    vsnprintf(logged, sizeof(logged), format, arguments);
    va_end(arguments);
    lines_logged++;
}

/* For how long it has waited until the next probe, each time. */
static double waits_s[32];
static unsigned wait_count;

WRAP(void, ev_timer_start, struct ev_loop *its_loop, ev_timer *timer)
{
    if (timer->at < (double)options.timeout_ms / 1000 && wait_count < 32)
        waits_s[wait_count++] = timer->at;
    __real_ev_timer_start(its_loop, timer);
}

/* The name that every server has. */
static struct {
    enum resolver_state state;
    struct address addresses[3];
    size_t count;
    int error; /* of opening it */
    unsigned open;
} name;

WRAP(int, resolver_name_open, struct resolver_name **name_out,
     struct resolver *resolver, struct bytes host, uint16_t port,
     resolver_fn on_change, void *context)
{
    (void)resolver;
    (void)context;
    assert_non_null(on_change);
    assert_true(bytes_eq(host, target.host));
    assert_int_equal(port, target.port);
    if (name.error != 0)
        return name.error;
    name.open++;
    *name_out = (struct resolver_name *)&name;
    return 0;
}

WRAP(void, resolver_name_close, struct resolver_name *its_name)
{
    assert_ptr_equal(its_name, &name);
    name.open--;
}

WRAP(enum resolver_state, resolver_name_state,
     const struct resolver_name *its_name)
{
    assert_ptr_equal(its_name, &name);
    return name.state;
}

WRAP(const struct address *, resolver_name_addresses,
     const struct resolver_name *its_name, size_t *count_out)
{
    assert_ptr_equal(its_name, &name);
    *count_out = name.state == RESOLVER_KNOWN ? name.count : 0;
    return name.addresses;
}

/* --- Set-up --------------------------------------------------------------- */

static void add_address(const char *text, uint16_t port)
{
    struct address *address = &name.addresses[name.count++];

    assert_true(address_parse(address, bytes_of(text)));
    address->port = port;
}

/* A server that is well, before a balance that believes each probe. */
static int set_up(void **state)
{
    static const struct balance_options believing = {.rise = 1, .fall = 1};

    (void)state;
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!loop || place_open(&place) != 0)
        return -1;
    ev_run(loop, EVRUN_NOWAIT); /* opens what it keeps open */
    fds_before = place_count_fds();
    if (probed_open(&server, loop, 0, NULL) != 0)
        return -1;
    server.reply = "HTTP/1.1 204 No Content\r\n\r\n";
    memset(&name, 0, sizeof(name));
    name.state = RESOLVER_KNOWN;
    add_address("127.0.0.1", server.port);
    target = (struct upstream_endpoint){.host = BYTES("app.test"),
                                        .port = server.port,
                                        .authority = BYTES("app.test:9000")};
    options = (struct upstream_probe_options){.path = BYTES("/health"),
                                              .interval_ms = 5,
                                              .timeout_ms = LONG_MS,
                                              .status_min = 200,
                                              .status_max = 399};
    memset(&shared, 0, sizeof(shared));
    now.mono_ms = 1000;
    lines_logged = wait_count = sockets_refused = 0;
    balance = balance_create(&believing, &configured, &shared, 1, 7);
    return balance ? 0 : -1;
}

/* Nothing is left open by any test. */
static int tear_down(void **state)
{
    bool is_tidy;

    (void)state;
    socket_error = 0;
    upstream_probe_destroy(probe);
    probe = NULL;
    probed_close(&server);
    balance_destroy(balance);
    is_tidy = place_count_fds() <= fds_before && name.open == 0;
    ev_loop_destroy(loop);
    return place_close(&place) == 0 && is_tidy ? 0 : -1;
}

static void start(void)
{
    probe = upstream_probe_create(&options, &target, 1, balance, NULL);
    assert_non_null(probe);
    assert_int_equal(upstream_probe_start(probe,
                                          &(struct upstream_loop){.loop = loop,
                                                                  .now = &now}),
                     0);
}

static bool is_down(void)
{
    return balance_state_of(balance, 0, now.mono_ms) == BALANCE_DOWN;
}

/* The verdict on a reply: of a server that was down up is heard at once, and
 * that it is down still is certain when it is asked again. */
static bool finds_well(const char *reply)
{
    unsigned lines = lines_logged;

    server.reply = reply;
    atomic_store(&shared.is_down, true);
    start();
    AWAIT(server.asked >= 2 || lines_logged > lines);
    upstream_probe_destroy(probe);
    probe = NULL;
    AWAIT(server.conns[0].fd == -1);
    server.asked = 0;
    return !is_down();
}

/* --- Verdicts ------------------------------------------------------------- */

TEST(the_request_is_as_configured)
{
    options.path = BYTES("/health?deep=1");
    start();
    AWAIT(server.asked == 1);
    assert_string_equal(server.request, "GET /health?deep=1 HTTP/1.1\r\n"
                                        "Host: app.test:9000\r\n"
                                        "User-Agent: sprintd\r\n"
                                        "Connection: close\r\n\r\n");
    upstream_probe_destroy(probe);
    options.host = BYTES("www.test");
    start();
    AWAIT(server.asked == 2);
    assert_non_null(strstr(server.request, "\r\nHost: www.test\r\n"));
}

TEST(a_status_of_the_range_is_well)
{
    static const char *const well[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 399 So\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n",
        "HTTP/1.1 103 H\r\n\r\nHTTP/1.1 199 X\r\n\r\nHTTP/1.1 200 O\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(well) / sizeof(*well); i++)
        if (!finds_well(well[i]))
            fail_msg("not well: %s", well[i]);
}

TEST(anything_else_is_not)
{
    static const char *const ill[] = {
        "HTTP/1.1 503 Service Unavailable\r\n\r\n",
        "HTTP/1.1 199 So\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 200 OK\nServer: x\n\n",
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(ill) / sizeof(*ill); i++)
        if (finds_well(ill[i]))
            fail_msg("well: %s", ill[i]);
}

TEST(where_a_reply_is_split_does_not_matter)
{
    static const char reply[] = "HTTP/1.1 102 Processing\r\n\r\n"
                                "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n";

    for (size_t i = 1; i < sizeof(reply) - 1; i++) {
        server.split_at = i;
        if (!finds_well(reply))
            fail_msg("not well when split at %zu", i);
    }
}

static void turns_down_with(const char *why)
{
    unsigned lines = lines_logged;
    char line[256];

    start();
    AWAIT(is_down());
    snprintf(line, sizeof(line), "upstream 'app.test:9000' is down: probe: %s",
             why);
    assert_string_equal(logged, line);
    assert_int_equal(lines_logged, lines + 1);
}

TEST(closing_before_a_reply_is_a_failure)
{
    server.reply = "HTTP/1.1 200 OK\r\n";
    server.closes = true;
    turns_down_with("closed before a reply");
}

TEST(a_wrong_status_is_told)
{
    server.reply = "HTTP/1.1 503 Busy\r\n\r\n";
    turns_down_with("status 503");
}

TEST(no_reply_in_time_is_a_failure)
{
    server.reply = NULL;
    options.timeout_ms = 50;
    turns_down_with("no reply in time");
    /* The connection is not left behind. */
    AWAIT(server.accepted > 1);
    AWAIT(server.conns[0].fd == -1);
}

/* A head of exactly so many bytes. */
static const char *head_of(size_t bytes)
{
    static char head[UPSTREAM_PROBE_REPLY_MAX + 2];
    static const char begin[] = "HTTP/1.1 200 OK\r\n";
    size_t at = sizeof(begin) - 1;

    memcpy(head, begin, at);
    while (bytes - at > 4) {
        size_t line = bytes - 2 - at > 1000 ? 500 : bytes - 2 - at;

        memcpy(head + at, "a: ", 3);
        memset(head + at + 3, 'x', line - 5);
        memcpy(head + at + line - 2, "\r\n", 2);
        at += line;
    }
    memcpy(head + at, "\r\n", 3);
    assert_int_equal(strlen(head), bytes);
    return head;
}

TEST(a_head_may_be_as_large_as_the_limit)
{
    assert_true(finds_well(head_of(UPSTREAM_PROBE_REPLY_MAX)));
}

TEST(a_head_beyond_the_limit_is_a_failure)
{
    server.reply = head_of(UPSTREAM_PROBE_REPLY_MAX + 1);
    turns_down_with("its reply's head is too large");
}

/* --- Connections ---------------------------------------------------------- */

TEST(a_server_that_is_gone_is_down_until_it_is_back)
{
    uint16_t port = server.port;
    int held; /* so that nobody else takes the port meanwhile */

    probed_close(&server);
    held = probed_bind(&port, NULL);
    assert_int_not_equal(held, -1);
    turns_down_with("Connection refused");
    assert_int_equal(probed_open(&server, loop, port, NULL), 0);
    server.reply = "HTTP/1.1 200 OK\r\n\r\n";
    AWAIT(!is_down());
    close(held);
    assert_string_equal(logged,
                        "upstream 'app.test:9000' is up: its probes succeed");
    assert_int_equal(lines_logged, 2);
}

TEST(the_next_address_is_tried)
{
    uint16_t port = 0;
    int held = probed_bind(&port, NULL);

    /* A port where nobody listens, and an address that has no way at all. */
    assert_int_not_equal(held, -1);
    name.count = 0;
    add_address("127.0.0.1", port);
    add_address("255.255.255.255", server.port);
    add_address("127.0.0.1", server.port);
    assert_true(finds_well("HTTP/1.1 200 OK\r\n\r\n"));
    close(held);
}

TEST(a_unix_socket_is_asked_too)
{
    static char path[UPSTREAM_UNIX_PATH_MAX + 1];

    snprintf(path, sizeof(path), "%s", place_path(&place, "app"));
    probed_close(&server);
    assert_int_equal(probed_open(&server, loop, 0, path), 0);
    target.unix_path = path;
    assert_true(finds_well("HTTP/1.1 200 OK\r\n\r\n"));
    assert_int_equal(unlink(path), 0);
    turns_down_with("No such file or directory");
}

TEST(a_name_without_an_address_is_a_failure)
{
    name.state = RESOLVER_FAILED;
    turns_down_with("its name has no address");
}

TEST(a_name_still_looked_up_says_nothing)
{
    name.state = RESOLVER_ASKING;
    start();
    AWAIT(wait_count >= 5);
    assert_false(is_down());
    assert_int_equal(server.accepted, 0);
    name.state = RESOLVER_KNOWN;
    AWAIT(server.asked > 0);
}

TEST(what_is_short_here_says_nothing_of_the_server)
{
    static const int errors[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS};

    start();
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        sockets_refused = 0;
        socket_error = errors[i];
        AWAIT(sockets_refused >= 3);
        assert_false(is_down());
    }
    socket_error = 0;
    server.asked = 0;
    AWAIT(server.asked > 0);
    assert_false(is_down());
    /* What the server does to us for another address says more. */
    add_address("127.0.0.1", server.port);
    socket_error = EACCES;
    AWAIT(is_down());
}

/* --- Rounds --------------------------------------------------------------- */

TEST(probes_come_at_intervals_that_differ_a_little)
{
    double least = 1;
    double most = 0;

    options.interval_ms = INTERVAL_MS;
    start();
    AWAIT(wait_count >= 13);
    /* The first is soon. */
    assert_true(waits_s[0] <= INTERVAL_MS * 0.1 / 1000);
    for (unsigned i = 1; i < wait_count; i++) {
        assert_true(waits_s[i] >= INTERVAL_MS * 0.9 / 1000);
        assert_true(waits_s[i] <= INTERVAL_MS * 1.1 / 1000);
        least = waits_s[i] < least ? waits_s[i] : least;
        most = waits_s[i] > most ? waits_s[i] : most;
    }
    assert_true(most > least);
}

TEST(a_probe_that_took_longer_is_followed_at_once)
{
    server.split_at = 5;
    options.interval_ms = INTERVAL_MS;
    start();
    AWAIT(server.asked == 1);
    assert_int_equal(wait_count, 1);
    now.mono_ms += 2 * INTERVAL_MS; /* while it is under way */
    AWAIT(wait_count == 2);
    assert_true(waits_s[1] == 0);
    assert_int_equal(server.asked, 1);
}

TEST(it_may_end_at_any_time)
{
    start(); /* before the first */
    upstream_probe_destroy(probe);
    server.reply = NULL;
    start();
    AWAIT(server.asked == 1);
    upstream_probe_destroy(probe);
    probe = NULL;
    AWAIT(server.conns[0].fd == -1);
    assert_int_equal(lines_logged, 0);
    upstream_probe_destroy(NULL);
}

/* --- Set-up that fails ---------------------------------------------------- */

TEST(paths_that_can_be_asked_for_are_known)
{
    static char longest[UPSTREAM_PROBE_PATH_MAX + 1];
    static const char *const good[] = {"/", "/health", "/a?b=c&d=%20", "/~x"};
    static const char *const bad[] = {"",           "health", "*",
                                      "http://a/",  "/a b",   "/a#b",
                                      "/a\r\nX: y", "/\x7f",  "/\xc3\xa4",
                                      "?a"};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!upstream_probe_takes_path(bytes_of(good[i])))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (upstream_probe_takes_path(bytes_of(bad[i])))
            fail_msg("taken: %s", bad[i]);
    memset(longest, '/', sizeof(longest));
    assert_true(upstream_probe_takes_path((struct bytes){
        longest, UPSTREAM_PROBE_PATH_MAX}));
    assert_false(upstream_probe_takes_path((struct bytes){
        longest, UPSTREAM_PROBE_PATH_MAX + 1}));
    assert_false(upstream_probe_takes_path((struct bytes){"/\0", 2}));
}

TEST(the_longest_path_is_asked_for)
{
    static char longest[UPSTREAM_PROBE_PATH_MAX];

    memset(longest, '/', sizeof(longest));
    options.path = (struct bytes){longest, sizeof(longest)};
    start();
    AWAIT(server.asked == 1);
    assert_int_equal(strspn(server.request + 4, "/"), UPSTREAM_PROBE_PATH_MAX);
}

TEST(without_memory_there_are_no_probes)
{
    for (int i = 0; i < 2; i++) {
        allocations_left = i;
        probe = upstream_probe_create(&options, &target, 1, balance, NULL);
        allocations_left = -1;
        assert_null(probe);
    }
}

TEST(a_name_that_cannot_be_one_is_refused)
{
    name.error = -EINVAL;
    probe = upstream_probe_create(&options, &target, 1, balance, NULL);
    assert_non_null(probe);
    assert_int_equal(upstream_probe_start(probe,
                                          &(struct upstream_loop){.loop = loop,
                                                                  .now = &now}),
                     -EINVAL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
