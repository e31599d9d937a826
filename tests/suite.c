#include "suite.h"

/* Not of the heap: a program may play that there is none left. */
enum { TESTS_MAX = 256 };
static const struct suite_test *tests[TESTS_MAX];
static struct CMUnitTest list[TESTS_MAX];

/* Made by the linker, of the section that SUITE_TEST() names. */
extern const struct suite_test *__start_suite_tests[];
extern const struct suite_test *__stop_suite_tests[];

/* The compiler may leave them in any order. */
static int compare_lines(const void *a, const void *b)
{
    const struct suite_test *const *first = a;
    const struct suite_test *const *second = b;

    return (*first)->line - (*second)->line;
}

static struct CMUnitTest list_one(const struct suite_test *test)
{
    struct CMUnitTest listed = {.name = test->name, .test_func = test->run};

    if (test->is_own) {
        listed.setup_func = test->begin;
        listed.teardown_func = test->end;
    } else if (&suite) {
        listed.setup_func = suite.each_begin;
        listed.teardown_func = suite.each_end;
    }
    return listed;
}

int suite_run(void)
{
    size_t count = (size_t)(__stop_suite_tests - __start_suite_tests);

    assert_in_range(count, 1, TESTS_MAX);
    memcpy(tests, __start_suite_tests, count * sizeof(*tests));
    qsort(tests, count, sizeof(*tests), compare_lines);
    for (size_t i = 0; i < count; i++)
        list[i] = list_one(tests[i]);
    if (&suite && suite.run)
        return suite.run(list, count);
    return _cmocka_run_group_tests("tests", list, count,
                                   &suite ? suite.begin : NULL,
                                   &suite ? suite.end : NULL);
}
