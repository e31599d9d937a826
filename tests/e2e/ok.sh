# ok.sh - what test programs of the shell share; they print what cmocka prints.
#
# To be sourced; $place is a folder of the program's own, until it ends.
# shellcheck shell=sh
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
trap 'exit 130' INT TERM

passed=0
failed=0
skipped=0

# ok NAME: the test of that name, a function, in a shell of its own that the
# first failing command ends; which it would not as a condition.
ok()
{
    (set -e; "$1") >"$place/said" 2>&1
    # shellcheck disable=SC2181
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
        echo "[       OK ] $1"
    else
        failed=$((failed + 1))
        cat "$place/said"
        echo "[  FAILED  ] $1"
    fi
}

# not COMMAND...: it must fail; of `! command` the shell would take no notice.
not()
{
    if "$@"; then
        return 1
    fi
}

# skip NAME WHY
skip()
{
    skipped=$((skipped + 1))
    echo "[  SKIPPED ] $1: $2"
}

# What a program ends with; its status is the program's.
say_how_many()
{
    echo "[  PASSED  ] $passed test(s)."
    [ "$failed" -eq 0 ] || echo "[  FAILED  ] $failed test(s)."
    [ "$skipped" -eq 0 ] || echo "[  SKIPPED ] $skipped test(s)."
    [ "$failed" -eq 0 ]
}
