"""What is the upper bound of caching?

Three questions in one: what a reply costs from disk, from the kernel's page
cache, from sprintd's own cache and from tmpfs; how often a cache of a size has
what is asked for; and how far that is from the best that any cache could do.
"""

from lab import machine, site

from . import cache_hits, cache_report, cache_times
from .cache_numbers import Numbers
from .model import Experiment

COLD_ROUNDS = 18


def _fill(made, files):
    for index in range(files):
        made.put(site.many_name(index), site.KIB)


def _measure_costs(bench, places, equal, numbers, left_out):
    disk, memory, files, policies = places
    times = cache_times.Times(bench, disk, memory, files, policies)
    if times.floor not in times.others:
        left_out.append(f"the floor: {times.floor.missing()}")
    if cache_times.is_in_memory(disk.folder):
        left_out.append(f"cold files: {cache_times.DISK} is no disk here, but "
                        f"{machine.file_system(disk.folder)}")
    else:
        numbers.take_cold(*times.cold(COLD_ROUNDS))
        if numbers.cold and not numbers.is_cold_proven:
            left_out.append("whether files were cold: the kernel told of no "
                            "reads from disk, so the cold columns count for "
                            "nothing")
    numbers.take_paced(bench, times)
    numbers.rate = times.rate
    numbers.take_warm(times.warm(equal.trace, equal.total_bytes))


def _measure_places(bench, disk, memory):
    files = bench.pick(site.MANY, 2500)
    left_out = []
    bench.step("files on disk")
    _fill(disk, files)
    if memory and not cache_times.is_in_memory(memory.folder):
        memory = None
    if memory:
        _fill(memory, files)
    else:
        left_out.append(f"root on tmpfs: there is none at "
                        f"{cache_times.MEMORY}")
    cache_times.write_out(disk.folder)
    shares = bench.pick(cache_hits.SHARES, cache_hits.SHARES[3:4])
    mixed_count = bench.pick(3000, 300)
    policies = bench.pick(cache_hits.POLICIES, ("lru", "sieve"))
    outcomes = cache_hits.measure(bench, [
        cache_hits.equal_files(disk, files, bench.pick(100_000, 6000),
                               bench.seed),
        cache_hits.mixed_files(disk, mixed_count, 10 * mixed_count,
                               bench.seed)], shares, policies)
    numbers = Numbers(policies)
    _measure_costs(bench, (disk, memory, files, policies), outcomes[0],
                   numbers, left_out)
    return cache_report.result(numbers, outcomes, memory is not None,
                               left_out)


def measure(bench):
    with cache_times.folder_in(cache_times.DISK) as disk, \
            cache_times.folder_in(cache_times.MEMORY) as memory:
        # Where there is no such folder the lab's own must do.
        return _measure_places(bench, disk or bench.lab.site, memory)


EXPERIMENT = Experiment(
    5, "cache-bound", "The upper bound of caching",
    "What is the upper bound of caching? The original's cache made replies "
    "slower (40,208.3 ms on average instead of 19,660.1), since some of its "
    "code blocked; a disk in memory made little difference.",
    "One worker, 1 KiB files. Cold: pages evicted by posix_fadvise after "
    "they were written out, a new process, each file asked for once; what "
    "came from the disk is read from /proc. Warm: 64 connections by wrk, "
    "Zipf's law with a crawler in between, in turns. p99 from an open loop "
    "at one fixed rate for all. Hit ratios: one connection asks for the list "
    "in its order, and the server's status.json tells the hits; the optimum "
    "is computed from the same list.",
    270, measure)
