"""Which chunk size?"""

import dataclasses
import os
import random
import threading
import time
import types

from lab import loads, machine, processes, rounds, site
from link import arrivals, client

from . import bench, chunk_why, model, paired, verdicts

CHUNKS = ("1K", "10K", "50K", "100K", "512K", "1M", "2M", "4M", "10M", "50M",
          "100M", "512M")
CHUNKS_QUICK = ("1K", "512K", "4M")
UNITS = {"K": site.KIB, "M": site.MIB}
OTHERS = ("sendfile", "mmap")
LARGE = "large.bin"
LARGE_BYTES = 512 * site.MIB
LARGE_BYTES_QUICK = 8 * site.MIB
DOWNLOADS = 4
SMALL_RATE = 200
ROUNDS = 18
SECONDS = 1.5
SECONDS_QUICK = 0.2
WARM_UP_S = 0.2
LAST_REPLY_S = 10
NEAR = 1.05   # times as much: what passes for no more
TAIL_NEAR = 1.25  # the same of a p99, which is of the few slowest requests
NOISY = 0.15  # spread of the rounds' throughput
FULL = 0.9    # of the server's CPU in use: less, and it had to wait
BUSY = 0.05   # others' share of the server's CPU


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    arguments: tuple
    chunk_bytes: int = 0  # 0: not read


@dataclasses.dataclass
class Sample:
    mib_per_second: float = 0.0
    cpu_us: float = 0.0  # for each MiB
    memory_mib: float = 0.0
    small_ms: list = dataclasses.field(default_factory=list)
    foreign: float = 0.0
    trouble: str = ""


def _ways(chunks):
    read = [Way(f"read {chunk}B",
                ("--send-method=read", f"--chunk-size={chunk}"),
                int(chunk[:-1]) * UNITS[chunk[-1]]) for chunk in chunks]
    return read + [Way(name, (f"--send-method={name}",)) for name in OTHERS]


def _put_large(lab_bench):
    """All holes: the disk hardly notices. Reading it once puts it into
    memory, where every row finds it."""
    path = lab_bench.lab.site.path(LARGE)
    with open(path, "wb") as file:
        file.truncate(lab_bench.pick(LARGE_BYTES, LARGE_BYTES_QUICK))
    with open(path, "rb") as file:
        while file.read(site.MIB):
            pass
    return path


def _small_arrivals(lab_bench, seconds):
    rng = random.Random(lab_bench.seed)
    starts = sorted(rng.random() * seconds
                    for _each in range(max(10, int(SMALL_RATE * seconds))))
    return [arrivals.Arrival(start, site.KIB) for start in starts]


def _priority():
    """The small requests' client sleeps nearly all the time, but shares its
    CPU with one that does not: ahead of it, it is in time."""
    return ["chrt", "--rr", "1"] if os.geteuid() == 0 else []


class _SmallRequests(threading.Thread):
    """Asks for small files at their moments while the downloads go on."""

    def __init__(self, lab_bench, port, asked):
        super().__init__()
        self.lab_bench = lab_bench
        self.port = port
        self.asked = asked
        self.results = []
        self.trouble = ""

    def run(self):
        lab = self.lab_bench.lab
        options = types.SimpleNamespace(keep_alive=True, wait=LAST_REPLY_S)
        try:
            self.results = client.send(
                lab, self.asked, lab.site.folder, ("127.0.0.1", self.port),
                _priority(), options, "small")
        except (processes.Failure, OSError) as failure:
            self.trouble = str(failure)
        bad = [result.outcome for result in self.results
               if result.outcome != client.OK]
        if bad:
            self.trouble = f"{len(bad)} small requests failed ({bad[0]})"

    def times_ms(self):
        return [result.done * 1e3 for result in self.results]


def _trouble(said, small):
    faults = [f"{said[name]} {name.replace('_', ' ')}"
              for name in ("connect_errors", "read_errors", "write_errors",
                           "status_errors") if said[name]]
    return ", ".join([*faults, *([small.trouble] if small.trouble else [])])


