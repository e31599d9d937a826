#!/bin/sh
# lab.sh - the laboratory in miniature: every experiment runs, a run that is
# broken off goes on, the report is made, nothing is left behind.
#
# Environment: BUILD, where the release was built. Prints what cmocka prints.
#
# All experiments in miniature, on a machine that may be slow:
# seconds: 900
set -u

BUILD=${BUILD:-build}
PATH=$PATH:/usr/sbin:/sbin
export BUILD PATH
. tests/e2e/ok.sh

out=$place/out
log=$place/log

# laboratory ARGUMENT...: in the place of this shell, with temporary folders
# below ours.
laboratory()
{
    mkdir -p "$place/tmp"
    export TMPDIR="$place/tmp"
    exec env --default-signal=INT \
        python3 bench/laboratory.py --quick --out "$out" "$@" >"$log" 2>&1
}

# The same where only what `make test` installs can be found, and the root is
# no mount point.
laboratory_of_a_bare_machine()
{
    python3 - --quick --out "$out" "$@" >"$log" 2>&1 <<'END'
import runpy, sys
sys.path.insert(0, "bench")
from lab import machine, servers
find, read = servers.find, machine._read
servers.find = lambda program: (
    find(program) if program in ("wrk", "httperf", "ab", "gnuplot", "taskset",
                                 *servers.Floor.compiler) else None)
machine._read = lambda path: (
    "proc /proc proc rw 0 0\n" if path == "/proc/mounts" else read(path))
sys.argv[0] = "bench/laboratory.py"
runpy.run_path(sys.argv[0], run_name="__main__")
END
}

# The same, and this shell goes on.
laboratory_alone()
{
    (laboratory "$@")
}

# Nothing is left of what it started, nor of its files.
is_left()
{
    [ -n "$(ls "$place/tmp")" ] ||
        grep -la "$place/[t]mp" /proc/[0-9]*/cmdline 2>/dev/null
}

nothing_is_left()
{
    tries=0
    while is_left; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ]
        sleep 0.2
    done
}

# wait_for FILE: for a minute or two, until it is there.
wait_for()
{
    tries=0
    until [ -e "$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ]
        sleep 0.2
    done
}

# result NAME FIELD: of a JSON file, "" when it is null.
result()
{
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1])).get(sys.argv[2])
print(value if value is not None else "")' "$out/results/$1.json" "$2"
}

a_run_that_is_broken_off_says_so_and_ends_all()
{
    laboratory &
    wait_for "$out/results/$first.json"
    not python3 bench/laboratory.py --quick --out "$out" 2>"$place/second"
    grep -q 'another run writes to ' "$place/second"
    kill -INT $!
    not wait $!
    cat "$log"
    grep -q 'interrupted; everything it started has ended' "$log"
    nothing_is_left
    [ -s "$out/lab.json" ]
}

the_next_run_goes_on_from_there()
{
    stat -c %Y%i "$out/results/$first.json" >"$place/first"
    laboratory_alone || status=$?
    cat "$log"
    grep -q '^going on: [1-9]' "$log"
    stat -c %Y%i "$out/results/$first.json" | cmp - "$place/first"
    [ ! -e "$out/lab.json" ]
    nothing_is_left
    # What could not be done here makes no success, and is no news to us.
    [ "${status-0}" -eq 0 ] || grep -q ': not measured: ' "$log"
}

# Tables in both forms, something drawn, and something read from it.
the_experiment_is_whole()
{
    cat "$log"
    [ "$(wc -l <"$out/results/$name.csv")" -gt 1 ]
    python3 - "$out/results/$name.json" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))["result"]
assert result["tables"] and all(
    len(row) == len(table["columns"])
    for table in result["tables"] for row in table["rows"]), "tables"
assert result["figures"] and result["claims"] and result["reading"], "parts"
END
    if command -v gnuplot; then
        grep -q '</svg>' "$out/results/$name"-*.svg
    fi
    grep -q "results/$name-.*svg\|^## " "$out/REPORT.md"
}

