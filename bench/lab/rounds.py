"""Takes turns: every server once before any is measured again."""

import itertools
import random
import statistics
import time

from . import loads
from .processes import Failure

NOISY_SPREAD = 0.15   # of the median
NOISY_FOREIGN = 0.05  # of the server's CPU
CALM_MIN = 2          # samples nobody disturbed; fewer: it is tried again
CALM_PAIRS = 12       # rounds of two; fewer: all of them are looked at


class Cell:
    """All samples of one load on one server. The numbers are those of the
    samples in which nobody else used the server's CPU, if there are enough."""

    def __init__(self, samples):
        self.samples = samples
        self.trouble = next((s.trouble for s in samples if s.trouble), "")
        calm = [s for s in samples if s.foreign <= NOISY_FOREIGN]
        self.is_calm = len(calm) >= min(CALM_MIN, len(samples))
        self.used = calm if self.is_calm else samples

    def median(self, what):
        return statistics.median(getattr(s, what) for s in self.used)

    @property
    def cpu_us(self):
        return self.median("cpu_us")

    @property
    def spread(self):
        costs = [sample.cpu_us for sample in self.used]
        return min(costs), max(costs)

    @property
    def noise(self):
        """What forbids to read small differences from this cell."""
        low, high = self.spread
        if not self.is_calm:
            return f"others took {self.median('foreign'):.0%} of the CPU"
        if high - low > NOISY_SPREAD * self.cpu_us:
            return f"spread {(high - low) / self.cpu_us:.0%}"
        return ""


def ratios(cell, base, what="cpu_us"):
    """The one's numbers by the other's, of each round nobody disturbed; of all
    where those are too few, as both share what disturbs a round."""
    pairs = list(zip(cell.samples, base.samples))
    calm = [pair for pair in pairs
            if all(sample.foreign <= NOISY_FOREIGN for sample in pair)]
    return [getattr(ours, what) / getattr(theirs, what)
            for ours, theirs in (calm if len(calm) >= CALM_PAIRS else pairs)
            if getattr(theirs, what)]


def in_order(servers, turn):
    """Another order each turn, and the same in every run: whoever follows a
    heavy neighbour is another one each time."""
    return random.Random(turn).sample(servers, len(servers))


def prepare(runner, chosen_loads, chosen_servers):
    """Makes the files, starts the servers and sees that they answer well.
    Returns why one cannot be measured: a reason by load and server."""
    broken = {}
    for load in chosen_loads:
        runner.prepare(load)
        for server in chosen_servers:
            try:
                runner.check(server, load)
            except Failure as failure:
                broken[load.name, server.name] = str(failure)
    return broken


def measure(runner, chosen_loads, chosen_servers, options, progress,
            fresh=False):
    """All samples: a Cell by load and server. fresh: each of a new process,
    as the same program's processes differ by some percent, for where their
    memory lies, as long as they live."""
    broken = prepare(runner, chosen_loads, chosen_servers)
    samples = {key: [loads.Sample(trouble=reason)]
               for key, reason in broken.items()}

    def take(load, server):
        key = load.name, server.name
        progress.step(f"{load.title}: {server.name}")
        if fresh:
            server.stop()
        if key not in broken:
            samples.setdefault(key, []).append(
                runner.measure(server, load, options.seconds))

    for turn in range(options.rounds):
        for load, server in itertools.product(chosen_loads,
                                              in_order(chosen_servers, turn)):
            take(load, server)
    end = time.monotonic() + options.patience
    for load in itertools.cycle(chosen_loads):
        if time.monotonic() > end or _are_calm(samples.values()):
            break
        if not _are_calm(samples[load.name, server.name]
                         for server in chosen_servers):
            for server in chosen_servers:  # a round stays a round
                take(load, server)
    for server in chosen_servers:
        server.stop()
    return {key: Cell(found) for key, found in samples.items()}


def _are_calm(all_samples):
    """Whether others have left enough samples of each cell alone."""
    return all(cell.trouble or cell.is_calm for cell in map(Cell, all_samples))
