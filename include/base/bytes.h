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

/* ASCII lower case, whatever the locale says. */
static inline char byte_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* An ASCII digit, likewise. */
static inline bool byte_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Equal but for the case of ASCII letters (RFC 9110 field names, tokens). */
static inline bool bytes_ieq(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (byte_lower(a.data[i]) != byte_lower(b.data[i]))
            return false;
    return true;
}

/* Without optional white space (SP, HTAB) at both ends: RFC 9110 5.6.3. */
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

#endif
