/*
 * file_entry_priv - how an entry of the file cache comes and goes; shared by
 * file_cache.c, which keeps entries, file_entry.c, which makes them,
 * file_variant.c, which makes those that are compressed, and file_head.c, which
 * writes their heads.
 */
#ifndef FILES_FILE_ENTRY_PRIV_H
#define FILES_FILE_ENTRY_PRIV_H

#include "files/file_cache.h"
#include "http/http1/http1.h"

enum { FILE_NAME_BYTES_MAX = HTTP1_LINE_BYTES_MAX + FILE_INDEX_BYTES_MAX };

/* The path of the file that path leads to: itself, or in out, which has room
 * for FILE_NAME_BYTES_MAX bytes, that of a directory's index. */
struct bytes file_space_name(const struct file_space *space, struct bytes path,
                             char *out);

/* The media type of that file. */
struct bytes file_space_type(const struct file_space *space,
                             const struct mime *mime, struct bytes path);

/* An entry of nothing yet; one reference, the caller's. NULL: no memory. */
struct file_entry *file_entry_create(const struct file_space *space,
                                     struct bytes path, enum coding coding,
                                     uint64_t now_ms);

/* Reads what path leads to in space; one reference, the caller's. NULL: no
 * memory. *exhausted_out: it failed for want of descriptors. */
struct file_entry *file_entry_load(const struct file_cache_options *options,
                                   const struct file_space *space,
                                   struct bytes path, enum coding coding,
                                   bool *exhausted_out);

/* Makes the block for the stamp, with body_bytes of room behind the head.
 * False: no memory. */
bool file_entry_write_block(struct file_entry *entry,
                            const struct file_cache_options *options,
                            size_t body_bytes);

/* Whether the block's head says that the body stays as it is: by no-transform,
 * or by a coding that an edit has set. */
bool file_head_forbids_coding(const struct file_entry *entry);

/* The precompressed siblings that are there now. */
unsigned file_entry_find_siblings(const struct file_entry *entry);

/* Whether the name still leads to the same version. One stat. */
bool file_entry_is_fresh(const struct file_entry *entry);

#endif
