#include "http/reason.h"

#include "suite.h"

TEST(every_reason_has_a_word_of_its_own)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";

    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        struct bytes word = reason_word((enum reason)i);

        assert_in_range(word.len, 1, 40);
        assert_int_equal(strspn(word.data, letters), word.len);
        for (int j = REASON_NONE; j < i; j++)
            assert_false(bytes_eq(word, reason_word((enum reason)j)));
    }
}

TEST(every_reason_has_a_status_and_a_sentence)
{
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        struct bytes text = reason_text((enum reason)i);

        assert_in_range(reason_status((enum reason)i), 400, 508);
        assert_in_range(text.len, 10, 150);
        assert_true(*text.data >= 'A' && *text.data <= 'Z');
        assert_int_equal(text.data[text.len - 1], '.');
        /* Who looks for the next reply does not find one in a body. */
        assert_null(strstr(text.data, "HTTP/1"));
    }
}

TEST(no_reason_says_nothing)
{
    assert_int_equal(reason_word(REASON_NONE).len, 0);
    assert_int_equal(reason_text(REASON_NONE).len, 0);
    assert_int_equal(reason_status(REASON_NONE), 0);
}

static const char page[] = "docs/logs.md"; /* from where tests run */

TEST(the_list_of_words_is_documented)
{
    static char text[1 << 18];
    FILE *file = fopen(page, "r");

    if (!file)
        skip();
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        char row[64];

        snprintf(row, sizeof(row), "| `%s` | %u |",
                 reason_word((enum reason)i).data,
                 reason_status((enum reason)i));
        if (!strstr(text, row))
            fail_msg("%s has no row '%s'", page, row);
    }
}