# Its results are another folder's: they are not looked at.
what_a_killed_run_leaves_goes_with_the_next()
{
    out=$place/killed
    laboratory session-length &
    tries=0
    until is_left; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ]
        sleep 0.1
    done
    kill -KILL $!
    not wait $!
    is_left
    laboratory_alone "$first" || true
    nothing_is_left
}

# A compiler that is killed cannot remove what it has written.
a_compiler_that_is_killed_leaves_nothing()
{
    cat >"$place/cc" <<'END'
#!/bin/sh
[ "$1" != --version ] || exec echo 1
: >"${TMPDIR:-/tmp}/ccTEST.s"
: >"${0%cc}compiling"
exec sleep 60
END
    chmod +x "$place/cc"
    out=$place/compiled
    CC=$place/cc laboratory peers &
    wait_for "$place/compiling"
    kill -INT $!
    not wait $!
    cat "$log"
    nothing_is_left
}

a_result_that_is_broken_is_none()
{
    cp -r "$out" "$place/broken"
    head -c 1000 "$out/results/$first.json" \
        >"$place/broken/results/$first.json"
    echo '{"result": {"tables": [{}]}}' >"$place/broken/results/peers.json"
    echo '[]' >"$place/broken/results/proxy.json"
    out=$place/broken
    laboratory_alone --report
    tr '\n' ' ' <"$out/REPORT.md" |
        grep -q 'Not measured yet: 1\. [^#]*, 11\. Proxy, 14\. Peers\.'
}

one_experiment_is_measured_when_it_is_named()
{
    rm "$out/results/$first.json"
    laboratory_alone "$first"
    [ -s "$out/results/$first.json" ]
    grep -q '^1 experiment, ' "$log"
}

what_is_not_known_is_refused()
{
    not laboratory_alone no-such-thing
    grep -q "no such experiment: no-such-thing (there are: $first" "$log"
}

real_results_are_not_overwritten_by_a_miniature()
{
    not python3 bench/laboratory.py --quick >"$log" 2>&1
    grep -q -- '--quick wants --out' "$log"
}

# Those that no original asked for.
what_is_asked_besides_is_measured_too()
{
    out=$place/besides
    laboratory_alone compression release || true
    cat "$log"
    for name in compression release; do
        case $(result "$name" failure) in
        '') [ "$(wc -l <"$out/results/$name.csv")" -gt 1 ] ;;
        *'a fault of the experiment'*) false ;;
        esac
    done
    nothing_is_left
}

a_bare_machine_measures_what_it_can()
{
    out=$place/bare
    TMPDIR=$place/tmp laboratory_of_a_bare_machine \
        cache-bound kv-cache peers proxy || true
    cat "$log"
    for name in cache-bound kv-cache peers proxy; do
        case $(result "$name" failure) in
        '') the_experiment_is_whole ;;
        *'apt-get install'*) ;;
        *) false ;;
        esac
    done
    nothing_is_left
}

