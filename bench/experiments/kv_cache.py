"""Does a cache in front of the key-value store pay, and do groups of locks?

One lock is a cache of one group. Shares compare with the same workers and no
cache, round by round: what slows the machine down for a while slows both.
"""

from lab import filled, kv, pressure, processes, rounds, site

from . import bench as benches
from . import kv_locks, paired, verdicts
from .model import BARS, Experiment, Figure, Result, Series, Table

POLICY = "sieve"
DEFAULT = filled.cached("all", POLICY, 16)
ONE_LOCK = filled.cached("all", POLICY, 1)
SHORT = {
    filled.NO_CACHE: "disk alone",
    ONE_LOCK: "all, one lock",
    DEFAULT: "all, 16 groups",
    filled.cached("all", POLICY, 64): "all, 64 groups",
    filled.cached("a tenth", POLICY, 16): "a tenth, 16 groups",
}
SCARCE_WAYS = (filled.NO_CACHE, ONE_LOCK, DEFAULT)
WORKERS = (1, 4)
ORIGINAL_RATIO = 299.25 / 306.591  # mean request time, with a cache by without
ALIKE = 1.1       # what passes for no worse
ROUNDS, SECONDS = 12, 0.2
SCARCE_ROUNDS, SCARCE_SECONDS = 12, 0.5


class Cells:
    """What came out, by load, way and number of workers."""

    def __init__(self, found, workers, ways):
        self.found = found
        self.workers = workers
        self.ways = ways

    def get(self, load, way, workers):
        """A rounds.Cell; None when there is none that counts."""
        cell = self.found.get((load.name, filled.name_of(way, workers)))
        return cell if cell and not cell.trouble else None

    def ratios(self, load, workers, way, base, what="cpu_us"):
        """A way's by another's, of each round."""
        pair = [self.get(load, each, workers) for each in (way, base)]
        if None in pair:
            return []
        return rounds.ratios(*pair, what)


def _mean_ms(load, cell):
    """As each connection always has one request under way."""
    return load.connections / cell.median("per_second") * 1e3


def _row(cells, load, way, workers):
    begin = [workers, SHORT[way]]
    cell = cells.get(load, way, workers)
    if not cell:
        return [*begin, *[None] * 6]
    low, high = cell.spread
    return [*begin, _mean_ms(load, cell), cell.median("p99_us") / 1e3,
            cell.median("per_second"), cell.cpu_us,
            (high - low) / cell.cpu_us * 100,
            paired.say(cells.ratios(load, workers, way, filled.NO_CACHE))]


def _table(cells, load):
    return Table(
        f"Cache and disk against disk alone: {load.title}",
        ["workers", "store", "mean ms", "p99 ms", "replies/s", "CPU µs",
         "spread of CPU %", "CPU, × disk alone"],
        [_row(cells, load, way, count) for count in cells.workers
         for way in cells.ways],
        "Mean: connections by replies a second.")


def _scarce_table(cells, faults):
    load = filled.SCARCE
    rows = []
    for way in SCARCE_WAYS:
        cell = cells.get(load, way, 1)
        ratios = cells.ratios(load, 1, filled.NO_CACHE, way, "per_second")
        rows.append([SHORT[way], *([
            _mean_ms(load, cell), cell.median("p99_us") / 1e3,
            cell.median("per_second"), cell.cpu_us,
            benches.median(faults.get(filled.name_of(way, 1), []))]
            if cell else [None] * 5), paired.say(ratios)])
    return Table(
        "Cache and disk against disk alone: GET, 1 worker, memory taken away",
        ["store", "mean ms", "p99 ms", "replies/s", "CPU µs",
         "waits for the disk, by 1,000 replies", "mean, × disk alone"], rows,
        f"Every {pressure.PERIOD_S * 1e3:.0f} ms the kernel is told to take "
        "away all pages of the store that are mapped; the cache is not in a "
        "file, and stays. Waits are those of the warm-up, too, replies are "
        "not.")


def _figure(cells, load):
    series = []
    for count in cells.workers:
        points = [[SHORT[way], cell.cpu_us] for way in cells.ways
                  if (cell := cells.get(load, way, count))]
        series.append(Series(f"{count} workers" if count > 1 else "1 worker",
                             points))
    return Figure(load.name, f"Key-value store, {load.title}", "",
                  "CPU per reply (µs)", series, kind=BARS)


def _claims(cells):
    claims = [verdicts.claim(
        "key-value store, memory taken away: a cache of all values answers "
        "sooner than disk alone",
        {"mean response": cells.ratios(filled.SCARCE, 1, filled.NO_CACHE,
                                       DEFAULT, "per_second")})]
    for load in filled.LOADS:
        for count in cells.workers:
            where = (f"key-value store, {load.title}, {count} worker"
                     f"{'s' if count > 1 else ''}")
            claims += [verdicts.claim(
                f"{where}: {text}",
                {"CPU per reply": cells.ratios(load, count, DEFAULT, base)},
                ALIKE)
                for text, base in (
                    ("a cache of all values costs at most "
                     f"{ALIKE - 1:.0%} more than disk alone",
                     filled.NO_CACHE),
                    (f"16 lock groups cost at most {ALIKE - 1:.0%} more than "
                     "one lock", ONE_LOCK))]
    return claims


def _span(cells, way, base):
    """The least and the most of the medians, over loads and workers."""
    found = [benches.median(ratios) for load in filled.LOADS
             for count in cells.workers
             for ratios in [cells.ratios(load, count, way, base)] if ratios]
    return (f"{min(found):.2f} to {max(found):.2f}" if found
            else "an unknown number of")


