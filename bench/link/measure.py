"""One run: a fresh network, one server, all arrivals."""

import collections
import dataclasses
import os
import tempfile

from lab import processes, setup

from . import arrivals, client, ideal, network, rows, serving, summary, wire

WARM_UP_S = 0.3
WARM_UP_COUNT = 30
CALIBRATION_BYTES = arrivals.SIZE_MAX
CALIBRATION_OFF_MAX = 0.05
# More than that, and the machine was too busy to measure waiting times on.
LATE_MS_MAX = 1.0
STARVED_MAX = 0.05


@dataclasses.dataclass
class Lab:
    """What all runs share."""

    folder: str
    root: str
    children: processes.Children
    server_cpu: int
    client_cpu: int
    programs: dict


@dataclasses.dataclass
class Run:
    """One server, or a computed reference, on one row's arrivals."""

    row: rows.Row
    seed: int
    name: str
    figures: dict
    times: list  # seconds, None for a failed request; by arrival
    asked: list
    outcomes: dict = dataclasses.field(default_factory=dict)  # the bad ones

    @property
    def noise(self):
        """Why its waiting times may be another program's doing, or ""."""
        late = self.figures.get("late p99", 0)
        if late > LATE_MS_MAX:
            return f"requests up to {late:.1f} ms late"
        starved = self.figures.get("starved", 0)
        if starved > STARVED_MAX:
            return f"the server waited {starved:.0%} of the time for its CPU"
        return ""


def open_network(kind, lab, options, folder):
    return network.Network(kind, options, lab.children, lab.client_cpu,
                           lab.programs, os.path.join(folder, "cable.log"))


def calibrate(lab, options, server):
    """The link as a single large download finds it: other programs, and the
    burst a link may begin with, make it a little more or less than its
    name."""
    kind = network.KINDS["local"]
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder, \
            open_network(kind, lab, options, folder) as net, \
            serving.Instance(server, net, lab, folder):
        asked = [arrivals.Arrival(0.0, CALIBRATION_BYTES)]
        result = client.run(net, lab, asked, folder)[0]
    if result.outcome != client.OK:
        raise processes.Failure(f"calibration: {result.outcome}")
    measured = wire.Link.from_goodput(
        CALIBRATION_BYTES / (result.done - result.first), options.keep_alive)
    nominal = wire.Link(keep_alive=options.keep_alive)
    if abs(measured.rate / nominal.rate - 1) > CALIBRATION_OFF_MAX:
        setup.note(f"the link carried {measured.rate * 8 / 1e6:.1f} Mbit/s "
                   f"instead of {nominal.rate * 8 / 1e6:.0f}; the references "
                   "are computed for the latter")
        return nominal
    return measured


def _warm_up(net, lab, folder):
    """Some small requests from everywhere: libraries are loaded, caches of
    neighbours and of names are filled."""
    sources = net.kind.sources or ("",)
    asked = [arrivals.Arrival(WARM_UP_S * at / WARM_UP_COUNT,
                              arrivals.SIZES[at % 10],
                              sources[at % len(sources)])
             for at in range(WARM_UP_COUNT)]
    results = client.run(net, lab, asked, folder, "warm-up")
    if results[-1].outcome != client.OK:
        raise processes.Failure(f"first replies: {results[-1].outcome}")


def run(lab, options, row, seed, server, link):
    """Measures a server on a row's arrivals."""
    asked = row.draw(options, seed, link)
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder, \
            open_network(row.net, lab, options, folder) as net, \
            serving.Instance(server, net, lab, folder) as instance:
        _warm_up(net, lab, folder)
        before = net.counted()
        cpu, starved = instance.cpu_seconds(), instance.starved_seconds()
        results = client.run(net, lab, asked, folder)
        cpu = instance.cpu_seconds() - cpu
        starved = instance.starved_seconds() - starved
        counted = {name: value - before[name]
                   for name, value in net.counted().items()}
        alive = instance.is_alive()
    if not alive:
        raise processes.Failure(f"{server.name} has ended")
    figures = summary.of_results(asked, results, link, row.net.round_trips)
    wanted = sum(link.reply_bytes(arrival.size) for arrival in asked)
    figures.update({
        "CPU": 1e6 * cpu / len(asked),
        "starved": starved / asked[-1].start,
        "drops": counted["drops"],
        # What the link carried beyond one copy of everything, and what the
        # reckoning of wire.py is off by.
        "wire": counted["bytes"] / wanted,
    })
    if options.raw:
        _keep_raw(options, row, seed, server.name, asked, results)
    return Run(row, seed, server.name, figures,
               [result.done if result.outcome == client.OK else None
                for result in results], asked,
               collections.Counter(result.outcome for result in results
                                   if result.outcome != client.OK))


def calm_run(lab, options, row, seed, server, link):
    """A run that others did not disturb, if there is one within so many
    tries; or else the last."""
    for _try in range(options.retries + 1):
        found = run(lab, options, row, seed, server, link)
        if not found.noise:
            break
    return found


def _keep_raw(options, row, seed, name, asked, results):
    os.makedirs(options.raw, exist_ok=True)
    path = os.path.join(options.raw, f"{row.name}-{name}-{seed}.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("start,size,source,late,first,done,outcome\n")
        for arrival, result in zip(asked, results):
            file.write(f"{arrival.start:.6f},{arrival.size},{arrival.source},"
                       f"{result.late:.6f},{result.first:.6f},"
                       f"{result.done:.6f},{result.outcome}\n")


def compute(options, row, seed, link):
    """The references on the same arrivals, where there is a link to share."""
    if not row.net.is_narrow:
        return []
    asked = row.draw(options, seed, link)
    found = []
    for name, discipline in ideal.REFERENCES.items():
        times = ideal.responses(discipline, asked, link, row.net.round_trips)
        found.append(Run(row, seed, name, summary.summarize(
            asked, times, link, row.net.round_trips), times, asked))
    return found
