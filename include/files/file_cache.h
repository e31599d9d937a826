/*
 * file_cache - files below one root or several, ready to be sent.
 *
 * An entry is what one path of a space leads to under one content coding: a
 * file with its validators and a head written ahead, a directory, or a failure
 * (cached as well, for one check interval). A small file is a snapshot: head
 * and body side by side in memory of the entry, its descriptor closed; a larger
 * one keeps its descriptor (and a mapping, when asked for).
 *
 *   block:  [ head of a 200, without its end | CRLF | body of a snapshot ]
 *            '------------ head_len ---------'
 *
 * When the head was edited, its fields as they were before come behind that.
 *
 * A file that may be compressed has variants besides siblings. The compressor
 * makes them of the file once a worker has ordered them; they are entries like
 * any other, but found through the file's entry. Deltas are variants, too: the
 * difference from an earlier version that the client has. When the file's entry
 * is dropped, its variants are.
 *
 * Why a snapshot and no mapping of the file itself: bytes of a mapping change
 * with the file, so that a head with the old ETag could be sent with new
 * bytes, and vanish when it is truncated. A snapshot is checked when it is
 * taken (same stamp before and after) and never changes afterwards. Mapped
 * bytes go to the kernel only and are never read here.
 *
 * Freshness: an entry is used unchecked for FILE_CACHE_CHECK_MS, then one
 * stat by name decides. Its siblings are looked for separately, when its folder
 * has changed, which one stat tells for all files in it. A file so
 * young that a further change might not have moved its time stamp is read
 * anew at that point even if nothing seems changed.
 *
 * Invariant: an entry inside has one reference of the cache's own.
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
    FILE_CACHE_CHECK_MS = 990, /* a coarse tick under one second */
    FILE_INDEX_BYTES_MAX = 255,
    /* Quote, 16 + 1 + 16 hex digits, of what was made 1 + 16 more and "-gzip",
     * quote, NUL. */
    FILE_CACHE_ETAG_MAX = 58,
    FILE_DELTA_BYTES_MIN = 512 /* of a file: a shorter one has no deltas */
};

/* How bodies are sent; decides what an entry keeps. */
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
    uint64_t bytes_max;     /* 0: keep nothing */
    size_t entries_max;     /* 0: keep nothing */
    size_t descriptors_max; /* of entries kept open */
    size_t snapshot_bytes;  /* largest body kept as snapshot (SEND_AUTO) */
};

/* The files below one root, and the options that apply to them. A cache borrows
 * its spaces for as long as it lives; they do not change. */
struct file_space {
    const struct docroot *root;
    const char *index;          /* the file that answers for a directory */
    struct bytes cache_control; /* a field's value; empty: none */
    const struct cache_rules *cache_rules; /* before cache_control; or NULL */
    const struct type_rules *type_rules;   /* before mime; or NULL */
    const struct head_edits *edits;        /* of every head; or NULL */
    const struct compress_rules *compress; /* NULL: nothing is compressed */
    const struct dictionary_rules *dictionaries; /* NULL: there are none */
    /* For dictionaries: what stands before a file's path in the path of its
     * site, and what tells the site from others. */
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

/* What each answer touches stands together, next to the path: an entry that was
 * not used lately comes from memory, a line of 64 bytes at a time. */
struct file_entry {
    struct bytes type;            /* media type */
    struct bytes etag;            /* with quotes */
    int64_t modified_s;           /* Last-Modified; INT64_MIN: none is sent */
    struct bytes fields;          /* in block: see file_entry_fields() */
    struct coded_head coded_head; /* head of block for HTTP/2, without Date */
    const char *map; /* SEND_MMAP: the whole file, for the kernel only */
    /* private */
    struct file_entry *original; /* of a cached variant: its file's entry */
    struct file_variant *place; /* of a cached variant: its place in variants */
    uint64_t folder_version;    /* when siblings were looked for; 0: unknown */
    char etag_text[FILE_CACHE_ETAG_MAX];
    bool is_noted; /* the dictionary store was told of it */
    bool is_young;

