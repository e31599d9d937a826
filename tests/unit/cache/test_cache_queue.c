#include "cache/cache_queue.h"

#include <stdatomic.h>

#include "suite.h"

enum { JOBS = 50, TURNS = 1000 };

struct counted {
    struct cache_job job;
    unsigned number;
    unsigned turns;
};

static struct cache_queue *queue;
static struct counted jobs[JOBS];
static unsigned order[JOBS], order_count;

static int set_up(void **state)
{
    (void)state;
    order_count = 0;
    return cache_queue_create(&queue);
}

static int tear_down(void **state)
{
    (void)state;
    cache_queue_destroy(queue);
    return 0;
}

SUITE(.each_begin = set_up, .each_end = tear_down);

static void note(struct cache_job *job)
{
    order[order_count++] = OWNER_OF(job, struct counted, job)->number;
}

static void go_on(struct cache_job *job)
{
    struct counted *counted = OWNER_OF(job, struct counted, job);

    if (++counted->turns < TURNS)
        assert_true(cache_queue_put(queue, job));
}

TEST(jobs_are_run_in_order_and_all_of_them_before_it_ends)
{
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i].number = i;
        cache_job_init(&jobs[i].job, note);
        assert_true(cache_queue_put(queue, &jobs[i].job));
    }
    cache_queue_stop(queue);
    assert_int_equal(order_count, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(order[i], i);
}

TEST(a_job_may_put_itself_again)
{
    for (unsigned i = 0; i < 2; i++) {
        jobs[i].turns = 0;
        cache_job_init(&jobs[i].job, go_on);
        cache_queue_put(queue, &jobs[i].job);
    }
    cache_queue_stop(queue);
    assert_true(cache_queue_is_ending(queue));
    assert_int_equal(jobs[0].turns, TURNS);
    assert_int_equal(jobs[1].turns, TURNS);
}
