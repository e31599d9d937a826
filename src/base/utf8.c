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
