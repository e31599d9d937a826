#include "http/date.h"

/* Days are counted from 1 March of the year -400: one whole cycle of the
 * calendar before year 0, so that all counts below are positive. */
enum {
    CYCLE_YEARS = 400,
    CYCLE_DAYS = 146097,             /* 400 * 365 + 100 - 4 + 1 */
    EPOCH_DAY = CYCLE_DAYS + 719468, /* number of the day 1970-01-01 */
    DAY_SECONDS = 86400
};

#define SECONDS_MIN (-62167219200) /* 0000-01-01 00:00:00 */
#define SECONDS_MAX 253402300799   /* 9999-12-31 23:59:59 */

static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* A letter behind '%' means what it means to strptime(3). */
#define IMF_FIXDATE "%a, %d %b %Y %H:%M:%S GMT"
#define RFC850_DATE "%A, %d-%b-%y %H:%M:%S GMT"
#define ASCTIME_DATE "%a %b %e %H:%M:%S %Y"

struct moment {
    int year;
    int month; /* 0 to 11 */
    int day;   /* 1 to 31 */
    int hour;
    int minute;
    int second;
    int weekday; /* 0 is Sunday */
};

/* --- The calendar ------------------------------------------------------- */

/* Years begin in March here. A leap day is then the last of its year, and
 * (153 * m + 2) / 5 days lie before the month m (March is 0). */
static int64_t seconds_of(const struct moment *moment)
{
    int64_t year = moment->year + CYCLE_YEARS - (moment->month < 2);
    int64_t month = (moment->month + 10) % 12;
    int64_t day = 365 * year + year / 4 - year / 100 + year / 400 +
                  (153 * month + 2) / 5 + moment->day - 1 - EPOCH_DAY;

    return day * DAY_SECONDS + moment->hour * 3600 + moment->minute * 60 +
           moment->second;
}

/* Counts the seconds from the calendar's first day to `seconds`, clamped to the
 * years 0 to 9999. So the count is positive, and larger than a day. */
static int64_t count_seconds(int64_t seconds)
{
    if (seconds < SECONDS_MIN)
        seconds = SECONDS_MIN;
    if (seconds > SECONDS_MAX)
        seconds = SECONDS_MAX;
    return seconds + (int64_t)EPOCH_DAY * DAY_SECONDS;
}

static struct moment moment_of(int64_t seconds)
{
    struct moment moment;
    int of_day, day, year, month;
    int64_t count;

    seconds = count_seconds(seconds);
    count = seconds / DAY_SECONDS;
    of_day = (int)(seconds % DAY_SECONDS);
    /* The leap days before `day` are taken out: one in 1461 days, but none in
     * the years 100, 200 and 300 of a cycle. */
    day = (int)(count % CYCLE_DAYS);
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    moment.day = day - (153 * month + 2) / 5 + 1;
    moment.month = (month + 2) % 12;
    moment.year = (int)(count / CYCLE_DAYS - 1) * CYCLE_YEARS + year +
                  (moment.month < 2);
    moment.weekday = (int)((count + 3) % 7); /* 1 March -400 was a Wednesday */
    moment.hour = of_day / 3600;
    moment.minute = of_day / 60 % 60;
    moment.second = of_day % 60;
    return moment;
}

static bool is_valid(const struct moment *moment)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
    int year = moment->year;
    bool leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    int length = lengths[moment->month] + (leaps && moment->month == 1);

    return moment->day >= 1 && moment->day <= length && moment->hour < 24 &&
           moment->minute < 60 && moment->second <= 60;
}

/* --- Reading ------------------------------------------------------------ */

/* Takes `literal` off *text, in upper or lower case, as caches have to (RFC
 * 9111 4.2). */
static bool take_literal(struct bytes *text, const char *literal, size_t len)
{
    if (text->len < len || !bytes_are_ieq(text->data, literal, len))
        return false;
    text->data += len;
    text->len -= len;
    return true;
}

static bool take_number(struct bytes *text, int digits, int *number_out)
{
    int number = 0;

    for (; digits > 0; digits--) {
        if (text->len == 0 || !byte_is_digit(*text->data))
            return false;
        number = 10 * number + (*text->data++ - '0');
        text->len--;
    }
    *number_out = number;
    return true;
}

/* Takes one of `count` names off *text: the whole name, or its first three
 * letters. */
static bool take_name(struct bytes *text, const char *const *names, int count,
                      bool whole, int *index_out)
{
    for (int i = 0; i < count; i++) {
        if (take_literal(text, names[i], whole ? strlen(names[i]) : 3)) {
            *index_out = i;
            return true;
        }
    }
    return false;
}