def _measure_one(lab_bench, runner, server, path, asked, seconds):
    """A sample of a new process."""
    instance = server.instance("")
    load = loads.Load("large", "large downloads", DOWNLOADS, LARGE,
                      os.path.getsize(path))
    runner.scripts[load.name] = []
    runner.put_load(server, load, min(WARM_UP_S, seconds))
    small = _SmallRequests(lab_bench, instance.port, asked)
    cpu = lab_bench.lab.server_cpu
    before = (time.monotonic_ns(), machine.cpu_ns(instance.pids),
              machine.cpu_busy_ns(cpu))
    small.start()
    said = runner.put_load(server, load, seconds)
    after = (time.monotonic_ns(), machine.cpu_ns(instance.pids),
             machine.cpu_busy_ns(cpu))
    mapped = machine.mapped_bytes(instance.pids, os.path.realpath(path))
    memory = machine.memory_bytes(instance.pids) - mapped
    small.join()
    if not said or not said["bytes"]:
        return Sample(trouble="no replies")
    if not instance.is_alive():
        return Sample(trouble="the server has ended")
    mib = said["bytes"] / site.MIB
    wall, spent, busy = (end - begin for begin, end in zip(before, after))
    return Sample(mib / (said["duration_us"] / 1e6), spent / 1e3 / mib,
                  memory / site.MIB, small.times_ms(),
                  max(0, busy - spent) / wall, _trouble(said, small))


def _take(lab_bench, runner, server, path, asked, seconds):
    try:
        return _measure_one(lab_bench, runner, server, path, asked, seconds)
    except (processes.Failure, OSError) as failure:
        return Sample(trouble=str(failure))
    finally:
        server.stop()


def _samples(lab_bench, ways, path):
    """Lists of samples by way, taken in turns."""
    lab_bench.lab.programs = client.compile_programs(lab_bench.lab.site.folder)
    lab_bench.lab.site.put(arrivals.file_name(site.KIB), site.KIB)
    runner = loads.Runner(lab_bench.lab)
    seconds = lab_bench.pick(SECONDS, SECONDS_QUICK)
    asked = _small_arrivals(lab_bench, seconds)
    made = {way.name: lab_bench.sprintd(way.name, *way.arguments)
            for way in ways}
    found = {way.name: [] for way in ways}
    for turn in range(lab_bench.rounds(ROUNDS)):
        for way in rounds.in_order(ways, turn):
            lab_bench.step(f"round {turn + 1}: {way.name}")
            found[way.name].append(_take(lab_bench, runner, made[way.name],
                                         path, asked, seconds))
    return found


class Row:
    """All samples of one way."""

    def __init__(self, way, samples):
        self.way = way
        self.trouble = next((s.trouble for s in samples if s.trouble), "")
        self.rates = [sample.mib_per_second for sample in samples]
        self.rate = bench.median(self.rates)
        self.costs = [sample.cpu_us for sample in samples]
        self.cpu_us = bench.median(self.costs)
        self.busy = bench.median(sample.mib_per_second * sample.cpu_us / 1e6
                                 for sample in samples)
        self.memory_mib = max(sample.memory_mib for sample in samples)
        self.small = [time for sample in samples for time in sample.small_ms]
        self.p50 = bench.median(self.small)
        self.p99 = bench.percentile(self.small, 0.99)
        self.p99_rounds = [bench.percentile(sample.small_ms, 0.99)
                           for sample in samples]
        self.foreign = bench.median(sample.foreign for sample in samples)

    @property
    def noise(self):
        if self.trouble:
            return ""
        if self.foreign > BUSY:
            return f"others took {self.foreign:.0%} of the CPU"
        spread = bench.spread(self.rates)
        return f"spread {spread:.0%}" if spread > NOISY else ""

    def cells(self):
        if self.trouble:
            return [self.way.name, *[None] * 6, self.trouble]
        return [self.way.name, round(self.rate), round(self.cpu_us),
                round(100 * self.busy), round(self.p50, 3), round(self.p99, 3),
                round(self.memory_mib, 1), self.noise]


