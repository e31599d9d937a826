#!/bin/sh
# reader.sh - what a reader of a page sees, in miniature: Chromium opens a page of
# 70 files by HTTP/2 over a narrow link, alone, beside a download and among
# visitors; everything comes, and nothing is left behind.
#
# Environment: BUILD, where the release was built. Prints what cmocka prints.
#
# alone: it needs both CPUs for seconds
# seconds: 180
set -u

BUILD=${BUILD:-build}
PATH=$PATH:/usr/sbin:/sbin
export BUILD PATH
. tests/e2e/ok.sh

# As the program says it of every case: first paint, largest paint, load.
a_page_of_seventy_files_is_seen_in_each_case()
{
    TMPDIR=$place python3 bench/reader.py --quick >"$place/told" 2>&1 &
    echo $! >"$place/laboratory"
    wait $! || {
        cat "$place/told"
        false
    }
    cat "$place/told"
    grep -q '^a page of 70 files, 1\.[89]' "$place/told"
    for case in alone download visitors; do
        grep -Eq "^round 1, sprintd: .*$case [1-9][0-9]* / [1-9][0-9]* / [1-9]" \
            "$place/told"
    done
    grep -Eq '^\| sprintd \| [0-9,]+ / [0-9,]+ / [0-9,]+ ' "$place/told"
}

nothing_is_left()
{
    laboratory=$(cat "$place/laboratory")
    not ls -d "$place"/sprintd-link-*
    not grep "sprintd-link-$laboratory-" /proc/mounts
}

why=$(PYTHONPATH=bench python3 -c '
from reader import measure
print(measure.missing())') || why="bench/reader cannot be loaded: $why"
if [ -n "$why" ]; then
    skip a_page_of_seventy_files_is_seen_in_each_case "$why"
    say_how_many
    exit
fi
ok a_page_of_seventy_files_is_seen_in_each_case
ok nothing_is_left
say_how_many
