/* link: -Wl,--wrap=calloc,--wrap=proxy_start */
#include "engine/worker.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>

#include "suite.h"
#include "unit/engine/worker_client.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "wrap.h"

enum { WAIT_MS = 20000, TRIES_MAX = 10000 };

static struct mime *mime;
static struct access_log access_log;
static struct link_shared link_shared;
static struct stats stats;
static struct location_options location;
static struct docroots roots;
static const struct cidrs nobody;
static struct worker_options options;
static struct worker *worker;
static atomic_uint gone;
static unsigned fds_before;

/* --- What goes wrong ----------------------------------------------------- */

static atomic_int start_fault; /* -errno; 0: it starts */

WRAP(int, proxy_start, struct proxy *proxy, const struct upstream_loop *loop)
{
    int fault = atomic_load(&start_fault);

    return fault != 0 ? fault : __real_proxy_start(proxy, loop);
}

/* --- A worker with a proxy ----------------------------------------------- */

/* Where nobody listens: what it answers is 502. */
static const struct upstream_endpoint nowhere = {.unix_path = "/nowhere/socket",
                                                 .authority = {"nowhere", 7}};
static const struct balance_server server = {.weight = 1};
static struct balance_server_shared balance;
static struct upstream_counts counts;
static const struct upstream_shared shared = {&balance, &counts};
static const char *rules[] = {"/app=http://nowhere"};
static struct worker_proxy proxied;

static void on_gone(void *context)
{
    atomic_fetch_add((atomic_uint *)context, 1);
}

static void on_drained(void *context)
{
    (void)context;
}

static sem_t changed;

static void on_changed(void *context)
{
    sem_post(context);
}

static void describe(void)
{
    location.proxy = (struct texts){rules, 1};
    proxied = (struct worker_proxy){
        .said_in = rules,
        .prefix = BYTES("/app"),
        .options = {.upstream = {.endpoints = &nowhere,
                                 .servers = &server,
                                 .shared = &shared,
                                 .server_count = 1,
                                 .connect_ms = WAIT_MS},
                    .relay = {.keeps_host = true,
                              .pseudonym = BYTES("sprintd")},
                    .buffer_bytes = 8192,
                    .reply_ms = WAIT_MS,
                    .idle_ms = WAIT_MS,
                    .tunnel_ms = WAIT_MS},
        .probe = {.path = BYTES("/health"),
                  .interval_ms = WAIT_MS,
                  .timeout_ms = WAIT_MS,
                  .status_min = 200,
                  .status_max = 200}};
    options = (struct worker_options){
        .service = {.sites = {.location = &location,
                              .roots = &roots,
                              .cache = {.mime = mime,
                                        .policy = EVICT_SIEVE,
                                        .snapshot_bytes = 16384},
                              .on_gone = on_gone,
                              .context = &gone},
                    .status_audience = {.allowed = &nobody},
                    .proxies = &nobody,
                    .proxied = &proxied,
                    .proxied_count = 1,
                    .limits = {.connections_max = 10,
                               .keepalive_ms = WAIT_MS,
                               .header_ms = WAIT_MS,
                               .body_ms = WAIT_MS,
                               .send_ms = WAIT_MS,
                               .quantum = 65536}},
        .link = &link_shared,
        .access_log = &access_log,
        .stats = &stats,
        .on_drained = on_drained};
}

static int set_up(void **state)
{
    struct access_log_options log = {.format = "combined"};

    (void)state;
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    atomic_store(&gone, 0);
    atomic_store(&start_fault, 0);
    mime = mime_create(NULL);
    if (!mime || access_log_open(&access_log, &log) != 0 ||
        link_shared_init(&link_shared, LINK_OFF, 0, 1) != 0)
        return -1;
    fds_before = place_count_fds();
    describe();
    return 0;
}

static int tear_down(void **state)
{
    bool is_tidy;

    (void)state;
    worker_destroy(worker);
    worker = NULL;
    is_tidy = place_count_fds() == fds_before;
    link_shared_fini(&link_shared);
    access_log_close(&access_log);
    mime_destroy(mime);
    return is_tidy ? 0 : -1;
}

