/*
 * compressor_index_priv - a hash table of all jobs of a compressor, which finds
 * the job for an order.
 *
 * Thread: the one that holds the compressor's mutex.
 * Owns:   nothing: jobs are the compressor's.
 */
#ifndef FILES_COMPRESSOR_INDEX_PRIV_H
#define FILES_COMPRESSOR_INDEX_PRIV_H

#include "files/compressor_job_priv.h"

enum { COMPRESSOR_INDEX_BUCKETS = 1024 };

struct compressor_index {
    struct compressor_job *buckets[COMPRESSOR_INDEX_BUCKETS];
};

uint64_t compressor_index_hash(const struct compress_order *order);

/* Finds the job of the order, whose hash is `hash`. Returns NULL when there is
 * none. */
struct compressor_job *compressor_index_find(
    const struct compressor_index *index, const struct compress_order *order,
    uint64_t hash);

/* compressor_index_put() adds a job whose hash is set; compressor_index_drop()
 * takes out a job that was added. */
void compressor_index_put(struct compressor_index *index,
                          struct compressor_job *job);
void compressor_index_drop(struct compressor_index *index,
                           const struct compressor_job *job);

/* Destroys all jobs of the index. */
void compressor_index_destroy_jobs(struct compressor_index *index);

#endif
