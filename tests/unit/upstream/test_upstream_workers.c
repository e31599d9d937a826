#include "upstream/upstream.h"

#include <netinet/in.h>
#include <pthread.h>

#include "suite.h"
#include "unit/place.h"

/* The server never accepts: what is opened anew must fit its backlog. */
enum { WORKERS = 4, ROUNDS = 400, BACKLOG = 1024 };

static struct upstream_endpoint at;
static const struct balance_server server = {.weight = 1};
static struct balance_server_shared balance;
static struct upstream_counts counts;
static const struct upstream_shared shared = {&balance, &counts};

struct worker {
    pthread_t thread;
    unsigned opened;
    unsigned failed;
};

struct asker {
    struct upstream_lease lease; /* first */
    struct worker *worker;
};

static void on_open(struct upstream_lease *lease)
{
    ((struct asker *)lease)->worker->opened++;
}

static void on_failed(struct upstream_lease *lease)
{
    ((struct asker *)lease)->worker->failed++;
}

static void on_event(struct upstream_lease *lease)
{
    (void)lease;
}

/* Asks and gives back, two at a time; one in 16 is given up. */
static void ask_often(struct upstream_pool *pool, struct worker *worker,
                      struct ev_loop *loop, struct now *now)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct asker askers[2];

        for (unsigned j = 0; j < 2; j++) {
            askers[j] = (struct asker){{.on_open = on_open,
                                        .on_failed = on_failed,
                                        .on_readable = on_event,
                                        .on_writable = on_event},
                                       worker};
            upstream_lease_start(pool, &askers[j].lease);
            while (worker->opened + worker->failed < 2 * i + j + 1) {
                ev_run(loop, EVRUN_ONCE);
                now_refresh(now);
            }
        }
        for (unsigned j = 0; j < 2; j++) {
            if (i % 16 == 0 || !askers[j].lease.upstream)
                upstream_lease_cancel(&askers[j].lease);
            else
                upstream_release(&askers[j].lease, true, 0, BALANCE_SUCCESS);
        }
    }
}

static void *run_worker(void *context)
{
    const struct upstream_options options = {
        .endpoints = &at,
        .servers = &server,
        .shared = &shared,
        .server_count = 1,
        .connect_ms = 60000,
        .idle_max = 8,
        .idle_ms = 60000,
    };
    struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    struct now now;
    struct resolver_options names = {.loop = loop, .now = &now};
    struct upstream_loop its_loop = {.loop = loop, .now = &now};
    struct upstream_pool *pool = upstream_pool_create(&options);

    now_refresh(&now);
    if (loop && pool && resolver_create(&its_loop.resolver, &names) == 0) {
        if (upstream_pool_start(pool, &its_loop) == 0)
            ask_often(pool, context, loop, &now);
        upstream_pool_destroy(pool);
        resolver_destroy(its_loop.resolver);
    }
    if (loop)
        ev_loop_destroy(loop);
    return NULL;
}

TEST(pools_of_several_workers_count_together)
{
    static struct worker workers[WORKERS];
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof(in);
    unsigned fds_before = place_count_fds();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned all = 2 * ROUNDS * WORKERS;

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(fd, BACKLOG), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
    at = (struct upstream_endpoint){.host = BYTES("127.0.0.1"),
                                    .port = ntohs(in.sin_port),
                                    .authority = BYTES("127.0.0.1")};
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker,
                                        &workers[i]),
                         0);
    for (unsigned i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].opened, 2 * ROUNDS);
        assert_int_equal(workers[i].failed, 0);
    }
    assert_int_equal(counts.requests, all);
    assert_int_equal(counts.connects + counts.reuses, all);
    /* Two at first, and two after each two that were given up. */
    assert_int_equal(counts.connects, 2 * WORKERS * (1 + ROUNDS / 16));
    assert_int_equal(counts.failures, 0);
    assert_int_equal(counts.idle, 0);
    assert_int_equal(balance.active, 0);
    close(fd);
    assert_int_equal(place_count_fds(), fds_before);
}
