#include "http/date.h"

#include <inttypes.h>
#include <time.h>

#include "suite.h"
#include "unit/draw.h"

#define NOW 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
#define YEAR_0 (-62167219200)
#define YEAR_9999_END 253402300799
#define UNTOUCHED (-1234567890123)

static void assert_formats(int64_t seconds, const char *text)
{
    char out[DATE_LEN + 1];

    memset(out, '~', sizeof(out));
    date_format(seconds, out);
    assert_int_equal(out[DATE_LEN], '~');
    out[DATE_LEN] = '\0';
    assert_string_equal(out, text);
}

/* UNTOUCHED: it is no date. The text is copied to where its end is guarded. */
static int64_t parse_at(const char *text, int64_t now)
{
    int64_t seconds = UNTOUCHED;
    size_t len = strlen(text);
    char *copy = malloc(len > 0 ? len : 1);

    for (size_t i = 0; i < len; i++)
        copy[i] = text[i];
    if (!date_parse((struct bytes){copy, len}, now, &seconds))
        assert_int_equal(seconds, UNTOUCHED);
    free(copy);
    return seconds;
}

TEST(the_example_of_the_rfc_is_written)
{
    assert_formats(NOW, "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(corners_of_the_calendar_are_written)
{
    assert_formats(0, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_formats(-1, "Wed, 31 Dec 1969 23:59:59 GMT");
    assert_formats(951782400, "Tue, 29 Feb 2000 00:00:00 GMT");
    assert_formats(1709251199, "Thu, 29 Feb 2024 23:59:59 GMT");
    assert_formats(4107542399, "Sun, 28 Feb 2100 23:59:59 GMT");
    assert_formats(4107542400, "Mon, 01 Mar 2100 00:00:00 GMT");
}

TEST(the_present_is_written_as_any_date)
{
    static const int64_t seconds[] = {0,   0,   -1,       NOW, NOW,
                                      NOW, 0,   NOW + 1,  NOW, INT64_MIN,
                                      NOW, NOW, INT64_MAX};

    for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
        char out[DATE_LEN + 1];
        char expected[DATE_LEN];

        memset(out, '~', sizeof(out));
        date_format_now(seconds[i], out);
        date_format(seconds[i], expected);
        assert_memory_equal(out, expected, DATE_LEN);
        assert_int_equal(out[DATE_LEN], '~');
    }
}

TEST(seconds_outside_of_four_digit_years_are_clamped)
{
    assert_formats(YEAR_0, "Sat, 01 Jan 0000 00:00:00 GMT");
    assert_formats(YEAR_0 - 1, "Sat, 01 Jan 0000 00:00:00 GMT");
    assert_formats(INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT");
    assert_formats(YEAR_9999_END, "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_formats(YEAR_9999_END + 1, "Fri, 31 Dec 9999 23:59:59 GMT");
    assert_formats(INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(dates_of_all_three_formats_are_read)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", NOW},
        {"Sunday, 06-Nov-94 08:49:37 GMT", NOW},
        {"SUN, 06 NOV 1994 08:49:37 gmt", NOW},
        {"sUNDAY, 06-nOV-94 08:49:37 gMt", NOW},
        {"sun nov  6 08:49:37 1994", NOW},
        {"Sun Nov  6 08:49:37 1994", NOW},
        {"Sun Nov 06 08:49:37 1994", NOW},
        {"Sun Nov 16 08:49:37 1994", NOW + 10 * 86400},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Thursday, 01-Jan-70 00:00:00 GMT", 0},
        {"Thu Jan  1 00:00:00 1970", 0},
        {"Wed, 31 Dec 1969 23:59:59 GMT", -1},
        {"Sat, 01 Jan 0000 00:00:00 GMT", YEAR_0},
        {"Sat Jan  1 00:00:00 0000", YEAR_0},
        {"Fri, 31 Dec 9999 23:59:59 GMT", YEAR_9999_END},
        {"Tue, 29 Feb 2000 00:00:00 GMT", 951782400},
        {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199},
        {"Tue, 29 Feb 0000 00:00:00 GMT", YEAR_0 + 59 * 86400},
        /* The name of the day need not fit. */
        {"Mon, 06 Nov 1994 08:49:37 GMT", NOW},
        {"Saturday, 06-Nov-94 08:49:37 GMT", NOW},
        /* A leap second. */
        {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228799},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (parse_at(cases[i].text, NOW) != cases[i].seconds)
            fail_msg("%s: %" PRId64, cases[i].text,
                     parse_at(cases[i].text, NOW));
}

TEST(what_is_no_date_is_refused)
{
    static const char *const cases[] = {
        "",
        "0",
        "Sun",
        "Sun,",
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 GM",
        "Sun, 06 Nov 1994 08:49:37 GMT;",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 06 11 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 19945 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 06 Nov 1994 +8:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 6-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37",
        "Sunday 06-Nov-94 08:49:37 GMT",
        "Sundays, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994",
        "Sun Nov   6 08:49:37 1994",
        "Sun Nov  16 08:49:37 1994",
        "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Sunday Nov  6 08:49:37 1994",
        "784111777",
        "1994-11-06T08:49:37Z",
        /* Numbers out of their bounds. */
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 32 Dec 1994 08:49:37 GMT",
        "Sun, 99 Dec 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 29 Feb 1994 08:49:37 GMT",
        "Sun, 30 Feb 2000 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 29 Feb 2100 08:49:37 GMT",
        "Sunday, 29-Feb-95 08:49:37 GMT",
        "Sun Feb 29 08:49:37 1995",
        "Sun Nov  0 08:49:37 1994",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (parse_at(cases[i], NOW) != UNTOUCHED)
            fail_msg("taken: '%s'", cases[i]);
}

TEST(no_beginning_of_a_date_is_one)
{
    static const char *const cases[] = {
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Wednesday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    };
    char text[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (size_t len = 0; len < strlen(cases[i]); len++) {
            snprintf(text, sizeof(text), "%.*s", (int)len, cases[i]);
            assert_int_equal(parse_at(text, NOW), UNTOUCHED);
        }
    }
}

TEST(a_two_digit_year_is_at_most_fifty_years_ahead)
{
    static const struct {
        const char *now;
        const char *text;
        const char *meant;
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Monday, 01-Jan-44 00:00:00 GMT",
         "Fri, 01 Jan 2044 00:00:00 GMT"},
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-44 08:49:37 GMT",
         "Sun, 06 Nov 2044 08:49:37 GMT"},
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-44 08:49:38 GMT",
         "Mon, 06 Nov 1944 08:49:38 GMT"},
        {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 01-Jan-45 00:00:00 GMT",
         "Mon, 01 Jan 1945 00:00:00 GMT"},
        {"Thu, 01 Jan 2026 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
         "Sun, 06 Nov 1994 08:49:37 GMT"},
        {"Thu, 01 Jan 2026 00:00:00 GMT", "Friday, 01-Jan-27 00:00:00 GMT",
         "Fri, 01 Jan 2027 00:00:00 GMT"},
        {"Thu, 01 Jan 2026 00:00:00 GMT", "Friday, 31-Dec-76 00:00:00 GMT",
         "Fri, 31 Dec 1976 00:00:00 GMT"},
        {"Thu, 01 Jan 2026 00:00:00 GMT", "Friday, 01-Jan-00 00:00:00 GMT",
         "Sat, 01 Jan 2000 00:00:00 GMT"},
        /* The next century is nearer than this one's beginning. */
        {"Mon, 01 Jan 2080 00:00:00 GMT", "Friday, 01-Jan-05 00:00:00 GMT",
         "Thu, 01 Jan 2105 00:00:00 GMT"},
        /* 29 February of 00: in 2000, but neither in 1900 nor in 2100. */
        {"Thu, 01 Jan 2026 00:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT",
         "Tue, 29 Feb 2000 00:00:00 GMT"},
        {"Mon, 01 Jan 2080 00:00:00 GMT", "Tuesday, 29-Feb-00 00:00:00 GMT",
         NULL},
        {"Thu, 29 Feb 2024 00:00:00 GMT", "Friday, 01-Mar-74 00:00:00 GMT",
         "Thu, 01 Mar 2074 00:00:00 GMT"},
        {"Thu, 29 Feb 2024 00:00:00 GMT", "Friday, 02-Mar-74 00:00:00 GMT",
         "Sat, 02 Mar 1974 00:00:00 GMT"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(parse_at(cases[i].text, parse_at(cases[i].now, 0)),
                         cases[i].meant ? parse_at(cases[i].meant, 0)
                                        : UNTOUCHED);
}

TEST(a_clock_at_either_end_of_time_does_no_harm)
{
    static const int64_t ends[] = {INT64_MIN, YEAR_0, YEAR_9999_END, INT64_MAX};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        assert_int_not_equal(parse_at("Sunday, 06-Nov-94 08:49:37 GMT",
                                      ends[i]),
                             UNTOUCHED);
        assert_int_equal(parse_at("Sun, 06 Nov 1994 08:49:37 GMT", ends[i]),
                         NOW);
    }
}

static void check_against_libc(int64_t seconds)
{
    static const char *const long_names[] = {"Sunday",    "Monday",   "Tuesday",
                                             "Wednesday", "Thursday", "Friday",
                                             "Saturday"};
    time_t time = seconds;
    struct tm tm;
    char month[4], text[80], clock[16];

    assert_non_null(gmtime_r(&time, &tm));
    assert_int_equal(strftime(month, sizeof(month), "%b", &tm), 3);
    assert_int_equal(strftime(clock, sizeof(clock), "%H:%M:%S", &tm), 8);

    snprintf(text, sizeof(text), "%.3s, %02d %s %04d %s GMT",
             long_names[tm.tm_wday], tm.tm_mday, month, tm.tm_year + 1900,
             clock);
    assert_formats(seconds, text);
    assert_int_equal(parse_at(text, 0), seconds);

    snprintf(text, sizeof(text), "%.3s %s %2d %s %04d", long_names[tm.tm_wday],
             month, tm.tm_mday, clock, tm.tm_year + 1900);
    assert_int_equal(parse_at(text, 0), seconds);

    snprintf(text, sizeof(text), "%s, %02d-%s-%02d %s GMT",
             long_names[tm.tm_wday], tm.tm_mday, month, tm.tm_year % 100,
             clock);
    if (tm.tm_year >= 0) /* C divides towards zero */
        assert_int_equal(parse_at(text, seconds), seconds);
}

TEST(random_seconds_agree_with_the_c_library)
{
    const uint64_t span = (uint64_t)(YEAR_9999_END - YEAR_0) + 1;

    draw_seed = 20240229;
    for (int i = 0; i < 20000; i++)
        check_against_libc(YEAR_0 + (int64_t)(draw_bits() % span));
    for (int i = 0; i < 20000; i++) /* 1970 to 2106 */
        check_against_libc((int64_t)(draw_bits() >> 32));
}

TEST(every_day_of_two_cycles_agrees_with_the_c_library)
{
    for (int64_t day = -146097; day < 146097; day++)
        check_against_libc(day * 86400 + 86399);
}
