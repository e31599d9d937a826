"""Does a cache in front of the key-value store pay, and do groups of locks?

One lock is a cache of one group. Shares compare with the same workers and no
cache, round by round: what slows the machine down for a while slows both.
"""

from lab import filled, kv, pressure, rounds, site

from . import bench as benches
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

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
WORKERS = (1, 2, 4)
ORIGINAL_MS = {filled.NO_CACHE: 306.6, ONE_LOCK: 299.3}
ORIGINAL_RATIO = ORIGINAL_MS[ONE_LOCK] / ORIGINAL_MS[filled.NO_CACHE]
ALIKE = 1.05      # what passes for no worse
STRANGERS = 1     # rounds that may say otherwise


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
        """A way's by another's, of each round: of those that nobody disturbed,
        where there are enough."""
        pair = [self.get(load, each, workers) for each in (way, base)]
        if None in pair:
            return []
        both = list(zip(*(cell.samples for cell in pair)))
        calm = [each for each in both if all(
            sample.foreign <= rounds.NOISY_FOREIGN for sample in each)]
        return [getattr(ours, what) / getattr(theirs, what) for ours, theirs
                in (calm if len(calm) >= rounds.CALM_MIN else both)]

    def ratio(self, *of_what):
        return benches.median(self.ratios(*of_what))


def _mean_ms(load, cell):
    """As each connection always has one request under way."""
    return load.connections / cell.median("per_second") * 1e3


def _row(cells, load, way, workers):
    begin = [workers, SHORT[way]]
    original = ORIGINAL_MS.get(way)
    cell = cells.get(load, way, workers)
    if not cell:
        return [*begin, *[None] * 6, original]
    low, high = cell.spread
    return [*begin, _mean_ms(load, cell), cell.median("p99_us") / 1e3,
            cell.median("per_second"), cell.cpu_us,
            (high - low) / cell.cpu_us * 100,
            cells.ratio(load, workers, way, filled.NO_CACHE), original]


def _table(cells, load):
    return Table(
        f"Cache and disk against disk alone: {load.title}",
        ["workers", "store", "mean ms", "p99 ms", "replies/s", "CPU µs",
         "spread of CPU %", "CPU, × disk alone", "original's mean ms"],
        [_row(cells, load, way, count) for count in cells.workers
         for way in cells.ways],
        "Mean: connections by replies a second. The original's, on another "
        f"machine, with one lock: {ORIGINAL_RATIO:.3f} times disk alone.")


def _scarce_table(cells, faults):
    load = filled.SCARCE
    rows = []
    for way in SCARCE_WAYS:
        cell = cells.get(load, way, 1)
        ratio = cells.ratio(load, 1, filled.NO_CACHE, way, "per_second")
        rows.append([SHORT[way], *([
            _mean_ms(load, cell), cell.median("p99_us") / 1e3,
            cell.median("per_second"), cell.cpu_us,
            benches.median(faults.get(filled.name_of(way, 1), []))]
            if cell else [None] * 5), ratio])
    return Table(
        "Cache and disk against disk alone: GET, 1 worker, memory taken away",
        ["store", "mean ms", "p99 ms", "replies/s", "CPU µs",
         "waits for the disk, of 1,000 replies", "mean, × disk alone"], rows,
        f"Every {pressure.PERIOD_S * 1e3:.0f} ms the kernel takes all pages of "
        "the store that are mapped, as it does where there is no swap and "
        "others need memory; the cache is not in a file, and stays.")


def _figure(cells, load):
    series = []
    for count in cells.workers:
        points = [[SHORT[way], cell.cpu_us] for way in cells.ways
                  if (cell := cells.get(load, way, count))]
        series.append(Series(f"{count} workers" if count > 1 else "1 worker",
                             points))
    return Figure(load.name, f"Key-value store, {load.title}", "",
                  "CPU per reply (µs)", series, kind=BARS)


def _claim(text, ratios, bound, what="the CPU a reply"):
    """That the median is below. No verdict when too many of the rounds say
    otherwise."""
    if not ratios:
        return Claim(text, None, "not measured")
    ratio = benches.median(ratios)
    holds = ratio <= bound
    strangers = sum((each <= bound) != holds for each in ratios)
    is_sure = strangers <= STRANGERS < len(ratios) // 2
    return Claim(text, holds if is_sure else None,
                 f"{ratio:.3f} times {what} (by round: "
                 f"{min(ratios):.3f} to {max(ratios):.3f}), and {bound:g} "
                 "would do")


def _claims(cells):
    claims = [_claim(
        "key-value store, memory taken away: a cache of all values answers "
        "sooner than disk alone",
        cells.ratios(filled.SCARCE, 1, filled.NO_CACHE, DEFAULT, "per_second"),
        1, "the mean response")]
    for load in filled.LOADS:
        for count in cells.workers:
            where = (f"key-value store, {load.title}, {count} worker"
                     f"{'s' if count > 1 else ''}")
            claims.append(_claim(
                f"{where}: a cache of all values costs no more than disk alone",
                cells.ratios(load, count, DEFAULT, filled.NO_CACHE), 1))
            claims.append(_claim(
                f"{where}: 16 lock groups cost no more than one lock",
                cells.ratios(load, count, DEFAULT, ONE_LOCK), ALIKE))
    return claims


