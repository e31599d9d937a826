/*
 * byte_word - loads eight bytes of a text as one word, to look at them all at
 * once.
 *
 * The machine's byte order decides which byte lands in the high bits. A search
 * for a byte anywhere in a word gives the same result in either order.
 *
 * Thread: any; values only.
 */
#ifndef BASE_BYTE_WORD_H
#define BASE_BYTE_WORD_H

#include "base/bytes.h"

enum { BYTE_WORD = sizeof(uint64_t), BYTE_WORD_HALF = sizeof(uint32_t) };

static inline uint64_t byte_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* Loads the first four and the last four of `len` bytes as one word. `len` is 4
 * to 8. */
static inline uint64_t byte_word_of_ends(const char *at, size_t len)
{
    uint32_t first, last;

    memcpy(&first, at, sizeof(first));
    memcpy(&last, at + len - sizeof(last), sizeof(last));
    return (uint64_t)first << 32 | last;
}

/* Returns a word in which the high bit of a byte is set if that byte of `word`
 * is 0. The bit may also be set in the next higher byte, by the borrow of the
 * subtraction; but the result is 0 exactly if no byte of `word` is 0. */
static inline uint64_t byte_word_zeros(uint64_t word)
{
    return (word - BYTE_EIGHTFOLD(1)) & ~word & BYTE_EIGHTFOLD(0x80);
}

/* The same as byte_word_zeros(), for bytes that equal `c` instead of 0. */
static inline uint64_t byte_word_find(uint64_t word, unsigned char c)
{
    return byte_word_zeros(word ^ BYTE_EIGHTFOLD(c));
}

/* The same, for control bytes: those below space, HTAB included, and DEL. */
static inline uint64_t byte_word_controls(uint64_t word)
{
    return ((word - BYTE_EIGHTFOLD(' ')) & ~word & BYTE_EIGHTFOLD(0x80)) |
           byte_word_find(word, 0x7F);
}

/* Returns true if `text` has none of the bytes that `find` looks for. `find`
 * gets words of the text, which may overlap, and returns 0 for a word without
 * such bytes. If the text has fewer than four bytes, the result is always
 * false, and the caller must look at the bytes one by one. */
static inline __attribute__((always_inline)) bool byte_word_lacks(
    struct bytes text, uint64_t (*find)(uint64_t word))
{
    const char *at = text.data;
    const char *end = text.data + text.len;

    if (text.len < BYTE_WORD)
        return text.len >= BYTE_WORD_HALF &&
               find(byte_word_of_ends(at, text.len)) == 0;
    for (; (size_t)(end - at) > BYTE_WORD; at += BYTE_WORD)
        if (find(byte_word(at)) != 0)
            return false;
    return find(byte_word(end - BYTE_WORD)) == 0;
}

#endif
