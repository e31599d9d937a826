"""Which concurrency?"""

from lab import loads, machine, site

from . import bench, model

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WORKERS_QUICK = (1, 4)
CONNECTIONS = 1_024
CONNECTIONS_QUICK = 64
SMALL_LOAD = "small"
LARGE_LOAD = "large"
LARGE_BYTES = 64 * site.KIB
NEAR = 0.97  # of the best: not to be told from it


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
            self.loaded_mib = sum(found) / site.MIB
        super().stop()


def _make(lab_bench, workers, is_wide):
    server = lab_bench.sprintd(_name(workers, is_wide), workers=workers,
                               both_cpus=is_wide)
    server.__class__ = _Watched
    return server


def _row(workers, cell, idle_mib, loaded_mib):
    if cell.trouble:
        return [workers, None, None, None, None, None, cell.trouble]
    return [workers, round(cell.median("per_second")), round(cell.cpu_us, 2),
            round(cell.median("p50_us") / 1e3, 2),
            round(cell.median("p99_us") / 1e3, 2),
            f"{idle_mib:.1f} / {loaded_mib:.1f}", cell.noise]


def _tables(chosen_loads, counts, cells, made, idle):
    columns = ["workers", "replies/s", "CPU µs/reply", "median ms", "p99 ms",
               "MiB idle / after", "noise"]
    return [model.Table(
        f"{load.title}, {where}", columns,
        [_row(count, cells[load.name, _name(count, is_wide)],
              idle[count, is_wide], made[count, is_wide].loaded_mib)
         for count in counts])
        for load in chosen_loads
        for is_wide, where in ((False, "on one CPU"),
                               (True, "on both CPUs, the client's too"))]


def _points(load, counts, cells, is_wide, what, factor=1.0):
    points = []
    for count in counts:
        cell = cells[load.name, _name(count, is_wide)]
        if not cell.trouble:
            values = [getattr(sample, what) * factor for sample in cell.used]
            points.append([count, bench.median(values), min(values),
                           max(values)])
    return points


def _figures(chosen_loads, counts, cells):
    sizes = {SMALL_LOAD: "1 KiB", LARGE_LOAD: "64 KiB"}

    def figure(name, title, y, what, factor):
        return model.Figure(
            name, title, "workers", y,
            [model.Series(f"{sizes[load.name]}, {cpus}",
                          _points(load, counts, cells, is_wide, what, factor))
             for load in chosen_loads
             for is_wide, cpus in ((False, "1 CPU"), (True, "2 CPUs"))],
            log_x=True, log_y=True)

    return [figure("throughput", "Replies a second by workers", "replies/s",
                   "per_second", 1.0),
            figure("cpu", "CPU time per reply by workers", "µs/reply",
                   "cpu_us", 1.0)]


def _usable(load, counts, cells, is_wide):
    """Cells by count, of those without trouble."""
    found = {count: cells[load.name, _name(count, is_wide)]
             for count in counts}
    return {count: cell for count, cell in found.items() if not cell.trouble}


def _claim_none_fails(chosen_loads, counts, cells):
    faults = [f"{load.title}, {_name(count, is_wide)}: {cell.trouble}"
              for load in chosen_loads for is_wide in (False, True)
              for count in counts
              if (cell := cells[load.name, _name(count, is_wide)]).trouble]
    return model.Claim(
        f"no request fails with up to {max(counts):,} workers",
        not faults,
        "; ".join(faults) or f"{len(cells)} rows without an error")


def _claim_one_is_enough(load, usable):
    """On one CPU more workers can only cost."""
    best = max(usable, key=lambda count: usable[count].median("per_second"))
    first = usable[1]
    ratio = (first.median("per_second") /
             usable[best].median("per_second"))
    noisy = [count for count in (1, best) if usable[count].noise]
    holds = ratio >= NEAR
    return model.Claim(
        f"{load.title}, one CPU: one worker is as fast as any number",
        None if noisy and not holds else holds,
        f"one: {first.median('per_second'):,.0f} replies/s, the best "
        f"({best:,}): {usable[best].median('per_second'):,.0f}"
        + ("; too noisy to judge" if noisy and not holds else ""))


