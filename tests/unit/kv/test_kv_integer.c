#include "kv/kv_integer.h"

#include "suite.h"

TEST(whole_numbers_are_read_and_written_alike)
{
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {{"0", 0},
                 {"7", 7},
                 {"-7", -7},
                 {"10", 10},
                 {"-100", -100},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775808", INT64_MIN}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char room[KV_INTEGER_BYTES_MAX];
        int64_t number;

        assert_true(kv_integer_read(bytes_of(cases[i].text), &number));
        assert_true(number == cases[i].number);
        assert_true(bytes_eq(kv_integer_write(number, room),
                             bytes_of(cases[i].text)));
    }
}

TEST(one_line_end_is_passed_over)
{
    int64_t number;

    assert_true(kv_integer_read(BYTES("12\n"), &number) && number == 12);
    assert_true(kv_integer_read(BYTES("0\n"), &number) && number == 0);
    assert_false(kv_integer_read(BYTES("12\n\n"), &number));
    assert_false(kv_integer_read(BYTES("\n"), &number));
}

TEST(what_else_there_is_is_no_number)
{
    static const char *const texts[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "01",
                                        "-0",
                                        "-01",
                                        "00",
                                        "0x1",
                                        "1.0",
                                        "1e3",
                                        "one",
                                        "1-",
                                        "--1",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "99999999999999999999999"};
    int64_t number;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (kv_integer_read(bytes_of(texts[i]), &number))
            fail_msg("'%s'", texts[i]);
    assert_false(kv_integer_read((struct bytes){"1\0", 2}, &number));
}
