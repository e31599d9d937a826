#include "base/host_name.h"

static bool is_label_byte(char c)
{
    return byte_is_digit(c) || c == '-' || c == '_' ||
           (byte_lower(c) >= 'a' && byte_lower(c) <= 'z');
}

bool host_name_is_valid(struct bytes text)
{
    size_t label = 0;  /* bytes of the current label */
    size_t digits = 0; /* digits in the current label */

    if (text.len > 0 && text.data[text.len - 1] == '.')
        text.len--;
    if (text.len > HOST_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        if (c == '.') {
            if (label == 0)
                return false;
            label = digits = 0;
            continue;
        }
        if (!is_label_byte(c) || ++label > HOST_NAME_LABEL_MAX_BYTES)
            return false;
        digits += byte_is_digit(c);
    }
    return digits < label;
}
