#!/bin/sh
# run.sh - runs test programs, two at a time, and counts.
#
# usage: run.sh PROGRAM...
#
# A program that passes gets one line; one that fails has its output shown in
# full. The last line is `N passed, M failed`; the status is 1 when M > 0.
#
# A program whose source says `alone: ` in its first comment compares times: it
# runs after the others, with nothing beside it. An end-to-end program that fails
# is run once more, alone, after all of them: what is wrong fails twice, what was
# only slow does not. Both outputs are shown, and the last line counts how often.
#
# PROGRAM prints what cmocka prints. One that dies, does not end within TIMEOUT
# seconds, or makes a sanitizer speak, itself or in a child, has failed too. A
# script may ask for more time, in a line `# seconds: N`.
#
# Environment: SPRINTD, the server that end-to-end tests start; TIMEOUT; JOBS.
set -u

BUILD=${BUILD:-build}
TIMEOUT=${TIMEOUT:-300}
export BUILD TIMEOUT

# Reports go to files, so that a child's report is seen though it was killed.
sanitizer_options()
{
    reports="log_path=$1:halt_on_error=1:exitcode=99"
    ASAN_OPTIONS="$reports:detect_leaks=1:detect_stack_use_after_return=1"
    ASAN_OPTIONS="$ASAN_OPTIONS:strict_string_checks=1"
    UBSAN_OPTIONS="$reports:print_stacktrace=1"
    TSAN_OPTIONS="$reports:second_deadlock_stack=1:history_size=4"
    export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
}

# The sum of N over the lines `[  WORD  ] N test(s)` of a file.
count()
{
    sed -n "s/.*\[  *$1 *\] \([0-9][0-9]*\) test(s).*/\1/p" "$2" |
        awk '{ n += $1 } END { print n + 0 }'
}

reported='a sanitizer reports' # is never a matter of time

is_end_to_end()
{
    case $1 in
    */e2e/*) return 0 ;;
    esac
    return 1
}

# Where a program comes from: itself, or tests/ROOM/NAME.c of BUILD/FLAVOUR/ROOM.
source_of()
{
    case $1 in
    *.sh) echo "$1" ;;
    *) echo "tests/${1#"$BUILD"/*/}.c" ;;
    esac
}

runs_alone()
{
    sed -n '/^#include/q; /^set /q; s/^.*alone: .*/yes/p' \
        "$(source_of "$1")" 2>/dev/null | grep -q yes
}

# Runs one program, which has so many tries left; leaves "PASSED FAILED SKIPPED"
# in $results/<name>.result, or its name in $results/again.
run_one()
{
    program=$1
    tries=$2
    name=${program#"$BUILD"/}
    label=${name#*/}
    base=$results/$(echo "$name" | tr / _)
    target=$(basename "$program")
    set --
    case $name in
    */replay/*)
        set -- "tests/fuzz/corpus/$target" "tests/fuzz/crashes/$target"
        ;;
    esac

    sanitizer_options "$base.report"
    limit=$TIMEOUT
    case $program in
    *.sh)
        asked=$(sed -n 's/^# seconds: \([0-9]*\)$/\1/p' "$program")
        [ "${asked:-0}" -le "$limit" ] || limit=$asked
        ;;
    esac
    begin=$(date +%s)
    # In the background, so that a signal to us reaches the program too; a
    # shell starts such a child with SIGINT ignored, which env undoes.
    env --default-signal=INT,QUIT timeout -k 10 "$limit" "$program" "$@" \
        >"$base.log" 2>&1 </dev/null &
    child=$!
    trap 'kill "$child"; exit 130' INT TERM
    wait "$child"
    status=$?
    trap - INT TERM
    seconds=$(($(date +%s) - begin))

    passed=$(count PASSED "$base.log")
    failed=$(count FAILED "$base.log")
    skipped=$(count SKIPPED "$base.log")
    why=
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        why="not done after $limit seconds"
    elif [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        why="status $status"
    elif [ $((passed + failed + skipped)) -eq 0 ]; then
        why='no test ran'
    fi
    for report in "$base".report*; do
        [ -s "$report" ] || continue
        cat "$report" >>"$base.log"
        why=$reported
    done
    if [ -n "$why" ] && [ "$failed" -eq 0 ]; then
        failed=1
    fi
    word=FAIL
    if [ "$failed" -gt 0 ] && [ "$tries" -gt 1 ] &&
        [ "$why" != "$reported" ] && is_end_to_end "$program"; then
        word=AGAIN
        echo "$program" >>"$results/again"
    else
        echo "$passed $failed $skipped" >"$base.result"
    fi

    if [ "$failed" -eq 0 ]; then
        text=$(printf '  ok    %-36s %4d passed %3d s' \
            "$label" "$passed" "$seconds")
        [ "$skipped" -eq 0 ] || text="$text, $skipped skipped"
        echo "$text"
    else
        text=$(cat "$base.log")
        printf '%s\n  %-5s %s (%s): %d failed%s\n' \
            "$text" "$word" "$label" "${name%%/*}" "$failed" "${why:+, $why}"
    fi
}

if [ "${1-}" = --one ]; then
    results=$2
    run_one "$4" "$3"
    exit 0
fi

# run_all JOBS TRIES: those whose names it reads.
run_all()
{
    xargs -r -P "$1" -I PROGRAM sh "$0" --one "$results" "$2" PROGRAM
}

mkdir -p "$BUILD"
results=$(mktemp -d "$PWD/$BUILD/tests.XXXXXX" 2>/dev/null ||
    mktemp -d "$BUILD/tests.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
: >"$results/alone"
: >"$results/beside"
: >"$results/again"
for program; do
    if runs_alone "$program"; then
        echo "$program" >>"$results/alone"
    else
        echo "$program" >>"$results/beside"
    fi
done
run_all "${JOBS:-2}" 2 <"$results/beside"
run_all 1 2 <"$results/alone"
run_all 1 1 <"$results/again"

cat "$results"/*.result 2>/dev/null |
    awk -v programs=$# -v again="$(wc -l <"$results/again")" '
    { passed += $1; failed += $2; skipped += $3; seen++ }
    END {
        failed += programs - seen
        printf "%d passed, %d failed", passed, failed
        if (skipped)
            printf ", %d skipped", skipped
        if (again > 0)
            printf ", %d run again", again
        print ""
        exit (failed > 0)
    }'