def _figure(name, title, y, read, others, what):
    """Lines over the chunk size; the other ways, which have none, across."""
    ends = [read[0].way.chunk_bytes / site.KIB,
            read[-1].way.chunk_bytes / site.KIB]
    series = [model.Series("read", [[row.way.chunk_bytes / site.KIB, what(row)]
                                    for row in read])]
    series += [model.Series(row.way.name, [[end, what(row)] for end in ends])
               for row in others]
    return model.Figure(name, title, "chunk, KiB", y, series, log_x=True,
                        log_y=True)


def _figures(rows):
    read = [row for row in rows if row.way.chunk_bytes]
    others = [row for row in rows if not row.way.chunk_bytes]
    if not read:
        return []
    return [
        _figure("throughput", "Large downloads by chunk size", "MiB/s", read,
                others, lambda row: row.rate),
        _figure("small", "A small request beside them, 99th percentile", "ms",
                read, others, lambda row: row.p99)]


def _claims(rows, broken):
    claims = [model.Claim(
        "no chunk size and no way of sending fails a request", not broken,
        "; ".join(f"{row.way.name}: {row.trouble}" for row in broken)
        or f"{len(rows)} rows without an error")]
    by_name = {row.way.name: row for row in rows}
    read = [row for row in rows if row.way.chunk_bytes]
    if "sendfile" not in by_name or not read:
        return claims
    own = by_name["sendfile"]
    fast = max(read, key=lambda row: row.rate)
    cheap = min(read, key=lambda row: row.cpu_us)
    return [
        *claims,
        _compare("large downloads: sendfile, which sprintd takes by itself, "
                 "moves as much as the best chunk size of reads",
                 f"{fast.way.name} by sendfile, {fast.rate:,.0f} by "
                 f"{own.rate:,.0f} MiB/s", fast.rates, own.rates),
        _compare("large downloads: sendfile takes no more CPU than the chunk "
                 "size that takes least",
                 f"sendfile by {cheap.way.name}, {own.cpu_us:,.0f} by "
                 f"{cheap.cpu_us:,.0f} µs/MiB", own.costs, cheap.costs),
        _compare("a small request beside large downloads waits no longer by "
                 "sendfile than by the chunk size with the highest throughput "
                 "(99th percentile, which few requests make)",
                 f"sendfile by {fast.way.name}, {own.p99:.2f} by "
                 f"{fast.p99:.2f} ms", own.p99_rounds, fast.p99_rounds,
                 TAIL_NEAR)]


def _compare(text, what, some, others, near=NEAR):
    """That some are no more than the others."""
    return verdicts.claim(f"{text}, within {near - 1:.0%}",
                          {what: paired.ratios(some, others)}, near)


def _read_sizes(read):
    """What moved most, and the ends."""
    fast = max(read, key=lambda row: row.rate)
    near = [row.way.name for row in read
            if paired.is_at_most(paired.ratios(fast.rates, row.rates), NEAR)]
    ends = "; ".join(
        f"{row.way.name} "
        f"{paired.say(paired.ratios(row.rates, fast.rates))} times as much "
        f"with {row.cpu_us:,.0f}" for row in (read[0], read[-1]))
    text = (f"Of the chunk sizes, {fast.way.name} moved most: "
            f"{fast.rate:,.0f} MiB/s with {fast.cpu_us:,.0f} µs of CPU time "
            f"per MiB; {ends}.")
    others = [name for name in near if name != fast.way.name]
    return text + (f" No worse, within {NEAR - 1:.0%}: {', '.join(others)}."
                   if others else "")


