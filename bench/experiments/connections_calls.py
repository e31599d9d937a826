"""Many connections of few calls, or few of many?"""

from . import closed_loops as loops
from . import connections_tables, paired
from .model import Claim, Experiment, Figure, Result, Series, Table

CONNECTIONS = (100, 300, 1000)
CALLS = (1, 5, 20, 50)
WORKERS = (5, 20, 25)
FILE, FILE_BYTES = "2k.bin", 1_700  # with its head about what theirs had
AT_ONCE = 20_000  # connections a second: all are open before the first ends
ONE_BY_ONE = 0
SEQUENCE = 100    # connections of those that are begun one by one
REPLIES_MIN = 1_000  # in one round, by repeating short runs
REPEATS_MAX = 8
ROUNDS, SECONDS = 12, 230
MANY_KEEP = 0.9
IDLE = 0.5  # CPUs: who uses no more is not what limits
ORIGINAL_PER_SECOND = 4_687.7
SINGLE = "1 worker, 1 CPU"
FULL = 0.9  # of what is asked for: then that is the limit


def _name(workers):
    return f"{workers} workers"


def _make(bench, workers):
    return [bench.sprintd(SINGLE),
            *(bench.sprintd(_name(count), workers=count, both_cpus=True)
              for count in workers)]


def _grid(connections, calls):
    """(connections, calls, rate), those begun one by one behind the others."""
    return [*((count, each, AT_ONCE) for count in connections
              for each in calls),
            *((SEQUENCE, each, ONE_BY_ONE) for each in calls)]


