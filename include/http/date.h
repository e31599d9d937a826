/*
 * date - HTTP dates (RFC 9110 5.6.7) and seconds since the epoch.
 *
 * Thread: any; no locale and no time zone; the only state is the text that
 *         date_format_now() keeps for each thread.
 */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { DATE_LEN = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes `seconds` as an IMF-fixdate of DATE_LEN bytes without a NUL. A time
 * outside of the years 0 to 9999 is clamped to that span. */
void date_format(int64_t seconds, char out[DATE_LEN]);

/* Does as date_format() for the present time, which each thread formats only
 * once a second. */
void date_format_now(int64_t seconds, char out[DATE_LEN]);

/* Reads IMF-fixdate, RFC 850 and asctime dates, strictly except for the case of
 * letters (RFC 9111 4.2): numbers have all their digits, the month has the day,
 * and the zone is GMT. The name of the weekday need not fit the date. A leap
 * second (60) is taken as 59. An RFC 850 year that seems more than 50 years
 * after `now` is in the century before (RFC 9110 5.6.7). Returns false, and
 * leaves *seconds_out alone, when `text` is no date. */
bool date_parse(struct bytes text, int64_t now, int64_t *seconds_out);

/* Appends `seconds` in the form of RFC 3339: "1994-11-06T08:49:37Z" when the
 * separator is 'T'. A time outside of the years 0 to 9999 is clamped to that
 * span. */
void date_put_rfc3339(struct buf *out, int64_t seconds, char separator);

#endif
