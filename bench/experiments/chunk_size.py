"""Which chunk size?"""

import dataclasses
import os
import random
import threading
import time
import types

from lab import loads, machine, processes, site
from link import arrivals, client

from . import bench, model

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
ROUNDS = 4
SECONDS = 2.0
SECONDS_QUICK = 0.2
WARM_UP_S = 0.2
LAST_REPLY_S = 10
NEAR = 0.97   # of the best: not to be told from it
NOISY = 0.15  # spread of the rounds' throughput
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
    return Sample(mib / (said["duration_us"] / 1e6), spent / 1e3 / mib, memory / site.MIB,
                  small.times_ms(), max(0, busy - spent) / wall,
                  _trouble(said, small))


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
    for turn in range(lab_bench.pick(ROUNDS, 1)):
        for way in ways:
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
        self.cpu_us = bench.median(sample.cpu_us for sample in samples)
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
            return [self.way.name, *[None] * 5, self.trouble]
        return [self.way.name, round(self.rate), round(self.cpu_us),
                round(self.p50, 3), round(self.p99, 3),
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
    holds = own.rate >= NEAR * fast.rate
    # Not to be judged when the rounds of the two overlap and one is noisy.
    overlap = (min(own.rates) <= max(fast.rates) and
               min(fast.rates) <= max(own.rates))
    is_open = overlap and not holds and (own.noise or fast.noise)
    claims.append(model.Claim(
        "large downloads: sendfile, which sprintd takes by itself, is as fast "
        "as the best chunk size of reads", None if is_open else holds,
        f"sendfile {own.rate:,.0f} MiB/s, {fast.way.name} {fast.rate:,.0f}; "
        f"CPU {own.cpu_us:,.0f} against {fast.cpu_us:,.0f} µs/MiB"))
    quick = min(read, key=lambda row: row.p99)
    holds = own.p99 <= fast.p99
    overlap = (min(own.p99_rounds) <= max(fast.p99_rounds) and
               min(fast.p99_rounds) <= max(own.p99_rounds))
    claims.append(model.Claim(
        "a small request beside large downloads waits no longer by sendfile "
        "than by the chunk size with the highest throughput (99th percentile)",
        None if overlap and not holds else holds,
        f"sendfile {own.p99:.2f} ms, {fast.way.name} {fast.p99:.2f}; the "
        f"chunk size that is best at this: {quick.way.name}, "
        f"{quick.p99:.2f} ms at {quick.rate:,.0f} MiB/s"))
    return claims


def _why(least, fast, most):
    """What makes the ends dear, where they are."""
    text = ""
    if least.cpu_us > fast.cpu_us / NEAR:
        text += " Small chunks cost two system calls each."
    if most.cpu_us > fast.cpu_us / NEAR:
        text += (" Of a chunk that the socket does not take, the rest is read "
                 "again.")
    return text


def _read(rows):
    read = [row for row in rows if row.way.chunk_bytes]
    if not read:
        return []
    fast = max(read, key=lambda row: row.rate)
    near = [row.way.name[len("read "):] for row in read
            if row.rate >= NEAR * fast.rate]
    least, most = read[0], read[-1]
    texts = [
        f"Of the chunk sizes, {fast.way.name} moved most: {fast.rate:,.0f} "
        f"MiB/s (within 3 % of it: {', '.join(near)}). {least.way.name} "
        f"reached {least.rate / fast.rate:.0%} of that, with "
        f"{least.cpu_us:,.0f} µs of CPU time per MiB instead of "
        f"{fast.cpu_us:,.0f}; {most.way.name} {most.rate / fast.rate:.0%}, "
        f"with {most.cpu_us:,.0f}.{_why(least, fast, most)}",
        f"A small request beside the downloads had a 99th percentile of "
        f"{least.p99:.2f} ms with {least.way.name}, {fast.p99:.2f} with "
        f"{fast.way.name} and {most.p99:.2f} with {most.way.name}: it waits "
        f"for the read that is under way. The process held "
        f"{least.memory_mib:,.1f}, {fast.memory_mib:,.1f} and "
        f"{most.memory_mib:,.1f} MiB: a buffer of one chunk for each worker."]
    texts += [f"By {row.way.name}: {row.rate:,.0f} MiB/s, {row.cpu_us:,.0f} "
              f"µs/MiB, a small request's 99th percentile {row.p99:.2f} ms, "
              f"{row.memory_mib:,.1f} MiB."
              for row in rows if not row.way.chunk_bytes]
    return texts


def measure(lab_bench):
    ways = _ways(lab_bench.pick(CHUNKS, CHUNKS_QUICK))
    path = _put_large(lab_bench)
    found = _samples(lab_bench, ways, path)
    rows = [Row(way, found[way.name]) for way in ways]
    good = [row for row in rows if not row.trouble]
    broken = [row for row in rows if row.trouble]
    return model.Result(
        tables=[model.Table(
            f"{DOWNLOADS} downloads of {os.path.getsize(path) // site.MIB} "
            f"MiB, and {SMALL_RATE} small requests a second beside them",
            ["way", "MiB/s", "CPU µs/MiB", "small median ms", "small p99 ms",
             "memory MiB", "noise"], [row.cells() for row in rows],
            "Memory: the most that was resident after a run, without pages of "
            "the file that mmap shows.")],
        figures=_figures(good), claims=_claims(good, broken),
        reading=_read(good),
        noise=[f"{row.way.name}: {row.noise}" for row in good if row.noise])


EXPERIMENT = model.Experiment(
    2, "chunk-size", "Which chunk size?",
    "How much of a file should be read at once? The originals left it to be "
    "found by experiment.",
    f"{DOWNLOADS} connections download a file of "
    f"{LARGE_BYTES // site.MIB} MiB that is in memory, over and over (wrk, a "
    f"closed loop), from one worker; beside them {SMALL_RATE} requests a "
    "second for 1 KiB (an open loop, timed from when they were meant to "
    "begin, and ahead of the downloads' client on its CPU). --send-method "
    "read with --chunk-size from 1 KiB to 512 MiB; sendfile and mmap with the "
    f"chunk as it comes. A new process for each run of {SECONDS:g} s, the "
    f"rows in turns, {ROUNDS} rounds, medians.",
    240, measure)
