/*
 * dictionary - one version of a file that clients have, kept so that they can
 * be sent the next as the difference (RFC 9842).
 *
 * It is a file named by its hash in a folder of the server's own; what is read
 * of it is compared with the hash. A dictionary that is found to be damaged is
 * not used again.
 *
 * Thread: any; counted, and unchanged but for that.
 * Owns:   nothing; the folder is its store's, and stays open as long as anybody
 *         opens dictionaries.
 */
#ifndef FILES_DICTIONARY_H
#define FILES_DICTIONARY_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "http/dictionary_offer.h"

enum {
    DICTIONARY_BYTES_MAX = 16 << 20,
    /* Rule, time and hash, in hexadecimal, and what lies between; then NUL. */
    DICTIONARY_NAME_SIZE = 16 + 1 + 16 + 1 + 2 * DICTIONARY_HASH_BYTES + 1
};

struct dictionary {
    atomic_uint refs;
    atomic_bool is_damaged;
    int folder;
    uint64_t bytes;
    char name[DICTIONARY_NAME_SIZE];
    /* The name of the file is made of these three. */
    uint64_t rule;       /* the rule whose answers alone it is for */
    int64_t modified_ns; /* mtime of the file that it copies */
    uint8_t hash[DICTIONARY_HASH_BYTES]; /* SHA-256 */
};

/* Writes the file's name, made of the three. */
void dictionary_write_name(struct dictionary *dictionary);

/* Reads the three out of a name. False: it is no dictionary's. */
MUST_USE bool dictionary_read_name(struct dictionary *dictionary,
                                   const char *name);

void dictionary_hold(struct dictionary *dictionary);
void dictionary_release(struct dictionary *dictionary); /* NULL is accepted */

/* Opens the file: a descriptor or -errno. One that is gone is damaged, too. */
MUST_USE int dictionary_open(struct dictionary *dictionary);

/* Reads the dictionary's bytes out of fd into memory of codec_meter_allocate().
 * NULL: it is damaged, or they cannot be had now. */
MUST_USE char *dictionary_read(struct dictionary *dictionary, int fd,
                               const atomic_bool *stops,
                               struct codec_meter *meter);

static inline bool dictionary_is_damaged(const struct dictionary *dictionary)
{
    return atomic_load_explicit(&dictionary->is_damaged, memory_order_relaxed);
}

#endif