def _read_cache(cells):
    told = ", and ".join(
        f"{_span(cells, way, filled.NO_CACHE)} times with {title} in the cache"
        for title, way in (
            ("all values", DEFAULT),
            ("a tenth of them", filled.cached("a tenth", POLICY, 16)))
        if way in cells.ways)
    return ("By that of disk alone the CPU time of a reply is, with 16 groups "
            f"of locks, {told} (the intervals stand in the tables). The "
            "original's mean request time with its cache was "
            f"{ORIGINAL_RATIO:.3f} times that without. Ours is with LMDB's "
            "pages in memory: a cache saves a search in a tree, and no read of "
            "the disk.")


def _read_scarce(cells, faults):
    waits = benches.median(
        faults.get(filled.name_of(filled.NO_CACHE, 1), []))
    if waits is None:
        return []
    told = ", ".join(
        f"{paired.say(ratios)} times with {SHORT[way]}"
        for way in SCARCE_WAYS[1:]
        for ratios in [cells.ratios(filled.SCARCE, 1, filled.NO_CACHE, way,
                                    "per_second")])
    return ["Where the pages are taken away again and again, disk alone waits "
            f"for the disk {waits:,.0f} times by 1,000 replies, where the "
            "waits of the warm-up are counted, too. The mean response by that "
            f"of disk alone is {told}."]


def _read_locks(cells):
    worse = paired.all_of(
        paired.is_at_most(cells.ratios(load, count, ONE_LOCK, DEFAULT), ALIKE)
        for load in filled.LOADS for count in cells.workers)
    verdict = {
        True: f"So one lock is as good as 16, within {ALIKE - 1:.0%}.",
        False: "So the groups pay in some of them.",
        None: "Whether the groups pay, these numbers do not tell for all of "
              "them."}[worse]
    return ("One lock of the cache takes "
            f"{_span(cells, ONE_LOCK, DEFAULT)} times the CPU time of 16 "
            f"groups. {verdict}")


def _measure_scarce(bench, template, disk):
    """Cells, and how often the servers waited for the disk."""
    runner = filled.ScarceRunner(bench.lab)
    stores = [filled.Store(bench.lab, way, 1, template, disk)
              for way in SCARCE_WAYS]
    return rounds.measure(runner, [filled.SCARCE], stores,
                          bench.options(SCARCE_ROUNDS, SCARCE_SECONDS),
                          bench), runner.faults


def _add(result, bench, get):
    """What was asked of the store itself, first."""
    try:
        locks = kv_locks.measure(bench, DEFAULT,
                                 get.cpu_us if get else None)
    except (processes.Failure, OSError) as failure:
        result.left_out.append(f"a store under locks: {failure}")
        return
    result.tables = [*locks.tables, *result.tables]
    result.claims += locks.claims
    result.reading = [*locks.reading, *result.reading]


def measure(bench):
    workers = bench.pick(WORKERS, (1,))
    ways = bench.pick(tuple(SHORT), SCARCE_WAYS)
    template = filled.fill_many(bench.lab)
    servers = [filled.Store(bench.lab, way, count, template)
               for count in workers for way in ways]
    found = bench.part("memory", lambda: rounds.measure(
        filled.Runner(bench.lab), filled.LOADS, servers,
        bench.options(ROUNDS, SECONDS), bench))
    with kv.disk() as disk:
        scarce, faults = bench.part(
            "scarce", lambda: _measure_scarce(bench, template, disk))
    cells = Cells({**found, **scarce}, workers, ways)
    result = Result(
        tables=[*(_table(cells, load) for load in filled.LOADS),
                _scarce_table(cells, faults)],
        figures=[_figure(cells, load) for load in filled.LOADS],
        claims=_claims(cells),
        reading=[_read_cache(cells), *_read_scarce(cells, faults),
                 _read_locks(cells)])
    names = {cell: f"{load_name}: {name} worker"
             f"{'' if name.endswith(' 1') else 's'}"
             for (load_name, name), cell in cells.found.items()}
    _add(result, bench, cells.get(filled.LOADS[0], filled.NO_CACHE, 1))
    result.left_out += [f"{name}: {cell.trouble}"
                        for cell, name in names.items() if cell.trouble]
    result.noise += verdicts.noises(
        (name, cell.noise) for cell, name in names.items()
        if not cell.trouble)
    return result


EXPERIMENT = Experiment(
    7, "kv-cache",
    "Cache and disk against disk alone, one lock against groups",
    "Does a cache of values in front of the store pay, and does it matter "
    "whether the store, or the cache, has one lock or several groups of keys "
    "with a lock each?",
    f"{site.MANY:,} keys of 1 KiB, asked for by Zipf's law over 64 "
    "connections (wrk), GET alone and with 10 % PUT, not synced (what a sync "
    "costs would hide the rest): CPU per reply without a cache, with one of "
    "all values, and of a tenth (sieve). One worker has a CPU of its own; "
    "four have both CPUs, of which wrk has one. And GET while the store's "
    f"pages are taken away from the server all the time. {ROUNDS} rounds of "
    f"{SECONDS:g} s in turns (memory taken away: {SCARCE_ROUNDS} of "
    f"{SCARCE_SECONDS:g} s); ratios are of each round. bench/store_locks.c "
    "asks the store itself: threads that get and put, with a lock around each "
    f"operation, {kv_locks.ROUNDS} rounds of {kv_locks.SECONDS:g} s. Ten "
    "sessions of 1,000 requests are the original's comparison.",
    280, measure)