    /* public: each answer's, from here on */
    struct file_stamp stamp;
    /* The length of a variant's file; 0 for other entries. The stamp of a
     * variant has its own length, and is else that of its file. */
    uint64_t plain_bytes;
    char *block;     /* of a FILE_REGULAR only */
    size_t head_len; /* the CRLF that ends the head not counted */
    /* private */
    int64_t dated_s; /* second of the Date in block */
    /* A variant's bytes, unless the entry is a snapshot. */
    struct coded_body *coded;
    struct evict_node node;
    uint32_t uses; /* of a variant: how often it was used */
    uint32_t refs;
    bool is_final; /* a variant that does not get smaller any more */
    bool is_cached;
    bool is_sampled; /* the cache's miniature samples it */
    /* public */
    bool is_snapshot; /* the body follows in the block */
    enum file_kind kind;
    enum coding coding;
    unsigned siblings; /* bit 1 << coding: a precompressed one is there */
    unsigned codable;  /* bit 1 << coding: a variant is there or may be */
    int fd;            /* -1: it keeps none */
    /* The rule by which it is a dictionary, and that by which it may be sent by
     * one: bit CODING_DCZ in codable. NULL: none. */
    const struct dictionary_rule *dictionary_made;
    const struct dictionary_rule *dictionary_used;
    /* private */
    struct file_variants *variants; /* of a file; NULL: it has none so far */
    uint64_t checked_ms;
    uint64_t siblings_checked_ms;
    const struct file_space *space;
    struct file_entry *next;
    uint64_t hash; /* of path, in the index; of a variant: with its ETag */
    size_t path_len;
    char path[]; /* key, clean, with its leading slash; then NUL */
};

struct file_cache; /* opaque */

/* NULL: no memory. */
MUST_USE struct file_cache *file_cache_create(const struct file_cache_options
                                                  *options);
void file_cache_destroy(struct file_cache *cache);

struct file_cache_counts {
    uint64_t hits; /* since the start, like the next two */
    uint64_t misses;
    uint64_t evictions;   /* entries that made room for others */
    uint64_t coded;       /* answers with a variant */
    uint64_t saved_bytes; /* bytes that these saved */
    uint64_t bytes;       /* now, as the next */
    uint64_t entries;
};

struct file_cache_counts file_cache_count(const struct file_cache *cache);

/* Tells what caches of other sizes and policies would have had; all 0: nothing
 * is known. To be called each second. */
void file_cache_tell_what_if(struct file_cache *cache,
                             struct miniature_told *told_out);

/* The entry for a clean path (as path_clean() makes it) of a space under a
 * coding, whose existence an identity entry's siblings told. A path that ends
 * in '/' leads to its index, or to the directory when there is none. Counted:
 * give it back. NULL: no memory. */
MUST_USE struct file_entry *file_cache_acquire(struct file_cache *cache,
                                               const struct file_space *space,
                                               struct bytes path,
                                               enum coding coding);

/* The variant of a file's entry under a coding that it is codable by, as far as
 * there is one: one more reference, the caller's. NULL: it is not there; it is
 * ordered then, if it can be, and costs no wait. */
MUST_USE struct file_entry *file_cache_variant(struct file_cache *cache,
                                               struct file_entry *entry,
                                               enum coding coding);

/* The delta of a file's entry from the dictionary with that hash, in the same
 * way. */
MUST_USE struct file_entry *file_cache_delta(
    struct file_cache *cache, struct file_entry *entry,
    const uint8_t hash[DICTIONARY_HASH_BYTES]);

/* Finds in value, an If-None-Match, the ETag of a variant or delta of this
 * version, in one of these codings (bits, as in codable); empty: there is none.
 * Its variant need not be there any more, nor ever have been here. */
struct bytes file_entry_find_made(const struct file_entry *entry,
                                  struct bytes value, unsigned codings);

/* Has a file that is dictionary_made kept; once is enough. */
void file_cache_note_dictionary(struct file_cache *cache,
                                struct file_entry *entry);

/* The variants of a file's entry that are there: bits, as in codable. */
unsigned file_entry_variants(const struct file_entry *entry);

/* The variant among these, which are there, that has the fewest bytes. */
enum coding file_entry_smallest(const struct file_entry *entry, unsigned among);

/* Notes that all of a variant is sent in the place of its file. */
void file_cache_note_saved(struct file_cache *cache,
                           const struct file_entry *variant);

/* The media type of a file of a space, whatever edits make of it. */
struct bytes file_cache_type(const struct file_cache *cache,
                             const struct file_space *space, struct bytes path);

/* Whether the siblings of an entry have come or gone since it was made; then
 * the entry is forgotten, and is to be acquired anew. Looks once in
 * FILE_CACHE_CHECK_MS; where the folder has changed, or may have unseen, by one
 * stat for each possible sibling. Worth asking only for a client that takes
 * codings. */
bool file_cache_siblings_changed(struct file_cache *cache,
                                 struct file_entry *entry);

/* Gives one reference back. The last one, be it the cache's or that of a
 * response, frees the entry (file_entry.c), always on the thread of the worker
 * whose cache it is. */
void file_entry_release(struct file_entry *entry);

/* Takes one more reference. */
static inline void file_entry_hold(struct file_entry *entry)
{
    entry->refs++;
}

/* The block's head with its Date brought up to the present second; the edits
 * are in it. */
struct bytes file_entry_head(struct file_entry *entry, const struct now *now);

/* The fields that a 200, a 206 and a 304 have alike (RFC 9110 15.4.5), whole
 * lines: validators, Vary, Cache-Control. Without the edits, since the head
 * they come into gets those when it ends. */
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

/* Whether all of the body lies in memory that this process may read. */
static inline bool file_entry_is_resident(const struct file_entry *entry)
{
    return entry->is_snapshot || entry->coded;
}

/* Whether the open file still is the version in the stamp (one fstat; always
 * true for what is resident). */
bool file_entry_is_intact(const struct file_entry *entry);

/* Forgets the entry, so that the next acquire reads anew. */
void file_cache_forget(struct file_cache *cache, struct file_entry *entry);

#endif
