#!/bin/sh
# tidy.sh - clang-tidy on some sources, quiet unless it finds something.
#
# usage: tidy.sh FLAG... SOURCE...     FLAG begins with -, SOURCE does not
set -u

flags=
sources=
for word in "$@"; do
    case $word in
    -*) flags="$flags $word" ;;
    *) sources="$sources $word" ;;
    esac
done

# shellcheck disable=SC2086
clang-tidy --quiet $sources -- $flags 2>"${TMPDIR:-/tmp}/tidy.$$"
status=$?
# On stderr it counts the warnings it did not show; the rest is ours to see.
grep -v 'warnings\{0,1\} generated\.$' "${TMPDIR:-/tmp}/tidy.$$" >&2
rm -f "${TMPDIR:-/tmp}/tidy.$$"
exit $status
