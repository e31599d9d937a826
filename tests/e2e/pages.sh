#!/bin/sh
# pages.sh - what the documentation says is so: its commands run, its
# configurations are sound, its links lead somewhere; see pages.py.
#
# Environment: BUILD, where the release was built; SPRINTD, the program. Prints
# what cmocka prints.
set -u

BUILD=${BUILD:-build}
SPRINTD=${SPRINTD:-$PWD/$BUILD/release/sprintd}
export SPRINTD
. tests/e2e/ok.sh

PAGES='README.md CHANGELOG.md docs/*.md'

# test_of PAGE: the page's name as a test's.
test_of()
{
    basename "$1" .md | tr '[:upper:]-' '[:lower:]_'
}

the_tool_finds_faults()
{
    cat >"$place/bad.md" <<'PAGE'
# Bad

```sh run
false
```

```sh
true
```

```sprintd
prot = 80
```

```text output
never said
```

See `--no-such-option`, `src/nobody.c`, `engine/nothing.h` and [nothing](nowhere.md), [none](#none).

```sh run
sprintd --no-such-thing
```

```sh make
make no-such-target
```
PAGE
    not python3 tests/e2e/pages.py run "$place/bad.md" >"$place/run" ||
        grep -q 'no network\|is missing' "$place/run"
    not python3 tests/e2e/pages.py check "$place/bad.md" >"$place/check"
    cat "$place/check"
    for text in "'sh ' is none of" "did you mean 'port'" \
        'no option --no-such-option' 'no file: nowhere.md' \
        'no heading: #none' 'sprintd has no --no-such-thing' \
        'no target no-such-target' 'has no src/nobody.c' \
        'has no engine/nothing.h'; do
        grep -qF "$text" "$place/check"
    done
}

# A command that fails ends the page; what is not printed is missed.
the_tool_runs_commands()
{
    printf '```sh run\nsprintd --version\n```\n```text output\n%s\n```\n' \
        'sprintd 0.' >"$place/good.md"
    python3 tests/e2e/pages.py run "$place/good.md"
    sed 's/sprintd 0\./sprintd 99./' "$place/good.md" >"$place/other.md"
    not python3 tests/e2e/pages.py run "$place/other.md"
    sed 's/sprintd --version/&; false/' "$place/good.md" >"$place/fails.md"
    not python3 tests/e2e/pages.py run "$place/fails.md"
}

ok the_tool_finds_faults
printf '```sh run\ntrue\n```\n' >"$place/none.md"
python3 tests/e2e/pages.py run "$place/none.md" >"$place/why"
if [ $? -eq 77 ]; then
    can_run=
    skip the_tool_runs_commands "$(cat "$place/why")"
else
    can_run=yes
    ok the_tool_runs_commands
fi
for page in $PAGES; do
    test=$(test_of "$page")
    eval "${test}_is_sound() { python3 tests/e2e/pages.py check $page; }
        the_commands_of_${test}_do_what_it_says() {
            python3 tests/e2e/pages.py run $page
        }"
    ok "${test}_is_sound"
    if [ -n "$can_run" ]; then
        ok "the_commands_of_${test}_do_what_it_says"
    else
        skip "the_commands_of_${test}_do_what_it_says" "$(cat "$place/why")"
    fi
done
say_how_many
