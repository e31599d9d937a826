#include "server/figure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct figure_case {
    double value;
    const char *text;
};

static void check_cases(struct figure (*figure)(double value),
                        const struct figure_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(figure(cases[i].value).text, cases[i].text);
}

#define CHECK(figure, cases) \
    check_cases((figure), (cases), sizeof(cases) / sizeof(*(cases)))

static void counts_are_in_groups_of_three(void **state)
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

    (void)state;
    CHECK(figure_count, cases);
}

static void brief_counts_have_three_digits_that_count(void **state)
{
    static const struct figure_case cases[] = {
        {0, "0"},          {7, "7"},          {999, "999"},
        {999.7, "1.00 k"}, {1000, "1.00 k"},  {1234, "1.23 k"},
        {9994, "9.99 k"},  {9995, "10.0 k"},  {99949, "99.9 k"},
        {99950, "100 k"},  {999499, "999 k"}, {999500, "1.00 M"},
        {2.5e9, "2.50 G"}, {3e12, "3.00 T"},  {9e15, "9000 T"},
    };

    (void)state;
    CHECK(figure_brief, cases);
}

static void bytes_have_units_of_1024(void **state)
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

    (void)state;
    CHECK(figure_bytes, cases);
}

static void rates_of_bits_have_units_of_1000(void **state)
{
    static const struct figure_case cases[] = {
        {800, "800 bit/s"},
        {80e6, "80.0 Mbit/s"},
        {1.184e9, "1.18 Gbit/s"},
    };

    (void)state;
    CHECK(figure_bits, cases);
}

static void times_go_from_microseconds_to_minutes(void **state)
{
    static const struct figure_case cases[] = {
        {0, "0 us"},         {7, "7 us"},         {0.25, "0.25 us"},
        {12.345, "12.3 us"}, {999, "999 us"},     {1500, "1.50 ms"},
        {2.5e6, "2.50 s"},   {59e6, "59.0 s"},    {60e6, "1 min"},
        {90e6, "1.50 min"},  {7200e6, "120 min"},
    };

    (void)state;
    CHECK(figure_micros, cases);
}

static void shares_are_percents(void **state)
{
    static const struct figure_case cases[] = {
        {0, "0.00 %"},     {0.0123, "1.23 %"}, {0.1, "10.0 %"},
        {0.955, "95.5 %"}, {1, "100.0 %"},
    };

    (void)state;
    CHECK(figure_percent, cases);
}

static void durations_have_two_units(void **state)
{
    static const struct figure_case cases[] = {
        {0.9, "0 s"},        {59.9, "59 s"},
        {60, "1 min 0 s"},   {3599, "59 min 59 s"},
        {3600, "1 h 0 min"}, {86400 * 3 + 3600 * 4 + 59, "3 d 4 h"},
    };

    (void)state;
    CHECK(figure_duration, cases);
}

static void what_is_no_amount_is_a_dash(void **state)
{
    static struct figure (*const figures[])(double value) = {
        figure_count,  figure_brief,   figure_bytes,   figure_bits,
        figure_micros, figure_percent, figure_duration};
    static const double values[] = {NAN, INFINITY, -INFINITY, -1, 1e300};

    (void)state;
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
        for (size_t j = 0; j < sizeof(values) / sizeof(*values); j++)
            assert_string_equal(figures[i](values[j]).text, "-");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_in_groups_of_three),
        cmocka_unit_test(brief_counts_have_three_digits_that_count),
        cmocka_unit_test(bytes_have_units_of_1024),
        cmocka_unit_test(rates_of_bits_have_units_of_1000),
        cmocka_unit_test(times_go_from_microseconds_to_minutes),
        cmocka_unit_test(shares_are_percents),
        cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(what_is_no_amount_is_a_dash),
    };

    return cmocka_run_group_tests_name("figure", tests, NULL, NULL);
}
