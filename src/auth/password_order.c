#include "auth/password_order_priv.h"

#include "base/address_key.h"

static struct password_job *job_at(struct list *list_node)
{
    return OWNER_OF(list_node, struct password_job, list_node);
}

static bool are_of_one_network(const struct password_job *job, uint64_t asker)
{
    return address_key_network(job->asker) == address_key_network(asker);
}

struct password_load password_order_load(const struct password_order *order,
                                         uint64_t asker)
{
    struct password_load load = {0};

    for (size_t i = 0; i < order->job_count; i++) {
        const struct password_job *job = &order->jobs[i];

        if (job->state == PASSWORD_JOB_FREE ||
            job->state == PASSWORD_JOB_GIVEN_UP)
            continue;
        load.own += job->asker == asker;
        load.network += are_of_one_network(job, asker);
    }
    return load;
}

/* --- Turns --------------------------------------------------------------- */

static void lift(uint64_t *turn, uint64_t least)
{
    if (*turn < least)
        *turn = least;
}

/* Gives a new job its two turns. job->turn is one more than the turn of its
 * network's last job. job->own_turn is one more than that of its address's last
 * job. If the address has no job yet, job->own_turn is the lowest in the
 * network. */
static void give_turns(const struct password_order *order,
                       struct password_job *job)
{
    uint64_t first = UINT64_MAX;

    job->turn = order->turn;
    job->own_turn = 0;
    for (size_t i = 0; i < order->job_count; i++) {
        const struct password_job *other = &order->jobs[i];

        if ((other->state != PASSWORD_JOB_QUEUED &&
             other->state != PASSWORD_JOB_RUNNING) ||
            !password_job_is_question(other) ||
            !are_of_one_network(other, job->asker))
            continue;
        lift(&job->turn, other->turn + 1);
        if (other->asker == job->asker)
            lift(&job->own_turn, other->own_turn + 1);
        if (other->own_turn < first)
            first = other->own_turn;
    }
    if (first != UINT64_MAX)
        lift(&job->own_turn, first);
}

void password_order_put(struct password_order *order, struct password_job *job)
{
    if (password_job_is_question(job)) {
        give_turns(order, job);
        list_put_last(&order->queued, &job->list_node);
    } else {
        list_put_first(&order->queued, &job->list_node);
    }
    job->state = PASSWORD_JOB_QUEUED;
}

static bool is_running(struct password_order *order, struct siphash digest)
{
    for (struct list *at = order->running.next; at != &order->running;
         at = at->next)
        if (siphash_eq(job_at(at)->digest, digest))
            return true;
    return false;
}

/* Finds the queued job to start next. If `of` is NULL, that is the job with the
 * lowest `turn`; otherwise the one with the lowest `own_turn` in the network of
 * `of`. Jobs with equal turns start in the order in which they were queued. */
static struct password_job *find_next(struct password_order *order,
                                      const struct password_job *of)
{
    struct password_job *next = NULL;

    for (struct list *at = order->queued.next; at != &order->queued;
         at = at->next) {
        struct password_job *job = job_at(at);

        if (!password_job_is_question(job))
            return job;
        if (is_running(order, job->digest) ||
            (of && !are_of_one_network(job, of->asker)))
            continue;
        if (!next ||
            (of ? job->own_turn < next->own_turn : job->turn < next->turn))
            next = job;
    }
    return next;
}

struct password_job *password_order_start(struct password_order *order)
{
    struct password_job *first = find_next(order, NULL);
    struct password_job *job = first;

    if (!first)
        return NULL;
    if (password_job_is_question(first)) {
        uint64_t turn = first->turn;

        job = find_next(order, first);
        first->turn = job->turn;
        job->turn = turn;
        lift(&order->turn, turn);
    }
    list_drop(&job->list_node);
    list_put_last(&order->running, &job->list_node);
    job->state = PASSWORD_JOB_RUNNING;
    return job;
}

/* --- Room ---------------------------------------------------------------- */

/* Returns the set of order->failed in which the network is looked for. */
static uint64_t *find_set(struct password_order *order, uint64_t network)
{
    return order->failed[address_key_hash(network, &order->secret) %
                         PASSWORD_FAILED_SETS];
}

/* Returns the network's index in the set; PASSWORD_FAILED_WAYS if it is not
 * there. */
static size_t find_way(const uint64_t *set, uint64_t network)
{
    size_t way = 0;

    while (way < PASSWORD_FAILED_WAYS && set[way] != network)
        way++;
    return way;
}

static bool has_failed(struct password_order *order, uint64_t asker)
{
    uint64_t network = address_key_network(asker);

    return find_way(find_set(order, network), network) < PASSWORD_FAILED_WAYS;
}

void password_order_note(struct password_order *order, uint64_t asker,
                         bool is_right)
{
    uint64_t network = address_key_network(asker);
    uint64_t *set = find_set(order, network);
    size_t way = find_way(set, network);

    if (way < PASSWORD_FAILED_WAYS && is_right)
        set[way] = 0;
    if (is_right)
        return;
    if (way == PASSWORD_FAILED_WAYS)
        way--; /* the oldest network is forgotten */
    memmove(set + 1, set, way * sizeof(*set));
    set[0] = network;
}

/* Returns a random number below `count`. */
static uint64_t draw(struct password_order *order, uint64_t count)
{
    uint64_t number = ++order->draws;
    struct siphash hash = siphash_of(&order->secret,
                                     (struct bytes){(const char *)&number,
                                                    sizeof(number)});

    return hash.words[0] % count;
}

/* Returns more than 0 if asker `a` is busier than asker `b`, 0 if both are
 * equally busy, less than 0 otherwise. */
static int compare(struct password_load a, struct password_load b)
{
    if (a.network != b.network)
        return a.network > b.network ? 1 : -1;
    return (a.own > b.own) - (a.own < b.own);
}

/* Compares the load of the job's asker with the load that `asker` would have
 * after one more question. Returns more than 0 if the job's asker is busier. */
static int compare_after(struct password_load of_job,
                         const struct password_job *job,
                         struct password_load other, uint64_t asker)
{
    other.own++;
    other.network += !are_of_one_network(job, asker);
    return compare(of_job, other);
}

struct password_job *password_order_find_victim(struct password_order *order,
                                                uint64_t asker)
{
    struct password_load own = password_order_load(order, asker);
    struct password_load most = {0};
    struct password_job *busiest = NULL;
    struct password_job *drawn = NULL;
    bool may_be_good = !has_failed(order, asker);
    bool is_drawn_bad = false;
    uint64_t equals = 0;

    for (struct list *at = order->queued.next; at != &order->queued;
         at = at->next) {
        struct password_job *job = job_at(at);
        struct password_load load = password_order_load(order, job->asker);
        bool is_bad = has_failed(order, job->asker);
        int order_of_both;

        if (!password_job_is_question(job))
            continue;
        order_of_both = compare_after(load, job, own, asker);
        if (order_of_both > 0 && compare(load, most) >= 0) {
            busiest = job; /* later questions of the asker replace it */
            most = load;
        }
        if (order_of_both != 0 || (!is_bad && (is_drawn_bad || !may_be_good)))
            continue;
        if (is_bad && !is_drawn_bad)
            equals = 0;
        is_drawn_bad = is_bad;
        if (draw(order, ++equals) == 0)
            drawn = job;
    }
    return busiest ? busiest : drawn;
}
