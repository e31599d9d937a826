#include "base/shell_word.h"
#include "suite.h"

static const char *quoted(const char *text)
{
    static char word[SHELL_WORD_SIZE(32)];

    shell_word_put(word, text, 32);
    return word;
}

TEST(a_shell_reads_it_as_one_word)
{
    assert_string_equal(quoted(""), "''");
    assert_string_equal(quoted("/a b/$(c)"), "'/a b/$(c)'");
    assert_string_equal(quoted("a';b;'"), "'a'\\'';b;'\\'''");
}

TEST(a_terminal_takes_it_for_no_order)
{
    assert_string_equal(quoted("a\033[2J\nb"), "'a?[2J?b'");
}

SUITE(.begin = NULL);