def _read_ratios(cells, way, base):
    """Of both loads; a text for each."""
    texts = []
    for load in filled.LOADS:
        ratios = [(count, cells.ratio(load, count, way, base))
                  for count in cells.workers]
        found = ", ".join(f"{ratio:.2f} with {count}"
                          for count, ratio in ratios if ratio)
        if found:
            texts.append(f"{load.title}: {found}")
    return "; ".join(texts)


def _read_locks(cells):
    ratios = [ratio for load in filled.LOADS for count in cells.workers
              for ratio in [cells.ratio(load, count, ONE_LOCK, DEFAULT)]
              if ratio]
    if not ratios:
        return ""
    told = _read_ratios(cells, ONE_LOCK, DEFAULT)
    if max(ratios) <= ALIKE:
        verdict = ("One lock is enough here: it is held for a small part of "
                   "what a reply takes, so workers seldom meet at it.")
    else:
        verdict = (f"At worst one lock costs {max(ratios):.2f} times what 16 "
                   "groups do.")
    return (f"One lock against 16 groups, CPU per reply, by workers: {told}. "
            f"{verdict}")


def _reading(cells):
    texts = []
    for title, way in (("all values", DEFAULT),
                       ("a tenth of them", filled.cached("a tenth", POLICY,
                                                         16))):
        told = _read_ratios(cells, way, filled.NO_CACHE)
        if told:
            texts.append(f"with {title} in the cache {told}")
    if texts:
        texts = [f"CPU per reply by that of disk alone, by workers: "
                 f"{'. And '.join(texts)}. The original's mean response was "
                 f"{ORIGINAL_RATIO:.3f} times. Here \"disk\" is LMDB's pages, "
                 "in memory all the time, as they are when there is enough of "
                 "it: a cache can save a search in a tree and a copy, but no "
                 "read of the disk."]
    return list(filter(None, [*texts, _read_scarce(cells),
                              _read_locks(cells)]))


def _read_scarce(cells):
    told = [f"{ratio:.2f} times with {SHORT[way]}" for way in SCARCE_WAYS[1:]
            for ratio in [cells.ratio(filled.SCARCE, 1, filled.NO_CACHE, way,
                                      "per_second")] if ratio]
    if not told:
        return ""
    return ("Where memory is so scarce that the pages are taken away again and "
            "again, the disk is one: the mean response by that of disk alone "
            f"is {', '.join(told)}.")


def _measure_scarce(bench, template, disk):
    """Cells, and how often the servers waited for the disk."""
    runner = filled.ScarceRunner(bench.lab)
    stores = [filled.Store(bench.lab, way, 1, template, disk)
              for way in SCARCE_WAYS]
    return rounds.measure(runner, [filled.SCARCE], stores,
                          bench.options(5, 0.5), bench), runner.faults


def measure(bench):
    workers = bench.pick(WORKERS, (1,))
    ways = bench.pick(tuple(SHORT), SCARCE_WAYS)
    template = filled.fill_many(bench.lab)
    servers = [filled.Store(bench.lab, way, count, template)
               for count in workers for way in ways]
    found = rounds.measure(filled.Runner(bench.lab), filled.LOADS, servers,
                           bench.options(5, 0.25), bench)
    with kv.disk() as disk:
        scarce, faults = _measure_scarce(bench, template, disk)
    cells = Cells({**found, **scarce}, workers, ways)
    result = Result(
        tables=[*(_table(cells, load) for load in filled.LOADS),
                _scarce_table(cells, faults)],
        figures=[_figure(cells, load) for load in filled.LOADS],
        claims=_claims(cells), reading=_reading(cells))
    for (load_name, name), cell in cells.found.items():
        where = f"key-value store, {load_name}: {name} workers"
        if cell.trouble:
            result.left_out.append(f"{where}: {cell.trouble}")
        elif cell.noise:
            result.noise.append(f"{where}: {cell.noise}")
    return result


EXPERIMENT = Experiment(
    7, "kv-cache", "Cache and disk against disk alone, one lock against groups",
    "Does a cache of values in front of the store pay, and does it matter "
    "whether it has one lock or several groups with a lock each?",
    f"{site.MANY:,} keys of 1 KiB, asked for by Zipf's law over 64 connections "
    "(wrk), GET alone and with 10 % PUT, not synced (what a sync costs would "
    "hide the rest): CPU per reply without a cache, with one of all values, "
    "and of a tenth (sieve). One worker has a CPU of its own; two and four "
    "have both CPUs, and share them with wrk. And GET while the store's pages "
    "are taken away from the server all the time. In turns; ratios are medians "
    "over the rounds.",
    110, measure)
