"""What was measured of cache_bound's replies, ready to be compared."""

from lab import processes, site

from . import bench as bench_module
from . import versus

ROUNDS = 3  # of what is only told, and not compared


class Numbers:
    """All that was measured, by the way's name; what failed is missing."""

    def __init__(self, policies):
        self.policies = policies
        self.cold = {}      # lists of cache_times.Cold
        self.cold_cost = {}  # versus.Numbers of CPU µs per reply
        self.cells = {}
        self.warm_cost = {}  # the same
        self.p99_ms = {}    # warm, at a fixed rate
        self.troubles = []
        self.is_cold_proven = False
        self.rate = 0

    def take_cold(self, samples, troubles):
        self.cold = samples
        self.cold_cost = {
            name: versus.Numbers(name, [s.cpu_us for s in found])
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
        self.warm_cost = {name: versus.Numbers.of_cell(name, cell)
                          for name, cell in self.cells.items()}

    def middle(self, name, what):
        """A median of cold samples, or None."""
        return bench_module.median(getattr(sample, what)
                                   for sample in self.cold.get(name, ()))


def compare(ours, theirs):
    """The one's costs by the other's, round for round."""
    return ours.by(theirs) if ours and theirs else []
