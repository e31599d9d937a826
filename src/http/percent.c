#include "http/percent.h"

static int hex_value(char c)
{
    if (byte_is_digit(c))
        return c - '0';
    c = byte_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int percent_value(const char *at, const char *end)
{
    int high, low;

    if (end - at < 2)
        return -1;
    high = hex_value(at[0]);
    low = hex_value(at[1]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool percent_decode(struct bytes raw, bool has_form, char *out, size_t *len_out)
{
    const char *end = raw.data + raw.len;
    char *to = out;

    for (const char *at = raw.data; at < end; at++) {
        char c = *at;

        if (c == '%') {
            int value = percent_value(at + 1, end);

            if (value < 0)
                return false;
            c = (char)value;
            at += 2;
        } else if (c == '+' && has_form) {
            c = ' ';
        }
        if (c == '\0')
            return false;
        *to++ = c;
    }
    *len_out = (size_t)(to - out);
    return true;
}
