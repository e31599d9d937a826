"""What was measured of cache_bound's replies, ready to be compared."""

import dataclasses

from lab import processes, rounds, site

from . import bench as bench_module

ROUNDS = 3


@dataclasses.dataclass
class Cost:
    """CPU µs per reply, of some samples."""

    middle: float
    low: float
    high: float
    noise: str

    @classmethod
    def of_values(cls, values):
        spread = bench_module.spread(values)
        return cls(bench_module.median(values), min(values), max(values),
                   f"spread {spread:.0%}" if spread > rounds.NOISY_SPREAD
                   else "")

    @classmethod
    def of_cell(cls, cell):
        return cls(cell.cpu_us, *cell.spread, cell.noise)


class Numbers:
    """All that was measured, by the way's name; what failed is missing."""

    def __init__(self, policies):
        self.policies = policies
        self.cold = {}      # lists of cache_times.Cold
        self.cold_cost = {}
        self.cells = {}
        self.warm_cost = {}
        self.p99_ms = {}    # warm, at a fixed rate
        self.troubles = []
        self.is_cold_proven = False
        self.rate = 0

    def take_cold(self, samples, troubles):
        self.cold = samples
        self.cold_cost = {name: Cost.of_values([s.cpu_us for s in found])
                          for name, found in samples.items()}
        self.p99_ms.update(
            (name, bench_module.median(s.warm_p99_ms for s in found))
            for name, found in samples.items())
        self.troubles += [f"cold: {each}" for each in troubles.values()]
        fetched = [s.disk_bytes for found in samples.values() for s in found]
        self.is_cold_proven = min(fetched, default=0) >= site.KIB / 2

    def take_paced(self, bench, times):
        """The p99 of those that were not measured cold."""
        for server in (*times.on_disk, *times.others):
            if server.name in self.p99_ms:
                continue
            bench.step(f"at a fixed rate: {server.name}")
            try:
                self.p99_ms[server.name] = bench_module.median(
                    times.paced_p99_ms(server)
                    for _round in range(bench.pick(ROUNDS, 1)))
            except processes.Failure as failure:
                self.troubles.append(f"paced: {server.name}: {failure}")

    def take_warm(self, cells):
        self.troubles += [f"warm: {name}: {cell.trouble}"
                          for name, cell in cells.items() if cell.trouble]
        self.cells = {name: cell for name, cell in cells.items()
                      if not cell.trouble}
        self.warm_cost = {name: Cost.of_cell(cell)
                          for name, cell in self.cells.items()}

    def middle(self, name, what):
        """A median of cold samples, or None."""
        return bench_module.median(getattr(sample, what)
                                   for sample in self.cold.get(name, ()))


def judge(ours, theirs, factor):
    """Whether ours is no more than factor times theirs; None when noise could
    say otherwise, or one is missing."""
    if not ours or not theirs:
        return None
    holds = ours.middle <= factor * theirs.middle
    could_differ = (ours.low <= factor * theirs.high
                    if not holds else ours.high > factor * theirs.low)
    return None if could_differ and (ours.noise or theirs.noise) else holds


def all_of(verdicts):
    if False in verdicts:
        return False
    return None if None in verdicts else True
