/*
 * file_cache_priv - what the file cache's files share: file_cache.c, which
 * keeps entries, file_folders.c, which knows whether names have come to their
 * folders, file_variant.c, which has variants made of them, and file_delta.c,
 * which has deltas made.
 *
 * Thread: the cache's worker; no locks.
 */
#ifndef FILES_FILE_CACHE_PRIV_H
#define FILES_FILE_CACHE_PRIV_H

#include "files/file_entry_priv.h"

enum { FILE_FOLDERS = 256 };

/* A folder that siblings are looked for in. */
struct file_folder {
    uint64_t hash;       /* hash of its space and path */
    uint64_t version;    /* what file_folders_look() returns */
    uint64_t renewed_ms; /* when version was last renewed */
    uint64_t looked_ms;  /* when it was last stat'ed; 0: never */
    struct file_stamp stamp;
};

/* Folders looked at lately, each where its hash says: 22 KB. */
struct file_folders {
    uint64_t versions; /* counter for version */
    struct file_folder folders[FILE_FOLDERS];
};

/* The version of the folder of an entry's siblings, as it was at
 * *looked_ms_out: another number when a name may have come or gone there. One
 * stat in FILE_CACHE_CHECK_MS for all of the folder. 0: nothing is known, as it
 * has changed so lately that it may change unseen, or others have its place. */
uint64_t file_folders_look(struct file_folders *folders,
                           const struct file_entry *entry, uint64_t seed,
                           const struct now *now, uint64_t *looked_ms_out);

struct file_cache {
    struct file_cache_options options;
    const struct now *now;
    uint64_t seed;                /* of the hash, as clients choose keys */
    struct evict *resident;       /* entries that live in memory alone */
    struct evict *opened;         /* entries that keep a descriptor */
    struct miniature *miniature;  /* models of resident; NULL: none */
    struct miniature_asked asked; /* what the models were asked */
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t coded;
    uint64_t saved_bytes;
    struct file_folders folders;
    size_t mask;
    struct file_entry *buckets[];
};

/* As many deltas as a rule may have dictionaries. */
enum { FILE_DELTAS_MAX = DICTIONARY_VERSIONS_MAX + 1 };

/* A variant, which is there or may come to be. */
struct file_variant {
    struct file_entry *entry; /* cached, borrowed; NULL: none */
    uint64_t asked_ms;        /* when the compressor was asked last */
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

/* Makes room for an entry's variants. NULL: no memory, or not the time: nothing
 * would lead to them, or the file is so young that it may change unseen, and
 * its entry is soon made anew. */
struct file_variants *file_cache_variants(struct file_entry *entry);

/* Places an order that names coding, effort and dictionary; fills in the
 * rest. */
enum compressor_answer file_cache_order(struct file_cache *cache,
                                        const struct file_entry *entry,
                                        struct compress_order *order,
                                        struct coded_body **body_out);

/* Makes a variant of a result, which is taken over, in the place of what was
 * there. One reference, the caller's; NULL: no memory, or *fits_out is false:
 * it is too long for the cache. To make room, entry itself may leave the cache;
 * the caller has a reference to it. */
struct file_entry *file_cache_put_variant(struct file_cache *cache,
                                          struct file_entry *entry,
                                          struct file_variant *place,
                                          enum coding coding,
                                          struct coded_body *body,
                                          bool *fits_out);

/* Lets a variant into the cache whose original is cached and has none in that
 * place. False: there is no room for it, or no memory. */
bool file_cache_keep_variant(struct file_cache *cache,
                             struct file_entry *original,
                             struct file_variant *place,
                             struct file_entry *variant);

/* Between two questions about the same order. */
enum { FILE_VARIANT_ASK_MS = 5 };

/* Notes a use of an entry that is cached, for one more reference. */
void file_cache_hit(struct file_cache *cache, struct file_entry *entry);

#endif
