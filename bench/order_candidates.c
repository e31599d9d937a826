/* Orders that were tried and not taken. They look at all that waits each time:
 * simple enough to be right. */
#include <math.h>
#include <stdlib.h>

#include "order.h"

enum { GUARANTEE = 2 /* the factor of fair sharing that they allow */ };

struct client {
    double had;   /* of two-level sharing */
    double tag;   /* virtual finish of all it asked for */
    double due;   /* of a guaranteed share */
    int waiting;  /* replies */
    bool is_here; /* in crowd */
};

/* A client's bytes in the order in which fair sharing would send them. */
struct promise {
    uint32_t client;
    double tag;
    double left;
    double by; /* on the clock */
};

static struct {
    struct client clients[ORDER_CLIENTS_MAX];
    uint32_t crowd[ORDER_CLIENTS_MAX]; /* that V is shared among */
    size_t crowd_count;
    struct reply *waiting[ORDER_WAITING_MAX];
    size_t count;
    struct promise promises[ORDER_WAITING_MAX];
    size_t promise_count;
    double v;
    double clock;
    bool only_real; /* the crowd are those that wait */
} at;

static void begin(size_t clients)
{
    memset(at.clients, 0, clients * sizeof(*at.clients));
    at.count = at.crowd_count = at.promise_count = 0;
    at.v = at.clock = 0;
    at.only_real = false;
}

static void begin_real(size_t clients)
{
    begin(clients);
    at.only_real = true;
}

static struct client *client_of(const struct reply *reply)
{
    return &at.clients[reply->client];
}

/* V rises as in fair sharing among clients. */
static void advance(double bytes)
{
    at.clock += bytes;
    for (;;) {
        double next = INFINITY;
        double need;

        for (size_t i = 0; i < at.crowd_count;) {
            struct client *client = &at.clients[at.crowd[i]];
            bool stays = at.only_real ? client->waiting > 0
                                      : client->tag > at.v + 1e-6;

            if (!stays) {
                client->is_here = false;
                at.crowd[i] = at.crowd[--at.crowd_count];
                continue;
            }
            if (!at.only_real && client->tag < next)
                next = client->tag;
            i++;
        }
        if (at.crowd_count == 0)
            return;
        need = (next - at.v) * (double)at.crowd_count;
        if (need > bytes) {
            at.v += bytes / (double)at.crowd_count;
            return;
        }
        at.v = next;
        bytes -= need;
    }
}

static void idle(uint64_t bytes)
{
    advance((double)bytes);
}

static void arrive(struct reply *reply)
{
    struct client *client = client_of(reply);

    if (!client->is_here) {
        client->is_here = true;
        at.crowd[at.crowd_count++] = reply->client;
    }
    if (client->tag < at.v)
        client->tag = at.v;
    reply->excess = client->tag - at.v;
    reply->tag = client->tag += (double)reply->size;
    if (client->waiting++ == 0)
        client->due = at.v + 2 * ORDER_QUANTUM;
    at.waiting[at.count++] = reply;
}

static void note_sent(struct reply *reply, uint64_t bytes)
{
    client_of(reply)->due += GUARANTEE * (double)bytes;
    advance((double)bytes);
    reply->left -= bytes;
    for (size_t i = 0; reply->left == 0 && i < at.count; i++) {
        if (at.waiting[i] == reply) {
            at.waiting[i] = at.waiting[--at.count];
            client_of(reply)->waiting--;
            return;
        }
    }
}

/* The one for which measure is least, of a client or of all (UINT32_MAX). */
typedef double measure_fn(const struct reply *reply);

static struct reply *least(measure_fn *measure, uint32_t client)
{
    struct reply *found = NULL;

    for (size_t i = 0; i < at.count; i++)
        if ((client == UINT32_MAX || at.waiting[i]->client == client) &&
            (!found || measure(at.waiting[i]) < measure(found)))
            found = at.waiting[i];
    return found;
}

static double left_of(const struct reply *reply)
{
    return (double)reply->left;
}

/* --- Two levels: fair sharing among clients, shortest first inside ------- */

static double had_of(const struct reply *reply)
{
    return client_of(reply)->had;
}

static void arrive_two_level(struct reply *reply)
{
    const struct reply *first = least(had_of, UINT32_MAX);
    struct client *client = client_of(reply);

    if (client->waiting == 0 && first && client->had < had_of(first))
        client->had = had_of(first);
    arrive(reply);
}

