#include "config/config_text.h"

#include "suite.h"

static struct faults faults;
static struct arena arena;
static char *text; /* in memory of exactly its size */
static size_t room = CONFIG_MADE_BYTES_MAX;
static struct config_text reading;

static int tear_down(void **state)
{
    (void)state;
    faults_fini(&faults);
    arena_fini(&arena);
    free(text);
    text = NULL;
    room = CONFIG_MADE_BYTES_MAX;
    return 0;
}

static void open_bytes(const char *from, size_t len)
{
    size_t left = room;

    tear_down(NULL);
    room = left;
    text = malloc(len + (len == 0));
    assert_non_null(text);
    memcpy(text, from, len);
    config_text_open(&reading, (struct bytes){text, len}, 1, &arena, &room,
                     &faults);
}

static void open_text(const char *from)
{
    open_bytes(from, strlen(from));
}

static void expect_token(enum config_token_kind kind, int line,
                         const char *value)
{
    struct config_token token = config_text_take(&reading);

    assert_int_equal(token.kind, kind);
    assert_int_equal(token.line, line);
    assert_false(token.is_bad);
    if (value && !bytes_eq(token.value, bytes_of(value)))
        fail_msg("'%.*s' is not '%s'", (int)token.value.len, token.value.data,
                 value);
}

static void expect_single(const char *from, const char *value)
{
    open_text(from);
    expect_token(CONFIG_STRING, 1, value);
    expect_token(CONFIG_END, 1, NULL);
    assert_int_equal(faults.count, 0);
}

/* One fault, and the last token is bad. */
static void expect_fault(const char *from, int line, const char *words)
{
    struct config_token token, last = {.is_bad = false};

    open_text(from);
    while ((token = config_text_take(&reading)).kind != CONFIG_END)
        last = token;
    if (faults.count != 1 || faults.items[0].line != line ||
        !strstr(faults.items[0].text, words))
        fail_msg("'%s': %zu faults, line %d: '%s'", from, faults.count,
                 faults.items[0].line,
                 faults.count > 0 ? faults.items[0].text : "");
    assert_true(last.is_bad && last.line == line);
}

TEST(comments_lie_between_tokens_and_count_as_lines)
{
    expect_single("\xEF\xBB\xBF word # x", "word");
    expect_single("word // x", "word");
    expect_single("/* * / */word//x", "word//x");
    open_text("a /* b\n* / */c\r\n#\nd");
    expect_token(CONFIG_STRING, 1, "a");
    expect_token(CONFIG_STRING, 2, "c");
    expect_token(CONFIG_STRING, 4, "d");
    expect_token(CONFIG_END, 4, NULL);
    open_text("#");
    expect_token(CONFIG_END, 1, NULL);
    open_text("a\n/* b\n\n");
    assert_string_equal(faults.items[0].text,
                        "the comment that begins here is not closed");
    assert_int_equal(faults.items[0].line, 2);
}

TEST(strings_stand_for_what_they_say)
{
    setenv("SPRINTD_TEST", "a \"b\" ${c}", 1);
    unsetenv("SPRINTD_NONE");
    expect_single("http://a//b/", "http://a//b/");
    expect_single("a\\n;b", "a\\n;b");
    expect_single("\"# // /* \\\" #\" # x", "# // /* \" #");
    expect_single("'# // \" \\' \\\\ \\n #'", "# // \" ' \\ \\n #");
    expect_single("\"\\a\\b\\e\\f\\n\\r\\t\\v\"", "\a\b\033\f\n\r\t\v");
    expect_single("\"\\\\ \\$ \\' \\/ \\q\"", "\\ $ ' / q");
    expect_single("\"\"", "");
    expect_single("${SPRINTD_TEST}", "a \"b\" ${c}");
    expect_single("\"<${SPRINTD_TEST}>\"", "<a \"b\" ${c}>");
    expect_single("'${SPRINTD_TEST}'", "${SPRINTD_TEST}");
    expect_single("\"\\${SPRINTD_TEST}\"", "${SPRINTD_TEST}");
    expect_single("\"${SPRINTD_TEST:-x}\"", "a \"b\" ${c}");
    expect_single("\"${SPRINTD_NONE:-#}\"", "#");
    expect_single("${SPRINTD_NONE:-a b}", "a b");
    expect_single("${SPRINTD_NONE:-}", "");
    unsetenv("SPRINTD_TEST");
}

