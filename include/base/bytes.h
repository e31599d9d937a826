/*
 * bytes - a borrowed run of bytes: pointer and length, no NUL promised.
 *
 * Thread: any; values only.
 * Owns:   nothing. Whoever hands a struct bytes out says how long it lives.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The caller must look at the result. */
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

/* What lies between begin and end. */
static inline struct bytes bytes_between(const char *begin, const char *end)
{
    return (struct bytes){begin, (size_t)(end - begin)};
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Less than 0, 0 or more when a stands before b, is b, or stands behind it,
 * compared byte by byte; a prefix stands before what it begins. */
int bytes_order(struct bytes a, struct bytes b);

/* ASCII lower case, whatever the locale says. */
static inline char byte_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether c is an ASCII digit, whatever the locale. */
static inline bool byte_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A word of which each byte has that value: what looks at eight bytes at once
 * compares with it. */
#define BYTE_EIGHTFOLD(value) (UINT64_MAX / 0xFF * (value))

/* Whether len bytes at both are equal but for the case of ASCII letters. */
bool bytes_are_ieq(const char *a, const char *b, size_t len);

/* Equal but for the case of ASCII letters (RFC 9110 field names, tokens). */
static inline bool bytes_ieq(struct bytes a, struct bytes b)
{
    return a.len == b.len && bytes_are_ieq(a.data, b.data, a.len);
}

/* The text without white space (SP, HTAB) at its ends (RFC 9110 5.6.3, OWS). */
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

/* Whether text begins with start, which is taken off then. */
bool bytes_take(struct bytes *text, struct bytes start);

/* Takes start off the front, whatever the case of ASCII letters. */
bool bytes_take_ieq(struct bytes *text, struct bytes start);

void bytes_skip_blanks(struct bytes *text); /* SP, HTAB */

/* Takes the blanks at the front off, and the word behind them, up to the next
 * blank. Empty: there is none. */
struct bytes bytes_take_word(struct bytes *text);

/* Takes a line off text, and returns it without its LF or CRLF. The last line
 * needs no end. */
struct bytes bytes_take_line(struct bytes *text);

#endif
