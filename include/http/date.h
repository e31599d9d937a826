/*
 * date - HTTP dates (RFC 9110 5.6.7) and seconds since the epoch.
 *
 * Thread: any; no locale, no time zone; no state but what date_format_now()
 *         keeps for each.
 */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { DATE_LEN = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes IMF-fixdate, DATE_LEN bytes and no NUL. Years 0 to 9999; seconds
 * outside are clamped to that span. */
void date_format(int64_t seconds, char out[DATE_LEN]);

/* Does so for the present time; a thread formats each second only once. */
void date_format_now(int64_t seconds, char out[DATE_LEN]);

/* Reads IMF-fixdate, RFC 850 and asctime dates, strictly but for the case of
 * letters (RFC 9111 4.2): names by letter, two-digit fields, a day that the
 * month has, GMT. The day's name must be a name, it need not fit the date. A
 * leap second (60) is taken as 59. An RFC 850 year that seems more than 50
 * years after now is in the century before (RFC 9110 5.6.7). False when text is
 * no date; *seconds_out is then untouched. */
bool date_parse(struct bytes text, int64_t now, int64_t *seconds_out);

/* RFC 3339: "1994-11-06T08:49:37Z" with separator 'T'. Years 0 to 9999. */
void date_put_rfc3339(struct buf *out, int64_t seconds, char separator);

#endif
