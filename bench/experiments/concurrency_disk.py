"""How many workers, where reads block: one file that is in memory, and beside
it many that are not, on a disk that is slow. That was the question, as the
originals' workers waited for their disks. More workers make no disk faster;
what they may do is to answer meanwhile what needs no disk."""

import os

from lab import loads, processes, rounds, site

from . import old_disk, paired, verdicts
from .bench import median
from .model import Result, Table

WORKERS = (1, 2, 4, 16, 64)
WORKERS_QUICK = (1, 4)
FILES, FILE_BYTES = 200, 64 * site.KIB
CONNECTIONS = 64
DRAWS = 20_000
ROUNDS, SECONDS, QUICK_SECONDS = 16, 0.6, 0.2
NAME = "cold/{:03d}.bin"
HOT, COLD_SHARE = "hot.bin", 0.1  # of the requests
LESS = 0.67  # times a median: a gain that is worth having


def _list_of(lab_bench, names):
    """Writes the paths one load asks for; returns a part of its script."""
    path = os.path.join(lab_bench.lab.site.folder, "cold.txt")
    draw = lab_bench.lab.site.random
    with open(path, "w", encoding="ascii") as file:
        file.writelines(
            f"/{draw.choice(names) if draw.random() < COLD_SHARE else HOT}\n"
            for _each in range(DRAWS))
    return path


def _load(lab_bench):
    names = [NAME.format(index) for index in range(FILES)]
    for name in (HOT, *names):
        lab_bench.lab.site.put(name, FILE_BYTES)
    paths = [lab_bench.lab.site.path(name) for name in names]
    old_disk.settle(paths)
    return loads.Load(
        "cold", f"{COLD_SHARE:.0%} of the requests for {FILES} files that "
        "memory does not hold", CONNECTIONS, HOT, FILE_BYTES,
        script=("paths", _list_of(lab_bench, names))), paths


def _take(lab_bench, runner, server, load, paths, folder):
    """A sample of a new process, whose reads wait for the disk."""
    try:
        runner.check(server, load)
        old_disk.join(folder, server.instance(load.file_name).pids)
        with old_disk.Forgetful(paths, ()):
            return runner.measure(
                server, load, lab_bench.pick(SECONDS, QUICK_SECONDS))
    finally:
        server.stop()


def _samples(lab_bench, load, paths, folder):
    runner = loads.Runner(lab_bench.lab)
    runner.prepare(load)
    made = [lab_bench.sprintd(str(count), "--send-method=read",
                              "--cache-size=0", workers=count)
            for count in lab_bench.pick(WORKERS, WORKERS_QUICK)]
    found = {server.workers: [] for server in made}
    for turn in range(lab_bench.rounds(ROUNDS)):
        for server in rounds.in_order(made, turn):
            lab_bench.step(f"files on disk, round {turn + 1}: "
                           f"{server.workers} workers")
            found[server.workers].append(
                _take(lab_bench, runner, server, load, paths, folder))
    return found


def _ratios(found, count, what="p50_us"):
    """So many workers' by those of one, of each round."""
    return paired.ratios(*([None if sample.trouble else getattr(sample, what)
                            for sample in found[which]]
                           for which in (count, 1)))


def _table(load, found):
    rows = []
    for count, samples in found.items():
        good = [sample for sample in samples if not sample.trouble]
        rows.append([
            count,
            *(median(getattr(sample, what) / by for sample in good)
              for what, by in (("per_second", 1), ("cpu_us", 1),
                               ("p50_us", 1e3), ("p99_us", 1e3))),
            paired.say(_ratios(found, count)),
            next((sample.trouble for sample in samples if sample.trouble),
                 "")])
    return Table(
        f"Reads that block: {load.title}, {CONNECTIONS} connections, one CPU",
        ["workers", "replies/s", "CPU µs/reply", "median ms", "p99 ms",
         "median, × one worker's", "trouble"], rows,
        "All files have 64 KiB, the other requests are for one that is in "
        f"memory. A disk of {old_disk.BYTES_PER_SECOND / 1e6:.0f} MB/s and "
        f"{old_disk.READS_PER_SECOND:,} reads a second, --send-method=read "
        "without a cache of the server's own; the page cache forgets the "
        f"files every {old_disk.FORGET_S * 1e3:.0f} ms, so that one that is "
        "asked for again may still be there.")


def _claims(load, found):
    most = max(found)
    return [verdicts.claim(
        f"{load.title}: with {most} workers the median response is at most "
        f"{LESS} of one worker's, where all wait for each read (a third less: "
        "what would be worth having)", {f"{most}": _ratios(found, most)},
        LESS)]


def _read(load, found):
    one = median(sample.p50_us / 1e3 for sample in found[1])
    most = max(found)
    return [f"Where reads block ({load.title}, on a slow disk) the median "
            f"response is {one:.1f} ms with one worker, and "
            f"{paired.say(_ratios(found, most))} times that with {most}, which "
            f"give {paired.say(_ratios(found, most, 'per_second'))} times as "
            "many replies a second."]


def measure(lab_bench):
    try:
        load, paths = _load(lab_bench)
        with old_disk.group(lab_bench.lab.site.root) as folder:
            found = _samples(lab_bench, load, paths, folder)
    except (processes.Failure, OSError) as failure:
        return Result(left_out=[f"files that memory does not hold: {failure}"])
    return Result(tables=[_table(load, found)], claims=_claims(load, found),
                  reading=_read(load, found))
