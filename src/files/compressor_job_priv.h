/*
 * compressor_job_priv - how one order is done: compressor.c, which keeps them,
 * has its threads call compressor_job.c, which does them.
 *
 * Thread: the one that runs the job; no locks.
 */
#ifndef FILES_COMPRESSOR_JOB_PRIV_H
#define FILES_COMPRESSOR_JOB_PRIV_H

#include "base/list.h"
#include "files/compressor.h"

enum compressor_job_state {
    COMPRESSOR_JOB_QUEUED,
    COMPRESSOR_JOB_RUNNING,
    COMPRESSOR_JOB_READY,
    COMPRESSOR_JOB_HOPELESS,
    COMPRESSOR_JOB_FAILED
};

struct compressor_job {
    struct list list_node;       /* of those in its state */
    struct compressor_job *next; /* with the same hash */
    uint64_t hash;
    enum compressor_job_state state;
    struct file_stamp stamp;
    enum coding coding;
    enum codec_effort effort;
    char *text;                    /* stamp.bytes of them, or NULL: */
    int fd;                        /* a duplicate */
    struct dictionary *dictionary; /* held; NULL: none */
    int dictionary_fd;             /* while there is one to be read */
    struct coded_body *body;       /* READY */
    unsigned fetched;              /* how often */
    uint64_t failed_ms;
};

/* A job with a copy of what order brings. NULL: no memory, no descriptors. */
MUST_USE struct compressor_job *compressor_job_create(
    const struct compress_order *order);
void compressor_job_destroy(struct compressor_job *job);

/* How many descriptors it has. */
static inline size_t compressor_job_descriptors(const struct compressor_job
                                                    *job)
{
    return (size_t)(job->fd >= 0) + (size_t)(job->dictionary_fd >= 0);
}

/* Gives back what it was to be made of. */
void compressor_job_drop_text(struct compressor_job *job);

/* Fills in body, when the state that is returned is READY. */
enum compressor_job_state compressor_job_run(struct compressor_job *job,
                                             const atomic_bool *stops,
                                             struct codec_meter *meter);

#endif