static void make(void)
{
    worker = worker_create(&options);
    assert_non_null(worker);
}

/* The status of a GET of /app/x on a connection of its own. */
static unsigned get_status(void)
{
    static const char request[] = "GET /app/x HTTP/1.0\r\nHost: h\r\n\r\n";
    char text[4096];
    int client = worker_client_connect(worker);
    struct pollfd ready = {.fd = client, .events = POLLIN};
    size_t len = 0;
    ssize_t n;

    assert_int_equal(send(client, request, sizeof(request) - 1, 0),
                     sizeof(request) - 1);
    do {
        assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
        n = recv(client, text + len, sizeof(text) - 1 - len, 0);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    close(client);
    assert_in_range(len, 12, sizeof(text) - 1);
    return (unsigned)strtoul(text + 9, NULL, 10);
}

static void end(void)
{
    worker_command(worker, WORKER_STOP);
    worker_join(worker);
    worker_destroy(worker);
    worker = NULL;
}

/* --- Tests --------------------------------------------------------------- */

TEST(a_proxy_answers_below_its_prefix_until_a_change)
{
    struct worker_service service;
    struct worker_change *change;
    unsigned tries = 0;

    make();
    assert_int_equal(worker_start(worker), 0);
    assert_int_equal(get_status(), 502);
    service = options.service;
    service.proxied_count = 0;
    change = worker_prepare(worker, &service);
    assert_non_null(change);
    worker_apply(worker, change);
    while (get_status() != 404) /* it may take some turns to see it */
        assert_in_range(++tries, 1, TRIES_MAX);
    end();
    assert_int_equal(atomic_load(&gone), 2);
}

/* What a worker still has to take, it has not taken. */
TEST(whether_a_change_was_taken_is_known)
{
    struct worker_change *change;

    options.on_changed = on_changed;
    options.context = &changed;
    sem_init(&changed, 0, 0);
    make();
    assert_true(worker_has_changed(worker));
    for (unsigned i = 0; i < 2; i++) {
        change = worker_prepare(worker, &options.service);
        assert_non_null(change);
        worker_apply(worker, change);
        assert_false(worker_has_changed(worker));
    }
    assert_int_equal(worker_start(worker), 0);
    assert_int_equal(sem_wait(&changed), 0);
    assert_true(worker_has_changed(worker));
    assert_false(worker_has_refused(worker));
    atomic_store(&start_fault, -ENOMEM);
    change = worker_prepare(worker, &options.service);
    assert_non_null(change);
    worker_apply(worker, change);
    assert_int_equal(sem_wait(&changed), 0);
    assert_true(worker_has_changed(worker));
    assert_true(worker_has_refused(worker));
    atomic_store(&start_fault, 0);
    change = worker_prepare(worker, &options.service);
    assert_non_null(change);
    worker_apply(worker, change);
    assert_int_equal(sem_wait(&changed), 0);
    assert_false(worker_has_refused(worker));
    end();
    sem_destroy(&changed);
    assert_int_equal(atomic_load(&gone), 5);
}

TEST(proxies_that_cannot_start_make_no_worker)
{
    atomic_store(&start_fault, -ENOMEM);
    assert_null(worker_create(&options));
    assert_int_equal(atomic_load(&gone), 0);
}

TEST(a_change_whose_proxies_cannot_start_changes_nothing)
{
    struct worker_change *change;

    make();
    assert_int_equal(worker_start(worker), 0);
    atomic_store(&start_fault, -ENOMEM);
    change = worker_prepare(worker, &options.service);
    assert_non_null(change);
    worker_apply(worker, change);
    assert_int_equal(get_status(), 502);
    end();
    assert_int_equal(atomic_load(&gone), 2); /* the one, and the other */
}

TEST(without_memory_there_is_no_change)
{
    struct worker_change *change = NULL;

    make();
    for (long after = 0; !change; after++) {
        assert_int_equal(atomic_load(&gone), 0);
        assert_in_range(after, 0, 100);
        allocations_left = after;
        change = worker_prepare(worker, &options.service);
        assert_true(after > 2 || !change);
    }
    allocations_left = -1;
    worker_discard(change);
    assert_int_equal(atomic_load(&gone), 1);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
