/*
 * file_entry_priv - how an entry of the file cache comes and goes; shared by
 * file_cache.c, which keeps entries, and file_entry.c, which makes them.
 */
#ifndef BACKEND_FILE_ENTRY_PRIV_H
#define BACKEND_FILE_ENTRY_PRIV_H

#include "backend/file_cache.h"

/* Reads what path leads to in space; one reference, the caller's. NULL: no memory.
 * *exhausted_out: it failed for want of descriptors. */
struct file_entry *file_entry_load(const struct file_cache_options *options,
                                   const struct file_space *space,
                                   struct bytes path, enum coding coding,
                                   bool *exhausted_out);

/* Which precompressed siblings are there now. */
unsigned file_entry_find_siblings(const struct file_entry *entry);

/* Whether the name still leads to the same version. One stat. */
bool file_entry_is_fresh(const struct file_entry *entry);

#endif
