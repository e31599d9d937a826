/*
 * decimal - writes a whole number of a small unit (ms) as a decimal fraction of
 * a larger unit (s). The text is exact, independent of the locale, and never
 * "nan".
 *
 * Thread: any.
 */
#ifndef OBSERVE_DECIMAL_H
#define OBSERVE_DECIMAL_H

#include "base/buf.h"

/* Appends `value` / 10^`places` without trailing zeros: "1.5" for (1500, 3),
 * and "2" for (2000, 3). `places` is at most 19. */
void decimal_put(struct buf *buf, uint64_t value, unsigned places);

/* Appends a share from 0 to 1, with six decimals at most. */
void decimal_put_share(struct buf *buf, double share);

#endif
