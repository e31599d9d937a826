/* Orders for which a page is one thing. They look at all that waits each time:
 * simple enough to be right. */
#include <math.h>

#include "pages.h"

enum { BURST_GAP = 1000000 /* on the clock: a burst ends that long after */ };

static struct {
    struct burst {
        double had;     /* bytes, in this burst */
        double left;    /* of what is asked for now */
        double began;   /* on the clock */
        double arrived; /* bytes of all, when it began */
        double last;    /* on the clock */
        double files;   /* that were asked for */
        int waiting;
    } bursts[ORDER_CLIENTS_MAX];
    struct reply *waiting[ORDER_WAITING_MAX];
    size_t count;
    double arrived;
    double clock;
} at;

static void begin(size_t clients)
{
    memset(at.bursts, 0, clients * sizeof(*at.bursts));
    at.count = 0;
    at.arrived = at.clock = 0;
}

static struct burst *burst_of(const struct reply *reply)
{
    return &at.bursts[reply->client];
}

static void arrive(struct reply *reply)
{
    struct burst *burst = burst_of(reply);

    if (burst->waiting == 0 &&
        (burst->last == 0 || at.clock - burst->last > BURST_GAP))
        *burst = (struct burst){.began = at.clock, .arrived = at.arrived};
    burst->waiting++;
    burst->files++;
    burst->left += (double)reply->size;
    at.arrived += (double)reply->size;
    at.waiting[at.count++] = reply;
}

static void note_sent(struct reply *reply, uint64_t bytes)
{
    struct burst *burst = burst_of(reply);

    at.clock += (double)bytes;
    burst->had += (double)bytes;
    burst->left -= (double)bytes;
    burst->last = at.clock;
    reply->left -= bytes;
    for (size_t i = 0; reply->left == 0 && i < at.count; i++) {
        if (at.waiting[i] == reply) {
            at.waiting[i] = at.waiting[--at.count];
            burst->waiting--;
            return;
        }
    }
}

static void idle(uint64_t bytes)
{
    at.clock += (double)bytes;
}

typedef double measure_fn(const struct reply *reply);

/* Least by the first measure, then by the second, of a client or of all
 * (UINT32_MAX). */
static struct reply *least(measure_fn *first, measure_fn *second,
                           uint32_t client)
{
    struct reply *found = NULL;

    for (size_t i = 0; i < at.count; i++) {
        struct reply *reply = at.waiting[i];
        double more;

        if (client != UINT32_MAX && reply->client != client)
            continue;
        more = found ? first(reply) - first(found) : -1;
        if (more < 0 || (more == 0 && second(reply) < second(found)))
            found = reply;
    }
    return found;
}

static double left_of(const struct reply *reply)
{
    return (double)reply->left;
}

static double urgency_of(const struct reply *reply)
{
    return reply->urgency;
}

static double client_left_of(const struct reply *reply)
{
    return burst_of(reply)->left;
}

static double had_of(const struct reply *reply)
{
    return burst_of(reply)->had;
}

static double had_and_left_of(const struct reply *reply)
{
    return burst_of(reply)->had + (double)reply->left;
}

static double began_of(const struct reply *reply)
{
    return burst_of(reply)->began;
}

/* The same, with what the reply itself has left. */
static double client_and_own_left_of(const struct reply *reply)
{
    return burst_of(reply)->left + (double)reply->left;
}

/* In powers of two, and nothing for who asks for one thing only. */
static double level_of(const struct reply *reply)
{
    double level = 1024;

    if (burst_of(reply)->waiting < 2)
        return (double)reply->left;
    while (2 * level <= burst_of(reply)->left)
        level *= 2;
    return level + (double)reply->left;
}

/* Of the client's others no more than so many times the reply. */
static double bounded_left_of(const struct reply *reply)
{
    double most = 8 * (double)reply->left;
    double sum = 0;

    for (size_t i = 0; i < at.count; i++)
        if (at.waiting[i]->client == reply->client)
            sum += fmin((double)at.waiting[i]->left, most);
    return sum;
}

