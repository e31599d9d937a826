#include "base/utf8.h"

size_t utf8_len(const unsigned char *text, size_t len)
{
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    size_t need;

    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xC2 && text[0] <= 0xDF)
        need = 2;
    else if ((text[0] & 0xF0) == 0xE0)
        need = 3;
    else if (text[0] >= 0xF0 && text[0] <= 0xF4)
        need = 4;
    else
        return 0;
    if (len < need)
        return 0;
    if (text[0] == 0xE0)
        low = 0xA0;
    else if (text[0] == 0xED)
        high = 0x9F;
    else if (text[0] == 0xF0)
        low = 0x90;
    else if (text[0] == 0xF4)
        high = 0x8F;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

bool utf8_is_valid(struct bytes text)
{
    const unsigned char *at = (const unsigned char *)text.data;

    while (text.len > 0) {
        size_t len = utf8_len(at, text.len);

        if (len == 0)
            return false;
        at += len;
        text.len -= len;
    }
    return true;
}

/* C1 controls are U+0080 to U+009F. Unicode's Bidi_Control characters are
 * U+061C, U+200E, U+200F, U+202A to U+202E, and U+2066 to U+2069. */
bool utf8_is_order(const unsigned char *text, size_t len)
{
    if (len == 1)
        return *text < 0x20 || *text == 0x7F;
    if (len == 2)
        return (text[0] == 0xC2 && text[1] < 0xA0) ||
               (text[0] == 0xD8 && text[1] == 0x9C);
    return len == 3 && text[0] == 0xE2 &&
           ((text[1] == 0x80 && (text[2] == 0x8E || text[2] == 0x8F ||
                                 (text[2] >= 0xAA && text[2] <= 0xAE))) ||
            (text[1] == 0x81 && text[2] >= 0xA6 && text[2] <= 0xA9));
}

void utf8_disarm(char *text, size_t len, bool keeps_lines)
{
    for (size_t at = 0; at < len;) {
        const unsigned char *here = (const unsigned char *)text + at;
        size_t step = utf8_len(here, len - at);
        bool stays = step > 0 && !utf8_is_order(here, step);

        stays |= keeps_lines && (*here == '\n' || *here == '\t');
        if (step == 0)
            step = 1;
        if (!stays)
            memset(text + at, '?', step);
        at += step;
    }
}
