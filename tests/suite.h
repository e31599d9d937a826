/*
 * suite - the tests of a program, each written down once.
 *
 * TEST(name) { ... } defines a test and puts it on the program's list; they run
 * in the order of their lines. What runs before and after them the program says
 * once, in a SUITE(...), or for a single test by TEST_WITH(). A program has no
 * main() of its own, unless it must do something else first.
 *
 * What nearly all tests include is included here: cmocka, and what it wants
 * before itself.
 *
 * Thread: one, which runs the tests.
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What a program may say about its tests. All may be NULL. */
struct suite {
    CMFixtureFunction begin, end;           /* around all of them */
    CMFixtureFunction each_begin, each_end; /* around each of them */
    /* Runs the list, perhaps more than once; how many failed. */
    int (*run)(const struct CMUnitTest *tests, size_t count);
};

extern const struct suite suite __attribute__((weak));

#define SUITE(...) const struct suite suite = {__VA_ARGS__}

struct suite_test {
    const char *name;
    CMUnitTestFunction run;
    CMFixtureFunction begin, end;
    bool is_own; /* begin and end are its own, in the place of the suite's */
    int line;
};

/* The linker gathers the pointers to all tests of a program; the last line
 * begins the test's function. */
#define SUITE_TEST(name, begin, end, is_own)                                \
    static void name(void **state);                                         \
    static const struct suite_test name##_test = {#name, name,   begin,     \
                                                  end,   is_own, __LINE__}; \
    static const struct suite_test *const name##_listed                     \
        __attribute__((section("suite_tests"), used)) = &name##_test;       \
    static void name(void **state __attribute__((unused)))

#define TEST(name) SUITE_TEST(name, NULL, NULL, false)
#define TEST_WITH(name, begin, end) SUITE_TEST(name, begin, end, true)

/* Runs all tests of the program; how many failed. */
int suite_run(void);

#endif
