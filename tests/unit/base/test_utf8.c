#include "base/utf8.h"

#include "suite.h"

TEST(what_a_terminal_would_obey_is_replaced)
{
    static const struct {
        const char *text;
        const char *plain;
    } cases[] = {
        {"", ""},
        {"plain, \"quoted\" \\ text", "plain, \"quoted\" \\ text"},
        {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
         "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {"\x1b[31mred\x7F", "?[31mred?"},
        {"a\nb\tc\r", "a?b?c?"},
        {"\x9b[31m", "?[31m"},
        {"\xC2\x9b[31m\xC2\xA0", "??[31m\xC2\xA0"},
        {"a\xE2\x80\xAE"
         "b\xE2\x81\xA6"
         "c\xE2\x80\x8F",
         "a???b???c???"},
        {"\xE2\x80\x90\xE2\x81\xA5\xE2\x81\xAA",
         "\xE2\x80\x90\xE2\x81\xA5\xE2\x81\xAA"},
        {"\xD8\x9B\xD8\x9C\xD8\x9D", "\xD8\x9B??\xD8\x9D"},
        {"\xE2\x80", "??"},
        {"\xC0\x80\xFF", "???"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[64];
        size_t len = strlen(cases[i].text);

        memcpy(text, cases[i].text, len + 1);
        utf8_disarm(text, len, false);
        assert_string_equal(text, cases[i].plain);
    }
}

TEST(lines_may_stay)
{
    char text[] = "a\nb\tc\r\n\x1b";

    utf8_disarm(text, sizeof(text) - 1, true);
    assert_string_equal(text, "a\nb\tc?\n?");
}
