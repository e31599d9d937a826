#include "kv/kv_integer.h"

bool kv_integer_read(struct bytes text, int64_t *number_out)
{
    bool is_negative = text.len > 0 && *text.data == '-';
    int64_t number = 0;
    size_t at = is_negative;

    if (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    if (at >= text.len ||
        (text.data[at] == '0' && (is_negative || text.len > 1)))
        return false;
    for (; at < text.len; at++) {
        int digit = text.data[at] - '0';

        /* Computes with negative numbers, since the smallest number has no
         * positive counterpart. */
        if (digit < 0 || digit > 9 ||
            __builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, digit, &number))
            return false;
    }
    if (!is_negative && __builtin_sub_overflow(0, number, &number))
        return false;
    *number_out = number;
    return true;
}

struct bytes kv_integer_write(int64_t number, char out[KV_INTEGER_BYTES_MAX])
{
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char *end = out + KV_INTEGER_BYTES_MAX;
    char *at = end;

    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--at = '-';
    return bytes_between(at, end);
}
