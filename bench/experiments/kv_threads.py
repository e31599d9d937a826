"""How many threads does the key-value store want?"""

import statistics

from lab import processes, rounds, sessions

from . import kv_client_report, kv_runs, paired, verdicts
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

THREADS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18)
# Of the original, by threads: min, max, median and mean of a request, in ms,
# and the sum of all requests' times, which it calls total time.
ORIGINAL = {
    1: (0.23, 64.95, 25.66, 26.48, 26_483.4),
    2: (0.22, 60.68, 25.04, 26.24, 26_243.1),
    4: (0.17, 62.49, 24.01, 25.25, 25_249.4),
    6: (0.16, 61.80, 22.98, 25.18, 25_175.4),
    8: (0.21, 62.15, 24.59, 25.66, 25_657.1),
    10: (0.20, 57.34, 24.48, 24.93, 24_926.5),
    12: (0.17, 61.76, 22.36, 24.09, 24_092.7),
    14: (0.17, 61.39, 23.04, 24.90, 24_902.8),
    16: (0.17, 58.82, 23.52, 24.70, 24_695.7),
    18: (0.20, 58.17, 23.17, 24.85, 24_852.1),
}
ALIKE = 1.15  # what passes for as good as the best
WRITES = ("PUT", "DELETE")


def _times_table(mode, cells, threads):
    """As the original's is, at both ends."""
    rows = []
    best = _best(mode, cells, threads)
    for count in threads:
        cell = cells[mode, count]
        if cell.trouble:
            rows.append([count, *[None] * 12])
            continue
        rows.append([
            count,
            *(cell.middle(lambda run: of(run.times(where)) / 1e3)
              for of in (min, max, statistics.median, statistics.fmean)
              for where in ("took", "server")),
            cell.middle(lambda run: sum(run.times()) / 1e3),
            cell.middle(lambda run: run.seconds),
            cell.middle(kv_runs.cpu_us_of),
            paired.say(_by_best(mode, cells, count, best))])
    return Table(
        f"Response time by threads: {mode.title}",
        ["threads", *(f"{of}{where} ms"
                      for of in ("min", "max", "median", "mean")
                      for where in ("", ", server")),
         "sum of all ms", "from first to last s", "CPU µs a request",
         "mean, × the best number's"], rows,
        "What the client sees, and beside it what the server has logged of "
        "the same requests. CPU: the server's. × the best number's: of each "
        "round.")


def _both(cells, threads):
    """All ten rows of the original's, and ours beside them: of both what the
    server says."""
    rows = []
    for count, (*times, whole) in ORIGINAL.items():
        ours = [None] * 5
        cell = cells.get((kv_runs.MODES[0], count))
        if cell and count in threads and not cell.trouble:
            ours = [cell.middle(lambda run: of(run.times("server")) / 1e3)
                    for of in (min, max, statistics.median, statistics.fmean,
                               sum)]
        rows.append([count, *(f"{each:.2f}" for each in times),
                     f"{whole:,.2f}", *ours])
    figures = ("min ms", "max ms", "median ms", "mean ms", "sum of all ms")
    return Table(
        "10 sessions, 1,000 requests in all: the original's, and sprintd's",
        ["threads", *(f"original: {each}" for each in figures),
         *(f"sprintd: {each}" for each in figures)], rows,
        "Taken in the server, of both; theirs on another machine, once each. "
        "sprintd's are durable, one CPU, of ten connections at once, with PUT "
        "of 1 KiB to a known key where theirs have POST, and every key asked "
        "for is there. The original's client reports at most 2 at once beside "
        "the row of 4 threads, and 803 replies of 4xx, as many as it had "
        "GETs, and 197 of 2xx, as many as it had POSTs and DELETEs: so it "
        "seems that no key that was asked for was there.")


def _by_best(mode, cells, count, best):
    """Means by those of the best number, round for round."""
    return paired.ratios(cells[mode, count].means_ms,
                         cells[mode, best].means_ms)


def _parts(cell):
    """Where a request's mean time goes, in µs: they add up to what the client
    sees, but for medians."""
    return {"in the server": cell.mean("server"),
            "on the way": cell.mean("way"),
            "in the client's socket": cell.mean("lay")}


