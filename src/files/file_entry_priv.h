/*
 * file_entry_priv - how an entry of the file cache comes and goes. Each calls
 * only those below it:
 *
 *   file_delta.c    entries of deltas (file_cache_priv.h)
 *   file_variant.c  entries of compressed variants (file_cache_priv.h)
 *   file_cache.c    keeps entries: finds them, checks them, lets them go
 *   file_folders.c  whether siblings may have come or gone (file_cache_priv.h)
 *   file_entry.c    makes entries, opens and reads their files, and frees them
 *   file_head.c     the heads of entries, written ahead
 *   file_etag.c     their ETags, and which name a version
 */
#ifndef FILES_FILE_ENTRY_PRIV_H
#define FILES_FILE_ENTRY_PRIV_H

#include "files/file_cache.h"
#include "http/http1/http1.h"

enum { FILE_NAME_BYTES_MAX = HTTP1_LINE_BYTES_MAX + FILE_INDEX_BYTES_MAX };

/* --- file_etag.c ---------------------------------------------------------- */

/* Writes the ETag for the stamp. When bytes were made of a file, the file's
 * ETag is there already. */
void file_entry_write_etag(struct file_entry *entry);

/* --- file_head.c ---------------------------------------------------------- */

/* The path of the file that path leads to: itself, or in out, which has room
 * for FILE_NAME_BYTES_MAX bytes, that of a directory's index. */
struct bytes file_space_name(const struct file_space *space, struct bytes path,
                             char *out);

/* The media type of the file that path leads to. */
struct bytes file_space_type(const struct file_space *space,
                             const struct mime *mime, struct bytes path);

/* Makes the block for the stamp, with room for body_bytes behind the head.
 * False: no memory. */
bool file_entry_write_block(struct file_entry *entry,
                            const struct file_cache_options *options,
                            size_t body_bytes);

/* Whether the block's head says that the body stays as it is: by no-transform,
 * or by a coding that an edit has set. */
bool file_head_forbids_coding(const struct file_entry *entry);

/* --- file_entry.c, which has file_entry_release(), too ---------------------
 */

/* Makes an empty entry; one reference, the caller's. NULL: no memory. */
struct file_entry *file_entry_create(const struct file_space *space,
                                     struct bytes path, enum coding coding,
                                     uint64_t now_ms);

/* Makes an entry of what path leads to in space; one reference, the caller's.
 * NULL: no memory. *exhausted_out is set when there were no descriptors. */
struct file_entry *file_entry_load(const struct file_cache_options *options,
                                   const struct file_space *space,
                                   struct bytes path, enum coding coding,
                                   bool *exhausted_out);

/* The precompressed siblings that exist now: bits, as in siblings. */
unsigned file_entry_find_siblings(const struct file_entry *entry);

/* Whether the name still leads to the same version. One stat. */
bool file_entry_is_fresh(const struct file_entry *entry);

#endif
