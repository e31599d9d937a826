/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=pages_open */
#include "engine/worker.h"

#include <poll.h>
#include <signal.h>

#include "suite.h"
#include "unit/engine/worker_client.h"
#include "unit/memory.h"
#include "unit/place.h"
#include "unit/small_cache.h"

enum { WAIT_MS = 20000, LARGE_BYTES = 4 << 20 };

static struct place place;
static struct docroot root;
static struct mime *mime;
static struct access_log access_log;
static struct link_shared link_shared;
static struct worker *worker;
static atomic_uint drained;

/* --- A worker ------------------------------------------------------------ */

static void on_drained(void *context)
{
    atomic_fetch_add((atomic_uint *)context, 1);
}

static struct stats stats;
static struct location_options location;
static struct docroots_item root_item;
static struct docroots roots = {&root_item, 1};
static const struct cidrs nobody;
static struct worker_options options;

static int open_log(void)
{
    struct access_log_options log = {.where = place_path(&place, "log"),
                                     .format = "combined"};

    return access_log_open(&access_log, &log) != 0 ||
           access_log_start(&access_log, 1) != 0;
}

static int set_up(void **state)
{
    (void)state;
    options = (struct worker_options){
        .service = {.sites = {.location = &location,
                              .roots = &roots,
                              .cache = small_cache(NULL, NULL)},
                    .status_audience = {.allowed = &nobody},
                    .proxies = &nobody,
                    .limits = {.connections_max = 100,
                               .keepalive_ms = WAIT_MS,
                               .header_ms = WAIT_MS,
                               .body_ms = WAIT_MS,
                               .send_ms = WAIT_MS,
                               .quantum = 65536}},
        .schedule = SCHED_POLICY_SRPT,
        .link = &link_shared,
        .access_log = &access_log,
        .stats = &stats,
        .on_drained = on_drained,
        .context = &drained};
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    atomic_store(&drained, 0);
    mime = mime_create(NULL);
    if (!mime || place_open(&place) != 0 ||
        docroot_open(&root, place.name, false) != 0 ||
        place_write(&place, "small", "small body") != 0 ||
        place_write(&place, "large", "") != 0 ||
        truncate(place_path(&place, "large"), LARGE_BYTES) != 0 ||
        open_log() != 0)
        return -1;
    if (link_shared_init(&link_shared, LINK_OFF, 0, 1) != 0)
        return -1;
    location.root = place.name;
    location.index = "index.html";
    root_item = (struct docroots_item){.directory = place.name, .root = &root};
    options.service.sites.cache.mime = mime;
    worker = worker_create(&options);
    return worker ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    worker_destroy(worker);
    link_shared_fini(&link_shared);
    access_log_close(&access_log);
    mime_destroy(mime);
    docroot_close(&root);
    return place_close(&place);
}

static void request(int client, const char *path)
{
    char text[100];
    int len = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n",
                       path);

    assert_int_equal(send(client, text, (size_t)len, 0), len);
}

/* Receives until the text ends so, or the server ends (NULL); how much. */
static size_t receive_until(int client, const char *end)
{
    static char text[2 * LARGE_BYTES];
    struct pollfd ready = {.fd = client, .events = POLLIN};
    size_t len = 0;
    size_t end_len = end ? strlen(end) : 0;

    for (;;) {
        ssize_t n;

        assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
        n = recv(client, text + len, sizeof(text) - len, 0);
        if (n <= 0) {
            assert_null(end);
            return len;
        }
        len += (size_t)n;
        if (end && len >= end_len &&
            memcmp(text + len - end_len, end, end_len) == 0)
            return len;
    }
}

TEST(a_worker_that_never_started_can_be_destroyed)
{
    assert_int_equal(worker_closed(worker), 0);
}

/* However little there is, until there is enough. */
static void make_with_ever_more_memory(void)
{
    unsigned fds_before = place_count_fds();
    struct worker *other = NULL;

    for (long after = 0; !other; after++) {
        assert_int_equal(place_count_fds(), fds_before);
        assert_in_range(after, 0, 100);
        allocations_left = after;
        other = worker_create(&options);
        assert_true(after > 5 || !other);
    }
    allocations_left = -1;
    worker_destroy(other);
    worker_destroy(NULL);
    assert_int_equal(place_count_fds(), fds_before);
}

