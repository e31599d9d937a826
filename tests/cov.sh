#!/bin/sh
# cov.sh - a table of line coverage, from what gcov -n says on standard input.
set -eu
awk '
    /^File / {
        gsub(/\047/, "", $2)
        file = $2
    }
    /^Lines executed/ && file ~ /^src\// {
        split($0, part, /[:% ]+/)
        share = part[3]
        lines = part[5]
        printf "%6.1f %%  %5d lines  %s\n", share, lines, file
        all += lines
        run += lines * share / 100
        file = ""
    }
    END {
        if (all)
            printf "%6.1f %%  %5d lines  in all\n", 100 * run / all, all
    }'
