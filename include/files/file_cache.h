/*
 * file_cache - files below one root or several, ready to be sent.
 *
 * An entry is what one path of a space leads to under one content coding: a
 * file with its validators and a head written ahead, a directory, or a failure
 * (cached as well, for one check interval). A small file is a snapshot: the
 * entry has head and body side by side in memory, and its descriptor is closed.
 * A larger file's entry keeps the descriptor (and a mapping, with SEND_MMAP).
 *
 *   block:  [ head of a 200, without its end | CRLF | body of a snapshot ]
 *            '------------ head_len ---------'
 *
 * When the head was edited, the fields from before the edits follow the body.
 *
 * A file that may be compressed may have siblings and variants. Siblings are
 * compressed files beside it on disk. Variants are made by the compressor when
 * a worker has ordered them. They are entries, but are found through the file's
 * entry. Deltas are variants, too: the difference from an earlier version that
 * the client has. When the file's entry is dropped, so are its variants.
 *
 * Why a snapshot and no mapping of the file itself: the bytes of a mapping
 * change with the file, so that a head with the old ETag could be sent with new
 * bytes; and they vanish when the file is truncated. A snapshot is checked when
 * it is taken (same stamp before and after) and never changes afterwards.
 * Mapped bytes go to the kernel only and are never read here.
 *
 * Freshness: an entry is used unchecked for FILE_CACHE_CHECK_MS, then one
 * stat by name decides. Its siblings are looked for separately, when its folder
 * has changed; one stat tells this for all files of the folder. A young file
 * may change again without a new time stamp. So it is read anew at each check,
 * even if it seems unchanged.
 *
 * Invariant: the cache has one reference to each cached entry.
 * Thread:    one per worker; no locks.
 * Owns:      entries, their descriptors, mappings and memory.
 */
#ifndef FILES_FILE_CACHE_H
#define FILES_FILE_CACHE_H

#include "base/evict.h"
#include "base/miniature.h"
#include "base/now.h"
#include "files/compressor.h"
#include "files/dictionary_store.h"
#include "files/docroot.h"
#include "http/mime.h"
#include "http/response.h"
#include "http/rules/cache_rules.h"
#include "http/rules/compress_rules.h"
#include "http/rules/dictionary_rules.h"
#include "http/rules/type_rules.h"

enum {
    FILE_CACHE_CHECK_MS = 990, /* just under one second */
    FILE_INDEX_BYTES_MAX = 255,
    /* Room for an ETag: a quote; the file's version, of 16 + 1 + 16 bytes; for
     * a variant, 1 + 16 bytes of a hash and "-gzip"; a quote; NUL. */
    FILE_CACHE_ETAG_MAX = 58,
    FILE_DELTA_BYTES_MIN = 512 /* the shortest file that has deltas */
};

/* How bodies are sent, which decides what an entry keeps. */
enum send_method {
    SEND_AUTO,     /* a snapshot up to snapshot_bytes, sendfile above that */
    SEND_MMAP,     /* from a mapping of the file */
    SEND_SENDFILE, /* always sendfile */
    SEND_READ      /* pread into a buffer */
};

struct file_cache_options {
    const struct mime *mime;
    struct server_defaults defaults;
    struct compressor *compressor; /* borrowed; NULL: no variants are made */
    struct dictionary_store *dictionaries; /* borrowed; NULL: no deltas */
    enum evict_policy policy;
    enum send_method send_method;
    uint64_t bytes_max;     /* most bytes of entries; 0: keep nothing */
    size_t entries_max;     /* most entries; 0: keep nothing */
    size_t descriptors_max; /* most descriptors of entries */
    size_t snapshot_bytes;  /* longest body of a snapshot (SEND_AUTO) */
};

/* The files below one root, and the options that apply to them. A cache borrows
 * its spaces as long as it lives, and they must not change. */
struct file_space {
    const struct docroot *root;
    const char *index;          /* the file that answers for a directory */
    struct bytes cache_control; /* value of Cache-Control; empty: no field */
    /* Each of the next five may be NULL. */
    const struct cache_rules *cache_rules; /* they overrule cache_control */
    const struct type_rules *type_rules;   /* they overrule the cache's mime */
    const struct head_edits *edits;        /* they change every head */
    const struct compress_rules *compress; /* NULL: nothing is compressed */
    const struct dictionary_rules *dictionaries; /* NULL: no dictionaries */
    /* For dictionaries: `prefix` and a file's path make the path by which
     * clients know the file; `site` is a number that identifies the site. */
    struct bytes prefix;
    uint64_t site;
};

