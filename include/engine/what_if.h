/*
 * what_if - measures what another order of sending would have cost: the
 * responses of a short time are replayed through models of a link.
 *
 * Every few seconds a sample begins, which lasts WHAT_IF_SAMPLE ticks. Each
 * response that begins to wait is noted: when it came, how many bytes it has,
 * and when these had been handed over. Then the same arrivals go through three
 * models of a link that has the measured rate and an empty queue:
 *
 *   fifo  one after the other, as they came
 *   fair  all at the same time, in equal shares (processor sharing)
 *   srpt  fewest bytes left first
 *
 * Only responses that came in the first half of the sample are judged; later
 * ones are in the models because they compete for the link. A response that is
 * not done at the sample's end counts as done then, in reality and in models.
 * Responses that waited already when the sample began are in the models, too,
 * but not judged.
 *
 * With several workers the models' link has a part of the measured rate: this
 * worker's part of all bytes that the workers have sent.
 *
 * Memory: WHAT_IF_JOBS of 32 bytes. Time: 1 ms of every WHAT_IF_EVERY seconds
 * at most. A response that is not noted costs two looks at flags: the clock is
 * read for noted ones only.
 *
 * Thread: one worker's.
 * Owns:   the noted responses.
 */
#ifndef ENGINE_WHAT_IF_H
#define ENGINE_WHAT_IF_H

#include "base/heap.h"
#include "observe/stats.h"

enum {
    /* Most responses noted in a sample. The sample ends early when more
     * come. */
    WHAT_IF_JOBS = 4096,
    WHAT_IF_SAMPLE = 2, /* length of a sample, in ticks */
    WHAT_IF_EVERY = 5
};

struct what_if_job {
    uint64_t arrive_ns;
    uint64_t done_ns; /* when the job was done; 0: not yet */
    uint64_t bytes;   /* the response's bytes; 0: it was broken off */
    struct heap_node node;
    bool is_judged;
};

struct what_if {
    struct what_if_job *jobs; /* in order of arrival; NULL: no samples are
                                 taken */
    uint32_t count;
    /* The sample's number. A mark that has another number is ignored. */
    uint32_t sample;
    unsigned ticks;
    bool is_noting; /* a sample has begun and is not told yet */
    bool has_room;  /* it notes further responses */
    uint64_t since_ns;
    uint64_t until_ns; /* responses that come before this time are judged */
    uint64_t end_ns;   /* when the first response had no room; 0: none had */
    struct heap heap;
};

/* A connection embeds a mark, which names the connection's job: jobs[at], if
 * the present sample has the number `sample`. That is 0 if the connection has no
 * job. */
struct what_if_mark {
    uint32_t sample;
    uint32_t at;
};

/* Returns 0 or -ENOMEM. */
MUST_USE int what_if_init(struct what_if *what_if);
void what_if_fini(struct what_if *what_if);

/* Called each second. Returns true when a sample begins; then the caller notes
 * all responses that wait. */
bool what_if_tick(struct what_if *what_if, uint64_t now_ns);

/* Whether the sample is over, so that what_if_tell() may be called. */
bool what_if_has_ended(const struct what_if *what_if);

/* Replays the sample over a link of `rate` bytes a second, and adds the results
 * to `stats`. Adds nothing when `rate` is 0, because the link was not busy or
 * its rate is not known. */
void what_if_tell(struct what_if *what_if, uint64_t rate, uint64_t now_ns,
                  struct stats *stats);

/* Notes that a response of `bytes` bytes waits, while there is room. `is_new`
 * says that the response begins to wait now; otherwise it waited already when
 * the sample began. */
void what_if_note(struct what_if *what_if, struct what_if_mark *mark,
                  uint64_t bytes, uint64_t now_ns, bool is_new);

/* Notes that a response was handed over whole (`is_done`) or broken off, and
 * that the connection has no job. */
void what_if_end(struct what_if *what_if, struct what_if_mark *mark,
                 uint64_t now_ns, bool is_done);

/* A model of a link that carries `rate` bytes a second. It sets done_ns[i] to
 * the time when the job what_if->jobs[i] would be done. */
typedef void what_if_model_fn(struct what_if *what_if, uint64_t rate,
                              uint64_t *done_ns);
extern what_if_model_fn *const what_if_models[STATS_WHAT_IF_COUNT];

#endif
