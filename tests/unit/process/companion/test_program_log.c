#include "process/companion/program_log.h"

#include <fcntl.h>
#include <unistd.h>

#include "suite.h"

/* --- What comes of it in the log ----------------------------------------- */

static struct program_log program;
static int terminal[2]; /* the log's */
static int before;
static char heard[65536];

static int set_up(void **state)
{
    (void)state;
    unsetenv("JOURNAL_STREAM");
    log_open(LOG_LEVEL_NOTICE);
    before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (pipe2(terminal, O_CLOEXEC | O_NONBLOCK) == -1 ||
        dup2(terminal[1], STDERR_FILENO) == -1)
        return -1;
    return program_log_open(&program);
}

static int tear_down(void **state)
{
    (void)state;
    program_log_close(&program);
    dup2(before, STDERR_FILENO);
    close(before);
    close(terminal[0]);
    close(terminal[1]);
    return 0;
}

static void says(const char *text, size_t len)
{
    assert_int_equal(write(program.given, text, len), len);
}
#define SAYS(literal) says(literal, sizeof(literal) - 1)

/* What the log has by now, and had not before. */
static const char *in_log(void)
{
    ssize_t len;

    program_log_pass(&program);
    len = read(terminal[0], heard, sizeof(heard) - 1);
    heard[len > 0 ? len : 0] = '\0';
    return heard;
}

/* --- Tests --------------------------------------------------------------- */

TEST(a_line_of_the_program_is_one_of_the_log)
{
    SAYS("sprintd: error: acme: no certificate\n");
    assert_string_equal(in_log(), "sprintd: error: acme: no certificate\n");
    SAYS("sprintd: notice: another\nsprintd: warning: acme: third\n");
    assert_string_equal(in_log(), "sprintd: notice: acme: another\n"
                                  "sprintd: warning: acme: third\n");
}

TEST(any_other_line_is_a_warning)
{
    SAYS("nsupdate: it failed\n");
    assert_string_equal(in_log(),
                        "sprintd: warning: acme: nsupdate: it failed\n");
    SAYS("sprintd: worst: x\nsprintd: \nsprintd: error\nsprintd: error:\n");
    assert_string_equal(in_log(), "sprintd: warning: acme: sprintd: worst: x\n"
                                  "sprintd: warning: acme: sprintd: \n"
                                  "sprintd: warning: acme: sprintd: error\n"
                                  "sprintd: warning: acme: sprintd: error:\n");
}

TEST(no_terminal_is_given_orders)
{
    SAYS("\x1b]0;mine\a\x9b"
         "31m\r\xc2\x9b and no more\0\n");
    assert_string_equal(
        in_log(), "sprintd: warning: acme: ?]0;mine??31m??? and no more?\n");
}

TEST(a_line_may_come_in_pieces)
{
    SAYS("sprintd: err");
    assert_string_equal(in_log(), "");
    SAYS("or: acme: wh");
    assert_string_equal(in_log(), "");
    SAYS("y\n\n\n");
    assert_string_equal(in_log(), "sprintd: error: acme: why\n");
}

TEST(the_last_line_needs_no_end)
{
    SAYS("one\ntwo");
    program_log_pass_last(&program);
    assert_string_equal(in_log(), "sprintd: warning: acme: one\n"
                                  "sprintd: warning: acme: two\n");
    program_log_pass_last(&program);
    assert_string_equal(in_log(), "");
}

TEST(a_line_has_its_most)
{
    char text[4 * PROGRAM_LOG_LINE_MAX];
    const char *line;

    memset(text, 'a', sizeof(text));
    says(text, sizeof(text));
    SAYS("\nnext\n");
    line = in_log();
    assert_int_equal(strspn(strstr(line, "acme: ") + 6, "a"),
                     PROGRAM_LOG_LINE_MAX);
    assert_non_null(strstr(line, "acme: next\n"));
}

TEST(a_flood_is_cut_short)
{
    unsigned count = 0;

    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 500; k++)
            SAYS("x\n");
        for (const char *at = in_log(); (at = strchr(at, '\n')); at++)
            count++;
    }
    assert_true(count >= 100);
    assert_true(count < 5000); /* a slow machine has one more every 100 ms */
}

TEST(nobody_waits_for_a_program_that_says_nothing)
{
    program_log_pass(&program);
    assert_string_equal(in_log(), "");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