/* No more than what the burst has left, for each of its files: what it would be
 * by Smith's rule, were it one job of so many parts; some times that. */
static double times;

static double weighed_of(const struct reply *reply)
{
    double most = fmax(8192,
                       times * burst_of(reply)->left / burst_of(reply)->files);

    return fmin((double)reply->left, most);
}

/* Aalo's queues: by what the burst has had, each ten times as much. */
static double queue_of(const struct reply *reply)
{
    double bound = 65536;
    double queue = 0;

    for (; burst_of(reply)->had + (double)reply->left > bound; bound *= 10)
        queue++;
    return queue;
}

#define PICK(name, first, second)                \
    static struct reply *name(void)              \
    {                                            \
        return least(first, second, UINT32_MAX); \
    }
PICK(pick_client_left, client_left_of, left_of)
PICK(pick_client_and_own, client_and_own_left_of, left_of)
PICK(pick_level, level_of, left_of)
PICK(pick_bounded, bounded_left_of, left_of)
PICK(pick_had, had_of, left_of)
PICK(pick_had_and_left, had_and_left_of, left_of)
PICK(pick_first_burst, began_of, left_of)
PICK(pick_queue, queue_of, began_of)
PICK(pick_weighed, weighed_of, began_of)

/* The client of the shortest; of his the most urgent. */
static struct reply *pick_urgent(void)
{
    const struct reply *first = least(left_of, left_of, UINT32_MAX);

    return first ? least(urgency_of, left_of, first->client) : NULL;
}

/* Whose burst began before so many bytes came, goes before what is shorter by
 * one byte. */
static double weight;

static double dated_of(const struct reply *reply)
{
    return weight * (double)reply->left + burst_of(reply)->arrived;
}

static struct reply *pick_dated(void)
{
    return least(dated_of, left_of, UINT32_MAX);
}

static struct reply *pick_dated_urgent(void)
{
    const struct reply *first = pick_dated();

    return first ? least(urgency_of, left_of, first->client) : NULL;
}

#define BEGIN(name, value)           \
    static void name(size_t clients) \
    {                                \
        begin(clients);              \
        weight = (value);            \
    }
BEGIN(begin_8, 8)
BEGIN(begin_32, 32)
BEGIN(begin_128, 128)
BEGIN(begin_1024, 1024)

#define BEGIN_TIMES(name, value)     \
    static void name(size_t clients) \
    {                                \
        begin(clients);              \
        times = (value);             \
    }
BEGIN_TIMES(begin_once, 1)
BEGIN_TIMES(begin_four, 4)

#define ORDER(text, begin, pick)                   \
    {                                              \
        text, begin, arrive, pick, note_sent, idle \
    }
const struct order pages_candidates[] = {
    ORDER("what the client asks for now: least left", begin, pick_client_left),
    ORDER("the same and the reply's own left", begin, pick_client_and_own),
    ORDER("the same, the client's in powers of two", begin, pick_level),
    ORDER("the client's, each up to eight times the reply", begin,
          pick_bounded),
    ORDER("the burst that has had least", begin, pick_had),
    ORDER("the same, with the reply's own bytes", begin, pick_had_and_left),
    ORDER("the reply's own, at most what the burst has left by its files",
          begin_once, pick_weighed),
    ORDER("the same, at most four times that", begin_four, pick_weighed),
    ORDER("Aalo's queues by that, first burst first", begin, pick_queue),
    ORDER("first burst first", begin, pick_first_burst),
    ORDER("the most urgent of the client", begin, pick_urgent),
    ORDER("1024 b + a of the burst", begin_1024, pick_dated),
    ORDER("128 b + a of the burst", begin_128, pick_dated),
    ORDER("32 b + a of the burst", begin_32, pick_dated),
    ORDER("8 b + a of the burst", begin_8, pick_dated),
    ORDER("128 b + a of the burst, the most urgent", begin_128,
          pick_dated_urgent),
    ORDER("32 b + a of the burst, the most urgent", begin_32,
          pick_dated_urgent)};
const size_t pages_candidate_count = sizeof(pages_candidates) /
                                     sizeof(*pages_candidates);
