#include "config/option_table.h"

#include "suite.h"

TEST(a_row_is_found_by_its_number_and_by_its_name)
{
    assert_true(option_count() > 100);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option_row *row = option_row(i);

        assert_int_equal(option_number(row), i);
        assert_ptr_equal(option_find(bytes_of(row->name)), row);
    }
    assert_null(option_find(BYTES("roo")));
    assert_null(option_find(BYTES("rooty")));
    assert_null(option_find(BYTES("")));
}

TEST(no_letter_and_no_group_is_there_twice)
{
    for (size_t i = 0; i < option_count(); i++)
        for (size_t k = 0; k < i; k++) {
            const struct option_row *one = option_row(k);
            const struct option_row *other = option_row(i);

            if (one->letter && one->letter == other->letter)
                fail_msg("-%c is --%s and --%s", one->letter, one->name,
                         other->name);
            if (one->group && other->group)
                assert_string_not_equal(one->group, other->group);
        }
}

TEST(the_first_row_begins_a_group)
{
    assert_non_null(option_row(0)->group);
}

TEST(a_value_that_is_no_choice_has_no_name)
{
    const struct option_row *row = option_find(BYTES("schedule"));

    assert_string_equal(option_choice_name(row->choices, 99), "?");
    for (const struct option_choice *choice = row->choices; choice->name;
         choice++)
        assert_string_equal(option_choice_name(row->choices, choice->value),
                            choice->name);
}
