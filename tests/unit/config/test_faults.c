#include "config/faults.h"

#include "suite.h"

static struct faults faults;
static char *said;

static const char *print(void)
{
    size_t len;
    FILE *to;

    free(said);
    to = open_memstream(&said, &len);
    assert_non_null(to);
    faults_print(&faults, to);
    assert_int_equal(fclose(to), 0);
    return said;
}

static int tear_down(void **state)
{
    (void)state;
    faults_fini(&faults);
    faults.file = NULL;
    free(said);
    said = NULL;
    return 0;
}

TEST(faults_are_told_in_the_order_of_lines)
{
    faults.file = "f";
    faults_add(&faults, 7, "seven");
    faults_add(&faults, 2, "two, %s", "first");
    faults_add(&faults, 0, "all");
    faults_add(&faults, -1, "above");
    faults_add(&faults, 2, "two, %s", "second");
    assert_string_equal(print(), "sprintd: above\nf: all\nf:2: two, first\n"
                                 "f:2: two, second\nf:7: seven\n");
    assert_int_equal(faults.count, 5);
}

TEST(without_a_file_it_is_the_program)
{
    faults_add(&faults, -1, "one");
    faults_add(&faults, 3, "three");
    assert_string_equal(print(), "sprintd: one\nsprintd: three\n");
}

TEST(of_many_the_rest_is_counted)
{
    faults.file = "f";
    for (int i = 1; i <= FAULTS_MAX; i++)
        faults_add(&faults, i, "fault");
    assert_null(strstr(print(), "more"));
    faults_add(&faults, 1, "one too many");
    faults_add(&faults, 1, "another");
    assert_int_equal(faults.count, FAULTS_MAX + 2);
    assert_non_null(strstr(print(), "\nf:1000: fault\nf: and 2 more\n"));
    assert_null(strstr(said, "too many"));
}

TEST(a_text_cannot_move_the_cursor_and_has_an_end)
{
    char lots[2 * FAULT_BYTES_MAX];

    faults_add(&faults, 0, "a\x1b[2Jb\nc\x7f");
    assert_string_equal(print(), "sprintd: a?[2Jb?c?\n");
    faults_fini(&faults);
    memset(lots, 'x', sizeof(lots) - 1);
    lots[sizeof(lots) - 1] = '\0';
    faults_add(&faults, 0, "%s", lots);
    assert_int_equal(strlen(print()),
                     sizeof("sprintd: \n") - 1 + FAULT_BYTES_MAX - 1);
}

TEST(emptied_they_still_know_their_file)
{
    faults.file = "f";
    faults_add(&faults, 1, "fault");
    faults_fini(&faults);
    assert_string_equal(print(), "");
    faults_add(&faults, 2, "other");
    assert_string_equal(print(), "f:2: other\n");
}

SUITE(.each_end = tear_down);
