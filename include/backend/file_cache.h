/*
 * file_cache - files below one root or several, ready to be sent.
 *
 * An entry is what one path of a space leads to under one content coding: a file with
 * its validators and a head written ahead, a directory, or a failure (cached
 * as well, for one check interval). A small file is a snapshot: head and body
 * side by side in memory of the entry, its descriptor closed; a larger one
 * keeps its descriptor (and a mapping, when asked for).
 *
 *   block:  [ head of a 200, without its end | CRLF | body of a snapshot ]
 *            '------------ head_len ---------'
 *
 * When the head was edited, its fields as they were before come behind that.
 *
 * Why a snapshot and no mapping of the file itself: bytes of a mapping change
 * with the file, so that a head with the old ETag could be sent with new
 * bytes, and vanish when it is truncated. A snapshot is checked when it is
 * taken (same stamp before and after) and never changes afterwards. Mapped
 * bytes go to the kernel only and are never read here.
 *
 * Freshness: an entry is used unchecked for FILE_CACHE_CHECK_MS, then one
 * stat by name decides; its siblings are looked for separately. A file so
 * young that a further change might not have moved its time stamp is read
 * anew at that point even if nothing seems changed.
 *
 * Invariant: an entry inside has one reference of the cache's own.
 * Thread:    one per worker; no locks.
 * Owns:      entries, their descriptors, mappings and memory.
 */
#ifndef BACKEND_FILE_CACHE_H
#define BACKEND_FILE_CACHE_H

#include "backend/docroot.h"
#include "backend/evict.h"
#include "base/now.h"
#include "http/cache_rules.h"
#include "http/coding.h"
#include "http/mime.h"
#include "http/response.h"
#include "http/type_rules.h"

enum {
    FILE_CACHE_CHECK_MS = 990, /* a coarse tick under one second */
    FILE_INDEX_BYTES_MAX = 255,
    FILE_CACHE_ETAG_MAX = 40 /* quote, 16 + 1 + 16 hex digits, "-gz", quote */
};

/* How bodies are sent; decides what an entry keeps. */
enum send_method {
    SEND_AUTO,     /* snapshot up to snapshot_bytes, sendfile above */
    SEND_MMAP,     /* from a mapping of the file */
    SEND_SENDFILE, /* always sendfile */
    SEND_READ      /* pread into a buffer */
};

struct file_cache_options {
    const struct mime *mime;
    struct response_style style;
    enum evict_policy policy;
    enum send_method send_method;
    uint64_t bytes_max;     /* 0: keep nothing */
    size_t entries_max;     /* 0: keep nothing */
    size_t descriptors_max; /* of entries kept open */
    size_t snapshot_bytes;  /* largest body kept as snapshot (SEND_AUTO) */
};

/* The files below one root, and what is said of them. Borrowed, as long as the
 * cache lives; unchanged. */
struct file_space {
    const struct docroot *root;
    const char *index;          /* the file that answers for a directory */
    struct bytes cache_control; /* field value; empty: none */
    const struct cache_rules *cache_rules; /* before that; NULL: none */
    const struct type_rules *type_rules;   /* before mime; NULL: none */
    const struct head_edits *edits;        /* of every head; NULL: none */
};

enum file_kind {
    FILE_REGULAR,
    FILE_DIRECTORY,
    FILE_MISSING,   /* 404 */
    FILE_FORBIDDEN, /* 403 */
    FILE_BROKEN     /* 500: no descriptors, no memory, an I/O error */
};

/* What tells one version of a file from another. */
struct file_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t bytes;
    int64_t modified_ns;
    int64_t changed_ns;
};

struct file_entry {
    enum file_kind kind;
    enum coding coding;
    unsigned siblings; /* bit 1 << coding: precompressed ones are there */
    int fd;            /* -1: none kept */
    struct file_stamp stamp;
    struct bytes type;   /* media type */
    struct bytes etag;   /* with quotes */
    int64_t modified_s;  /* Last-Modified; INT64_MIN: none is sent */
    char *block;         /* FILE_REGULAR only */
    size_t head_len;     /* without the CRLF that ends it */
    struct bytes fields; /* in block: see file_entry_fields() */
    bool is_snapshot;    /* the body follows in the block */
    const char *map;     /* SEND_MMAP: the whole file; not for our eyes */
    /* private */
    const struct file_space *space;
    bool is_young;
    bool is_cached;
    uint32_t refs;
    uint64_t checked_ms;
    uint64_t siblings_checked_ms;
    int64_t dated_s; /* second that the Date in block is of */
    struct file_entry *next;
    struct evict_node node;
    char etag_text[FILE_CACHE_ETAG_MAX];
    size_t path_len;
    char path[]; /* key, clean, with its leading slash; then NUL */
};

struct file_cache; /* opaque */

/* NULL: no memory. */
MUST_USE struct file_cache *file_cache_create(const struct file_cache_options
                                                  *options);
void file_cache_destroy(struct file_cache *cache);

struct file_cache_counts {
    uint64_t hits; /* since the start, as the next two */
    uint64_t misses;
    uint64_t evictions; /* entries that others needed the room of */
    uint64_t bytes;     /* now, as the next */
    uint64_t entries;
};

struct file_cache_counts file_cache_count(const struct file_cache *cache);

/* The entry for a clean path (as path_clean() makes it) of a space under a
 * coding, whose existence an identity entry's siblings told. A path that ends in '/' leads
 * to its index, or to the directory when there is none. Counted: give it
 * back. NULL: no memory. */
MUST_USE struct file_entry *file_cache_acquire(struct file_cache *cache,
                                               const struct file_space *space,
                                               struct bytes path,
                                               enum coding coding);

/* The media type of a file of a space, whatever edits make of it. */
struct bytes file_cache_type(const struct file_cache *cache,
                             const struct file_space *space, struct bytes path);

/* Whether the siblings of an entry have come or gone since it was made; then
 * the entry is forgotten, and is to be acquired anew. Looks (one stat for each
 * there might be) once in FILE_CACHE_CHECK_MS; worth asking only for a client
 * that takes codings. */
bool file_cache_siblings_changed(struct file_cache *cache,
                                 struct file_entry *entry);

/* Gives one reference back. */
void file_entry_release(struct file_entry *entry);

/* One more reference. */
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
    return (struct bytes){entry->block + entry->head_len + 2,
                          (size_t)entry->stamp.bytes};
}

/* Whether the open file still is the version in the stamp (one fstat; always
 * true for a snapshot). */
bool file_entry_is_intact(const struct file_entry *entry);

/* Forgets the entry, so that the next acquire reads anew. */
void file_cache_forget(struct file_cache *cache, struct file_entry *entry);

#endif