static struct reply *pick_two_level(void)
{
    const struct reply *first = least(had_of, UINT32_MAX);

    return first ? least(left_of, first->client) : NULL;
}

static void sent_two_level(struct reply *reply, uint64_t bytes)
{
    client_of(reply)->had += (double)bytes;
    note_sent(reply, bytes);
}

/* --- The others ---------------------------------------------------------- */

static double tag_of(const struct reply *reply)
{
    return reply->tag;
}

static struct reply *pick_by_client(void)
{
    const struct reply *first = least(tag_of, UINT32_MAX);

    return first ? least(left_of, first->client) : NULL;
}

static double deficit_of(const struct reply *reply)
{
    return (double)reply->left + reply->excess;
}

static struct reply *pick_by_deficit(void)
{
    return least(deficit_of, UINT32_MAX);
}

static double due_of(const struct reply *reply)
{
    return client_of(reply)->due;
}

static struct reply *pick_guaranteed(void)
{
    const struct reply *first = least(due_of, UINT32_MAX);

    if (first && due_of(first) <= at.v)
        return least(left_of, first->client);
    return least(left_of, UINT32_MAX);
}

/* Insured: shortest first as long as all can still be sent by GUARANTEE times
 * the time that fair sharing would take, first come first served inside. What
 * comes later never makes that impossible: it is behind in the order of tags,
 * or puts both off. */
static void arrive_insured(struct reply *reply)
{
    double tag;
    double fair = 0;

    arrive(reply);
    tag = reply->tag;
    for (size_t i = 0; i < at.crowd_count; i++) {
        double other = at.clients[at.crowd[i]].tag;

        if (other > tag)
            other = tag;
        if (other > at.v)
            fair += other - at.v;
    }
    for (size_t i = 0; i < at.promise_count; i++)
        if (at.promises[i].tag > tag)
            at.promises[i].by += GUARANTEE * (double)reply->size;
    at.promises[at.promise_count++] = (struct promise){
        reply->client, tag, (double)reply->size, at.clock + GUARANTEE * fair};
}

static int by_tag(const void *a, const void *b)
{
    const struct promise *x = a;
    const struct promise *y = b;

    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* The least tag that can wait no longer. */
static double tight_tag(void)
{
    double before = at.clock;

    qsort(at.promises, at.promise_count, sizeof(*at.promises), by_tag);
    for (size_t i = 0; i < at.promise_count; i++) {
        before += at.promises[i].left;
        if (at.promises[i].by - before < ORDER_QUANTUM)
            return at.promises[i].tag;
    }
    return INFINITY;
}

static struct reply *pick_insured(void)
{
    static double first_tags[ORDER_CLIENTS_MAX];
    double tight = tight_tag();
    struct reply *found = NULL;

    for (size_t i = at.promise_count; i-- > 0;)
        first_tags[at.promises[i].client] = at.promises[i].tag;
    for (size_t i = 0; i < at.count; i++)
        if (first_tags[at.waiting[i]->client] <= tight &&
            (!found || at.waiting[i]->left < found->left))
            found = at.waiting[i];
    return found;
}

static void sent_insured(struct reply *reply, uint64_t bytes)
{
    double rest = (double)bytes;
    size_t kept = 0;

    for (size_t i = 0; i < at.promise_count; i++) {
        struct promise *promise = &at.promises[i];

        if (promise->client == reply->client) {
            double part = rest < promise->left ? rest : promise->left;

            promise->left -= part;
            rest -= part;
        }
        if (promise->left > 1e-6)
            at.promises[kept++] = *promise;
    }
    at.promise_count = kept;
    note_sent(reply, bytes);
}

const struct order order_candidates[] = {
    {"two levels: fair among clients, srpt inside", begin, arrive_two_level,
     pick_two_level, sent_two_level, idle},
    {"fsp by client, srpt inside", begin, arrive, pick_by_client, note_sent,
     idle},
    {"srpt over what a client is ahead", begin, arrive, pick_by_deficit,
     note_sent, idle},
    {"half a share of those that wait, else srpt", begin_real, arrive,
     pick_guaranteed, note_sent, idle},
    {"half a share as under fair sharing, else srpt", begin, arrive,
     pick_guaranteed, note_sent, idle},
    {"srpt while all can be done in twice the time", begin, arrive_insured,
     pick_insured, sent_insured, idle}};
const size_t order_candidate_count = sizeof(order_candidates) /
                                     sizeof(*order_candidates);
