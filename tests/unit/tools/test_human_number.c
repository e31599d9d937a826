#include "tools/human_number.h"

#include <math.h>

#include "suite.h"

struct figure_case {
    double value;
    const char *text;
};

static void check_cases(struct human_number (*figure)(double value),
                        const struct figure_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(figure(cases[i].value).text, cases[i].text);
}

#define CHECK(figure, cases) \
    check_cases((figure), (cases), sizeof(cases) / sizeof(*(cases)))

TEST(counts_are_in_groups_of_three)
{
    static const struct figure_case cases[] = {
        {0, "0"},
        {0.4, "0"},
        {0.5, "1"},
        {999, "999"},
        {1000, "1,000"},
        {12345678, "12,345,678"},
        {100000000, "100,000,000"},
        {9e15, "9,000,000,000,000,000"},
    };

    CHECK(human_number_count, cases);
}

TEST(brief_counts_have_three_digits_that_count)
{
    static const struct figure_case cases[] = {
        {0, "0"},          {7, "7"},          {999, "999"},
        {999.7, "1.00 k"}, {1000, "1.00 k"},  {1234, "1.23 k"},
        {9994, "9.99 k"},  {9995, "10.0 k"},  {99949, "99.9 k"},
        {99950, "100 k"},  {999499, "999 k"}, {999500, "1.00 M"},
        {2.5e9, "2.50 G"}, {3e12, "3.00 T"},  {9e15, "9000 T"},
    };

    CHECK(human_number_brief, cases);
}

TEST(bytes_have_units_of_1024)
{
    static const struct figure_case cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {10240, "10.0 KiB"},
        {1048576, "1.00 MiB"},
        {1.5 * 1073741824, "1.50 GiB"},
        {1099511627776.0, "1.00 TiB"},
    };

    CHECK(human_number_bytes, cases);
}

TEST(rates_of_bits_have_units_of_1000)
{
    static const struct figure_case cases[] = {
        {800, "800 bit/s"},
        {80e6, "80.0 Mbit/s"},
        {1.184e9, "1.18 Gbit/s"},
    };

    CHECK(human_number_bits, cases);
}

TEST(times_go_from_microseconds_to_minutes)
{
    static const struct figure_case cases[] = {
        {0, "0 us"},         {7, "7 us"},         {0.25, "0.25 us"},
        {12.345, "12.3 us"}, {999, "999 us"},     {1500, "1.50 ms"},
        {2.5e6, "2.50 s"},   {59e6, "59.0 s"},    {60e6, "1 min"},
        {90e6, "1.50 min"},  {7200e6, "120 min"},
    };

    CHECK(human_number_micros, cases);
}

TEST(shares_are_percents)
{
    static const struct figure_case cases[] = {
        {0, "0.00 %"},     {0.0123, "1.23 %"}, {0.1, "10.0 %"},
        {0.955, "95.5 %"}, {1, "100.0 %"},
    };

    CHECK(human_number_percent, cases);
}

TEST(durations_have_two_units)
{
    static const struct figure_case cases[] = {
        {0.9, "0 s"},        {59.9, "59 s"},
        {60, "1 min 0 s"},   {3599, "59 min 59 s"},
        {3600, "1 h 0 min"}, {86400 * 3 + 3600 * 4 + 59, "3 d 4 h"},
    };

    CHECK(human_number_duration, cases);
}

TEST(what_is_no_amount_is_a_dash)
{
    static struct human_number (*const figures[])(double value) = {
        human_number_count,   human_number_brief,  human_number_bytes,
        human_number_bits,    human_number_micros, human_number_percent,
        human_number_duration};
    static const double values[] = {NAN, INFINITY, -INFINITY, -1, 1e300};

    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        for (size_t j = 0; j < sizeof(values) / sizeof(*values); j++)
            assert_string_equal(figures[i](values[j]).text, "-");
    }
}
