#!/bin/sh
# scripts.sh - what the scripts of our pages do, where there is a node to run
# them (scripts.js). Prints what cmocka prints.
set -u

. tests/e2e/ok.sh

a_get_that_fails_leaves_no_old_value()
{
    node tests/e2e/scripts.js a_get_that_fails_leaves_no_old_value
}

the_etag_of_a_get_is_one_to_put_by()
{
    node tests/e2e/scripts.js the_etag_of_a_get_is_one_to_put_by
}

what_has_never_happened_is_a_dash()
{
    node tests/e2e/scripts.js what_has_never_happened_is_a_dash
}

figures_of_a_legend_stay_where_they_are()
{
    node tests/e2e/scripts.js figures_of_a_legend_stay_where_they_are
}

a_listing_is_sorted_by_the_column_that_was_clicked()
{
    node tests/e2e/scripts.js a_listing_is_sorted_by_the_column_that_was_clicked
}

for test in a_listing_is_sorted_by_the_column_that_was_clicked \
    a_get_that_fails_leaves_no_old_value \
    the_etag_of_a_get_is_one_to_put_by \
    what_has_never_happened_is_a_dash figures_of_a_legend_stay_where_they_are; do
    if command -v node >/dev/null; then
        ok "$test"
    else
        skip "$test" 'there is no node'
    fi
done
say_how_many