# From the results that are kept, without measuring: whole, with all figures,
# those among them that the pages show as they are kept.
the_report_is_made_again_from_what_is_kept()
{
    if ! command -v gnuplot; then
        return 0
    fi
    BUILD=$place/again python3 bench/laboratory.py --report
    not grep -q 'Not measured yet' "$place/again/lab/REPORT.md"
    for kept in bench/results/*.json; do
        cmp "$kept" "$place/again/lab/results/${kept##*/}"
        [ -s "$place/again/lab/results/$(basename "$kept" .json).csv" ]
    done
    sed -n 's/^!\[.*(\(results.*\))$/\1/p' "$place/again/lab/REPORT.md" |
        while read -r figure; do
            grep -q '</svg>' "$place/again/lab/$figure"
        done
    for kept in bench/results/*.svg; do
        [ -s "$place/again/lab/results/${kept##*/}" ]
        grep -q "results/${kept##*/}" docs/*.md README.md
    done
}

# Eleven rounds of one mind are no verdict; ten of twelve are one where the claim
# is alone, and none where six claims share the doubt. What is not judged says
# what it would take.
verdicts_take_twelve_rounds_and_share_their_doubt()
{
    PYTHONPATH=bench python3 - <<'END'
from experiments import judging, model, paired, verdicts

def judged(*rounds_of_claims):
    claims = [verdicts.claim("not above", {"ours by theirs": values}, 1.0)
              for values in rounds_of_claims]
    judging.settle(claims)
    return [(claim.holds, claim.needs) for claim in claims]

good, bad = [0.9] * 12, [1.1] * 12
assert judged(good) == [(True, "")] and judged(bad) == [(False, "")]
assert judged(good[:11]) == [(None, "1 more round")]
assert judged([0.9, 1.1] * 20) == [(None, "more than 1,000 rounds")]
mixed = [0.9] * 10 + [1.1] * 2
assert judged(mixed) == [(True, "")]
crowd = judged(mixed, *[[0.9, 1.1] * 6] * 5)
assert crowd[0][0] is None and " more round" in crowd[0][1], crowd
both = verdicts.claim_at_least("not below", {"a": [1.2] * 12, "b": good}, 1.0)
judging.settle([both])
assert both.holds is False, both
result = model.Result(claims=[both])
assert model.from_json(model.as_json(result)) == result
END
}

# Of an experiment that was broken off what is whole is not measured again, as
# long as nothing has changed that measures.
parts_that_are_whole_are_not_measured_again()
{
    PYTHONPATH=bench python3 - "$place/parts" <<'END'
import os, sys
from experiments.parts import Parts

folder = sys.argv[1]
taken = []

def measure():
    taken.append(["wrk", len(taken)])
    return {("1k", "floor"): [1.5]}

def take(mark):
    parts = Parts(folder, mark)
    return (*parts.take("one", measure, lambda: list(taken)), parts)

value, commands, _parts = take({"source": "a"})
assert value == {("1k", "floor"): [1.5]} and commands == [], commands
value, commands, _parts = take({"source": "a"})
assert value == {("1k", "floor"): [1.5]} and len(taken) == 1
assert commands == [["wrk", 0]], commands
take({"source": "b"})
assert len(taken) == 2
path = os.path.join(folder, "one.pickle")
with open(path, "r+b") as file:
    file.truncate(os.path.getsize(path) // 2)
parts = take({"source": "b"})[-1]
assert len(taken) == 3
parts.end()
assert not os.path.exists(folder)
END
}

# All that ab says is found: a proxy's failures and times stand beside the
# originals', and what is not found would stand there as 0.
every_number_of_ab_is_read()
{
    PYTHONPATH=bench python3 - <<'END'
from experiments import proxy_reports
from lab import tools

said = """
Server Software:        SimpleHTTP/0.6

Document Length:        658 bytes

Time taken for tests:   77.017 seconds
Complete requests:      50000
Failed requests:        10
   (Connect: 1, Receive: 2, Length: 3, Exceptions: 4)
Non-2xx responses:      3
Total transferred:      40597840 bytes
HTML transferred:       32898026 bytes
Requests per second:    649.21 [#/sec] (mean)
Time per request:       77.017 [ms] (mean)
Time per request:       1.540 [ms] (mean, across all concurrent requests)
Transfer rate:          514.77 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        1    2   0.1      3       4
Processing:     5   71 398.4      9   15044
Waiting:        6   72 398.3     10   15043
Total:          7   73 398.5     11   15045

  50%     10
  66%     11
  75%     13
  80%     14
  90%     17
  95%    207
  98%   1010
  99%   1017
 100%  15044 (longest request)
"""
row = {**tools.read(said, tools.AB), "software": tools.ab_software(said)}
report, times = proxy_reports.tables({"ours": row}, "one run")
assert [line[-1] for line in report.rows] == [
    "SimpleHTTP/0.6", 658, 77.017, 50000, 10, 1, 2, 3, 4, 3, 40597840,
    32898026, 649.21, 77.017, 1.54, 514.77, 10, 11, 13, 14, 17, 207, 1010,
    1017, 15044], report.rows
assert [line[2:] for line in times.rows if line[1] == "ours"] == [
    [1, 2, 0.1, 3, 4], [5, 71, 398.4, 9, 15044], [6, 72, 398.3, 10, 15043],
    [7, 73, 398.5, 11, 15045]], times.rows
row["trouble"] = ""
late = {**row, "trouble": "3 failed", "total_max_ms": 20000.0}
turns = proxy_reports.of_turns({"ours": [row, late], "none": [
    {"trouble": "ab gave up: status 1"}]}, "two turns")
assert turns.rows[-2:] == [["Total", "ours", 7, 73, 398.5, 11, 20000],
                           ["Total", "none", *[None] * 5]], turns.rows
END
}

# In browsers, in librsvg, which refuses what has no size, and on phones, which
# need to know what to shrink.
figures_can_be_drawn_anywhere()
{
    for figure in "$place"/again/lab/results/*.svg; do
        grep -q 'viewBox=' "$figure"
        not grep -q 'scale(0\.0*)' "$figure"
        if command -v rsvg-convert; then
            rsvg-convert -w 360 -o "$place/figure.png" "$figure"
            [ -s "$place/figure.png" ]
        fi
    done
}

# What perf sees is told apart by the functions that begin a phase: each phase
# has some, and they are where they are said to be.
phases_are_found_in_the_source()
{
    PYTHONPATH=bench python3 - <<'END'
import glob, re
from experiments import phase_sources
from experiments.where_time_goes import PHASES
begins = phase_sources.begins()
assert set(begins.values()) == set(PHASES), set(PHASES) ^ set(begins.values())
text = "".join(open(path).read() for path in glob.glob("src/engine/**/*.c", recursive=True))
for name in phase_sources.CALLED:
    assert re.search(rf"\b{name}\(", text) or name == "link_tick", name
