#include "http/priority.h"

#include "suite.h"
#include "unit/draw.h"

static struct priority read_over(struct priority priority, const char *text)
{
    priority_read(&priority, bytes_of(text));
    return priority;
}

static void expect(const char *text, unsigned urgency, bool is_incremental)
{
    struct priority priority = read_over(PRIORITY_DEFAULT, text);

    if (priority.urgency != urgency ||
        priority.is_incremental != is_incremental)
        fail_msg("'%s': u=%u, i=%d", text, priority.urgency,
                 priority.is_incremental);
}

TEST(both_parameters_are_read)
{
    expect("", 3, false);
    expect("u=0", 0, false);
    expect("u=7, i", 7, true);
    expect("i,u=1", 1, true);
    expect("  u=1 ,\ti=?1  ", 1, true);
    expect("u=1, i=?0", 1, false);
    expect("u=5, u=2", 2, false); /* the last counts: RFC 8941 3.2 */
}

TEST(what_it_does_not_know_is_passed_over)
{
    expect("x=12, u=1", 1, false);
    expect("a=\"u=7, \\\"\", u=2", 2, false);
    expect("u=2;x=1;y, i;z=\"a;b\"", 2, true);
    expect("*k-1.a_=tok/en, i", 3, true);
    expect("x=(1 2), u=1", 1, false); /* an inner list: RFC 8941 3.1.1 */
    expect("u=2, x=(\"a)\" b;c=1);d, i", 2, true);
    expect("x=(), u=1", 1, false);
    expect("u=(1 2), i", 3, true);
}

TEST(a_value_that_is_none_says_nothing)
{
    expect("u=8", 3, false);
    expect("u=-1", 3, false);
    expect("u=1.0", 3, false);
    expect("u=12", 3, false);
    expect("u", 3, false);
    expect("i=1", 3, false);
    expect("i=yes", 3, false);
}

TEST(what_is_no_dictionary_says_nothing_at_all)
{
    expect("u=1,", 3, false);
    expect("u=1,,i", 3, false);
    expect("u=1 i", 3, false);
    expect("=1, u=1", 3, false);
    expect("u=, i", 3, false);
    expect("u=1, a=\"x", 3, false);
    expect("U=1", 3, false);
    expect("u=1;", 3, false);
    expect("u=1, x=(1 2", 3, false);
    expect("u=1, x=(\"a)", 3, false);
    expect("u=1, x;y=(1 2)", 3, false);
}

TEST(what_is_not_said_stays)
{
    struct priority before = {.urgency = 5, .is_incremental = true};

    assert_int_equal(read_over(before, "u=1").urgency, 1);
    assert_true(read_over(before, "u=1").is_incremental);
    assert_int_equal(read_over(before, "i=?0").urgency, 5);
    assert_false(read_over(before, "i=?0").is_incremental);
}

TEST(any_bytes_are_read_to_their_end)
{
    static const char bytes[] = "ui=?01,; \t\"\\a*";
    char text[24];

    for (int run = 0; run < 20000; run++) {
        size_t len = draw(sizeof(text));
        struct priority priority = PRIORITY_DEFAULT;

        for (size_t i = 0; i < len; i++)
            text[i] = bytes[draw(sizeof(bytes))];
        priority_read(&priority, (struct bytes){text, len});
        assert_true(priority.urgency <= PRIORITY_URGENCY_MAX);
    }
}
