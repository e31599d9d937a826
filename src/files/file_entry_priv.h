/*
 * file_entry_priv - how entries of the file cache are made and freed. Each file
 * calls only those listed below it:
 *
 *   file_delta.c    orders deltas, makes their entries (file_cache_priv.h)
 *   file_variant.c  orders variants, makes their entries (file_cache_priv.h)
 *   file_cache.c    keeps entries: finds them, checks them, lets them go
 *   file_folders.c  whether siblings may have come or gone (file_cache_priv.h)
 *   file_entry.c    makes entries, opens and reads their files, and frees them
 *   file_head.c     writes the heads of entries ahead
 *   file_etag.c     writes ETags, and finds those that name a version
 */
#ifndef FILES_FILE_ENTRY_PRIV_H
#define FILES_FILE_ENTRY_PRIV_H

#include "files/file_cache.h"
#include "http/http1/http1.h"

enum { FILE_NAME_BYTES_MAX = HTTP1_LINE_BYTES_MAX + FILE_INDEX_BYTES_MAX };

/* --- file_etag.c ---------------------------------------------------------- */

/* Writes the entry's ETag for its stamp and, for a variant, for its bytes. */
void file_entry_write_etag(struct file_entry *entry);

/* --- file_head.c ---------------------------------------------------------- */

/* Returns the path of the file to which `path` leads: `path` itself or, for a
 * directory, the path of its index. The latter is written to `out`, which has
 * room for FILE_NAME_BYTES_MAX bytes. */
struct bytes file_space_name(const struct file_space *space, struct bytes path,
                             char *out);

/* Returns the media type of the file to which `path` leads. */
struct bytes file_space_type(const struct file_space *space,
                             const struct mime *mime, struct bytes path);

/* Makes the block for the entry's stamp, with room for body_bytes behind the
 * head. Returns false when there is no memory. */
bool file_entry_write_block(struct file_entry *entry,
                            const struct file_cache_options *options,
                            size_t body_bytes);

/* Whether the block's head forbids coding the body: by no-transform, or by a
 * coding that an edit has set. */
bool file_head_forbids_coding(const struct file_entry *entry);

/* --- file_entry.c, with file_entry_release() ------------------------------ */

/* Makes an empty entry. The caller gets one reference, or NULL when there is no
 * memory. */
struct file_entry *file_entry_create(const struct file_space *space,
                                     struct bytes path, enum coding coding,
                                     uint64_t now_ms);

/* Makes an entry of what `path` leads to in `space`. The caller gets one
 * reference, or NULL when there is no memory. Sets *exhausted_out to whether
 * descriptors have run out. */
struct file_entry *file_entry_load(const struct file_cache_options *options,
                                   const struct file_space *space,
                                   struct bytes path, enum coding coding,
                                   bool *exhausted_out);

/* Returns which precompressed siblings exist now, as bits like
 * entry->siblings. */
unsigned file_entry_find_siblings(const struct file_entry *entry);

/* Asks by one stat whether the entry's name still leads to the same version. */
bool file_entry_is_fresh(const struct file_entry *entry);

#endif