static bool take_part(struct bytes *text, char letter, struct moment *moment)
{
    switch (letter) {
    case 'a':
        return take_name(text, days, 7, false, &moment->weekday);
    case 'A':
        return take_name(text, days, 7, true, &moment->weekday);
    case 'b':
        return take_name(text, months, 12, false, &moment->month);
    case 'd':
        return take_number(text, 2, &moment->day);
    case 'e':
        return take_number(text, take_literal(text, " ", 1) ? 1 : 2,
                           &moment->day);
    case 'H':
        return take_number(text, 2, &moment->hour);
    case 'M':
        return take_number(text, 2, &moment->minute);
    case 'S':
        return take_number(text, 2, &moment->second);
    case 'y':
        return take_number(text, 2, &moment->year);
    case 'Y':
        return take_number(text, 4, &moment->year);
    default:
        return false;
    }
}

static bool take_date(struct bytes text, const char *format,
                      struct moment *moment)
{
    for (; *format != '\0'; format++) {
        bool taken = *format == '%' ? take_part(&text, *++format, moment)
                                    : take_literal(&text, format, 1);

        if (!taken)
            return false;
    }
    return text.len == 0;
}

/* Completes a year of two digits: it becomes the latest year that ends in these
 * digits and makes the date at most 50 years later than `now`. */
static void complete_year(struct moment *moment, int64_t now)
{
    struct moment limit = moment_of(now);

    limit.year += 50;
    moment->year += limit.year / 100 * 100;
    if (seconds_of(moment) > seconds_of(&limit))
        moment->year -= 100;
}

/* --- The contract ------------------------------------------------------- */

static void put_pair(char *out, int number)
{
    out[0] = (char)('0' + number / 10);
    out[1] = (char)('0' + number % 10);
}

/* Writes all of a date but the time of day. */
static void put_day(char out[DATE_LEN], int64_t seconds)
{
    struct moment moment = moment_of(seconds);

    memcpy(out, "Day, 00 Mon 0000 00:00:00 GMT", DATE_LEN);
    memcpy(out, days[moment.weekday], 3);
    put_pair(out + 5, moment.day);
    memcpy(out + 8, months[moment.month], 3);
    put_pair(out + 12, moment.year / 100);
    put_pair(out + 14, moment.year % 100);
}

/* Keeps the text of the day that was written last, because dates that follow
 * each other are often of one day. */
void date_format(int64_t seconds, char out[DATE_LEN])
{
    static _Thread_local struct {
        int64_t day; /* number of the day; 0: no text is kept */
        char text[DATE_LEN];
    } last;
    int64_t since = count_seconds(seconds);
    int64_t day = since / DAY_SECONDS;
    int of_day = (int)(since % DAY_SECONDS);

    if (last.day != day) {
        put_day(last.text, seconds);
        last.day = day;
    }
    memcpy(out, last.text, DATE_LEN);
    put_pair(out + 17, of_day / 3600);
    put_pair(out + 20, of_day / 60 % 60);
    put_pair(out + 23, of_day % 60);
}

void date_format_now(int64_t seconds, char out[DATE_LEN])
{
    static _Thread_local struct {
        bool is_written;
        int64_t seconds;
        char text[DATE_LEN];
    } last;

    if (!last.is_written || last.seconds != seconds) {
        date_format(seconds, last.text);
        last.seconds = seconds;
        last.is_written = true;
    }
    memcpy(out, last.text, DATE_LEN);
}

bool date_parse(struct bytes text, int64_t now, int64_t *seconds_out)
{
    struct moment moment = {0};

    if (!take_date(text, IMF_FIXDATE, &moment) &&
        !take_date(text, ASCTIME_DATE, &moment)) {
        if (!take_date(text, RFC850_DATE, &moment))
            return false;
        complete_year(&moment, now);
    }
    if (!is_valid(&moment))
        return false;
    if (moment.second == 60)
        moment.second = 59;
    *seconds_out = seconds_of(&moment);
    return true;
}

/* The calendar is that of Howard Hinnant's days_from_civil and its inverse:
 * years begin in March, so that a leap day is the last of its year. */
void date_put_rfc3339(struct buf *out, int64_t seconds, char separator)
{
    const int64_t first = -62167219200; /* 0000-01-01T00:00:00Z */
    const int64_t last = 253402300799;  /* 9999-12-31T23:59:59Z */
    uint64_t since; /* seconds from 1 March -400, so that none is negative */
    unsigned day, era, year, month, second;

    if (seconds < first)
        seconds = first;
    if (seconds > last)
        seconds = last;
    since = (uint64_t)(seconds + (719468 + 146097) * (int64_t)86400);
    second = (unsigned)(since % 86400);
    era = (unsigned)(since / 86400 / 146097);
    day = (unsigned)(since / 86400 % 146097);
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153; /* 0 is March */
    day -= (153 * month + 2) / 5;
    year += 400 * era + (month >= 10) - 400;
    buf_printf(out, "%04u-%02u-%02u%c%02u:%02u:%02uZ", year,
               month < 10 ? month + 3 : month - 9, day + 1, separator,
               second / 3600, second / 60 % 60, second % 60);
}