TEST(what_would_be_misunderstood_is_a_fault)
{
    expect_fault("a\n= \"b\rc", 2, "byte 0x0D in a string");
    expect_fault("a\n= \"b = d", 2, "not closed on its line");
    expect_fault("a = 'b\r", 1, "not closed on its line");
    expect_fault("a = \"\\", 1, "not closed on its line");
    expect_fault("a = \"\\x41\"", 1, "is not understood");
    expect_fault("a = \"\\101\"", 1, "is not understood");
    expect_fault("a = \"${b\"", 1, "without its '}'");
    expect_fault("a = ${b", 1, "without its '}'");
    expect_fault("a = b${c}", 1, "put the whole in quotes");
    expect_fault("\na = \"b${SPRINTD_NONE}\"", 2,
                 "'${SPRINTD_NONE}' is not set in the environment");
    expect_fault("a = ${SPRINTD_NONE}", 1, "is not set");
    expect_fault("a = ${}", 1, "is not set");
    expect_fault("a = \"${SPRINTD_NONE:-b\x1b}\"", 1,
                 "byte 0x1B in a variable");
    expect_fault("a = b;", 1, "';' ends nothing here");
    expect_fault("\n\na = *.b", 3, "'*' must be in quotes");
    expect_fault("a = f(x)", 1, "'(' must be in quotes");
    expect_fault("a = b\x01", 1, "0x01 is no text");
    expect_fault("a = \"b\x02\"", 1, "0x02 in a string");
    open_text("a += b");
    expect_token(CONFIG_STRING, 1, "a");
    expect_token(CONFIG_EQUALS, 1, NULL);
    expect_token(CONFIG_STRING, 1, "b");
    assert_int_equal(faults.count, 1);
    assert_non_null(strstr(faults.items[0].text, "adds to nothing"));
}

TEST(after_a_fault_the_next_line_is_read)
{
    open_text("\"a = {\nb(c d\n");
    assert_true(config_text_take(&reading).is_bad);
    assert_true(config_text_take(&reading).is_bad);
    expect_token(CONFIG_STRING, 2, "d");
    expect_token(CONFIG_END, 3, NULL);
    assert_int_equal(faults.count, 2);
}

TEST(tokens_know_their_lines)
{
    static const char whole[] =
        "site \"a b\" { # x\n  k='v w'\n l = {1,${V:-a b},\"\\\"\"}\n}";

    open_text(whole);
    expect_token(CONFIG_STRING, 1, "site");
    expect_token(CONFIG_STRING, 1, "a b");
    expect_token(CONFIG_OPEN, 1, NULL);
    expect_token(CONFIG_STRING, 2, "k");
    expect_token(CONFIG_EQUALS, 2, NULL);
    expect_token(CONFIG_STRING, 2, "v w");
    expect_token(CONFIG_STRING, 3, "l");
    expect_token(CONFIG_EQUALS, 3, NULL);
    expect_token(CONFIG_OPEN, 3, NULL);
    expect_token(CONFIG_STRING, 3, "1");
    expect_token(CONFIG_COMMA, 3, NULL);
    expect_token(CONFIG_STRING, 3, "a b");
    expect_token(CONFIG_COMMA, 3, NULL);
    expect_token(CONFIG_STRING, 3, "\"");
    expect_token(CONFIG_CLOSE, 3, NULL);
    expect_token(CONFIG_CLOSE, 4, NULL);
    expect_token(CONFIG_END, 4, NULL);
    expect_token(CONFIG_END, 4, NULL);
    assert_int_equal(faults.count, 0);
}

/* Whatever it is: no byte beyond is looked at, and there is an end. */
TEST(every_beginning_of_a_text_comes_to_an_end)
{
    static const char whole[] =
        "a = \"b\\\"${C:-d}\" # e\n/* f */ g += {'h\\'', ${I}} // j\nk;l(\x01";

    for (size_t len = 0; len < sizeof(whole); len++) {
        size_t count = 0;

        open_bytes(whole, len);
        while (config_text_take(&reading).kind != CONFIG_END)
            assert_in_range(++count, 1, len);
        assert_ptr_equal(reading.at, text + len);
    }
}

TEST(a_variable_with_a_long_name_is_not_set)
{
    char from[300];

    snprintf(from, sizeof(from), "%0128d", 1);
    setenv(from, "x", 1);
    snprintf(from, sizeof(from), "${%0128d}", 1);
    expect_single(from, "x");
    snprintf(from, sizeof(from), "%0129d", 1);
    setenv(from, "x", 1);
    snprintf(from, sizeof(from), "${%0129d}", 1);
    expect_fault(from, 1, "is not set in the environment");
    snprintf(from, sizeof(from), "${%0129d:-y}", 1);
    expect_single(from, "y");
}

TEST(variables_make_only_so_much)
{
    setenv("SPRINTD_TEST", "12345678", 1);
    room = 20;
    expect_single("${SPRINTD_TEST}", "12345678");
    assert_int_equal(room, 12);
    /* What is as it is written takes nothing of that. */
    expect_single("\"is longer than what is left\"",
                  "is longer than what is left");
    assert_int_equal(room, 12);
    expect_fault("\"${SPRINTD_TEST}12345\"", 1,
                 "variables and escapes make more than 4194304 bytes");
    expect_fault("\"${SPRINTD_TEST}${SPRINTD_TEST}${SPRINTD_TEST}\"", 1,
                 "variables and escapes make more");
    expect_single("\"${SPRINTD_TEST}1234\"", "123456781234");
    assert_int_equal(room, 0);
    unsetenv("SPRINTD_TEST");
}

SUITE(.each_end = tear_down);
