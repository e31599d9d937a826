/*
 * More than there is room for: connections, descriptors, clients that reset
 * or do not read. The server refuses politely, does not spin, and recovers.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>

#include "client.h"

enum { LARGE = 20 * 1048576 };

E2E_BEGIN(start)
{
    site_seeded("large", 1, LARGE);
    site_seeded("medium", 2, 200000);
    for (unsigned i = 0; i < 200; i++)
        site_seeded(printed("many/%u", i), i, 20000);
}

/* What becomes of a connection with a request. Refusing takes the form of 503
 * and the end, the end alone, or waiting for a place. */
static bool is_served(struct client *client)
{
    struct reply *reply;

    client_say(client, "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    if (!client_hears(client, patience(300)))
        return false;
    if (client_try(client, false, &reply) != CLIENT_REPLY)
        return false;
    if (reply->status == 503) {
        client_expect_end(client);
        return false;
    }
    expect_body(reply, "canary\n");
    return true;
}

/* It takes what it has asked for, but not at once. */
static struct client *open_busy(const struct server *server)
{
    struct client *client = client_open_narrow(server, 4096);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    return client;
}

TEST(connections_beyond_the_maximum_are_refused)
{
    enum { MAX = 10, TRIED = 15 };
    struct server *one = START("--max-connections=10", "--workers=2");
    struct client *clients[MAX];
    uint64_t cpu_ms;

    for (size_t i = 0; i < MAX; i++)
        clients[i] = open_busy(one);
    for (size_t i = MAX; i < TRIED; i++)
        assert_false(is_served(client_open(one)));
    cpu_ms = server_cpu_ms(one);
    pause_ms(300);
    assert_in_range(server_cpu_ms(one) - cpu_ms, 0, 100);
    for (size_t i = 0; i < MAX; i++) { /* the first ones stay */
        expect_seeded(client_reply(clients[i]), 1, 0, LARGE);
        client_close(clients[i]);
    }
    assert_true(eventually(is_served(client_open(one)), 5000));
}

TEST(the_maximum_holds_for_all_workers_together)
{
    struct server *one = START("--max-connections=1", "--workers=4");
    struct client *first = open_busy(one);

    for (size_t i = 0; i < 4; i++)
        assert_false(is_served(client_open(one)));
    expect_seeded(client_reply(first), 1, 0, LARGE);
}

TEST(without_descriptors_it_refuses_waits_and_recovers)
{
    enum { TRIED = 300 };
    struct server *one =
        server_start(&(struct launch){.descriptors = 64},
                     (const char *const[]){"--workers=2",
                                           "--max-connections=10000", NULL});
    struct client *clients[TRIED];
    size_t served = 0;
    uint64_t cpu_ms;

    for (size_t i = 0; i < TRIED; i++) {
        clients[i] = client_open(one);
        client_say(clients[i], "GET /many/%zu HTTP/1.1\r\nHost: a\r\n\r\n",
                   i % 200);
    }
    for (size_t i = 0; i < TRIED; i++) {
        struct reply *reply;

        if (client_hears(clients[i], i == 0 ? patience(2000) : 1) &&
            client_try(clients[i], false, &reply) == CLIENT_REPLY) {
            if (reply->status == 200)
                expect_seeded(reply, i % 200, 0, 20000);
            else
                assert_true(reply->status == 500 || reply->status == 503);
            served += reply->status == 200;
        }
    }
    assert_in_range(served, 5, TRIED); /* who is idle makes room */
    cpu_ms = server_cpu_ms(one);
    pause_ms(500);
    assert_in_range(server_cpu_ms(one) - cpu_ms, 0, 150); /* no spinning */
    for (size_t i = 0; i < TRIED; i++)
        client_close(clients[i]);
    assert_true(eventually(is_served(client_open(one)), 10000));
    for (size_t i = 0; i < 100; i++) { /* files can be opened again as well */
        struct reply *reply = get(one, printed("/many/%zu", i));

        expect_status(reply, 200);
        expect_seeded(reply, i, 0, 20000);
    }
    /* It tells the operator, but not three hundred times. */
    assert_in_range(strlen(read_text(one->errors, NULL)), 0, 2000);
}

/* More at once than the worker's mailbox holds. */
TEST(a_burst_waits_until_the_worker_has_room)
{
    enum { COUNT = 4000 };
    struct server *one = START("--workers=1");
    struct client **clients = scratch(COUNT * sizeof(*clients));
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * COUNT ||
        strtol(read_text("/proc/sys/net/core/somaxconn", NULL), NULL, 10) <
            COUNT)
        skip();
    server_signal(one, SIGSTOP); /* the kernel keeps them all for it */
    for (size_t i = 0; i < COUNT; i++) {
        clients[i] = client_open(one);
        client_say(clients[i], "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    server_signal(one, SIGCONT);
    for (size_t i = 0; i < COUNT; i++) {
        struct reply *reply = client_reply(clients[i]);

        expect_status(reply, 200);
        expect_body(reply, "canary\n");
    }
}

/* What is no file of a server with so many workers, each of which has answered
 * a few requests, and whose clocks have ticked. */
static uint64_t measure_workers(const char *workers)
{
    enum { CLIENTS = 64, TIMES = 20 };
    struct server *one = START(workers);
    struct client *clients[CLIENTS];
    uint64_t bytes;

    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = client_open(one);
    for (size_t i = 0; i < TIMES * CLIENTS; i++)
        client_expect_usable(clients[i % CLIENTS]);
    for (size_t i = 0; i < CLIENTS; i++)
        client_close(clients[i]);
    pause_ms(2500);
    bytes = server_own_memory(one);
    server_stop(one);
    return bytes;
}

/* Tables are made for many, and take memory when there are many. */
TEST(a_worker_takes_little_memory)
{
    enum { WHOLE_MAX = 3 << 20, EACH_MAX = 700 << 10 };
    uint64_t one = measure_workers("--workers=1");
    uint64_t nine = measure_workers("--workers=9");

    going_on("%llu KiB with one worker, %llu KiB with nine",
             (unsigned long long)one / 1024, (unsigned long long)nine / 1024);
    if (is_sanitized())
        skip();
    assert_in_range(one, 1, WHOLE_MAX);
    assert_in_range(nine, one, one + 8 * EACH_MAX);
}

/* Bytes for each idle connection; *cpu_ms_out: of a while in which nobody
 * asks. */
static uint64_t measure_idle(uint64_t *cpu_ms_out)
{
    enum { BASE = 1000, COUNT = 10000 };
    struct server *one = START("--workers=2", "--keepalive-timeout=120");
    struct client **clients = scratch(COUNT * sizeof(*clients));
    uint64_t base = 0;
    uint64_t grown;

    for (size_t i = 0; i < COUNT; i++) {
        if (i == BASE)
            base = server_own_memory(one);
        clients[i] = client_open(one);
        client_expect_usable(clients[i]);
    }
    grown = server_own_memory(one) - base;
    assert_true(server_descriptors(one) >= COUNT);
    *cpu_ms_out = server_cpu_ms(one);
    pause_ms(200);
    *cpu_ms_out = server_cpu_ms(one) - *cpu_ms_out;
    for (size_t i = 0; i < COUNT; i += 10) /* and all of them still work */
        client_expect_usable(clients[i]);
    for (size_t i = 0; i < COUNT; i++)
        client_close(clients[i]);
    assert_true(eventually(server_descriptors(one) < 100, 10000));
    server_stop(one);
    return grown / (COUNT - BASE);
}

/* Samples and rings of a worker's own are touched when their time comes, which
 * may be in between: the least of some counts. */
TEST(ten_thousand_idle_connections_cost_little)
{
    enum { BYTES_MAX = 480, TRIES = 3 };
    uint64_t least = UINT64_MAX;
    struct rlimit limit;
    uint64_t cpu_ms;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 11000)
        skip();
    for (int i = 0; i < TRIES && least > BYTES_MAX; i++) {
        uint64_t bytes = measure_idle(&cpu_ms);

        assert_in_range(cpu_ms, 0, 100);
        least = bytes < least ? bytes : least;
        if (is_sanitized())
            return;
    }
    assert_in_range(least, 0, BYTES_MAX);
}

TEST(a_storm_of_resets_leaves_nothing_behind)
{
    static const char *const requests[] = {
        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /medium HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /can",
        "GET /large HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc",
        "GET /canary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "nonsense\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.0\r\n\r\n"};
    struct server *one = START("--workers=2");
    size_t descriptors;
    uint64_t random = 1;

    client_expect_usable(client_open(one));
    descriptors = server_descriptors(one);
    for (size_t i = 0; i < 3000; i++) {
        struct client *client = client_open(one);

        random = random * 6364136223846793005u + 1442695040888963407u;
        client_say(client, "%s", requests[random >> 61]);
        if (random >> 32 & 1)
            client_hears(client, 2); /* in the middle of the answer */
        client_reset(client);
        if (i % 100 == 99)
            client_expect_usable(client_open(one));
    }
    clients_close();
    /* The cache may hold a few files. */
    assert_true(eventually(server_descriptors(one) <= descriptors + 4, 5000));
    client_expect_usable(client_open(one));
}

/* Both of a new connection and of one that has been served before. */
TEST(a_reset_ends_the_wait_for_a_turn)
{
    enum { GONE = 20 };
    struct server *one = START("--workers=1", "--link-rate=100K");
    struct client *first = client_open(one);
    struct client *clients[GONE];
    size_t descriptors;

    client_say(first, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(first, 1000);
    descriptors = server_descriptors(one);
    for (size_t i = 0; i < GONE; i++) {
        clients[i] = client_open(one);
        if (i % 2)
            client_expect_usable(clients[i]);
        client_say(clients[i], "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client_expect_usable(client_open(one));
    for (size_t i = 0; i < GONE; i++)
        client_reset(clients[i]);
    assert_true(eventually(server_descriptors(one) <= descriptors + 1, 2000));
}

TEST(slow_readers_do_not_hold_up_fast_ones)
{
    static const char *const schedules[] = {
        "--schedule=srpt", "--schedule=fifo", "--schedule=fair"};

    for (size_t s = 0; s < 3; s++) {
        struct server *one = START("--workers=1", schedules[s]);
        struct client *fast;
        uint64_t begin;
        uint64_t cpu_ms;

        going_on("%s", schedules[s]);
        for (size_t i = 0; i < 100; i++)
            client_say(client_open_narrow(one, 4096),
                       "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
        fast = client_open(one);
        begin = now_ms();
        for (size_t i = 0; i < 1000; i++)
            client_expect_usable(fast);
        expect_seeded(client_ask(fast, "GET", "/large", NULL), 1, 0, LARGE);
        assert_in_range(now_ms() - begin, 0, patience(5000));
        /* And then it sleeps until somebody moves. */
        cpu_ms = server_cpu_ms(one);
        pause_ms(300);
        assert_in_range(server_cpu_ms(one) - cpu_ms, 0, 100);
        clients_close();
        server_stop(one);
    }
}

TEST(small_replies_go_before_large_ones)
{
    enum { GREEDY = 8 };
    struct server *one = START("--workers=1");
    struct client *greedy[GREEDY];
    struct client *small = client_open(one);
    uint64_t begin = now_ms();
    uint64_t longest = 0;
    size_t least = 0;

    client_expect_usable(small);
    for (size_t i = 0; i < GREEDY; i++) {
        greedy[i] = client_open(one);
        client_say(greedy[i], "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    while (least < LARGE) {
        uint64_t asked = now_ms();

        client_expect_usable(small);
        if (now_ms() - asked > longest)
            longest = now_ms() - asked;
        least = LARGE;
        for (size_t i = 0; i < GREEDY; i++) {
            size_t got = client_take(greedy[i], 1);

            if (got < LARGE)
                got = client_take(greedy[i], got + 1);
            least = got < least ? got : least;
        }
    }
    /* First come, first served: somebody would have waited for most of it. */
    assert_true(longest <= 50 || longest < (now_ms() - begin) / 3);
    for (size_t i = 0; i < GREEDY; i++)
        expect_seeded(client_reply(greedy[i]), 1, 0, LARGE);
}

TEST(thousands_of_short_connections_leave_nothing_behind)
{
    struct server *one = START("--workers=2");
    size_t descriptors;
    uint64_t memory = 0;

    client_expect_usable(client_open(one));
    descriptors = server_descriptors(one);
    for (size_t i = 0; i < 6000; i++) {
        struct reply *reply = ask(one, "GET", i % 3 ? "/canary" : "/none",
                                  i % 2 ? "Connection: close\r\n" : NULL);

        expect_status(reply, i % 3 ? 200 : 404);
        if (i % 500 == 0)
            clients_close();
        if (i == 1000)
            memory = server_memory(one);
    }
    clients_close();
    assert_true(eventually(server_descriptors(one) <= descriptors, 5000));
    if (!is_sanitized())
        assert_in_range(server_memory(one), 0, memory + 1048576);
}

static size_t count_threads(const struct server *server, int policy)
{
    DIR *tasks = opendir(printed("/proc/%d/task", (int)server->pid));
    const struct dirent *task;
    size_t count = 0;

    assert_non_null(tasks);
    while ((task = readdir(tasks)))
        count += task->d_name[0] != '.' &&
                 sched_getscheduler((pid_t)strtol(task->d_name, NULL, 10)) ==
                     policy;
    closedir(tasks);
    return count;
}

/* sched(7): SCHED_BATCH. As many as there are CPUs, or fewer, do not. */
TEST(more_workers_than_cpus_let_one_another_finish)
{
    cpu_set_t cpus;
    size_t count;
    struct server *one = START("--workers=1");
    struct server *many;

    assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    count = (size_t)CPU_COUNT(&cpus) + 1;
    client_expect_usable(client_open(one));
    assert_int_equal(count_threads(one, SCHED_BATCH), 0);
    many = START(printed("--workers=%zu", count));
    client_expect_usable(client_open(many));
    assert_true(eventually(count_threads(many, SCHED_BATCH) == count, 5000));
}

/* Connects and closes, in clear text, though the server speaks TLS. */
static bool knock(const struct server *server, size_t times)
{
    struct server port = *server;

    port.is_tls = false;
    for (size_t i = 0; i < times; i++)
        client_close(client_open(&port));
    return true;
}

/* The thread that accepts interrupts the worker no longer, until it is over. */
TEST(what_comes_in_a_storm_of_handshakes_waits_for_the_worker)
{
    enum { MANY = 300, PASSES_MS = 300 };
    const struct launch launch = {.is_tls = true};
    const char *const words[] = {"--workers=1", NULL};
    struct server *one = server_start(&launch, words);

    assert_true(knock(one, 10));
    client_expect_usable(client_open(one));
    assert_int_equal(count_threads(one, SCHED_BATCH), 0);
    assert_true(eventually(knock(one, MANY) &&
                               count_threads(one, SCHED_BATCH) == 1,
                           5000));
    pause_ms(PASSES_MS);
    assert_true(eventually(knock(one, 1) &&
                               count_threads(one, SCHED_BATCH) == 0,
                           5000));
    client_expect_usable(client_open(one));
}

E2E_SUITE(start);
