#include "engine/what_if.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pages.h"
#include "base/units.h"
#include "engine/link/link_priv.h"

enum { JOBS_BYTES = WHAT_IF_JOBS * sizeof(struct what_if_job) };

int what_if_init(struct what_if *what_if)
{
    *what_if = (struct what_if){0};
    heap_init(&what_if->heap);
    if (heap_reserve(&what_if->heap, WHAT_IF_JOBS) != 0)
        return -ENOMEM;
    what_if->jobs = pages_open(JOBS_BYTES);
    return what_if->jobs ? 0 : -ENOMEM;
}

void what_if_fini(struct what_if *what_if)
{
    heap_fini(&what_if->heap);
    pages_close(what_if->jobs, JOBS_BYTES);
    what_if->jobs = NULL;
}

/* --- Noting -------------------------------------------------------------- */

bool what_if_tick(struct what_if *what_if, uint64_t now_ns)
{
    if (!what_if->jobs || what_if->ticks++ % WHAT_IF_EVERY != 0)
        return false;
    what_if->count = 0;
    what_if->sample++;
    what_if->is_noting = what_if->has_room = true;
    what_if->since_ns = now_ns;
    what_if->until_ns = now_ns + WHAT_IF_SAMPLE * NS_PER_S / 2;
    what_if->end_ns = 0;
    return true;
}

bool what_if_has_ended(const struct what_if *what_if)
{
    return what_if->is_noting &&
           what_if->ticks % WHAT_IF_EVERY == WHAT_IF_SAMPLE;
}

void what_if_note(struct what_if *what_if, struct what_if_mark *mark,
                  uint64_t bytes, uint64_t now_ns, bool is_new)
{
    mark->sample = 0;
    if (!what_if->has_room || bytes == 0)
        return;
    if (what_if->count == WHAT_IF_JOBS) {
        what_if->has_room = false;
        what_if->end_ns = now_ns;
        return;
    }
    *mark = (struct what_if_mark){what_if->sample, what_if->count};
    what_if->jobs[what_if->count++] = (struct what_if_job){
        .arrive_ns = now_ns,
        .bytes = bytes,
        .is_judged = is_new && now_ns < what_if->until_ns};
}

void what_if_end(struct what_if *what_if, struct what_if_mark *mark,
                 uint64_t now_ns, bool is_done)
{
    bool is_noted = what_if->is_noting && mark->sample == what_if->sample;
    struct what_if_job *job;

    mark->sample = 0;
    if (!is_noted)
        return;
    job = &what_if->jobs[mark->at];
    if (is_done)
        job->done_ns = now_ns;
    else
        job->bytes = 0;
}

/* --- Models -------------------------------------------------------------- */

static uint64_t work_ns(const struct what_if_job *job, uint64_t rate)
{
    return (uint64_t)((double)link_wire_bytes(job->bytes) * NS_PER_S /
                      (double)rate);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void model_fifo(struct what_if *what_if, uint64_t rate,
                       uint64_t *done_ns)
{
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i < what_if->count; i++) {
        const struct what_if_job *job = &what_if->jobs[i];

        now_ns = later(now_ns, job->arrive_ns) + work_ns(job, rate);
        done_ns[i] = now_ns;
    }
}

static uint32_t first_of(const struct what_if *what_if)
{
    return (uint32_t)(OWNER_OF(heap_first(&what_if->heap)->node,
                               struct what_if_job, node) -
                      what_if->jobs);
}

/* The level is the work that would have been done by now on a job present from
 * the beginning. A job that comes at level L with work w is done at level L +
 * w, whatever jobs come later. */
static void model_fair(struct what_if *what_if, uint64_t rate,
                       uint64_t *done_ns)
{
    struct heap *heap = &what_if->heap;
    double now_ns = 0;
    double level = 0;

    for (uint32_t i = 0; i <= what_if->count; i++) {
        struct what_if_job *job = &what_if->jobs[i];
        double next_ns = i < what_if->count ? (double)job->arrive_ns : 1e19;

        while (heap->count > 0) {
            double rest = (double)heap_first(heap)->key - level;
            double end_ns = now_ns + (rest > 0 ? rest : 0) * heap->count;

            if (end_ns > next_ns)
                break;
            level += rest > 0 ? rest : 0;
            now_ns = end_ns;
            done_ns[first_of(what_if)] = (uint64_t)end_ns;
            heap_take(heap);
        }
        if (i == what_if->count)
            return;
        if (heap->count > 0)
            level += (next_ns - now_ns) / heap->count;
        now_ns = next_ns;
        heap_put(heap, &job->node, (uint64_t)level + work_ns(job, rate), i);
    }
}

static void model_srpt(struct what_if *what_if, uint64_t rate,
                       uint64_t *done_ns)
{
    struct heap *heap = &what_if->heap;
    uint64_t now_ns = 0;

    for (uint32_t i = 0; i <= what_if->count; i++) {
        struct what_if_job *job = &what_if->jobs[i];
        uint64_t next_ns = i < what_if->count ? job->arrive_ns : UINT64_MAX;

        while (heap->count > 0) {
            uint64_t left = heap_first(heap)->key;
            uint32_t first = first_of(what_if);

            heap_take(heap);
            if (left > next_ns - now_ns) {
                heap_put(heap, &what_if->jobs[first].node,
                         left - (next_ns - now_ns), first);
                break;
            }
            now_ns += left;
            done_ns[first] = now_ns;
        }
        if (i == what_if->count)
            return;
        now_ns = next_ns;
        heap_put(heap, &job->node, work_ns(job, rate), i);
    }
}

what_if_model_fn *const what_if_models[STATS_WHAT_IF_COUNT] = {
    [STATS_WHAT_IF_FIFO] = model_fifo,
    [STATS_WHAT_IF_FAIR] = model_fair,
    [STATS_WHAT_IF_SRPT] = model_srpt};

/* --- Telling ------------------------------------------------------------- */

static void tell_of(const struct what_if *what_if, const uint64_t *done_ns,
                    enum stats_what_if policy, uint64_t end_ns,
                    struct stats *stats)
{
    for (uint32_t i = 0; i < what_if->count; i++) {
        const struct what_if_job *job = &what_if->jobs[i];
        uint64_t done = done_ns ? done_ns[i] : job->done_ns;

        if (done == 0 || done > end_ns)
            done = end_ns;
        if (job->is_judged && job->bytes > 0 && done >= job->arrive_ns)
            stats_note_what_if(stats, policy, job->bytes,
                               done - job->arrive_ns);
    }
}

void what_if_tell(struct what_if *what_if, uint64_t rate, uint64_t now_ns,
                  struct stats *stats)
{
    uint64_t end_ns = what_if->end_ns ? what_if->end_ns : now_ns;
    uint64_t *done_ns;

    what_if->is_noting = what_if->has_room = false;
    if (rate == 0 || what_if->count == 0)
        return;
    done_ns = malloc(what_if->count * sizeof(*done_ns));
    if (!done_ns)
        return; /* the next sample may succeed */
    tell_of(what_if, NULL, STATS_WHAT_IF_DID, end_ns, stats);
    for (unsigned i = 0; i < STATS_WHAT_IF_COUNT; i++) {
        if (!what_if_models[i])
            continue;
        what_if_models[i](what_if, rate, done_ns);
        tell_of(what_if, done_ns, (enum stats_what_if)i, end_ns, stats);
    }
    free(done_ns);
}
