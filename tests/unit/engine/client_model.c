#include "unit/engine/client_model.h"

#include <math.h>

#include "suite.h"
#include "unit/draw.h"

struct client_model model;

void model_use_rate(uint64_t rate)
{
    client_share_set_rate(&model.sched.clients, rate);
    model.grace = fmax(floor((double)rate / 4), CLIENT_SHARE_GRACE);
    model.grace = fmin(model.grace, CLIENT_SHARE_GRACE_MAX);
    model.ahead = fmax(model.grace, CLIENT_SHARE_AHEAD);
}

void model_use(uint64_t bound, uint64_t factor)
{
    sched_fini(&model.sched);
    memset(&model, 0, sizeof(model));
    model.taken = -1;
    sched_init(&model.sched, SCHED_POLICY_SRPT,
               (struct sched_bounds){bound, factor});
    assert_int_equal(sched_reserve(&model.sched, MODEL_ITEMS), 0);
    model_use_rate(0);
}

int model_set_up(void **state)
{
    (void)state;
    sched_init(&model.sched, SCHED_POLICY_SRPT, (struct sched_bounds){0, 2});
    return 0;
}

int model_tear_down(void **state)
{
    (void)state;
    sched_fini(&model.sched);
    return 0;
}

static void naive_advance(double bytes)
{
    while (bytes > 1e-9) {
        double next = 1e300;
        int count = 0;
        double step;

        for (int i = 0; i < MODEL_CLIENTS; i++) {
            const struct model_client *client = &model.naive.of[i];
            bool is_ahead = client->had > model.naive.v + 1e-3;

            count += client->waiting > 0 || is_ahead;
            if (client->waiting == 0 && is_ahead && client->had < next)
                next = client->had;
        }
        if (count == 0)
            return;
        step = bytes / count;
        if (step > next - model.naive.v)
            step = next - model.naive.v;
        model.naive.v += step;
        bytes -= step * count;
    }
}

static void naive_begin(struct model_client *client, uint64_t bytes,
                        bool goes_on)
{
    if (client->waiting++ > 0 || goes_on)
        return;
    if (client->had < model.naive.v)
        client->had = model.naive.v;
    client->since = client->late_v = model.naive.v;
    client->first = (double)bytes;
    client->sent = client->late_sent = 0;
}

/* The claims of client_share.h. Virtual times are rounded to 1/4096, slopes to
 * 1/256. */
void model_check_bounds(double factor, double quantum)
{
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        struct model_client *client = &model.naive.of[i];
        double b = client->first;
        double rise = model.naive.v - client->since;
        double g = fmin(floor((factor - 1) * b * 9 / 10), model.grace);
        double s = factor - g / b + 1.0 / 256;
        double due = (rise - g - quantum) / s;

        if (client->waiting == 0)
            continue;
        if (due > b)
            due = b + (rise - g - s * b - quantum) / factor;
        assert_true(client->sent + 16 >= due);
        assert_true(rise < (factor + 1.0 / 256) * b + quantum + 16 ||
                    client->sent + 16 >= b);
        rise = model.naive.v - client->late_v;
        assert_true(client->sent - client->late_sent + 16 >=
                    (rise - model.ahead - quantum) / factor);
        if (draw(5000) == 0) {
            client->late_v = model.naive.v;
            client->late_sent = client->sent;
        }
    }
}

/* Of a client: how many small things are waited for, of how many bytes, and how
 * many things in all. What was taken just now may be put back yet. */
static uint64_t count_asked(int client, uint64_t *count_out, uint64_t *all_out)
{
    const struct client_share *share = &model.sched.clients;
    uint64_t asked = 0;

    *count_out = *all_out = 0;
    if (share->taken && share->taken->client == (uint64_t)client + 1 &&
        share->taken_counted > 0) {
        asked += share->taken_counted;
        ++*count_out;
    }
    for (int i = 0; i < MODEL_ITEMS; i++) {
        if (model.jobs[i].client != client || !heap_has(&model.items[i].node))
            continue;
        ++*all_out;
        if (model.items[i].bytes == 0 ||
            model.items[i].bytes > CLIENT_LEVEL_SMALL)
            continue;
        asked += model.items[i].bytes;
        ++*count_out;
    }
    return asked;
}

/* The level of a client with many things may be left from when there were more,
 * and that of one that waits alone from before it asked for more. */
void model_check_level(int client)
{
    uint64_t count, all;
    uint64_t asked = count_asked(client, &count, &all);
    bool is_many = all + 1 > CLIENT_LEVEL_MANY; /* one may be taken */
    bool is_alone = client_share_waiting(&model.sched.clients) == 1;

    for (int i = 0; i < MODEL_ITEMS; i++) {
        const struct sched_item *item = &model.items[i];
        uint64_t own = model.jobs[i].is_stream ? model.jobs[i].had
                                               : model.jobs[i].left;
        uint64_t level;

        if (model.jobs[i].client != client || !heap_has(&item->node))
            continue;
        level = client_share_level(&model.sched.clients, &item->place);
        if (count < 2)
            assert_true(level == 0 || is_many);
        else if (asked < CLIENT_LEVEL_MAX)
            assert_true((level - level / 8 <= asked || is_many) &&
                        (asked <= level + level / 4 || is_alone));
        if (model.jobs[i].is_stream)
            level = 0;
        own += (level < 8 * own ? level : 8 * own) + item->excess;
        assert_int_equal(heap_key(&model.sched.heap, &item->node),
                         model.sched.bound > 0
                             ? own * model.sched.bound + item->stamp
                             : own);
    }
}

void model_put(int at)
{
    const struct model_job *job = &model.jobs[at];
    uint64_t bytes = job->is_stream ? CLIENT_SHARE_STREAM : job->left;

    sched_put(&model.sched, &model.items[at],
              job->is_stream ? job->had : job->left);
    naive_begin(&model.naive.of[job->client], bytes, at == model.taken);
    model.taken = -1;
}

void model_arrive(int at, int client, uint64_t bytes, bool is_stream)
{
    model.taken = -1;
    model.jobs[at] = (struct model_job){
        .client = client, .left = bytes, .is_stream = is_stream};
    sched_arrive(&model.sched, &model.items[at], (uint64_t)client + 1, bytes,
                 is_stream);
    model_put(at);
}

int model_serve(uint64_t quantum, unsigned away_of)
{
    struct sched_item *item = sched_take(&model.sched);
    int at = (int)(item - model.items);
    struct model_client *client;
    struct model_job *job;
    uint64_t sent;

    model.taken = item ? at : -1;
    if (!item)
        return -1;
    job = &model.jobs[at];
    client = &model.naive.of[job->client];
    sent = job->left < quantum ? job->left : quantum;
    sched_sent(&model.sched, item, sent);
    client->had += (double)sent;
    client->sent += (double)sent;
    naive_advance((double)sent);
    job->had += sent;
    if (!job->is_stream)
        job->left -= sent;
    job->is_away = job->left > 0 && away_of > 0 && draw(away_of) == 0;
    if (job->left > 0 && !job->is_away)
        sched_put(&model.sched, item, job->is_stream ? job->had : job->left);
    else
        client->waiting--;
    return at;
}
