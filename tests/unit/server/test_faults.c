#include "server/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

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

static void faults_are_told_in_the_order_of_lines(void **state)
{
    (void)state;
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

static void without_a_file_it_is_the_program(void **state)
{
    (void)state;
    faults_add(&faults, -1, "one");
    faults_add(&faults, 3, "three");
    assert_string_equal(print(), "sprintd: one\nsprintd: three\n");
}

static void of_many_the_rest_is_counted(void **state)
{
    (void)state;
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

static void a_text_cannot_move_the_cursor_and_has_an_end(void **state)
{
    char lots[2 * FAULT_BYTES_MAX];

    (void)state;
    faults_add(&faults, 0, "a\x1b[2Jb\nc\x7f");
    assert_string_equal(print(), "sprintd: a?[2Jb?c?\n");
    faults_fini(&faults);
    memset(lots, 'x', sizeof(lots) - 1);
    lots[sizeof(lots) - 1] = '\0';
    faults_add(&faults, 0, "%s", lots);
    assert_int_equal(strlen(print()),
                     sizeof("sprintd: \n") - 1 + FAULT_BYTES_MAX - 1);
}

static void emptied_they_still_know_their_file(void **state)
{
    (void)state;
    faults.file = "f";
    faults_add(&faults, 1, "fault");
    faults_fini(&faults);
    assert_string_equal(print(), "");
    faults_add(&faults, 2, "other");
    assert_string_equal(print(), "f:2: other\n");
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(faults_are_told_in_the_order_of_lines),
        TEST(without_a_file_it_is_the_program),
        TEST(of_many_the_rest_is_counted),
        TEST(a_text_cannot_move_the_cursor_and_has_an_end),
        TEST(emptied_they_still_know_their_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