def _parts_table(mode, cells, threads):
    rows = []
    for count in threads:
        cell = cells[mode, count]
        if cell.trouble:
            rows.append([count, *[None] * 10])
            continue
        server, *difference = _parts(cell).values()
        rows.append([
            count, cell.mean(), server, sum(difference), *difference,
            cell.mean("call"), cell.mean("took", ("GET",)),
            cell.mean("server", ("GET",)), cell.mean("server", WRITES),
            cell.writes_a_commit])
    return Table(
        f"Where a request's mean time goes: {mode.title}",
        ["threads", "client µs", "server µs", "difference µs",
         "on the way µs", "in the client's socket µs",
         "of the way: client's call µs", "GET, client µs", "GET, server µs",
         "PUT and DELETE, server µs", "writes a commit"], rows,
        "On the way: the client's call, the network, and waiting in the "
        "server's socket until a worker reads (what is left, so it may be "
        "below zero by some µs on loopback, where calls overlap). Server: "
        "from the first byte read to the last byte handed over, by "
        "its log. In the client's socket: by the kernel's time stamp.")


def _figures(cells, threads):
    lines = []
    for mode in kv_runs.MODES:
        sound = [(count, cells[mode, count]) for count in threads
                 if not cells[mode, count].trouble]
        lines.append(Series(f"client, {mode.title}", [
            [count, cell.mean() / 1e3, min(cell.means_ms), max(cell.means_ms)]
            for count, cell in sound]))
        lines.append(Series(f"server, {mode.title}", [
            [count, cell.mean("server") / 1e3] for count, cell in sound]))
    bars = []
    for mode in kv_runs.MODES:
        best = _best(mode, cells, threads)
        if best:
            bars.append(Series(f"{mode.title}, threads: {best}", [
                [part, max(0, us)]
                for part, us in _parts(cells[mode, best]).items()]))
    return [Figure("mean", "10 sessions with the key-value store", "threads",
                   "mean response (ms)", lines, log_y=True),
            Figure("parts", "Where the mean time goes, at the best number",
                   "", "mean (µs)", bars, kind=BARS)]


def _best(mode, cells, threads):
    """The number of threads with the least mean, or None."""
    sound = [count for count in threads if not cells[mode, count].trouble]
    return min(sound, key=lambda count: cells[mode, count].mean(),
               default=None)


def _claim_count(mode, cells, threads, count, what):
    """Whether so many threads are as good as the best of all other numbers:
    beside itself it would always be."""
    compared = {}
    best = _best(mode, cells, [each for each in threads if each != count])
    if best and count in threads and not cells[mode, count].trouble:
        compared[f"mean of {cells[mode, count].mean() / 1e3:.3g} ms by "
                 f"{cells[mode, best].mean() / 1e3:.3g} with {best}, the "
                 "best"] = _by_best(mode, cells, count, best)
    return verdicts.claim(
        f"key-value store, {mode.title}: {what} (here {count}) are as good as "
        f"the best other number, within {ALIKE - 1:.0%} (runs differ by as "
        "much)", compared, ALIKE)


def _claims(cells, threads):
    troubles = [f"{mode.title}, {count} threads: {cell.trouble}"
                for (mode, count), cell in cells.items() if cell.trouble]
    requests = sum(len(run.answers) for cell in cells.values()
                   for run in cell.runs)
    return [Claim("key-value store: every reply has the status and the length "
                  "that it must have, with any number of threads",
                  not troubles, "; ".join(troubles) or
                  f"{requests:,} requests, none failed"),
            # What sprintd takes when it is not told, and far too many.
            *(_claim_count(mode, cells, threads, 2 if mode.both_cpus else 1,
                           "as many threads as CPUs")
              for mode in kv_runs.MODES),
            *(_claim_count(mode, cells, threads, threads[-1],
                           "far more threads than CPUs")
              for mode in kv_runs.MODES)]


def _read_best(mode, cells, threads):
    best = _best(mode, cells, threads)
    if best is None:
        return ""
    cell = cells[mode, best]
    means = {count: cells[mode, count].mean() for count in threads
             if not cells[mode, count].trouble}
    worst = max(means, key=means.get)
    return (f"{mode.title}: least mean by threads with {best} "
            f"({means[best] / 1e3:.3g} ms, of it "
            f"{cell.mean('server') / 1e3:.3g} ms in the server), most with "
            f"{worst} ({means[worst] / 1e3:.3g} ms), CPU a request "
            f"{cell.middle(kv_runs.cpu_us_of):.3g} and "
            f"{cells[mode, worst].middle(kv_runs.cpu_us_of):.3g} µs")


def _read_parts(mode, cells, threads):
    best = _best(mode, cells, threads)
    if best is None:
        return ""
    cell = cells[mode, best]
    parts = ", ".join(f"{us:,.0f} {part}"
                      for part, us in _parts(cell).items())
    return f"{mode.title}, threads {best}: {cell.mean():,.0f} µs are {parts}"


