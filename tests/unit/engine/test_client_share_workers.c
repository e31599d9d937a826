/*
 * test_client_share_workers - shares of one link at several workers, which tell
 * one another what waits. Each sends a little when it has what is next of all,
 * as its link has it.
 */
#include "engine/link/link_priv.h"
#include "engine/sched.h"
#include "suite.h"

enum { WORKERS_MAX = 8, CROWD = 100, STEP = 3000 };

static struct link_shared link_shared;

static struct worker {
    struct sched sched;
    struct link link;
} workers[WORKERS_MAX];

static struct crowd {
    struct sched_item item;
    struct worker *worker;
    uint64_t client;
    uint64_t size;
    uint64_t left;
    uint64_t had;
} crowd[1 + CROWD];

static void begin_workers(size_t count)
{
    assert_int_equal(link_shared_init(&link_shared, LINK_RATE, 10000000, count),
                     0);
    for (size_t i = 0; i < count; i++) {
        struct worker *worker = &workers[i];

        sched_init(&worker->sched, SCHED_POLICY_SRPT,
                   (struct sched_bounds){1024, 2});
        assert_int_equal(sched_reserve(&worker->sched, 1 + CROWD), 0);
        assert_int_equal(link_init(&worker->link, &link_shared, i), 0);
        if (!link_has_others(&worker->link))
            continue;
        worker->sched.clients.count_elsewhere = link_count_elsewhere;
        worker->sched.clients.context = &worker->link;
    }
}

/* When all have gone nothing is left of them. */
static void end_workers(size_t count)
{
    for (size_t i = 0; i <= CROWD; i++)
        sched_drop(&crowd[i].worker->sched, &crowd[i].item);
    for (size_t i = 0; i < count; i++) {
        const struct client_share *clients = &workers[i].sched.clients;

        assert_int_equal(client_share_parts(clients), 0);
        assert_int_equal(clients->missing, 0);
        for (int word = 0; word < CLIENT_MARKS_WORDS; word++)
            assert_int_equal(clients->marks.words[word], 0);
        link_fini(&workers[i].link);
        sched_fini(&workers[i].sched);
    }
    link_shared_fini(&link_shared);
}

static void ask(struct crowd *one)
{
    one->left = one->size;
    sched_arrive(&one->worker->sched, &one->item, one->client, one->size,
                 false);
    sched_put(&one->worker->sched, &one->item, one->left);
}

/* Each has its turn as time passes. Whose turn it is to send. */
static struct worker *tell_all(size_t count, size_t from)
{
    struct worker *next = NULL;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < count; i++) {
        struct worker *worker = &workers[(from + i) % count];
        uint64_t rank;

        if (count > 1)
            link_hear_clients(&worker->link, &worker->sched.clients);
        worker->link.base = sched_base(&worker->sched);
        link_publish(&worker->link, sched_next_key(&worker->sched));
        link_tell_clients(&worker->link, &worker->sched.clients,
                          worker->sched.bytes_sent);
        rank = link_load(&worker->link.line->waiting_rank);
        if (rank < least) {
            least = rank;
            next = worker;
        }
    }
    assert_non_null(next);
    return next;
}

/* How much; nothing when its next is not what it was thought to be. */
static uint64_t send_some(struct worker *worker)
{
    struct sched_item *item = sched_take(&worker->sched);
    struct crowd *one = OWNER_OF(item, struct crowd, item);
    uint64_t sent = one->left < STEP ? one->left : STEP;
    uint64_t key;

    assert_non_null(item);
    key = sched_key(&worker->sched, item, one->left);
    if (!link_ask_others(&worker->link, key, 0).is_after) {
        sched_put(&worker->sched, item, one->left);
        return 0;
    }
    sched_sent(&worker->sched, item, sent);
    one->had += sent;
    one->left -= sent;
    if (one->left > 0)
        sched_put(&worker->sched, item, one->left);
    else
        ask(one);
    return sent;
}

/* What a client with one connection has in thousandths beside so many others
 * that have a hundred together, at so many workers. */
static uint64_t share_at_workers(size_t count, uint64_t clients, uint64_t one,
                                 uint64_t other)
{
    enum { ALL = 400000000 };
    size_t turns = 0;

    memset(crowd, 0, sizeof(crowd));
    begin_workers(count);
    for (size_t i = 0; i <= CROWD; i++) {
        crowd[i].worker = &workers[i % count];
        crowd[i].client = i > 0 ? 2 + i % clients : 1;
        crowd[i].size = i > 0 ? other : one;
        ask(&crowd[i]);
    }
    for (uint64_t sent = 0; sent < ALL; turns++)
        sent += send_some(tell_all(count, turns % count));
    end_workers(count);
    return crowd[0].had * 1000 / ALL;
}

TEST(at_several_workers_a_hundred_connections_have_no_more_than_one)
{
    for (size_t count = 1; count <= WORKERS_MAX; count *= 2) {
        assert_in_range(share_at_workers(count, 1, 1000000, 64000), 420, 550);
        assert_in_range(share_at_workers(count, 1, 100000, 100000), 420, 550);
        assert_in_range(share_at_workers(count, 1, 5000, 1000000), 420, 550);
    }
}

/* Half of the fair share at least, a ninth. */
TEST(at_several_workers_nobody_is_slower_than_the_factor_allows)
{
    const uint64_t least = 1000 / 9 / 2 - 2;

    for (size_t count = 1; count <= WORKERS_MAX; count++) {
        assert_in_range(share_at_workers(count, 8, 1000000, 64000), least, 120);
        assert_in_range(share_at_workers(count, 8, 30000000, 64000), least,
                        120);
    }
}