enum file_kind {
    FILE_REGULAR,
    FILE_DIRECTORY,
    FILE_MISSING,   /* 404 */
    FILE_FORBIDDEN, /* 403 */
    FILE_BROKEN     /* 500: no descriptors, no memory, an I/O error */
};

/* The members that each answer touches stand together, next to the path. So few
 * cache lines are loaded for an entry that is not in the CPU's cache. */
struct file_entry {
    struct bytes type;            /* media type */
    struct bytes etag;            /* ETag with its quotes */
    int64_t modified_s;           /* Last-Modified; INT64_MIN: none is sent */
    struct bytes fields;          /* lines that file_entry_fields() returns */
    struct coded_head coded_head; /* head as HTTP/2 codes it, without Date */
    const char *map; /* with SEND_MMAP: the file's mapping, which only the
                        kernel reads */
    /* private */
    struct file_entry *original; /* for a cached variant: its file's entry */
    struct file_variant *place;  /* for a cached variant: its place among the
                                    variants of its file's entry */
    uint64_t folder_version;     /* version of the folder when siblings were
                                    looked for; 0: unknown */
    char etag_text[FILE_CACHE_ETAG_MAX];
    bool is_noted; /* the dictionary store was told of the file */
    bool is_young;

    /* public: what each answer touches, from here on */
    struct file_stamp stamp;
    /* For a variant, the length of its file; 0 for other entries. A variant has
     * the stamp of its file, except for stamp.bytes, which is the variant's own
     * length. */
    uint64_t plain_bytes;
    char *block;     /* the head, and what follows it; FILE_REGULAR only */
    size_t head_len; /* length of the head, without the CRLF that ends it */
    /* private */
    int64_t dated_s; /* the time that Date tells in `block` */
    /* The bytes of a variant that is no snapshot; otherwise NULL. */
    struct coded_body *coded;
    struct evict_node node;
    uint32_t uses; /* how often a variant was used */
    uint32_t refs;
    bool is_final; /* the variant will not be made smaller */
    bool is_cached;
    bool is_sampled; /* the cache's miniature samples the entry */
    /* public */
    bool is_snapshot; /* the body is in the block */
    enum file_kind kind;
    enum coding coding;
    unsigned siblings; /* bits 1 << coding of precompressed files that exist */
    unsigned codable;  /* such bits of variants that exist or may be made */
    int fd;            /* the file's descriptor; -1: none is kept */
    /* The rule by which the file is kept as a dictionary, and the rule by which
     * it may be sent as a delta (bit CODING_DCZ in codable). NULL when there is
     * none. */
    const struct dictionary_rule *dictionary_made;
    const struct dictionary_rule *dictionary_used;
    /* private */
    struct file_variants *variants; /* a file's variants; NULL: none so far */
    uint64_t checked_ms;
    uint64_t siblings_checked_ms;
    const struct file_space *space;
    struct file_entry *next;
    uint64_t hash; /* for the index: hash of `path`, and of a variant's ETag */
    size_t path_len;
    char path[]; /* the key: a clean path with its leading slash; then NUL */
};

struct file_cache; /* opaque */

/* Creates a cache. Returns NULL when there is no memory. */
MUST_USE struct file_cache *file_cache_create(const struct file_cache_options
                                                  *options);
void file_cache_destroy(struct file_cache *cache);

struct file_cache_counts {
    uint64_t hits; /* counted since the start, like the next four */
    uint64_t misses;
    uint64_t evictions;   /* entries that made room for others */
    uint64_t coded;       /* answers that sent a variant */
    uint64_t saved_bytes; /* bytes that these answers saved */
    uint64_t bytes;       /* bytes of the present entries */
    uint64_t entries;     /* number of the present entries */
};

struct file_cache_counts file_cache_count(const struct file_cache *cache);

/* Sets *told_out to the misses that caches of other sizes and policies would
 * have had, or to zeros if no such caches are modelled. Must be called once a
 * second. */
void file_cache_tell_what_if(struct file_cache *cache,
                             struct miniature_told *told_out);

