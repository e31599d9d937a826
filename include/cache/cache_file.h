/*
 * cache_file - one kept answer in a file. The body comes first, so that the
 * kernel can send it as it lies there; then come sums that show damage.
 *
 *   body | a sum (8 octets) of each CACHE_FILE_BLOCK_BYTES of it | head | foot
 *
 * The foot is always of the same size, and has the lengths of the other parts
 * and the head's sum. The foot is written last, so that a file that was cut off
 * or never finished has none. Numbers are in the machine's own order. No file
 * is flushed to the disk: if the machine crashes, the sums show which files are
 * incomplete.
 *
 * Thread: any, one at a time for each object; but a cache_file is shared, and
 *         only its flags change.
 * Owns:   descriptors; a cache_file_writer owns its file until that is whole.
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
    atomic_bool is_verified; /* this process has checked or written the file */
    atomic_bool is_gone;     /* the file is being removed */
    atomic_uint refs;
    struct cache_job removal; /* removes the file, in the queue */
};

/* Returns NULL when memory is short. */
MUST_USE struct cache_file *cache_file_create(
    struct cache_folder *folder, const struct cache_file_name *name,
    uint64_t length);
struct cache_file *cache_file_acquire(struct cache_file *file);
void cache_file_release(struct cache_file **file_ref);

/* --- Reading ------------------------------------------------------------- */

/* Opens the file. Returns a descriptor, or -errno. */
MUST_USE int cache_file_open(const struct cache_file *file);

/* Whether the error `err` (-errno) only means that descriptors or memory are
 * short. Such an error says nothing about the file. */
bool cache_file_is_want(int err);

/* Reads the head of the file fd into `head`, an empty buffer, and the length of
 * its body into *length_out. Returns false when the file is damaged. */
MUST_USE bool cache_file_read_head(int fd, struct buf *head,
                                   uint64_t *length_out);

/* Reads all of a body of at most one block into memory that has room for the
 * body and its sum. Returns false when the body is damaged. */
MUST_USE bool cache_file_read_body(int fd, uint64_t length, char *to);

/* Whether the block that begins at offset `at` is undamaged. The caller's
 * `buffer` has room for one block. *end_out becomes the offset of the next
 * block. */
MUST_USE bool cache_file_check_block(int fd, uint64_t length, uint64_t at,
                                     char *buffer, uint64_t *end_out);

/* --- Writing ------------------------------------------------------------- */

/* Replaces the head in the file. Returns 0 or -errno. */
MUST_USE int cache_file_change_head(const struct cache_file *file,
                                    struct bytes head);
/* Removes the file with that name from the folder, if the folder is ours.
 * is_new: the name has the ending ".new". */
void cache_file_remove(const struct cache_folder *folder,
                       const struct cache_file_name *name, bool is_new);

struct cache_file_writer; /* opaque */

/* Begins a new file in the folder. Returns 0 or -errno. */
MUST_USE int cache_file_begin(struct cache_file_writer **writer_out,
                              struct cache_folder *folder);
/* Appends data to the body in the file. Returns 0 or -errno. */
MUST_USE int cache_file_put(struct cache_file_writer *writer,
                            struct bytes data);
/* Returns the file's descriptor, borrowed. */
int cache_file_writer_fd(const struct cache_file_writer *writer);

/* Ends a file whose body is whole: writes the head, and names the file by the
 * hash of its key. Returns 0 or -errno. */
MUST_USE int cache_file_end(struct cache_file_writer *writer, struct bytes head,
                            uint64_t hash, struct cache_file **file_out);

/* Removes a file that was not ended, and frees its writer. NULL is accepted. */
void cache_file_writer_destroy(struct cache_file_writer *writer);

#endif