def _read_rest(read):
    """What the sizes do to others, and to memory."""
    quick, slow = (choose(read, key=lambda row: row.p99)
                   for choose in (min, max))
    memory = [row.memory_mib for row in read]
    most = max(read, key=lambda row: row.memory_mib)
    text = ("A small request beside these had a 99th percentile from "
            f"{quick.p99:.2f} ms ({quick.way.name}) to {slow.p99:,.2f} "
            f"({slow.way.name}). The process held {min(memory):,.1f} to "
            f"{max(memory):,.1f} MiB, most with {most.way.name}")
    return text + (
        ", less than the largest chunks: of a buffer only pages that were "
        "written to count."
        if max(memory) < read[-1].way.chunk_bytes / site.MIB else
        ".")


def _read(rows):
    read = [row for row in rows if row.way.chunk_bytes]
    if not read:
        return []
    texts = [_read_sizes(read), _read_rest(read)]
    texts += [f"By {row.way.name}: {row.rate:,.0f} MiB/s, {row.cpu_us:,.0f} "
              f"µs/MiB, a small request's 99th percentile {row.p99:.2f} ms, "
              f"{row.memory_mib:,.1f} MiB."
              for row in rows if not row.way.chunk_bytes]
    idle = [row for row in rows if row.busy + row.foreign < FULL]
    if idle:
        texts.append(
            "The server's CPU had time left, so that something else limited "
            "the rate, with " + ", ".join(
                f"{row.way.name} ({row.busy:.0%} busy)" for row in idle) + ".")
    return texts


def measure(lab_bench):
    ways = _ways(lab_bench.pick(CHUNKS, CHUNKS_QUICK))
    path = _put_large(lab_bench)
    found = lab_bench.part("rows", lambda: _samples(lab_bench, ways, path))
    rows = [Row(way, found[way.name]) for way in ways]
    good = [row for row in rows if not row.trouble]
    broken = [row for row in rows if row.trouble]
    why = lab_bench.part("why", lambda: chunk_why.take(lab_bench, LARGE))
    size = f"{os.path.getsize(path) // site.MIB} MiB"
    return model.Result(
        tables=[model.Table(
            f"{DOWNLOADS} downloads of {os.path.getsize(path) // site.MIB} "
            f"MiB, and {SMALL_RATE} small requests a second beside them",
            ["way", "MiB/s", "CPU µs/MiB", "CPU busy %",
             "small median ms", "small p99 ms", "memory MiB", "noise"],
            [row.cells() for row in rows],
            "Memory: the most that was resident after a run, without pages of "
            "the file that mmap shows."), chunk_why.table(
                why, {LARGE: size, chunk_why.FEW: "1 MiB"})],
        figures=_figures(good), claims=_claims(good, broken),
        reading=[*_read(good), *chunk_why.read(why, LARGE)],
        noise=verdicts.noises((row.way.name, row.noise) for row in good))


EXPERIMENT = model.Experiment(
    2, "chunk-size", "Which chunk size?",
    "How much of a file should be read at once? The original left it to be "
    "found by experiment. Which of Rust's calls reads faster, and why the one "
    "for whole files is slow, it answers itself: by memory that is taken anew "
    "for each read, and by copies of single bytes. These calls are not ours.",
    f"{DOWNLOADS} connections download a file of "
    f"{LARGE_BYTES // site.MIB} MiB that is in memory, over and over (wrk, a "
    f"closed loop), from one worker; beside them {SMALL_RATE} requests a "
    "second for 1 KiB (an open loop, timed from when they were meant to "
    "begin, and ahead of the downloads' client on its CPU). --send-method "
    "read with --chunk-size from 1 KiB to 512 MiB; sendfile and mmap with the "
    f"chunk as it comes. A new process for each run of {SECONDS:g} s, the "
    f"rows in turns, {ROUNDS} rounds, medians (a small request's median and "
    "99th percentile are of those of all rounds together); ratios are of each "
    "round. What copying has to do with it is asked by bench/receiver.c, "
    "which takes this file, and one of 1 MiB, with and without copying it.",
    540, measure)
