"""The store under locks, and the original's own comparison on the same work.

bench/store_locks.c holds the lock of a key's group around each operation on a
store: "one lock against groups" was asked of that, and not of a cache before
it."""

import json
import os
import shutil
import statistics
import subprocess

from lab import compiled, filled, kv, processes, rounds, servers, sessions, site

from . import paired, verdicts
from .bench import median
from .model import Result, Table

GROUPS = (0, 1, 4, 16, 64)
THREADS = (1, 2, 4)
LOADS = (("GET", 0), ("90 % GET, 10 % PUT", 10))
ROUNDS, SECONDS, QUICK_SECONDS = 18, 0.25, 0.05
RUN_S = 20
MANY = 4  # threads of which a verdict is asked
SELDOM = 0.1  # of the time a CPU works: so long one lock is hardly waited for
# Of the original: GET, POST and DELETE requests, and in ms: the sum of all
# requests' times, max, min, median and mean.
ORIGINAL_ASKED = (7_979, 975, 1_046)
ORIGINAL = {
    "cache and disk": ("2,992,500", "694.44", "0.252", "295.183", "299.25"),
    "disk alone": ("3,065,910", "708.501", "0.265", "301.822", "306.591"),
}
REQUESTS, TURNS = 1_000, 12


def name_of(load, groups):
    """Of a row."""
    return f"{load}, " + ("without a lock" if groups == 0 else
                          "one lock" if groups == 1 else f"{groups} groups")


def _run(bench, binary, folder, threads, groups, puts):
    """Operations a second, and CPU time of one in µs."""
    seconds = bench.pick(SECONDS, QUICK_SECONDS)
    argv = [binary, folder, threads, groups, puts, site.MANY, site.KIB,
            round(seconds * 1e3)]
    child = bench.lab.children.start(
        argv, f"{bench.lab.server_cpu},{bench.lab.client_cpu}",
        os.path.join(bench.lab.site.folder, "store_locks.log"),
        stdout=subprocess.PIPE, text=True)
    try:
        said = child.communicate(timeout=RUN_S)[0]
    except subprocess.TimeoutExpired:
        said = ""
    finally:
        bench.lab.children.end(child)
    if not said:
        raise processes.Failure("store_locks does not end well")
    told = json.loads(said)
    return (told["operations"] / (told["duration_us"] / 1e6),
            told["cpu_us"] / told["operations"])


def _take(bench, folder):
    """Rates and costs by load, threads, groups: a value of each round."""
    binary = compiled.build(
        os.path.join(bench.lab.site.folder, "store_locks"),
        os.path.join(servers.BENCH, "store_locks.c"),
        libraries=("-llmdb", "-pthread"))
    cells = [(load, threads, groups) for load in LOADS
             for threads in bench.pick(THREADS, (MANY,)) for groups in GROUPS]
    found = {cell: [] for cell in cells}
    for turn in range(bench.rounds(ROUNDS)):
        bench.step(f"a store under locks, round {turn + 1}")
        for cell in rounds.in_order(cells, turn):
            (_title, puts), threads, groups = cell
            found[cell].append(_run(bench, binary, folder, threads, groups,
                                    puts))
    return found


def _locks_table(found, threads):
    rows = []
    for load in LOADS:
        for groups in GROUPS:
            many = found[load, threads[-1], groups]
            rows.append([
                name_of(load[0], groups),
                *(median(rate for rate, _cost in found[load, count, groups])
                  for count in threads),
                median(cost for _rate, cost in many),
                paired.say(_ratios(found, load, groups, 1, threads[-1]))])
    return Table(
        "A store in memory under locks, operations a second",
        ["load and locks", *(f"{count} threads" if count > 1 else "1 thread"
                             for count in threads),
         f"CPU µs, {threads[-1]} threads",
         f"× one lock, {threads[-1]} threads"], rows,
        "LMDB, not synced, keys at random; threads on both CPUs, no server "
        "and no client. LMDB lets one writer in at a time whatever locks are "
        "around it, and stops no reader: it needs no lock for either.")


def _ratios(found, load, groups, base, threads):
    """Rates by those of other groups, of each round."""
    return paired.ratios(
        *([rate for rate, _cost in found[load, threads, which]]
          for which in (groups, base)))


def _claims(found, threads):
    gets, mixed = LOADS
    most = threads[-1]
    return [
        verdicts.claim_at_least(
            f"a store in memory, {most} threads, GET: without a lock more "
            "operations a second than under one (1.1 times: less would hardly "
            "matter)", {"no lock by one": _ratios(found, gets, 0, 1, most)},
            1.1),
        verdicts.claim(
            f"a store in memory, {most} threads, 90 % GET, 10 % PUT: 64 "
            "groups of keys give no more than 1.1 times the operations of one "
            "lock (less would hardly matter)",
            {"64 groups by one lock": _ratios(found, mixed, 64, 1, most)},
            1.1)]


