#include "config/suggest.h"

#include "suite.h"

static const char *const names[] = {"port",  "root",  "respond", "respond-type",
                                    "allow", "index", "workers"};

static const char *find(const char *name)
{
    struct suggest suggest;

    suggest_init(&suggest, bytes_of(name));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        suggest_consider(&suggest, names[i]);
    return suggest.found;
}

TEST(a_slip_is_near)
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *found = find(cases[i][0]);

        if (!found)
            fail_msg("nothing is near %s", cases[i][0]);
        assert_string_equal(found, cases[i][1]);
    }
}

TEST(another_word_is_not)
{
    static const char *const cases[] = {"",       "x",    "ab",
                                        "listen", "zzzz", "cache-control"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (find(cases[i]))
            fail_msg("%s is near %s", cases[i], find(cases[i]));
}

TEST(of_two_as_near_the_first_counts)
{
    struct suggest suggest;

    suggest_init(&suggest, BYTES("sort"));
    suggest_consider(&suggest, "port");
    suggest_consider(&suggest, "fort");
    assert_string_equal(suggest.found, "port");
    suggest_consider(&suggest, "sort");
    assert_string_equal(suggest.found, "sort");
}

TEST(names_beyond_all_length_are_near_nothing)
{
    static char lots[66];
    struct suggest suggest;

    memset(lots, 'a', 65);
    suggest_init(&suggest, (struct bytes){lots, 64});
    suggest_consider(&suggest, lots); /* 65 */
    assert_null(suggest.found);
    suggest_consider(&suggest, lots + 1);
    assert_ptr_equal(suggest.found, lots + 1);
    suggest_init(&suggest, (struct bytes){lots, 65});
    suggest_consider(&suggest, lots + 1);
    assert_null(suggest.found);
}
