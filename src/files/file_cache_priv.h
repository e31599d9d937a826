/*
 * file_cache_priv - what the files of the file cache share. file_cache.c keeps
 * entries; file_folders.c knows whether a folder has got new names or lost
 * some; file_variant.c and file_delta.c order variants and deltas.
 *
 * Thread: the cache's worker; no locks.
 */
#ifndef FILES_FILE_CACHE_PRIV_H
#define FILES_FILE_CACHE_PRIV_H

#include "files/file_entry_priv.h"

enum { FILE_FOLDERS = 256 };

/* A folder in which siblings are looked for. */
struct file_folder {
    uint64_t hash;       /* hash of its space and path */
    uint64_t version;    /* what file_folders_look() returns */
    uint64_t renewed_ms; /* when `version` was last renewed */
    uint64_t looked_ms;  /* when the folder was last stat'ed; 0: never */
    struct file_stamp stamp;
};

/* Folders looked at lately, each at the place that its hash selects: 22 KB. */
struct file_folders {
    uint64_t versions; /* versions given out so far */
    struct file_folder folders[FILE_FOLDERS];
};

/* Returns the version of the folder where an entry's siblings are, and sets
 * *looked_ms_out to the time when the folder was looked at. The version becomes
 * another number when a name may have come or gone. The calls for all files of
 * a folder cost one stat in FILE_CACHE_CHECK_MS. Returns 0 if the version is
 * not known: the folder has changed so lately that it may change again unseen,
 * or another folder occupies its place in `folders`. */
uint64_t file_folders_look(struct file_folders *folders,
                           const struct file_entry *entry, uint64_t seed,
                           const struct now *now, uint64_t *looked_ms_out);

struct file_cache {
    struct file_cache_options options;
    const struct now *now;
    uint64_t seed;                /* random seed of the hash, since clients
                                     choose the paths */
    struct evict *resident;       /* entries that keep no descriptor */
    struct evict *opened;         /* entries that keep a descriptor */
    struct miniature *miniature;  /* models `resident` with other sizes; NULL:
                                     none */
    struct miniature_asked asked; /* the requests that the models have seen */
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t coded;
    uint64_t saved_bytes;
    struct file_folders folders;
    size_t mask;
    struct file_entry *buckets[];
};

/* A file has at most as many deltas as its rule has dictionaries. */
enum { FILE_DELTAS_MAX = DICTIONARY_VERSIONS_MAX + 1 };

/* The place of a variant that exists or may be made. */
struct file_variant {
    struct file_entry *entry; /* the variant's cached entry, borrowed; NULL:
                                 there is none so far */
    uint64_t asked_ms;        /* when the compressor was last asked */
};

struct file_delta {
    struct file_variant variant;
    bool is_used; /* false: a free place */
    bool is_hopeless;
    uint8_t hash[DICTIONARY_HASH_BYTES];
};

/* The variants of a file. */
struct file_variants {
    struct file_variant codings[CODING_COUNT];
    size_t delta_count; /* FILE_DELTAS_MAX or 0 */
    struct file_delta deltas[];
};

/* Returns the places of an entry's variants, and makes them if there are none.
 * Returns NULL if there is no memory; if the entry is not cached, since its
 * variants could not be found; or if the file is so young that it may change
 * unseen, since the entry is soon made anew. */
struct file_variants *file_cache_variants(struct file_entry *entry);

/* Asks the compressor for the result of `order`. The caller has set the order's
 * coding, effort and dictionary; this function sets the other members. */
enum compressor_answer file_cache_order(struct file_cache *cache,
                                        const struct file_entry *entry,
                                        struct compress_order *order,
                                        struct coded_body **body_out);

/* Makes a variant of the result `body`, which is taken over, and puts the
 * variant into `place` instead of an earlier one. The caller gets one
 * reference, or NULL when there is no memory or the variant is too long for the
 * cache. Sets *fits_out to false when it is too long, or the cache has no room.
 * The entry itself may leave the cache to make room, so the caller must have a
 * reference to the entry. */
struct file_entry *file_cache_put_variant(struct file_cache *cache,
                                          struct file_entry *entry,
                                          struct file_variant *place,
                                          enum coding coding,
                                          struct coded_body *body,
                                          bool *fits_out);

/* Puts a variant into the cache. `original` must be cached, and `place` empty.
 * Returns false when the cache has no room or no memory for it. */
bool file_cache_keep_variant(struct file_cache *cache,
                             struct file_entry *original,
                             struct file_variant *place,
                             struct file_entry *variant);

/* The time between two questions about the same order. */
enum { FILE_VARIANT_ASK_MS = 5 };

/* Notes a use of a cached entry, and takes one more reference. */
void file_cache_hit(struct file_cache *cache, struct file_entry *entry);

#endif
