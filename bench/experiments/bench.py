"""What an experiment works with: a lab of its own, how much to measure, and
where to say how far it has come.

A full run and a miniature differ in how often and how long things are
measured, and in nothing else: bench.pick(full, miniature) is asked for every
number of rounds, seconds, requests and steps.
"""

import argparse
import statistics

from lab import loads, processes, rounds, servers
from link import network

SEED = 20_260_101
PATIENCE_S = 5


class Bench:
    """Owned by the program; one for each experiment."""

    def __init__(self, lab, is_quick, on_step, rounds_wanted=0, parts=None):
        self.lab = lab
        self.is_quick = is_quick
        self.rounds_wanted = rounds_wanted  # more than an experiment has
        self.seed = SEED
        self.commands = []  # of programs that lab.children did not start
        self.on_step = on_step
        self.parts = parts  # of a run that may be broken off

    def pick(self, full, miniature):
        return miniature if self.is_quick else full

    def rounds(self, full):
        """How often what is compared is measured."""
        return self.pick(max(full, self.rounds_wanted), 1)

    def part(self, name, take):
        """What take() returns, or has returned before the run was broken
        off."""
        if not self.parts:
            return take()
        value, commands = self.parts.take(
            name, take,
            lambda: [*network.commands, *self.lab.children.commands])
        self.commands += commands
        return value

    def step(self, text):
        """What is done next: for who waits. So a Bench can stand where a
        setup.Progress is wanted."""
        self.on_step(text)

    def end(self):
        """As a setup.Progress has it."""

    def options(self, full_rounds, full_seconds):
        """What rounds.measure() wants to be told."""
        return argparse.Namespace(
            rounds=self.rounds(full_rounds),
            seconds=self.pick(full_seconds, 0.1),
            patience=self.pick(PATIENCE_S, 0))

    def measure(self, chosen_loads, chosen_servers, full_rounds=3,
                full_seconds=0.5):
        """A rounds.Cell by load's name and server's name: in turns (A B A B),
        each sample behind a warm-up."""
        return rounds.measure(loads.Runner(self.lab), chosen_loads,
                              chosen_servers,
                              self.options(full_rounds, full_seconds), self)

    def sprintd(self, name, *arguments, workers=1, log_file="",
                both_cpus=False, root=None):
        """A sprintd that is not started yet, with these options."""
        made = Variant(self.lab)
        made.name = name
        made.arguments = tuple(map(str, arguments))
        made.workers = workers
        made.log_file = log_file
        made.cpus = (f"{self.lab.server_cpu},{self.lab.client_cpu}"
                     if both_cpus else self.lab.server_cpu)
        made.root = root or self.lab.site.root
        if made.missing():
            raise processes.Failure(made.missing())
        return made


class Variant(servers.Sprintd):
    """sprintd with a name, a root and CPUs of its own."""

    program = "sprintd"


def median(values):
    """None of nothing."""
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def percentile(values, share):
    """The least value that share (0 to 1) of them do not exceed."""
    ordered = sorted(values)
    if not ordered:
        return None
    rank = max(1, -int(-share * len(ordered) // 1))
    return ordered[min(rank, len(ordered)) - 1]


def spread(values):
    """How far apart they are, as a share of the median."""
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0
