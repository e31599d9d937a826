#include "observe/decimal.h"

enum { SHARE_PLACES = 6, SHARE_ONE = 1000000 };

void decimal_put(struct buf *buf, uint64_t value, unsigned places)
{
    char digits[1 + 19]; /* a point and 19 decimals */
    size_t len = 0;

    for (unsigned i = places; i > 0; i--) {
        digits[i] = (char)('0' + value % 10);
        value /= 10;
        if (len == 0 && digits[i] != '0')
            len = i + 1;
    }
    digits[0] = '.';
    buf_put_number(buf, value);
    buf_put(buf, (struct bytes){digits, len});
}

void decimal_put_share(struct buf *buf, double share)
{
    decimal_put(buf, share > 0 ? (uint64_t)(share * SHARE_ONE + 0.5) : 0,
                SHARE_PLACES);
}