def _read(found, threads, request_us):
    gets, _mixed = LOADS
    most = threads[-1]
    cost = median(cost for _rate, cost in found[gets, threads[0], 1])
    ratio = paired.say(_ratios(found, gets, 64, 1, most))
    text = (
        f"One lock against groups, asked of the store: GETs by {most} threads "
        f"get {ratio} times as many operations a second under 64 groups as "
        "under one lock, and "
        f"{paired.say(_ratios(found, gets, 0, 1, most))} times with no lock. "
        f"By one thread, under one lock, a GET takes {cost:.2f} µs of CPU")
    if not request_us:
        return [f"{text}."]
    share = cost / request_us
    return [f"{text}; a whole request costs a server {request_us:.1f}. Behind "
            f"it one lock would be held for about {share:.0%} of the time a "
            "CPU works, so that it would take about "
            f"{1 / share:.0f} CPUs to fill it. "
            + ("With two the difference can hardly show through a server. "
               if share <= SELDOM else "")
            + "The original found its store's own lock slightly better than "
            "one around everything; if it asked as in the report that it "
            "prints (experiment 6), by one connection at a time, nobody "
            "waited for either. It supposed that there is little to save "
            "since a request has hardly any work beside what needs the lock; "
            f"here that beside it is about {1 - share:.0%} of a GET's CPU "
            "time."]


def _store(bench, disk, way, template):
    path = os.path.join(disk, f"then-{len(way.options)}")
    shutil.copytree(template, path)
    return bench.sprintd(way.title, f"--kv={sessions.PREFIX}={path}",
                         "--kv-sync=full", *way.options)


def _five(bench, server, asks):
    """Sum, max, min, median and mean in ms, of one turn."""
    rows = sessions.ask(bench.lab, server.instance("").port, asks, "then")
    failed = sessions.failed(rows)
    if failed:
        raise processes.Failure(f"{sum(failed.values())} requests failed")
    times = [int(row["took_ns"]) / 1e6 for row in rows]
    return [sum(times), max(times), min(times), statistics.median(times),
            statistics.fmean(times)]


def _then(bench, disk, cached):
    """The original's ten sessions of 1,000 requests, with its shares."""
    template = filled.fill(bench.lab, "then-store", sessions.keys())
    turns = sessions.draw(
        bench.seed, bench.pick(REQUESTS, 20), bench.pick(TURNS, 1),
        dict(zip(("GET", "PUT", "DELETE"), ORIGINAL_ASKED)))
    made = {title: _store(bench, disk, way, template) for title, way in
            (("cache and disk", cached), ("disk alone", filled.NO_CACHE))}
    told = {title: [] for title in made}
    try:
        for turn, asks in enumerate(turns):
            for title in rounds.in_order(list(made), turn):
                bench.step(f"ten sessions: {title}")
                told[title].append(_five(bench, made[title], asks))
    finally:
        for server in made.values():
            server.stop()
    rows = [row for title, found in told.items() for row in (
        [f"original: {title}", *ORIGINAL[title]],
        [f"sprintd: {title}", *map(median, zip(*found))])]
    asked = [sum(ask.method == method for ask in turns[0])
             for method in ("GET", "PUT", "DELETE")]
    return Table(
        f"The original's comparison: {sessions.SESSIONS} sessions of "
        f"{len(turns[0]) // sessions.SESSIONS:,} requests",
        ["store", "sum of all ms", "max ms", "min ms", "median ms",
         "mean ms"], rows,
        "Theirs: {:,} GET, {:,} POST, {:,} DELETE, as it was printed; "
        "ours: {:,} GET, {:,} PUT, {:,} DELETE in the first of {} turns, timed "
        "by the client, durable (each write is on disk before its reply), "
        "medians over the turns. A fifth of the requests are writes, which "
        "wait for a commit; the mean of cache and disk is {} times that of "
        "disk alone, turn by turn.".format(
            *ORIGINAL_ASKED, *asked, len(turns),
            paired.say(paired.ratios(*([five[-1] for five in told[title]]
                                       for title in told)))))


def measure(bench, cached, request_us):
    """Tables, claims and readings. cached: a filled.Way with a cache;
    request_us: what a GET takes the server."""
    threads = bench.pick(THREADS, (MANY,))
    folder = os.path.join(bench.lab.site.folder, "locked-store")
    os.mkdir(folder)
    found = _take(bench, folder)
    with kv.disk() as disk:
        then = _then(bench, disk, cached)
    return Result(tables=[then, _locks_table(found, threads)],
                  claims=_claims(found, threads),
                  reading=_read(found, threads, request_us))