def _run_all(bench, made, grid):
    cells = {(server.name, cell): loops.Runs() for server in made
             for cell in grid}
    bench.lab.site.put(FILE, FILE_BYTES)
    for server in made:
        loops.httperf(bench, server, FILE, 100, 10, AT_ONCE)  # the warm-up
    rounds = loops.turns(bench, made, ROUNDS, SECONDS)
    for turn, order in rounds:
        for cell in grid:
            bench.step(f"round {turn + 1}: {cell[0]} x {cell[1]}")
            repeats = max(1, min(REPEATS_MAX,
                                 REPLIES_MIN // (cell[0] * cell[1])))
            for _repeat in range(bench.pick(repeats, 1)):
                for server in order:
                    runs = cells[server.name, cell]
                    if not runs.is_broken:
                        runs.all.append(
                            loops.httperf(bench, server, FILE, *cell))
    return cells


def _title(cell):
    count, each, rate = cell
    return f"{count} x {each}" + (", one by one" if rate == ONE_BY_ONE else "")


def _tables(cells, made, grid):
    columns = ["connections x calls", *(server.name for server in made)]

    def rows(what, scale=1):
        return [[_title(cell), *(
            found and found / scale for server in made
            for found in [cells[server.name, cell].median(what)])]
            for cell in grid]

    return [
        Table("Replies per second", columns, rows("per_second"),
              "The original has no row of these connections and calls; its "
              f"best of all is {ORIGINAL_PER_SECOND:,} replies/s. Where there "
              "are several workers they share httperf's CPU."),
        Table("MB per second", columns, rows("bytes_per_second", 1e6),
              "Requests and replies together, as httperf counts them."),
        Table("CPU µs per reply", columns, rows("cpu_us")),
        Table("CPUs that the server used", columns, rows("busy"),
              "httperf always uses one. Where one worker used less than its "
              "CPU, httperf was the limit, or a run that is hardly begun when "
              "it ends, or what was asked for: of one call each "
              f"{AT_ONCE:,} a second, of five {5 * AT_ONCE:,}, and one by one "
              "a request behind the other."),
    ]


def _figures(cells, made, calls, most):
    def line(server, what):
        return Series(server.name, [
            [each, found] for each in calls for found in
            [cells[server.name, (most, each, AT_ONCE)].median(what)] if found])

    original = Series("original's best", [[each, ORIGINAL_PER_SECOND]
                                          for each in calls],
                      is_reference=True)
    return [
        Figure("rate", f"Replies per second, {most:,} connections",
               "calls per connection", "replies/s",
               [*(line(server, "per_second") for server in made), original],
               log_x=True, log_y=True),
        Figure("cost", f"CPU time, {most:,} connections",
               "calls per connection", "µs per reply",
               [line(server, "cpu_us") for server in made], log_x=True),
    ]


def _rates(cells, made, grid, wanted):
    """Medians by server and cell, of the cells that are wanted."""
    return {(server.name, cell): rate for server in made for cell in grid
            for rate in [cells[server.name, cell].median("per_second")]
            if rate and wanted(cell)}


def _is_noisy(cells, keys):
    return any(cells[key].is_noisy for key in keys)


def _claim_single_calls(cells, made, grid):
    """The least of all with one call a connection, all begun at once."""
    rates = _rates(cells, made, grid,
                   lambda cell: cell[1] == 1 and cell[2] == AT_ONCE)
    text = (f"one call a connection, begun at {AT_ONCE:,} a second, still gets "
            f"more than the original's best, {ORIGINAL_PER_SECOND:,} "
            "replies/s")
    if not rates:
        return Claim(text, None, "not measured")
    low = [key for key, rate in rates.items() if rate <= ORIGINAL_PER_SECOND]
    detail = "the least: " + ", ".join(
        f"{name} {_title(cell)}: {rates[name, cell]:,.0f}"
        for name, cell in sorted(rates, key=rates.get)[:3])
    if low and all(cells[key].median("busy") < IDLE for key in low):
        return Claim(text, None, f"{detail}; httperf was the limit, the "
                     f"server used less than {IDLE:g} CPUs")
    return Claim(text, None if _is_noisy(cells, low) else not low, detail)


def _claim_workers(cells, made, grid):
    """More workers than CPUs must do no harm: the most by the fewest."""
    few, many = made[1].name, made[-1].name
    found = {cell: loops.ratios(cells[many, cell], cells[few, cell],
                                "per_second") for cell in grid}
    told = {cell: values for cell, values in found.items() if values}
    worst = sorted(told, key=lambda cell: paired.interval(told[cell]))[:3]
    return Claim(
        f"{many} answer at no less than {MANY_KEEP:.0%} of the rate of {few}, "
        "in every cell of the grid", None,
        "by the lower ends of their intervals the least: "
        + ", ".join(f"{_title(cell)}: {paired.say(told[cell])}"
                    for cell in worst),
        paired.together(paired.at_least(values, MANY_KEEP)
                        for values in found.values()))


def _claims(cells, named, made, grid):
    replies = sum(sum(runs.values("replies")) for runs in cells.values())
    return [
        loops.claim_sound(
            "no call fails or times out, in any cell of the grid", named,
            f"{replies:,} replies"),
        _claim_single_calls(cells, made, grid),
        _claim_workers(cells, made, grid),
    ]


def _read_best(cells, made, grid):
    rates = _rates(cells, made, grid, lambda _cell: True)
    if not rates:
        return []
    name, cell = max(rates, key=rates.get)
    best = cells[name, cell]
    return [
        f"Most replies come with {_title(cell)} and {name}: "
        f"{rates[name, cell]:,.0f}/s, "
        f"{best.median('bytes_per_second') / 1e6:.0f} MB/s, for which the "
        f"server uses {best.median('busy'):.2f} CPUs. The original's "
        f"best is {ORIGINAL_PER_SECOND:,}/s, on another machine."]


def _read_calls(cells, made, grid):
    """What few calls cost, in rate, and in CPU time by itself."""
    texts = []
    calls = sorted({cell[1] for cell in grid})
    most = max(cell[0] for cell in grid)
    for server in (made[0], made[-1]):
        few, many = (cells[server.name, (most, each, AT_ONCE)]
                     for each in (calls[0], calls[-1]))
        if few.trouble or many.trouble:
            continue
        kept = few.median("per_second") / many.median("per_second")
        text = (f"{server.name}, {most:,} connections: {calls[0]} call each "
                f"gets {kept:.0%} of the replies/s of {calls[-1]} calls each"
                + (f", and all that is asked for: {AT_ONCE:,} connections a "
                   "second are begun."
                   if few.median("per_second") >= FULL * AT_ONCE * calls[0]
                   else "."))
        # Of each reply: call + connection / calls.
        connection = (few.median("cpu_us") - many.median("cpu_us")) \
            / (1 / calls[0] - 1 / calls[-1])
        call = many.median("cpu_us") - connection / calls[-1]
        if connection > 0 and call > 0:
            text += (f" In the server a connection takes {connection:.0f} µs "
                     f"of CPU time and a call {call:.1f} µs.")
        texts.append(text)
    return texts


def measure(bench):
    workers = bench.pick(WORKERS, (5, 20))
    connections = bench.pick(CONNECTIONS, (50, 100))
    calls = bench.pick(CALLS, (1, 20))
    made = _make(bench, workers)
    grid = _grid(connections, calls)
    try:
        cells = bench.part("grid", lambda: _run_all(bench, made, grid))
    finally:
        for server in made:
            server.stop()
    named = {(name, _title(cell)): runs
             for (name, cell), runs in cells.items()}
    theirs, explained, missed = bench.part(
        "theirs", lambda: connections_tables.take(bench, FILE))
    return Result(
        tables=[*theirs, *_tables(cells, made, grid)],
        figures=_figures(cells, made, calls, connections[-1]),
        claims=_claims(cells, named, made, grid),
        reading=[*_read_best(cells, made, grid),
                 *_read_calls(cells, made, grid), *explained],
        noise=loops.noises(named),
        left_out=[*loops.troubles(named), *missed])


EXPERIMENT = Experiment(
    12, "connections-calls", "Connections against calls",
    "How many replies a second do so many connections of so many calls get, "
    "by 5, 20 and 25 workers? The original topped out at 4,687.7 replies/s, "
    "with 1,000 connections of 400 calls and 5 workers, and took about 9 MB/s "
    "of the network to be its limit; of few calls a connection it says that "
    "they decrease throughput, and of few connections with many calls that "
    "they are not favourable, either.",
    f"httperf --num-conns x --num-calls, the connections begun at {AT_ONCE:,} "
    "a second, so that with many calls all are there at once, or one by one; "
    "a file with "
    "which request and reply have about the bytes of theirs (8,966.6 KB/s by "
    "4,687.7/s: httperf counts both). One worker has a CPU of its own; the "
    "others may use both and share one with httperf: so CPU time per reply "
    "stands beside, and the claim of many workers leaves 10 %. Short runs "
    "are repeated, in turns, and medians taken. The original's two tables "
    "are run as they are, once each; the first also over "
    f"{connections_tables.LINK_MBIT} Mbit/s, by fewer calls.",
    660, measure)
