/*
 * what_if - what another order would have cost: what came in a sample of time
 * is replayed through models of a link.
 *
 * Every few seconds all that begins to wait is noted for WHAT_IF_SAMPLE ticks:
 * when it came, how many bytes it had, when they had been handed over. Then the
 * same arrivals go through three models of a link of the rate that was
 * measured, without a byte in any queue:
 *
 *   fifo  one after the other, as they came
 *   fair  all at the same time, in equal shares (processor sharing)
 *   srpt  fewest bytes left first
 *
 * Only responses that came in the first half of the sample are judged; later
 * ones give them company. What is not done at the sample's end counts until
 * then, here and in the models. What waited before the sample is in the models,
 * too, and is not judged.
 *
 * With several workers the link of the models has this worker's part of the
 * rate, by what it sent of all.
 *
 * Memory: WHAT_IF_JOBS of 32 bytes. Time: 1 ms of every WHAT_IF_EVERY seconds
 * at most; while it rests a reply costs a look at one flag.
 *
 * Thread: one worker's.
 * Owns:   what it has noted.
 */
#ifndef ENGINE_WHAT_IF_H
#define ENGINE_WHAT_IF_H

#include "base/heap.h"
#include "observe/stats.h"

enum {
    WHAT_IF_JOBS = 4096, /* when more come, the sample ends early */
    WHAT_IF_SAMPLE = 2,  /* ticks of a sample */
    WHAT_IF_EVERY = 5
};

struct what_if_job {
    uint64_t arrive_ns;
    uint64_t done_ns; /* 0: not yet done */
    uint64_t bytes;   /* 0: the response was given up */
    struct heap_node node;
    bool is_judged;
};

struct what_if {
    struct what_if_job *jobs; /* by arrival; NULL: nothing is sampled */
    uint32_t count;
    uint32_t sample; /* number of the sample; older marks count for nothing */
    unsigned ticks;
    bool is_noting;
    uint64_t since_ns;
    uint64_t until_ns; /* responses that come until then are judged */
    uint64_t end_ns;   /* when jobs was full; 0: it is not */
    struct heap heap;
};

/* A mark lies inside of whatever is noted. */
struct what_if_mark {
    uint32_t sample;
    uint32_t at;
};

/* 0 or -ENOMEM. */
MUST_USE int what_if_init(struct what_if *what_if);
void what_if_fini(struct what_if *what_if);

/* A tick, each second. True: a sample begins, so that all that waits is to be
 * noted. */
bool what_if_tick(struct what_if *what_if, uint64_t now_ns);

/* Whether the sample is over, so that what_if_tell() may be called. */
bool what_if_has_ended(const struct what_if *what_if);

/* Replays the sample over a link of so many bytes a second, and tells stats. 0:
 * the link was not busy, or its rate is not known: nothing is told. */
void what_if_tell(struct what_if *what_if, uint64_t rate, uint64_t now_ns,
                  struct stats *stats);

/* Notes what begins to wait. Of what waited already, is_new is false. */
void what_if_note(struct what_if *what_if, struct what_if_mark *mark,
                  uint64_t bytes, uint64_t now_ns, bool is_new);

/* A job was handed over whole (is_done), or given up. */
void what_if_end(struct what_if *what_if, const struct what_if_mark *mark,
                 uint64_t now_ns, bool is_done);

/* Fills done_ns[count] with when each of the jobs, which are in order of
 * arrival, would be done. */
typedef void what_if_model_fn(struct what_if *what_if, uint64_t rate,
                              uint64_t *done_ns);
extern what_if_model_fn *const what_if_models[STATS_WHAT_IF_COUNT];

#endif
