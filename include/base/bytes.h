/*
 * bytes - a borrowed run of bytes: pointer and length, not necessarily followed
 * by a NUL.
 *
 * Thread: any; values only.
 * Owns:   nothing. A function that returns a struct bytes says how long its
 *         memory lives.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Marks a function whose result the caller must look at. */
#define MUST_USE __attribute__((warn_unused_result))

struct bytes {
    const char *data;
    size_t len;
};

/* A string literal, or a char array that ends in NUL, as bytes. */
#define BYTES(literal) ((struct bytes){(literal), sizeof(literal) - 1})

static inline struct bytes bytes_of(const char *text)
{
    return (struct bytes){text, strlen(text)};
}

/* The bytes from `begin` to `end`, without the byte at `end`. */
static inline struct bytes bytes_between(const char *begin, const char *end)
{
    return (struct bytes){begin, (size_t)(end - begin)};
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Compares byte by byte. Returns less than 0 if `a` sorts before `b`, 0 if both
 * are equal, more than 0 otherwise. A prefix sorts before longer texts. */
int bytes_order(struct bytes a, struct bytes b);

/* Converts an ASCII letter to lower case, in any locale. */
static inline char byte_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether `c` is an ASCII digit, in any locale. */
static inline bool byte_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A word of eight bytes that all have the value `value`. With such a word,
 * eight bytes of a text are compared at once. */
#define BYTE_EIGHTFOLD(value) (UINT64_MAX / 0xFF * (value))

/* Whether the `len` bytes at `a` equal those at `b`, ignoring the case of ASCII
 * letters. */
bool bytes_are_ieq(const char *a, const char *b, size_t len);

/* Whether `a` equals `b`, ignoring the case of ASCII letters. Field names and
 * most tokens are compared in this way (RFC 9110). */
static inline bool bytes_ieq(struct bytes a, struct bytes b)
{
    return a.len == b.len && bytes_are_ieq(a.data, b.data, a.len);
}

/* Whether `text` has a control byte: one below space, HTAB included, or DEL. */
bool bytes_has_control(struct bytes text);

/* Removes spaces and tabs from both ends of `text` (OWS, RFC 9110 5.6.3). */
static inline struct bytes bytes_trim(struct bytes text)
{
    while (text.len > 0 && (*text.data == ' ' || *text.data == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 &&
           (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* --- Taking a text apart, from its front --------------------------------- */

/* If `text` begins with `start`, removes `start` from `text` and returns true.
 * Otherwise returns false. */
bool bytes_take(struct bytes *text, struct bytes start);

/* Like bytes_take(), but ignores the case of ASCII letters. */
bool bytes_take_ieq(struct bytes *text, struct bytes start);

void bytes_skip_blanks(struct bytes *text); /* spaces and tabs */

/* Removes the blanks at the front of `text`, and the word behind them. Returns
 * the word, which ends at the next blank; it is empty if `text` has no more
 * words. */
struct bytes bytes_take_word(struct bytes *text);

/* Removes the first line from `text`, and returns it without its LF or CRLF.
 * The last line may lack a line end. */
struct bytes bytes_take_line(struct bytes *text);

#endif
