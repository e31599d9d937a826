"""Which concurrency?"""

from lab import loads, machine, rounds, site

from . import bench, concurrency_disk, model, paired, verdicts

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # the original's
WIDE_WORKERS = (1, 4, 64, 1024)  # on both CPUs
WORKERS_QUICK = (1, 4)
ROUNDS, SECONDS = 16, 0.4  # to connect them all takes a part of it
SLOW_SECONDS = 1.6  # of _Runner's row; wrk calls what takes 2 s a timeout
CONNECTIONS = 1_024
CONNECTIONS_QUICK = 64
SMALL_LOAD = "small"
LARGE_LOAD = "large"
LARGE_BYTES = 64 * site.KIB
FASTER = 1.15  # than one worker: what passes for no faster; so short runs
               # of a thousand connections differ by as much


def _loads(connections):
    return (
        loads.Load(SMALL_LOAD, f"1 KiB, {connections:,} connections",
                   connections),
        loads.Load(LARGE_LOAD, f"64 KiB, {connections:,} connections",
                   connections, "64k.bin", LARGE_BYTES),
    )


def _name(workers, is_wide):
    return f"{workers} on {'both CPUs' if is_wide else 'one CPU'}"


def _idle_memory(server):
    """Of a process that has served nothing yet."""
    instance = server.instance(site.SMALL)
    bytes_taken = machine.memory_bytes(instance.pids)
    server.stop()
    return bytes_taken / site.MIB


class _Watched(bench.Variant):
    """Its memory is looked at when it is told to stop: after the load."""

    loaded_mib = None

    def stop(self):
        if self.instances:
            found = [machine.memory_bytes(instance.pids)
                     for instance in self.instances.values()]
            self.loaded_mib = max(self.loaded_mib or 0,
                                  sum(found) / site.MIB)
        super().stop()


class _Runner(loads.Runner):
    """One row needs longer rounds: there 0.4 s have passed without a reply."""

    def measure(self, server, load, seconds):
        if (load.name, server.name) == (SMALL_LOAD, _name(WORKERS[-1], False)):
            seconds = max(seconds, SLOW_SECONDS)
        return super().measure(server, load, seconds)


def _make(lab_bench, workers, is_wide):
    server = lab_bench.sprintd(_name(workers, is_wide), workers=workers,
                               both_cpus=is_wide)
    server.__class__ = _Watched
    return server


def _mean_ms(cell, connections):
    """By Little's law, as each connection always has one request under way."""
    return connections / cell.median("per_second") * 1e3


def _row(workers, usable, connections, idle_mib, loaded_mib):
    cell = usable.get(workers)
    if not cell:
        return [workers, *[None] * 7, "not measured"]
    return [workers, round(cell.median("per_second")), round(cell.cpu_us, 2),
            round(_mean_ms(cell, connections), 2),
            round(cell.median("p50_us") / 1e3, 2),
            round(cell.median("p99_us") / 1e3, 2),
            f"{idle_mib:.1f} / {loaded_mib:.1f}",
            paired.say(_by_one(usable, workers)), cell.noise]


def _by_one(usable, count, what="per_second"):
    """So many workers' numbers by those of one, of each round."""
    return (rounds.ratios(usable[count], usable[1], what) if 1 in usable
            else [])


def _tables(chosen_loads, kinds, cells, made, idle):
    columns = ["workers", "replies/s", "CPU µs/reply", "mean ms", "median ms",
               "p99 ms", "MiB idle / after", "replies, × one worker's",
               "noise"]
    return [model.Table(
        f"{load.title}, {where}", columns,
        [_row(count, _usable(load, kinds, cells, is_wide), load.connections,
              idle[count, is_wide], made[count, is_wide].loaded_mib)
         for count, is_kind_wide in kinds if is_kind_wide == is_wide],
        "Mean: connections by replies a second. Median and p99 are what wrk "
        "says: from sending a request to having read its reply. That a "
        "connection then waits until wrk comes round to it, one thread for "
        "all, or has yet to be opened, is in the mean only, which may be "
        "above the median, and even above the p99. Where a request took more "
        "than twice as long as a connection takes for one on average, wrk "
        "counts those as well that would have begun meanwhile.")
        for load in chosen_loads
        for is_wide, where in ((False, "on one CPU"),
                               (True, "on both CPUs, the client's too"))
        if load.name == SMALL_LOAD or not is_wide]