TEST(without_memory_there_is_no_worker)
{
    make_with_ever_more_memory();
}

TEST(without_memory_for_a_status_there_is_no_worker)
{
    struct stats_options stats_options = {.worker_count = 1};
    struct now now;
    struct stats_shared *all;

    now_refresh(&now);
    all = stats_shared_create(&stats_options, &now);
    assert_non_null(all);
    options.service.status_prefix = BYTES("/_s");
    options.service.has_status = true;
    options.shared_stats = all;
    make_with_ever_more_memory();
    stats_shared_destroy(all);
}

TEST(what_was_given_to_it_is_closed_with_it)
{
    int client = worker_client_connect(worker);

    worker_destroy(worker);
    worker = NULL;
    assert_int_equal(receive_until(client, NULL), 0);
    close(client);
}

TEST(a_connection_is_served_until_the_worker_drains)
{
    int client = worker_client_connect(worker);

    assert_int_equal(worker_start(worker), 0);
    request(client, "/small");
    receive_until(client, "\r\n\r\nsmall body");
    request(client, "/small");
    receive_until(client, "\r\n\r\nsmall body");
    assert_int_equal(worker_closed(worker), 0);
    worker_command(worker, WORKER_DRAIN);
    assert_int_equal(receive_until(client, NULL), 0);
    worker_join(worker);
    assert_int_equal(worker_closed(worker), 1);
    assert_int_equal(atomic_load(&drained), 1);
    close(client);
}

TEST(a_worker_without_connections_drains_at_once)
{
    assert_int_equal(worker_start(worker), 0);
    worker_command(worker, WORKER_DRAIN);
    worker_join(worker);
    assert_int_equal(atomic_load(&drained), 1);
}

TEST(draining_waits_for_what_is_being_sent)
{
    int client = worker_client_connect(worker);

    assert_int_equal(worker_start(worker), 0);
    request(client, "/large");
    assert_int_equal(poll(&(struct pollfd){client, POLLIN, 0}, 1, WAIT_MS), 1);
    worker_command(worker, WORKER_DRAIN);
    assert_true(receive_until(client, NULL) > LARGE_BYTES);
    close(client);
    worker_join(worker);
    assert_int_equal(atomic_load(&drained), 1);
}

TEST(stopping_waits_for_nothing)
{
    int client = worker_client_connect(worker);

    assert_int_equal(worker_start(worker), 0);
    request(client, "/large");
    assert_int_equal(poll(&(struct pollfd){client, POLLIN, 0}, 1, WAIT_MS), 1);
    worker_command(worker, WORKER_DRAIN);
    worker_command(worker, WORKER_STOP);
    worker_join(worker);
    assert_int_equal(atomic_load(&drained), 1);
    assert_true(receive_until(client, NULL) < LARGE_BYTES);
    close(client);
}

TEST(the_access_log_is_complete_in_the_end)
{
    int client = worker_client_connect(worker);
    char line[200];
    ssize_t n;
    int fd;

    assert_int_equal(worker_start(worker), 0);
    request(client, "/small");
    receive_until(client, "small body");
    worker_command(worker, WORKER_DRAIN);
    worker_join(worker);
    close(client);
    worker_destroy(worker);
    worker = NULL;
    access_log_close(&access_log);
    fd = openat(place.fd, "log", O_RDONLY);
    n = read(fd, line, sizeof(line) - 1);
    close(fd);
    assert_true(n > 0);
    line[n] = '\0';
    assert_non_null(strstr(line,
                           "\"GET /small HTTP/1.1\" 200 10 \"-\" \"-\"\n"));
}

/* --- Changing what it serves --------------------------------------------- */

static atomic_uint gone; /* services that nobody needs any more */

static void on_gone(void *context)
{
    atomic_fetch_add((atomic_uint *)context, 1);
}

/* The same files under another head. */
static struct worker_service other_service(const char *cache_control)
{
    static struct location_options others[4];
    static unsigned count;
    struct location_options *other = &others[count++ % 4];
    struct worker_service service = options.service;

    *other = location;
    other->cache_control = cache_control;
    service.sites.location = other;
    service.sites.on_gone = on_gone;
    service.sites.context = &gone;
    return service;
}

static void change(const char *cache_control)
{
    struct worker_service service = other_service(cache_control);
    struct worker_change *made = worker_prepare(worker, &service);

    assert_non_null(made);
    worker_apply(worker, made);
}

