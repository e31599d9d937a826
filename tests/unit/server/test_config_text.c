#include "server/config_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct faults faults;
static char *text; /* cleaned, in memory of exactly its size */
static size_t text_len;

static int tear_down(void **state)
{
    (void)state;
    faults_fini(&faults);
    free(text);
    text = NULL;
    return 0;
}

static void clean_bytes(const char *from, size_t len)
{
    tear_down(NULL);
    text = malloc(len + (len == 0));
    assert_non_null(text);
    memcpy(text, from, len);
    text_len = len;
    config_text_clean(text, len, 1, &faults);
}

static void clean(const char *from)
{
    clean_bytes(from, strlen(from));
}

static void expect_clean(const char *from, const char *to)
{
    clean(from);
    if (faults.count > 0)
        fail_msg("'%s': %s", from, faults.items[0].text);
    assert_int_equal(text_len, strlen(to));
    assert_memory_equal(text, to, text_len);
}

/* One fault, and nothing that it stands in is left. */
static void expect_fault(const char *from, int line, const char *words)
{
    clean(from);
    if (faults.count != 1 || faults.items[0].line != line ||
        !strstr(faults.items[0].text, words))
        fail_msg("'%s': %zu faults, line %d: '%s'", from, faults.count,
                 faults.items[0].line,
                 faults.count > 0 ? faults.items[0].text : "");
}

static void comments_become_spaces_and_lines_stay(void **state)
{
    (void)state;
    expect_clean("a # b\nc", "a    \nc");
    expect_clean("a // b\nc", "a     \nc");
    expect_clean("a /* b\n* / */c", "a     \n      c");
    expect_clean("\xEF\xBB\xBFport = 1\r\n", "   port = 1 \n");
    expect_clean("", "");
    expect_clean("#", " ");
}

static void what_is_quoted_is_no_comment(void **state)
{
    (void)state;
    expect_clean("a = \"# // /* \\\" #\" # x", "a = \"# // /* \\\" #\"    ");
    expect_clean("a = '# // \" \\' #'", "a = '# // \" \\' #'");
    expect_clean("a = \"${A:-#}\"", "a = \"${A:-#}\"");
}

static void what_would_be_misunderstood_is_a_fault(void **state)
{
    (void)state;
    expect_fault("a\n= \"b\nc = d", 2, "not closed on its line");
    expect_fault("a = 'b", 1, "not closed on its line");
    expect_fault("a = \"\\x41\"", 1, "is not understood");
    expect_fault("a = \"\\101\"", 1, "is not understood");
    expect_fault("a = \"${b\"", 1, "without its '}'");
    expect_fault("a = ${b", 1, "without its '}'");
    expect_fault("a = b${c}", 1, "put the whole in quotes");
    expect_fault("\na = \"b${SPRINTD_NONE}\"", 2,
                 "'${SPRINTD_NONE}' is not set in the environment");
    expect_fault("a = ${SPRINTD_NONE}", 1, "is not set");
    expect_fault("a = ${}", 1, "is not set");
    expect_clean("a = ${SPRINTD_NONE:-}", "a = ${SPRINTD_NONE:-}");
    expect_fault("a = b;", 1, "';' ends nothing here");
    expect_fault("\n\na = *.b", 3, "'*' must be in quotes");
    expect_fault("a = f(x)", 1, "'(' must be in quotes");
    expect_fault("a += b", 1, "adds to nothing");
    expect_fault("a = b\x01", 1, "0x01 is no text");
    expect_fault("a = \"b\x02\"", 1, "0x02 in a string");
    expect_fault("a\n/* b\n\n", 2, "comment");
}

static void expect_token(struct config_cursor *cursor,
                         enum config_token_kind kind, int line,
                         const char *inside)
{
    struct config_token token = config_token_next(cursor);

    assert_int_equal(token.kind, kind);
    assert_int_equal(token.line, line);
    if (inside)
        assert_true(bytes_eq(config_token_inside(&token), bytes_of(inside)));
}

static void tokens_know_their_lines(void **state)
{
    struct config_cursor cursor = {.line = 1};

    (void)state;
    clean("site \"a b\" { # x\n  k='v w'\n l = {1,${V:-a b},\"\\\"\"}\n}");
    assert_int_equal(faults.count, 0);
    cursor.at = text;
    cursor.end = text + text_len;
    expect_token(&cursor, CONFIG_STRING, 1, "site");
    expect_token(&cursor, CONFIG_STRING, 1, "a b");
    expect_token(&cursor, CONFIG_OPEN, 1, NULL);
    expect_token(&cursor, CONFIG_STRING, 2, "k");
    expect_token(&cursor, CONFIG_EQUALS, 2, NULL);
    expect_token(&cursor, CONFIG_STRING, 2, "v w");
    expect_token(&cursor, CONFIG_STRING, 3, "l");
    expect_token(&cursor, CONFIG_EQUALS, 3, NULL);
    expect_token(&cursor, CONFIG_OPEN, 3, NULL);
    expect_token(&cursor, CONFIG_STRING, 3, "1");
    expect_token(&cursor, CONFIG_COMMA, 3, NULL);
    expect_token(&cursor, CONFIG_STRING, 3, "${V:-a b}");
    expect_token(&cursor, CONFIG_COMMA, 3, NULL);
    expect_token(&cursor, CONFIG_STRING, 3, "\\\"");
    expect_token(&cursor, CONFIG_CLOSE, 3, NULL);
    expect_token(&cursor, CONFIG_CLOSE, 4, NULL);
    expect_token(&cursor, CONFIG_END, 4, NULL);
    expect_token(&cursor, CONFIG_END, 4, NULL);
}

/* Whatever it is: no byte beyond is looked at, and there is an end. */
static void every_beginning_of_a_text_comes_to_an_end(void **state)
{
    static const char whole[] =
        "a = \"b\\\"${C:-d}\" # e\n/* f */ g += {'h\\'', ${I}} // j\nk;l(\x01";

    (void)state;
    for (size_t len = 0; len < sizeof(whole); len++) {
        struct config_cursor cursor = {.line = 1};
        size_t count = 0;

        clean_bytes(whole, len);
        cursor.at = text;
        cursor.end = text + len;
        while (config_token_next(&cursor).kind != CONFIG_END)
            assert_in_range(++count, 1, len);
        assert_ptr_equal(cursor.at, cursor.end);
    }
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comments_become_spaces_and_lines_stay),
        TEST(what_is_quoted_is_no_comment),
        TEST(what_would_be_misunderstood_is_a_fault),
        TEST(tokens_know_their_lines),
        TEST(every_beginning_of_a_text_comes_to_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