def _read_disk(cells, threads):
    """What durability costs, by the same number of threads."""
    pair = [cells[mode, threads[0]] for mode in kv_runs.MODES[:2]]
    if any(cell.trouble for cell in pair):
        return ""
    (reads, unsynced_reads), (writes, unsynced_writes) = (
        [cell.mean("server", methods) for cell in pair]
        for methods in (("GET",), WRITES))
    commit = pair[0].writes_a_commit
    text = (f"What durable writes cost, threads {threads[0]}: in the server a "
            f"write takes {writes:,.0f} µs when it is durable, "
            f"{unsynced_writes:,.0f} when it is not synced; a GET "
            f"{reads:,.0f} and {unsynced_reads:,.0f}")
    if commit:
        text += f". {commit:.1f} writes share a commit and its sync"
    return text + "."


def _reading(cells, threads):
    best, parts = (
        "; ".join(filter(None, (read(mode, cells, threads)
                                for mode in kv_runs.MODES)))
        for read in (_read_best, _read_parts))
    texts = [
        f"The original was best with 12 threads for {sessions.SESSIONS} "
        "sessions, a mean 9 % below that of 1 thread, each row a single run "
        "of 1,000 requests. By its client's report, of 4 threads, never more "
        "than two connections were open, and one on average: so no more than "
        "two threads had anything to do at a time. If its other rows were "
        "asked for alike, what differs between those of two threads and more "
        "is not owed to their number. Here all "
        f"{sessions.SESSIONS} sessions are open at once, a worker has any "
        f"number of them, and a thread of its own does all writing. {best}.",
        "The original says that a request takes far longer by its client's "
        "report than by its server's; the two that it prints say the "
        "opposite, 0.8 ms a response and 25.2. Here both tell of the same "
        "requests. "
        "What the client sees and the server does not is the way, with the "
        "wait in the server's socket until a worker comes round, and the wait "
        "in the client's, one thread for all sessions. Means, the median of "
        f"the runs' of each part, so that they add up but roughly: {parts}.",
        _read_disk(cells, threads)]
    return list(filter(None, texts)) if best else []


def measure(bench):
    threads = bench.pick(THREADS, (2,))
    cells = kv_runs.take_all(bench, threads)
    result = Result(claims=_claims(cells, threads),
                    figures=_figures(cells, threads),
                    reading=_reading(cells, threads))
    result.tables.append(_both(cells, threads))
    try:
        result.tables.append(kv_client_report.measure(bench))
    except (processes.Failure, OSError) as failure:
        result.left_out.append(f"httperf's own report: {failure}")
    for mode in kv_runs.MODES:
        result.tables += [_times_table(mode, cells, threads),
                          _parts_table(mode, cells, threads)]
    taken = max(len(cell.runs) for cell in cells.values())
    if taken < bench.rounds(kv_runs.ROUNDS):
        result.noise.append(f"key-value store, threads: time was up after "
                            f"{taken} runs of each, of "
                            f"{bench.rounds(kv_runs.ROUNDS)}")
    names = {cell: f"{mode.title}, {count} thread{'s' * (count != 1)}"
             for (mode, count), cell in cells.items()}
    result.left_out += [f"{name}: {cell.trouble}"
                        for cell, name in names.items() if cell.trouble]
    result.noise += verdicts.noises(
        (name, f"means differ by {cell.spread:.0%}"
         if cell.spread > rounds.NOISY_SPREAD else "")
        for cell, name in names.items() if not cell.trouble)
    return result


EXPERIMENT = Experiment(
    6, "kv-threads", "How many threads for the key-value store?",
    "Which number of threads gives the least mean response time, and where is "
    "the rest of what clients see?",
    f"{sessions.SESSIONS} sessions of {kv_runs.REQUESTS:,} requests each, "
    f"{sessions.SESSIONS * kv_runs.REQUESTS:,} in all as the original had; "
    "80 % GET, 10 % PUT, 10 % DELETE, seeded; every key asked for is there; "
    "each on a connection of its "
    "own, the next request when the last is answered; values of 1 KiB. "
    "Durable (a write is answered when on disk) and not; the server on a CPU "
    "of its own, and on both with the client. All servers begin with the same "
    f"store; {kv_runs.ROUNDS} runs of each in turns, medians over them, "
    "ratios of each round. Each request's time is taken at the "
    "client and at the server, which logs each of them. httperf's own report "
    "of its --wsesslog, with POST as the original had it, stands beside.",
    100, measure)