END
}

# As many questions as experiments, each with an answer of one line.
the_first_page_has_a_line_for_every_question()
{
    PYTHONPATH=bench python3 - "$place/again/lab/REPORT.md" <<'END'
import re, sys
from experiments import answers, catalog
known = [experiment.name for experiment in catalog.all_known()]
assert len(answers.ANSWERS) == 14 and set(answers.ANSWERS) <= set(known)
head = open(sys.argv[1]).read().partition("\n## Where sprintd loses")[0]
rows = [line for line in head.splitlines() if re.match(r"\| \[\d+\]", line)]
assert len(rows) == len(known), rows
unknown = [row for row in rows if answers.UNKNOWN in row]
assert not unknown, unknown
assert any("lost**" in row for row in rows)
END
}

# Each table and question of the originals stands in the report with what of
# ours is beside it, and what is computed for that is there.
the_originals_have_ours_beside_them()
{
    PYTHONPATH=bench python3 - "$place/again/lab/REPORT.md" <<'END'
import sys
from experiments import catalog, derived, originals, results
known = {experiment.name: experiment for experiment in catalog.all_known()}
report = open(sys.argv[1]).read()
for title, asked in originals.ORIGINALS:
    assert f"**{title}**" in report, title
    for each in asked:
        assert set(each.where) <= set(known), each
        assert f"| {each.what} | " in report, each
for name in derived.DERIVED:
    result = results.load("bench/results", known[name])[1]
    assert derived.tables(known[name], result) != result.tables, name
END
}

