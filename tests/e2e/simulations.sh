#!/bin/sh
# simulations.sh - the programs that ask which order pays are made of the server's
# own modules, and print their tables, in miniature.
#
# Environment: BUILD, where the release was built. Prints what cmocka prints.
#
# seconds: 120
set -u

BUILD=${BUILD:-build}
export BUILD
. tests/e2e/ok.sh

# simulate TARGET ARGUMENTS ROWS: the target prints so many rows at least, each
# with a number, and nothing that is none.
simulate()
{
    env -u MAKEFLAGS -u MAKELEVEL make -s BUILD="$BUILD" "$1" ARGS="$2" \
        >"$place/table"
    [ "$(grep -c '^|.*[1-9]' "$place/table")" -ge "$3" ]
    not grep -w -e nan -e inf "$place/table"
}

orders_of_replies_are_told()
{
    simulate bench-order '0.3 1' 20
}

orders_of_pages_are_told()
{
    simulate bench-pages '1 1' 60
}

a_link_further_away_is_told()
{
    simulate bench-far '0.3 1' 10
}

ok orders_of_replies_are_told
ok orders_of_pages_are_told
ok a_link_further_away_is_told
say_how_many
