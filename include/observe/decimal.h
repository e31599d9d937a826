/*
 * decimal - whole numbers of small units, written as decimal fractions of a
 * larger one: exact, whatever the locale, and never "nan".
 *
 * Thread: any.
 */
#ifndef OBSERVE_DECIMAL_H
#define OBSERVE_DECIMAL_H

#include "base/buf.h"

/* Appends value / 10^places without needless zeros: (1500, 3) is "1.5", and
 * (2000, 3) is "2". places: 19 at most. */
void decimal_put(struct buf *buf, uint64_t value, unsigned places);

/* Appends a share, 0 to 1, to a millionth. */
void decimal_put_share(struct buf *buf, double share);

#endif