static void wait_gone(unsigned count)
{
    for (int i = 0; atomic_load(&gone) < count && i < WAIT_MS; i++)
        poll(NULL, 0, 1);
    assert_int_equal(atomic_load(&gone), count);
}

/* Asks until the answer has that text in it. */
static void request_until(int client, const char *text)
{
    static char answer[4096];

    for (int i = 0; i < WAIT_MS; i++) {
        ssize_t n;

        request(client, "/small");
        n = recv(client, answer, sizeof(answer) - 1, 0);
        assert_true(n > 0);
        answer[n] = '\0';
        if (strstr(answer, text))
            return;
        poll(NULL, 0, 1);
    }
    fail_msg("no '%s' in: %s", text, answer);
}

TEST(what_begins_after_a_change_is_answered_by_the_new)
{
    int client = worker_client_connect(worker);

    atomic_store(&gone, 0);
    assert_int_equal(worker_start(worker), 0);
    request(client, "/small");
    receive_until(client, "small body");
    change("max-age=1");
    request_until(client, "Cache-Control: max-age=1\r\n");
    change("max-age=2");
    request_until(client, "Cache-Control: max-age=2\r\n");
    wait_gone(1);
    worker_command(worker, WORKER_STOP);
    worker_join(worker);
    close(client);
    worker_destroy(worker);
    worker = NULL;
    wait_gone(2);
}

TEST(what_has_begun_keeps_what_it_began_with)
{
    int slow = worker_client_connect(worker);
    int client = worker_client_connect(worker);

    change("max-age=1"); /* before it runs; so the first one is not ours */
    atomic_store(&gone, 0);
    assert_int_equal(worker_start(worker), 0);
    request_until(client, "Cache-Control: max-age=1\r\n");
    request(slow, "/large");
    assert_int_equal(poll(&(struct pollfd){slow, POLLIN, 0}, 1, WAIT_MS), 1);
    change("max-age=2");
    request_until(client, "Cache-Control: max-age=2\r\n");
    assert_int_equal(atomic_load(&gone), 0);
    worker_command(worker, WORKER_DRAIN);
    assert_true(receive_until(slow, NULL) > LARGE_BYTES);
    worker_join(worker);
    assert_int_equal(atomic_load(&gone), 1);
    close(slow);
    close(client);
}

TEST(a_change_that_was_not_taken_gives_way_to_the_next)
{
    struct worker_service service = other_service("max-age=9");
    int client;

    atomic_store(&gone, 0);
    worker_discard(worker_prepare(worker, &service));
    assert_int_equal(atomic_load(&gone), 1);
    change("max-age=1");
    change("max-age=2");
    assert_int_equal(atomic_load(&gone), 2);
    assert_int_equal(worker_start(worker), 0);
    client = worker_client_connect(worker);
    request_until(client, "Cache-Control: max-age=2\r\n");
    worker_command(worker, WORKER_STOP);
    worker_join(worker);
    close(client);
}

TEST(without_memory_for_a_change_all_stays_as_it_is)
{
    struct worker_service service = other_service("max-age=9");
    struct worker_change *made = NULL;
    unsigned fds_before = place_count_fds();

    atomic_store(&gone, 0);
    for (long after = 0; !made; after++) {
        assert_int_equal(atomic_load(&gone), 0);
        assert_in_range(after, 0, 100);
        allocations_left = after;
        made = worker_prepare(worker, &service);
    }
    allocations_left = -1;
    assert_int_equal(place_count_fds(), fds_before);
    worker_discard(made);
    assert_int_equal(atomic_load(&gone), 1);
}

TEST(many_connections_are_counted_open_and_closed)
{
    enum { CLIENTS = 40 };
    int clients[CLIENTS];

    assert_int_equal(worker_start(worker), 0);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = worker_client_connect(worker);
        request(clients[i], i % 2 == 0 ? "/small" : "/none");
    }
    for (int i = 0; i < CLIENTS; i++) {
        receive_until(clients[i], i % 2 == 0 ? "small body" : "</html>\n");
        close(clients[i]);
    }
    worker_command(worker, WORKER_DRAIN);
    worker_join(worker);
    assert_int_equal(worker_closed(worker), CLIENTS);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