def _points(usable, what):
    points = []
    for count, cell in usable.items():
        values = [getattr(sample, what) for sample in cell.used]
        points.append([count, bench.median(values), min(values), max(values)])
    return points


def _figures(chosen_loads, kinds, cells):
    sizes = {SMALL_LOAD: "1 KiB", LARGE_LOAD: "64 KiB"}

    def figure(name, title, y, what):
        return model.Figure(
            name, title, "workers", y,
            [model.Series(f"{sizes[load.name]}, {cpus}",
                          _points(usable, what))
             for load in chosen_loads
             for is_wide, cpus in ((False, "1 CPU"), (True, "2 CPUs"))
             for usable in [_usable(load, kinds, cells, is_wide)] if usable],
            log_x=True, log_y=True)

    return [figure("throughput", "Replies a second by workers", "replies/s",
                   "per_second"),
            figure("cpu", "CPU time per reply by workers", "µs/reply",
                   "cpu_us")]


def _usable(load, kinds, cells, is_wide):
    """Cells by count, of those without trouble."""
    found = {count: cells.get((load.name, _name(count, is_wide)))
             for count, is_kind_wide in kinds if is_kind_wide == is_wide}
    return {count: cell for count, cell in found.items()
            if cell and not cell.trouble}


def _slow_row():
    return (f"1 KiB, {WORKERS[-1]:,} workers on one CPU: "
            f"{SLOW_SECONDS:g} s")


def _claim_none_fails(kinds, cells):
    faults = [f"{load}, {name}, "
              f"{sum(bool(sample.trouble) for sample in cell.samples)} of "
              f"{len(cell.samples)} rounds: {cell.trouble}"
              for (load, name), cell in cells.items() if cell.trouble]
    most = max(count for count, _is_wide in kinds)
    return model.Claim(
        f"no request fails with up to {most:,} workers, and no round of "
        f"{SECONDS:g} s ({_slow_row()}) is without replies", not faults,
        "; ".join(faults) or f"{len(cells)} rows without an error")


def _claim_one_is_enough(load, usable):
    return verdicts.claim(
        f"{load.title}, one CPU: no number of workers answers more than "
        f"{FASTER - 1:.0%} faster than one (so short runs differ by as much)",
        {f"{count:,}": _by_one(usable, count)
         for count in usable if count > 1}, FASTER)


def _read(load, usable):
    """A paragraph about one load on one CPU."""
    last = max(usable)
    rates = {count: cell.median("per_second")
             for count, cell in usable.items()}
    # Whoever is ahead by what one worker reaches as well is no winner.
    best = max((count for count in rates if count == 1 or paired.is_at_least(
        _by_one(usable, count), 1)), key=rates.get)
    slow, slow_last = (usable[count].median("p99_us") / 1e3
                       for count in (1, last))
    return (
        f"{load.title}, one CPU: "
        + (f"{best:,} workers gave the most replies a second "
           f"({rates[best]:,.0f}, {paired.say(_by_one(usable, best))} times "
           "those of one). " if best > 1 else
           f"no number of workers gave more replies than one "
           f"({rates[1]:,.0f} a second) beyond doubt. ") + "With "
        f"{last:,} workers a reply took "
        f"{paired.say(_by_one(usable, last, 'cpu_us'))} times the CPU of one, "
        f"{usable[last].cpu_us:.2f} after {usable[1].cpu_us:.2f} µs, and the "
        f"99th percentile was {slow_last:.1f} after {slow:.1f} ms.")


def _read_wide(load, wide):
    told = ", ".join(f"{count:,}: {paired.say(_by_one(wide, count))}"
                     for count in wide if count > 1)
    return (f"{load.title}, with the client's CPU as well: one worker gives "
            f"{wide[1].median('per_second'):,.0f} replies a second, others so "
            f"many times as much: {told}.")


