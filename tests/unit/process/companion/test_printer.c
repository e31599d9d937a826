#include "process/companion/printer.h"

#include <fcntl.h>
#include <unistd.h>

#include "suite.h"

static char printed[16384];

/* What is printed of texts that come one by one; len: of all that is left. */
static const char *print(const char *const *texts)
{
    int input[2], output[2];
    ssize_t len;

    assert_int_equal(pipe2(input, O_CLOEXEC | O_DIRECT), 0);
    assert_int_equal(pipe2(output, O_CLOEXEC | O_NONBLOCK), 0);
    for (; *texts; texts++)
        assert_int_equal(write(input[1], *texts, strlen(*texts)),
                         strlen(*texts));
    close(input[1]);
    printer_run(input[0], output[1]);
    len = read(output[0], printed, sizeof(printed) - 1);
    printed[len > 0 ? len : 0] = '\0';
    close(input[0]);
    close(output[0]);
    close(output[1]);
    return printed;
}
#define PRINT(...) print((const char *const[]){__VA_ARGS__, NULL})

TEST(text_is_printed_as_it_is)
{
    assert_string_equal(PRINT("one\n", "two\tthree\n", "gr\xc3\xbc\xc3\x9f\n"),
                        "one\ntwo\tthree\ngr\xc3\xbc\xc3\x9f\n");
    assert_string_equal(PRINT("no end"), "no end");
    assert_string_equal(print((const char *const[]){NULL}), "");
}

TEST(orders_are_not)
{
    assert_string_equal(PRINT("\x1b]0;mine\a\r\x9b"
                              "31m\xc2\x9b\n"),
                        "?]0;mine???31m??\n");
}

TEST(characters_may_come_in_pieces)
{
    assert_string_equal(PRINT("a\xc3", "\xbc", "\xe2", "\x82", "\xac",
                              "\xf0\x9f", "\x98", "\x80z\n"),
                        "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z\n");
    assert_string_equal(PRINT("\xc2", "\x9b"), "??");
    assert_string_equal(PRINT("a\xe2\x82", "b\xc3"), "a??b?");
    assert_string_equal(PRINT("\x82\x82\x82\x82", "\xff"), "?????");
}

/* The terminal is hung up. */
TEST(nobody_waits_for_what_cannot_be_printed)
{
    static char page[4096];
    int input[2];

    memset(page, 'a', sizeof(page));
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(write(input[1], page, sizeof(page)), sizeof(page));
    close(input[1]);
    printer_run(input[0], -1);
    assert_int_equal(read(input[0], page, 1), 0);
    close(input[0]);
}

SUITE(0);
