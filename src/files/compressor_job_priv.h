/*
 * compressor_job_priv - a job is one order that is being done. compressor.c
 * keeps the jobs; its threads call compressor_job.c, which does them.
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
    struct list list_node;       /* linked into the list for its state */
    struct compressor_job *next; /* next in the bucket of its hash */
    uint64_t hash;
    enum compressor_job_state state;
    struct file_stamp stamp;
    enum coding coding;
    enum codec_effort effort;
    char *text;                    /* stamp.bytes long; NULL when `fd` has the
                                      text */
    int fd;                        /* duplicate of the order's `fd`, or -1 */
    struct dictionary *dictionary; /* the job's reference, or NULL */
    int dictionary_fd;             /* -1: there is no dictionary to read */
    struct coded_body *body;       /* the result, once READY */
    unsigned fetched;              /* how often `body` was fetched */
    uint64_t failed_ms;
};

/* Makes a job that does not depend on the caller's memory and descriptors. The
 * job has a copy of the order's text, or a duplicate of the order's descriptor,
 * and a descriptor of the order's dictionary. Returns NULL when there is no
 * memory, or no descriptor. */
MUST_USE struct compressor_job *compressor_job_create(
    const struct compress_order *order);
void compressor_job_destroy(struct compressor_job *job);

/* Returns how many descriptors the job has. */
static inline size_t compressor_job_descriptors(const struct compressor_job
                                                    *job)
{
    return (size_t)(job->fd >= 0) + (size_t)(job->dictionary_fd >= 0);
}

/* Frees the text and closes the descriptors, which are not needed once the
 * result is made. */
void compressor_job_drop_text(struct compressor_job *job);

/* Does the job and returns its new state; sets `body` when the state is
 * COMPRESSOR_JOB_READY. */
enum compressor_job_state compressor_job_run(struct compressor_job *job,
                                             const atomic_bool *stops,
                                             struct codec_meter *meter);

#endif
