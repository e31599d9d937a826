/*
 * cache_file - one kept answer in a file: its body, so that the kernel sends it
 * as it lies there, and behind that what is needed to know that it is right.
 *
 *   body | a sum (8 octets) of each CACHE_FILE_BLOCK_BYTES of it | head | foot
 *
 * The foot comes last, is of one size, and has the lengths of the others and
 * the head's sum: a file that was cut off, or never finished, has none. Numbers
 * are the machine's own. Nothing is flushed: what a crash of the machine leaves
 * of a file has wrong sums.
 *
 * Thread: any, each object one at a time; cache_file itself is shared, and
 *         never changes but for its flags.
 * Owns:   descriptors; a cache_file_writer its file until it is whole.
 */
#ifndef CACHE_CACHE_FILE_H
#define CACHE_CACHE_FILE_H

#include "base/buf.h"
#include "cache/cache_folder.h"
#include "cache/cache_queue.h"

enum { CACHE_FILE_BLOCK_BYTES = 262144, CACHE_FILE_HEAD_BYTES_MAX = 262144 };

/* A file of the folder; counted. */
struct cache_file {
    struct cache_folder *folder; /* borrowed */
    struct cache_file_name name;
    uint64_t length;         /* length of the body */
    atomic_bool is_verified; /* this process has checked or written it */
    atomic_bool is_gone;     /* it is being removed */
    atomic_uint refs;
    struct cache_job removal; /* removes the file; the queue's */
};

/* NULL: no memory. */
MUST_USE struct cache_file *cache_file_create(
    struct cache_folder *folder, const struct cache_file_name *name,
    uint64_t length);
struct cache_file *cache_file_acquire(struct cache_file *file);
void cache_file_release(struct cache_file **file_ref);

/* --- Reading ------------------------------------------------------------- */

/* Opens the file. A descriptor, or -errno. */
MUST_USE int cache_file_open(const struct cache_file *file);

/* Whether that error says nothing of the file: there are too many descriptors,
 * of whomever, or too little memory. */
bool cache_file_is_want(int err);

/* Reads the head, into an empty buffer, and the length of the body. False: it
 * is damaged. */
MUST_USE bool cache_file_read_head(int fd, struct buf *head,
                                   uint64_t *length_out);

/* Reads all of a body, which has one block at most, into memory that has room
 * for it and its sum. False: the body is damaged. */
MUST_USE bool cache_file_read_body(int fd, uint64_t length, char *to);

/* Whether the block that begins at offset at is undamaged; buffer has room for
 * one. *end_out: where the next begins. */
MUST_USE bool cache_file_check_block(int fd, uint64_t length, uint64_t at,
                                     char *buffer, uint64_t *end_out);

/* --- Writing ------------------------------------------------------------- */

/* Puts another head in the place of the one there is. 0 or -errno. */
MUST_USE int cache_file_change_head(const struct cache_file *file,
                                    struct bytes head);
/* Removes a file from the folder, if the folder is ours. */
void cache_file_remove(const struct cache_folder *folder,
                       const struct cache_file_name *name, bool is_new);

struct cache_file_writer; /* opaque */

/* Begins a file. 0 or -errno. */
MUST_USE int cache_file_begin(struct cache_file_writer **writer_out,
                              struct cache_folder *folder);
/* Puts data behind what is there. 0 or -errno. */
MUST_USE int cache_file_put(struct cache_file_writer *writer,
                            struct bytes data);
/* The file's descriptor, borrowed. */
int cache_file_writer_fd(const struct cache_file_writer *writer);

/* The body is whole: gives the file its head and its name, by the hash of its
 * key. 0 or -errno. */
MUST_USE int cache_file_end(struct cache_file_writer *writer, struct bytes head,
                            uint64_t hash, struct cache_file **file_out);

/* Removes what has not come to its end. NULL is accepted. */
void cache_file_writer_destroy(struct cache_file_writer *writer);

#endif
