"""The requests of the ladder: a log of them for httperf, and their files."""

import dataclasses
import os

from lab import site

from . import old_disk

CONNECTIONS = 1_000
CONNECTIONS_QUICK = 60
LARGE = 24
LARGE_MEDIAN = site.MIB
LARGE_QUICK = 128 * site.KIB
SMALL = 60
SMALL_QUICK = 10
SMALL_MIN, SMALL_MAX = 512, 16 * site.KIB


@dataclasses.dataclass
class Load:
    """A log of requests, and the files it names."""
    log: str
    small: list  # paths; each comes again and again
    large: list  # the same; each comes once
    sizes: list  # of the replies, in their order


def _put_files(lab_bench, rng):
    """Names of the small files, and of the large ones."""
    lab_site = lab_bench.lab.site
    small, large = [], []
    for index in range(lab_bench.pick(SMALL, SMALL_QUICK)):
        name = f"ladder/small{index:02d}.bin"
        size = int(rng.lognormvariate(8.5, 0.7))
        lab_site.put(name, min(SMALL_MAX, max(SMALL_MIN, size)))
        small.append(name)
    median = lab_bench.pick(LARGE_MEDIAN, LARGE_QUICK)
    for index in range(LARGE):
        name = f"ladder/large{index:02d}.bin"
        lab_site.put(name, median // 4 * 2 ** (index % 5))
        large.append(name)
    return small, large


def make(lab_bench, rng):
    """The large files among small ones."""
    lab_site = lab_bench.lab.site
    small, large = _put_files(lab_bench, rng)
    count = lab_bench.pick(CONNECTIONS, CONNECTIONS_QUICK)
    names = large + [rng.choice(small) for _each in range(count - len(large))]
    rng.shuffle(names)
    log = os.path.join(lab_site.folder, "ladder.log")
    with open(log, "wb") as file:
        file.write(b"".join(f"/{name}\0".encode() for name in names))
    load = Load(log, [lab_site.path(name) for name in small],
                [lab_site.path(name) for name in large],
                [os.path.getsize(lab_site.path(name)) for name in names])
    old_disk.settle(load.small + load.large)
    return load