def _read(load, usable):
    """A paragraph about one load on one CPU."""
    counts = sorted(usable)
    first, last = usable[counts[0]], usable[counts[-1]]
    more = last.cpu_us / first.cpu_us - 1
    rates = {count: usable[count].median("per_second") for count in counts}
    best = max(rates, key=rates.get)
    near = [count for count in counts if rates[count] >= NEAR * rates[best]]
    slow = {count: usable[count].median("p99_us") / 1e3 for count in counts}
    return (
        f"{load.title}, one CPU: {best:,} worker{'s' * (best > 1)} gave the "
        f"most replies a second ({rates[best]:,.0f}); within 3 % of that: "
        f"{', '.join(f'{count:,}' for count in near)}. From {counts[0]} to "
        f"{counts[-1]:,} workers, CPU time per reply went from "
        f"{first.cpu_us:.2f} to {last.cpu_us:.2f} µs ({more:+.0%}) and the "
        f"99th percentile from {slow[counts[0]]:.1f} to "
        f"{slow[counts[-1]]:.1f} ms.")


def _read_wide(load, narrow, wide):
    rates = {count: cell.median("per_second") for count, cell in wide.items()}
    best = max(rates, key=rates.get)
    one = max(cell.median("per_second") for cell in narrow.values())
    return (f"{load.title}, with the client's CPU as well: most replies with "
            f"{best:,} ({rates[best]:,.0f} a second, {rates[best] / one:.2f} "
            "times the most on one CPU).")


def _read_memory(made, counts):
    first, last = (made[count, False].loaded_mib
                   for count in (counts[0], counts[-1]))
    if first is None or last is None:
        return []
    each = (last - first) / (counts[-1] - counts[0]) * site.KIB
    return [f"After the loads the process held {first:.1f} MiB with "
            f"{counts[0]} worker and {last:.1f} MiB with {counts[-1]:,}: "
            f"{each:.0f} KiB for each further one."]


def measure(lab_bench):
    counts = lab_bench.pick(WORKERS, WORKERS_QUICK)
    chosen_loads = _loads(lab_bench.pick(CONNECTIONS, CONNECTIONS_QUICK))
    kinds = [(count, is_wide) for count in counts
             for is_wide in (False, True)]
    made = {kind: _make(lab_bench, *kind) for kind in kinds}
    lab_bench.lab.site.put(site.SMALL, site.KIB)
    idle = {}
    for kind, server in made.items():
        lab_bench.step(f"idle: {server.name}")
        idle[kind] = _idle_memory(server)
    cells = lab_bench.measure(chosen_loads, list(made.values()), 3, 0.5)
    result = model.Result(
        tables=_tables(chosen_loads, counts, cells, made, idle),
        figures=_figures(chosen_loads, counts, cells),
        claims=[_claim_none_fails(chosen_loads, counts, cells)])
    for load in chosen_loads:
        narrow = _usable(load, counts, cells, False)
        wide = _usable(load, counts, cells, True)
        if 1 in narrow:
            result.claims.append(_claim_one_is_enough(load, narrow))
            result.reading.append(_read(load, narrow))
        if narrow and wide:
            result.reading.append(_read_wide(load, narrow, wide))
    result.reading += _read_memory(made, counts)
    result.noise = [f"{load}, {server}: {cell.noise}"
                    for (load, server), cell in cells.items()
                    if not cell.trouble and cell.noise]
    return result


EXPERIMENT = model.Experiment(
    3, "concurrency", "Which concurrency?",
    "How many workers serve best? The originals' reports left it to be tried; "
    "a worker there was a process or a thread that waits.",
    "wrk, a closed loop of 1,024 keep-alive connections to files of 1 KiB and "
    "64 KiB; 1 to 1,024 workers, all on one CPU, and all on both (where they "
    "share the second with the client). Three rounds in turns, medians. "
    "Memory is resident: of a process just started, and after all its loads.",
    150, measure)
