#include "base/base64.h"

enum { GROUP = 4 }; /* 4 letters encode 3 bytes */

void base64_put(struct buf *buf, struct bytes data)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = (const unsigned char *)data.data;
    char *to = buf_reserve(buf, (data.len + 2) / 3 * GROUP);

    if (!to)
        return;
    buf->len += (data.len + 2) / 3 * GROUP;
    for (size_t left = data.len; left > 0; at += 3, to += GROUP) {
        size_t step = left < 3 ? left : 3;
        uint32_t bits = (uint32_t)at[0] << 16;

        if (step > 1)
            bits |= (uint32_t)at[1] << 8;
        if (step > 2)
            bits |= at[2];
        to[0] = letters[bits >> 18];
        to[1] = letters[bits >> 12 & 63];
        to[2] = '=';
        to[3] = '=';
        if (step > 1)
            to[2] = letters[bits >> 6 & 63];
        if (step > 2)
            to[3] = letters[bits & 63];
        left -= step;
    }
}

/* Returns the value of a digit, 0 to 63; -1 if `c` is not a digit. */
static int read_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (byte_is_digit(c))
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes a group of four letters. In the last group, one or two '=' may
 * replace the last letters. Returns how many bytes the group encodes, or 0 if
 * it is malformed. Unused bits must be 0, since otherwise several texts would
 * encode the same bytes (RFC 4648 3.5). */
static size_t decode_group(const char *group, bool is_last, char *out)
{
    size_t digits = GROUP;
    uint32_t bits = 0;

    while (is_last && digits > 2 && group[digits - 1] == '=')
        digits--;
    for (size_t i = 0; i < GROUP; i++) {
        int digit = i < digits ? read_digit(group[i]) : 0;

        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
    }
    if (bits & (0xFFFFFFu >> 8 * (digits - 1)))
        return 0;
    for (size_t i = 0; i < digits - 1; i++)
        out[i] = (char)(bits >> (16 - 8 * i));
    return digits - 1;
}

bool base64_decode(struct bytes text, char *out, size_t *len_out)
{
    *len_out = 0;
    if (text.len % GROUP != 0)
        return false;
    for (size_t at = 0; at < text.len; at += GROUP) {
        size_t step = decode_group(text.data + at, at + GROUP == text.len,
                                   out + *len_out);

        if (step == 0)
            return false;
        *len_out += step;
    }
    return true;
}

/* --- For URLs ------------------------------------------------------------ */

void base64_put_url(struct buf *buf, struct bytes data)
{
    size_t from = buf->len;

    base64_put(buf, data);
    if (buf->failed)
        return;
    while (buf->len > from && buf->data[buf->len - 1] == '=')
        buf->len--;
    for (size_t i = from; i < buf->len; i++)
        if (buf->data[i] == '+')
            buf->data[i] = '-';
        else if (buf->data[i] == '/')
            buf->data[i] = '_';
}

bool base64_decode_url(struct bytes text, char *out, size_t *len_out)
{
    *len_out = 0;
    for (size_t at = 0; at < text.len; at += GROUP) {
        char group[GROUP] = {'=', '=', '=', '='};
        size_t step = text.len - at < GROUP ? text.len - at : GROUP;

        for (size_t i = 0; i < step; i++) {
            char c = text.data[at + i];

            if (c == '+' || c == '/' || c == '=')
                return false;
            group[i] = c == '-' ? '+' : c == '_' ? '/' : c;
        }
        step = decode_group(group, true, out + *len_out);
        if (step == 0)
            return false;
        *len_out += step;
    }
    return true;
}
