#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum { CAPACITY_MIN = 256 };

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD in UTF-8 */

void buf_init(struct buf *buf, char *storage, size_t size, size_t max)
{
    *buf = (struct buf){.data = storage,
                        .storage = storage,
                        .capacity = size < max ? size : max,
                        .max = max};
}

void buf_fini(struct buf *buf)
{
    if (buf->data != buf->storage)
        free(buf->data);
    *buf = (struct buf){0};
}

char *buf_grow(struct buf *buf, size_t more)
{
    size_t need = buf->len + more;
    size_t capacity = buf->capacity > CAPACITY_MIN ? buf->capacity
                                                   : CAPACITY_MIN;
    char *data;

    if (buf->failed || more > buf->max - buf->len) {
        buf->failed = true;
        return NULL;
    }
    while (capacity < need)
        capacity *= 2;
    if (capacity > buf->max)
        capacity = buf->max;
    if (buf->data == buf->storage) {
        data = malloc(capacity);
        if (data && buf->len > 0)
            memcpy(data, buf->data, buf->len);
    } else {
        data = realloc(buf->data, capacity);
    }
    if (!data) {
        buf->failed = true;
        return NULL;
    }
    buf->data = data;
    buf->capacity = capacity;
    return buf->data + buf->len;
}

/* Numbers are written two digits at a time, which halves the divisions. Speed
 * matters, since heads contain many numbers. */
static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

void buf_put_number(struct buf *buf, uint64_t number)
{
    char digits[20]; /* 2^64 - 1 has 20 digits */
    size_t at = sizeof(digits);

    for (; number >= 100; number /= 100) {
        at -= 2;
        memcpy(digits + at, &pairs[number % 100 * 2], 2);
    }
    if (number >= 10) {
        at -= 2;
        memcpy(digits + at, &pairs[number * 2], 2);
    } else {
        digits[--at] = (char)('0' + number);
    }
    buf_put(buf, (struct bytes){digits + at, sizeof(digits) - at});
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    int len;
    char *to;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !(to = buf_reserve(buf, (size_t)len + 1))) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(to, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

static void put_hex(struct buf *buf, const char *prefix, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char pair[2] = {hex[byte >> 4], hex[byte & 15]};

    buf_put(buf, bytes_of(prefix));
    buf_put(buf, (struct bytes){pair, 2});
}

/* Returns the escape of a byte in HTML text; NULL if the byte needs no
 * escape. */
static const char *html_for(unsigned char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return byte < 0x20 || byte == 0x7F ? REPLACEMENT : NULL;
    }
}

void buf_put_html(struct buf *buf, struct bytes text)
{
    const unsigned char *at = (const unsigned char *)text.data;
    size_t left = text.len;

    while (left > 0) {
        size_t len = utf8_len(at, left);
        const char *other = len == 0 ? REPLACEMENT : html_for(*at);

        if (len == 0)
            len = 1;
        if (other)
            buf_put(buf, bytes_of(other));
        else
            buf_put(buf, (struct bytes){(const char *)at, len});
        at += len;
        left -= len;
    }
}

/* Appends a character of at most three bytes as a JSON escape. */
static void put_escaped(struct buf *buf, const unsigned char *text, size_t len)
{
    /* The first byte is 0xxxxxxx, 110xxxxx or 1110xxxx; the x count. */
    unsigned code = text[0] & 0xFFU >> (len > 1 ? len + 1 : 0);

    for (size_t i = 1; i < len; i++)
        code = code << 6 | (text[i] & 0x3FU);
    put_hex(buf, "\\u", (unsigned char)(code >> 8));
    put_hex(buf, "", (unsigned char)code);
}

void buf_put_json(struct buf *buf, struct bytes text)
{
    const unsigned char *at = (const unsigned char *)text.data;
    size_t left = text.len;

    while (left > 0) {
        size_t len = utf8_len(at, left);

        if (len == 0) {
            buf_put_literal(buf, "\\ufffd");
            len = 1;
        } else if (*at == '"' || *at == '\\') {
            buf_put_literal(buf, "\\");
            buf_put(buf, (struct bytes){(const char *)at, 1});
        } else if (utf8_is_order(at, len)) {
            put_escaped(buf, at, len);
        } else {
            buf_put(buf, (struct bytes){(const char *)at, len});
        }
        at += len;
        left -= len;
    }
}

void buf_put_log(struct buf *buf, struct bytes text)
{
    size_t start = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\')
            continue;
        buf_put(buf, (struct bytes){text.data + start, i - start});
        put_hex(buf, "\\x", c);
        start = i + 1;
    }
    if (start < text.len)
        buf_put(buf, (struct bytes){text.data + start, text.len - start});
}
