#include "files/compressor_index_priv.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Whether two dictionaries are both NULL, or have the same bytes. Their rules
 * may differ. */
static bool is_same_dictionary(const struct dictionary *a,
                               const struct dictionary *b)
{
    return a == b || (a && b && memcmp(a->hash, b->hash, sizeof(a->hash)) == 0);
}

uint64_t compressor_index_hash(const struct compress_order *order)
{
    uint64_t words[] = {order->stamp.device,
                        order->stamp.inode,
                        order->stamp.bytes,
                        (uint64_t)order->stamp.modified_ns,
                        (uint64_t)order->stamp.changed_ns,
                        (uint64_t)order->coding,
                        (uint64_t)order->effort,
                        0};

    if (order->dictionary)
        memcpy(&words[7], order->dictionary->hash, sizeof(words[7]));
    return XXH3_64bits(words, sizeof(words));
}

struct compressor_job *compressor_index_find(
    const struct compressor_index *index, const struct compress_order *order,
    uint64_t hash)
{
    struct compressor_job *job =
        index->buckets[hash % COMPRESSOR_INDEX_BUCKETS];

    while (job && !(job->hash == hash && job->coding == order->coding &&
                    job->effort == order->effort &&
                    is_same_dictionary(job->dictionary, order->dictionary) &&
                    file_stamp_eq(&job->stamp, &order->stamp)))
        job = job->next;
    return job;
}

void compressor_index_put(struct compressor_index *index,
                          struct compressor_job *job)
{
    struct compressor_job **bucket =
        &index->buckets[job->hash % COMPRESSOR_INDEX_BUCKETS];

    job->next = *bucket;
    *bucket = job;
}

void compressor_index_drop(struct compressor_index *index,
                           const struct compressor_job *job)
{
    struct compressor_job **at =
        &index->buckets[job->hash % COMPRESSOR_INDEX_BUCKETS];

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
}

void compressor_index_destroy_jobs(struct compressor_index *index)
{
    for (size_t i = 0; i < COMPRESSOR_INDEX_BUCKETS; i++) {
        struct compressor_job *next;

        for (struct compressor_job *job = index->buckets[i]; job; job = next) {
            next = job->next;
            compressor_job_destroy(job);
        }
    }
}
