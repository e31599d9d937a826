/*
 * byte_word - eight bytes of a text at once, as a word.
 *
 * Which byte is in the high bits depends on the machine; what is found in the
 * whole word does not.
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

/* The first four and the last four of len bytes, which are four to eight. */
static inline uint64_t byte_word_of_ends(const char *at, size_t len)
{
    uint32_t first, last;

    memcpy(&first, at, sizeof(first));
    memcpy(&last, at + len - sizeof(last), sizeof(last));
    return (uint64_t)first << 32 | last;
}

/* Sets the high bit of each byte that is 0. A byte above a 0 may have it
 * wrongly (a borrow); but no bit is set exactly when no byte is 0. */
static inline uint64_t byte_word_zeros(uint64_t word)
{
    return (word - BYTE_EIGHTFOLD(1)) & ~word & BYTE_EIGHTFOLD(0x80);
}

/* Does so for each byte that is c. */
static inline uint64_t byte_word_find(uint64_t word, unsigned char c)
{
    return byte_word_zeros(word ^ BYTE_EIGHTFOLD(c));
}

/* Whether find, which gives 0 for just the words without what it looks for,
 * gives 0 for all of text. Some bytes may be looked at twice. False for fewer
 * than four, which are to be looked at one by one. */
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
