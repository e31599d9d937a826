/*
 * dictionary - one version of a file that clients may have. It is kept so that
 * these clients can be sent the file's next version as a difference from it
 * (RFC 9842).
 *
 * A dictionary is a file in a folder of the server's own, and its name contains
 * the hash of its bytes. Bytes that are read are compared with the hash; a
 * dictionary that is found to be damaged is not used again.
 *
 * Thread: any; only the reference count and is_damaged change.
 * Owns:   nothing; the folder's descriptor is the store's, and stays open as
 *         long as anybody opens dictionaries.
 */
#ifndef FILES_DICTIONARY_H
#define FILES_DICTIONARY_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "http/dictionary_offer.h"

enum {
    DICTIONARY_BYTES_MAX = 16 << 20,
    /* A name is rule, time and hash in hexadecimal, joined by hyphens. NUL ends
     * it. */
    DICTIONARY_NAME_SIZE = 16 + 1 + 16 + 1 + 2 * DICTIONARY_HASH_BYTES + 1
};

struct dictionary {
    atomic_uint refs;
    atomic_bool is_damaged;
    int folder;
    uint64_t bytes;
    char name[DICTIONARY_NAME_SIZE];
    /* The next three members make the file's name. */
    uint64_t rule;       /* only answers of this rule use the dictionary */
    int64_t modified_ns; /* mtime of the file that was copied */
    uint8_t hash[DICTIONARY_HASH_BYTES]; /* SHA-256 */
};

/* Makes `name`, the file's name, out of `rule`, modified_ns and `hash`. */
void dictionary_write_name(struct dictionary *dictionary);

/* Reads `rule`, modified_ns and `hash` out of a file's name. Returns false when
 * no dictionary has such a name. */
MUST_USE bool dictionary_read_name(struct dictionary *dictionary,
                                   const char *name);

void dictionary_hold(struct dictionary *dictionary);
void dictionary_release(struct dictionary *dictionary); /* NULL is accepted */

/* Opens the file. Returns a descriptor or -errno. A dictionary whose file is
 * gone is marked as damaged. */
MUST_USE int dictionary_open(struct dictionary *dictionary);

/* Reads the dictionary's bytes from `fd` into memory of codec_meter_allocate().
 * Returns NULL when the dictionary is damaged, when it cannot be read now, or
 * when `stops` has become true. */
MUST_USE char *dictionary_read(struct dictionary *dictionary, int fd,
                               const atomic_bool *stops,
                               struct codec_meter *meter);

static inline bool dictionary_is_damaged(const struct dictionary *dictionary)
{
    return atomic_load_explicit(&dictionary->is_damaged, memory_order_relaxed);
}

#endif
