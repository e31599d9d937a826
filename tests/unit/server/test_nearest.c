#include "server/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const names[] = {"port",  "root",  "respond", "respond-type",
                                    "allow", "index", "workers"};

static const char *find(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, bytes_of(name));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        nearest_consider(&nearest, names[i]);
    return nearest.found;
}

static void a_slip_is_near(void **state)
{
    static const char *const cases[][2] = {
        {"prot", "port"},
        {"rooot", "root"},
        {"rot", "root"},
        {"indes", "index"},
        {"allows", "allow"},
        {"worker", "workers"},
        {"respond_type", "respond-type"},
        {"responde", "respond"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *found = find(cases[i][0]);

        if (!found)
            fail_msg("nothing is near %s", cases[i][0]);
        assert_string_equal(found, cases[i][1]);
    }
}

static void another_word_is_not(void **state)
{
    static const char *const cases[] = {"",       "x",    "ab",
                                        "listen", "zzzz", "cache-control"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (find(cases[i]))
            fail_msg("%s is near %s", cases[i], find(cases[i]));
}

static void of_two_as_near_the_first_counts(void **state)
{
    struct nearest nearest;

    (void)state;
    nearest_init(&nearest, BYTES("sort"));
    nearest_consider(&nearest, "port");
    nearest_consider(&nearest, "fort");
    assert_string_equal(nearest.found, "port");
    nearest_consider(&nearest, "sort");
    assert_string_equal(nearest.found, "sort");
}

static void names_beyond_all_length_are_near_nothing(void **state)
{
    static char lots[66];
    struct nearest nearest;

    (void)state;
    memset(lots, 'a', 65);
    nearest_init(&nearest, (struct bytes){lots, 64});
    nearest_consider(&nearest, lots); /* 65 */
    assert_null(nearest.found);
    nearest_consider(&nearest, lots + 1);
    assert_ptr_equal(nearest.found, lots + 1);
    nearest_init(&nearest, (struct bytes){lots, 65});
    nearest_consider(&nearest, lots + 1);
    assert_null(nearest.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_is_near),
        cmocka_unit_test(another_word_is_not),
        cmocka_unit_test(of_two_as_near_the_first_counts),
        cmocka_unit_test(names_beyond_all_length_are_near_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