# The speed-up by session length is over the server that takes a session at a
# time where that was measured, as the original's, and else over one worker.
speed_ups_are_over_the_serial_server_where_it_was_measured()
{
    PYTHONPATH=bench python3 - <<'END'
from experiments import catalog, derived, model, session_length

known = {each.name: each for each in catalog.all_known()}["session-length"]

def over(columns, *row):
    tables = [model.Table(title, ["length", *columns], [[1, *row]])
              for title in ("Replies per second", "CPU µs per reply")]
    table = derived.tables(known, model.Result(tables=tables))[2]
    return table.title.partition(" over ")[2], table.rows[0]

ways = (derived.ONE, session_length.MANY, session_length.SERIAL)
assert derived.SERIAL == session_length.SERIAL
assert over(ways, 30, 40, 20) == (
    "a server that takes a session at a time", [1, "1.50", "2.00", "1.00"])
for found in over(ways, 30, 45, None), over(ways[:2], 30, 45):
    assert found[0] == "one worker without a log", found
    assert found[1][:3] == [1, "1.00", "1.50"], found
END
}

# A miniature of it: what the original compares with has numbers.
the_serial_server_is_measured()
{
    PYTHONPATH=bench python3 - "$out" <<'END'
import json, sys
for name, title, column in (
        ("session-length", "Replies per second", "a session at a time"),
        ("file-size", "A session at a time", "duration / requests ms")):
    with open(f"{sys.argv[1]}/results/{name}.json") as file:
        result = json.load(file)["result"]
    if not result:
        continue
    table = next(each for each in result["tables"]
                 if each["title"].startswith(title))
    at = table["columns"].index(column)
    assert all(row[at] for row in table["rows"]), table
END
}

# Each loss that a result knows of stands in the report before the first
# experiment does.
losses_stand_first()
{
    python3 - "$out" <<'END'
import glob, json, sys
report = open(sys.argv[1] + "/REPORT.md").read()
head = " ".join(report.partition("\n## How it is measured")[0].split())
lost = [claim["text"] for name in glob.glob(sys.argv[1] + "/results/*.json")
        for claim in (json.load(open(name))["result"] or {"claims": []})
        ["claims"] if claim["holds"] is False]
for text in lost:
    assert " ".join(text.split()) in head, text
END
}

first=ladder
if ! command -v wrk >/dev/null || ! command -v httperf >/dev/null; then
    skip the_laboratory "wrk or httperf is missing: make deps-bench"
    say_how_many
    exit
fi
ok what_is_not_known_is_refused
ok real_results_are_not_overwritten_by_a_miniature
ok the_report_is_made_again_from_what_is_kept
if command -v gnuplot >/dev/null; then
    ok the_first_page_has_a_line_for_every_question
    ok the_originals_have_ours_beside_them
    ok figures_can_be_drawn_anywhere
else
    skip the_first_page_has_a_line_for_every_question "gnuplot is missing"
    skip the_originals_have_ours_beside_them "gnuplot is missing"
    skip figures_can_be_drawn_anywhere "gnuplot is missing"
fi
ok verdicts_take_twelve_rounds_and_share_their_doubt
ok parts_that_are_whole_are_not_measured_again
ok every_number_of_ab_is_read
ok speed_ups_are_over_the_serial_server_where_it_was_measured
ok phases_are_found_in_the_source
ok what_is_asked_besides_is_measured_too
ok a_run_that_is_broken_off_says_so_and_ends_all
ok the_next_run_goes_on_from_there
for file in "$out"/results/*.json; do
    name=$(basename "$file" .json)
    why=$(result "$name" failure)
    case $why in
    *'apt-get install'* | *root* | *namespace* | *'no narrow link'*)
        skip "$name" "$why"
        ;;
    '')
        test=the_experiment_$(echo "$name" | tr - _)_is_whole
        eval "$test() { the_experiment_is_whole; }"
        ok "$test"
        ;;
    *)
        echo "$name: $why"
        ok false
        ;;
    esac
done
ok the_serial_server_is_measured
ok what_a_killed_run_leaves_goes_with_the_next
ok a_compiler_that_is_killed_leaves_nothing
ok a_result_that_is_broken_is_none
ok one_experiment_is_measured_when_it_is_named
ok a_bare_machine_measures_what_it_can
ok losses_stand_first
say_how_many