/* Returns the entry for `path` of a space under a coding, and makes it if it is
 * not cached. The path is clean, as path_clean() makes it. A path that ends in
 * '/' leads to its index, or to the directory when there is no index. A coding
 * other than identity must be one of the `siblings` of the identity entry. The
 * caller gets one reference, or NULL when there is no memory. */
MUST_USE struct file_entry *file_cache_acquire(struct file_cache *cache,
                                               const struct file_space *space,
                                               struct bytes path,
                                               enum coding coding);

/* Finds the variant of a file's entry under a coding, which must be one of the
 * entry's `codable`. If the variant exists, the caller gets one reference to
 * it. Otherwise returns NULL at once, and orders the variant if that is
 * possible. */
MUST_USE struct file_entry *file_cache_variant(struct file_cache *cache,
                                               struct file_entry *entry,
                                               enum coding coding);

/* Finds or orders a delta, as file_cache_variant() does for a variant. The
 * delta is the difference of the entry's file from the dictionary with the hash
 * `hash`. */
MUST_USE struct file_entry *file_cache_delta(
    struct file_cache *cache, struct file_entry *entry,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

/* Looks in `value`, the value of an If-None-Match field, for an ETag of a
 * variant or delta of this version, in one of `codings` (bits, as in
 * `codable`). Returns the ETag, or an empty text if there is none. The variant
 * itself need not exist in the cache. */
struct bytes file_entry_find_made(const struct file_entry *entry,
                                  struct bytes value, unsigned codings);

/* Tells the dictionary store to keep a file, by its rule dictionary_made. Does
 * nothing if the store was told before. */
void file_cache_note_dictionary(struct file_cache *cache,
                                struct file_entry *entry);

/* Returns which variants of a file's entry exist, as bits like codable. */
unsigned file_entry_variants(const struct file_entry *entry);

/* Returns the coding of the shortest of several variants. `among` has their
 * codings as bits, like `codable`; all of them must exist. */
enum coding file_entry_smallest(const struct file_entry *entry, unsigned among);

/* Notes that a variant is sent whole in place of its file. */
void file_cache_note_saved(struct file_cache *cache,
                           const struct file_entry *variant);

/* Returns the media type of a file of a space, before any head edits. */
struct bytes file_cache_type(const struct file_cache *cache,
                             const struct file_space *space, struct bytes path);

/* Returns true if siblings of an entry have come or gone since the entry was
 * made. The entry is forgotten then, and the caller acquires it anew. Checks at
 * most once in FILE_CACHE_CHECK_MS. If the folder has changed, or may have
 * changed unseen, a check takes one stat for each possible sibling. So the
 * caller asks only for clients that accept codings. */
bool file_cache_siblings_changed(struct file_cache *cache,
                                 struct file_entry *entry);

/* Gives one reference back. Must be called on the thread of the worker that has
 * the cache. The entry is freed with its last reference, whether that was the
 * cache's or a response's. */
void file_entry_release(struct file_entry *entry);

/* Takes one more reference. */
static inline void file_entry_hold(struct file_entry *entry)
{
    entry->refs++;
}

/* Returns the block's head, including edits, with its Date brought up to the
 * present second. */
struct bytes file_entry_head(struct file_entry *entry, const struct now *now);

/* Returns the fields that a 200, a 206 and a 304 have in common (RFC 9110
 * 15.4.5), as whole lines: validators, Vary, Cache-Control. No head edits were
 * applied to them. The head into which they are put is edited when it is
 * complete. */
static inline struct bytes file_entry_fields(const struct file_entry *entry)
{
    return entry->fields;
}

static inline struct bytes file_entry_body(const struct file_entry *entry)
{
    return (struct bytes){entry->coded ? entry->coded->bytes
                                       : entry->block + entry->head_len + 2,
                          (size_t)entry->stamp.bytes};
}

/* Whether the whole body is in memory that this process may read. */
static inline bool file_entry_is_resident(const struct file_entry *entry)
{
    return entry->is_snapshot || entry->coded;
}

/* Returns true if the open file has not changed since the entry was made. Asks
 * by one fstat. Always true for a resident body. */
bool file_entry_is_intact(const struct file_entry *entry);

/* Forgets the entry, so that the next acquire reads anew. */
void file_cache_forget(struct file_cache *cache, struct file_entry *entry);

#endif
