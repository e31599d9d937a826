#include "observe/decimal.h"

#include <math.h>

#include "suite.h"
#include "unit/draw.h"

static char storage[64];

static const char *text_of(uint64_t value, unsigned places)
{
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), sizeof(storage));
    decimal_put(&buf, value, places);
    buf_put(&buf, (struct bytes){"", 1});
    assert_false(buf.failed);
    return storage;
}

static const char *share_of(double share)
{
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), sizeof(storage));
    decimal_put_share(&buf, share);
    buf_put(&buf, (struct bytes){"", 1});
    assert_false(buf.failed);
    return storage;
}

TEST(fractions_end_with_their_last_digit)
{
    static const struct {
        uint64_t value;
        unsigned places;
        const char *text;
    } cases[] = {
        {0, 0, "0"},
        {0, 3, "0"},
        {7, 0, "7"},
        {1, 3, "0.001"},
        {10, 3, "0.01"},
        {100, 3, "0.1"},
        {1000, 3, "1"},
        {1010, 3, "1.01"},
        {1500, 3, "1.5"},
        {2000, 3, "2"},
        {123456, 3, "123.456"},
        {1, 9, "0.000000001"},
        {UINT64_C(1763750000123), 3, "1763750000.123"},
        {UINT64_MAX, 0, "18446744073709551615"},
        {UINT64_MAX, 3, "18446744073709551.615"},
        {UINT64_MAX, 19, "1.8446744073709551615"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(text_of(cases[i].value, cases[i].places),
                            cases[i].text);
}

TEST(what_is_written_reads_back)
{
    draw_seed = 1;
    for (int i = 0; i < 10000; i++) {
        uint64_t value = draw_bits() >> (12 + draw(52));
        unsigned places = draw(10);
        double back = strtod(text_of(value, places), NULL);

        assert_true(fabs(back * pow(10, places) - (double)value) <
                    0.5 + (double)value * 1e-15);
    }
}

TEST(shares_are_told_to_a_millionth)
{
    assert_string_equal(share_of(0), "0");
    assert_string_equal(share_of(1), "1");
    assert_string_equal(share_of(0.5), "0.5");
    assert_string_equal(share_of(2 / 3.0), "0.666667");
    assert_string_equal(share_of(1e-9), "0");
}

TEST(what_is_no_share_is_nothing)
{
    assert_string_equal(share_of((double)NAN), "0");
    assert_string_equal(share_of(-0.25), "0");
}