def _read_memory(made, counts):
    first, last = (made[count, False].loaded_mib
                   for count in (counts[0], counts[-1]))
    if first is None or last is None:
        return []
    each = (last - first) / (counts[-1] - counts[0]) * site.KIB
    return ["On one CPU, after the loads, the process held "
            f"{first:.1f} MiB with "
            f"{counts[0]} worker and {last:.1f} MiB with {counts[-1]:,}: "
            f"{each:.0f} KiB for each further one."]


def _take(lab_bench, load, some):
    """Cells of one load, and the memory of each server behind it. some:
    servers by their kind."""
    cells = rounds.measure(_Runner(lab_bench.lab), [load],
                           list(some.values()),
                           lab_bench.options(ROUNDS, SECONDS), lab_bench)
    return cells, {kind: server.loaded_mib for kind, server in some.items()}


def measure(lab_bench):
    counts = lab_bench.pick(WORKERS, WORKERS_QUICK)
    chosen_loads = _loads(lab_bench.pick(CONNECTIONS, CONNECTIONS_QUICK))
    kinds = [*((count, False) for count in counts),
             *((count, True) for count in counts if count in WIDE_WORKERS)]
    made = {kind: _make(lab_bench, *kind) for kind in kinds}
    lab_bench.lab.site.put(site.SMALL, site.KIB)
    idle = {}
    for kind, server in made.items():
        lab_bench.step(f"idle: {server.name}")
        idle[kind] = _idle_memory(server)
    cells = {}
    for load in chosen_loads:
        some = {kind: server for kind, server in made.items()
                if load.name == SMALL_LOAD or not kind[1]}
        found, loaded = lab_bench.part(
            load.name, lambda load=load, some=some: _take(lab_bench, load,
                                                          some))
        cells.update(found)
        for kind, mib in loaded.items():
            made[kind].loaded_mib = mib
    result = model.Result(
        tables=_tables(chosen_loads, kinds, cells, made, idle),
        figures=_figures(chosen_loads, kinds, cells),
        claims=[_claim_none_fails(kinds, cells)])
    for load in chosen_loads:
        narrow = _usable(load, kinds, cells, False)
        wide = _usable(load, kinds, cells, True)
        if 1 in narrow:
            result.claims.append(_claim_one_is_enough(load, narrow))
            result.reading.append(_read(load, narrow))
        if 1 in wide:
            result.reading.append(_read_wide(load, wide))
    result.reading += _read_memory(made, counts)
    blocked = lab_bench.part("disk",
                             lambda: concurrency_disk.measure(lab_bench))
    result.tables = [*result.tables[:1], *blocked.tables, *result.tables[1:]]
    result.claims += blocked.claims
    result.reading = [*blocked.reading, *result.reading]
    result.left_out += blocked.left_out
    result.noise = verdicts.noises(
        (f"{load}, {server}", cell.noise)
        for (load, server), cell in cells.items() if not cell.trouble)
    return result


EXPERIMENT = model.Experiment(
    3, "concurrency", "Which concurrency?",
    "How many workers serve best? The original left it to be tried, from 1 to "
    "1,024; a worker there was a task that waits for its reads.",
    "wrk, a closed loop of 1,024 keep-alive connections to files of 1 KiB and "
    "64 KiB; 1 to 1,024 workers, all on one CPU, and for 1 KiB some numbers "
    "of them on both, where they share the second with the client. "
    f"{ROUNDS} rounds of "
    f"{SECONDS:g} s in turns ({_slow_row()}), medians; ratios are of each "
    "round. Memory is resident: of a process just started, and the most behind "
    "its loads. And "
    "files that are not in memory, on a disk that a control group makes slow: "
    f"there a worker waits for its reads ({concurrency_disk.CONNECTIONS} "
    f"connections, {concurrency_disk.ROUNDS} rounds of "
    f"{concurrency_disk.SECONDS:g} s).",
    265, measure)
