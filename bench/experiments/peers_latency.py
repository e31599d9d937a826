"""How long requests take that come at a fixed rate, whatever became of those
before: a closed loop asks less as soon as it has to wait, and so hides the
waiting."""

import dataclasses
import random
import tempfile
import types

from lab import rounds, servers, site
from lab.processes import Failure
from link import arrivals, client

from . import versus
from .bench import median, percentile
from .model import Table

SHARE = 0.6          # of what the slowest server can do
RATE_MAX = 20_000    # more, and the client is what is measured
SECONDS, ROUNDS = 1.0, 16
SKIPPED = 0.1        # of a run, while connections are opened
LATE_MS_MAX = 1.0    # the client's own lateness
WAIT_S = 3
LOADS = (("1K", "1 KiB", site.KIB), ("64K", "64 KiB", 64 * site.KIB))


def _in_time(runs):
    """Those in which the client kept its times."""
    return [run for run in runs if run["late"] <= LATE_MS_MAX]


@dataclasses.dataclass
class Tail:
    """One load at its rate: all runs by the server's name."""

    name: str  # of the load of which the rate is
    title: str
    runs: dict      # by server: a dict of ms for each run
    troubles: dict  # by server

    @property
    def numbers(self):
        """Of the 99th percentiles, in ms, where the client kept its times."""
        return {server: versus.Numbers(
            server, [run[0.99] if run["late"] <= LATE_MS_MAX else None
                     for run in runs])
                for server, runs in self.runs.items() if runs}

    def table(self):
        rows = []
        for server in dict.fromkeys((*self.runs, *self.troubles)):
            runs = self.runs.get(server)
            if server in self.troubles or not runs:
                rows.append([server, *[None] * 7,
                             self.troubles.get(server, "not measured")])
                continue
            # As the figure and the claims: who was late himself tells nothing.
            counted = _in_time(runs)
            values = [run[0.99] for run in counted]
            rows.append([
                server, *(median(run[share] for run in counted)
                          for share in (0.5, 0.99)),
                min(values, default=None), max(values, default=None),
                median(run[0.999] for run in counted),
                median(run["late"] for run in runs),
                f"{len(counted)} of {len(runs)}", ""])
        return Table(self.title, ["server", "50 % ms", "99 % ms", "least",
                                  "most", "99.9 % ms", "client late ms",
                                  "runs counted", "invalid"], rows,
                     "From the intended start of each request to its last "
                     "byte. Client late: the 99th percentile of how much too "
                     "late the client began, of all runs; those in which it "
                     f"was more than {LATE_MS_MAX:g} ms do not count.")

    def noise(self):
        """Where the client's lateness leaves too few runs."""
        return [f"{self.title}, {name}: the client was more than "
                f"{LATE_MS_MAX:g} ms late in "
                f"{sum(run['late'] > LATE_MS_MAX for run in runs)} of "
                f"{len(runs)} runs" for name, runs in self.runs.items()
                if any(run["late"] > LATE_MS_MAX for run in runs)]


def _rate(cells, load_name):
    """A second; None when nobody's pace is known."""
    paces = [cell.median("per_second") for (load, _server), cell
             in cells.items() if load == load_name and not cell.trouble]
    return min(SHARE * min(paces), RATE_MAX) if paces else None


def _asked(seed, rate, seconds, size):
    """The same for every server and each round."""
    draw = random.Random(f"{seed} {size}")
    starts = sorted(draw.random() * seconds
                    for _each in range(max(20, round(rate * seconds))))
    return [arrivals.Arrival(start, size) for start in starts]


def _run(lab, folder, server, asked):
    """Percentiles by share, and how late the client was, in ms."""
    port = server.instance(arrivals.file_name(asked[0].size)).port
    results = client.send(lab, asked, folder, (servers.HOST, port), (),
                          types.SimpleNamespace(keep_alive=True, wait=WAIT_S))
    bad = [result.outcome for result in results if result.outcome != client.OK]
    if bad:
        raise Failure(f"{len(bad)} of {len(asked)} failed: {bad[0]}")
    counted = results[int(SKIPPED * len(results)):]
    times = [1e3 * result.done for result in counted]
    return {**{share: percentile(times, share)
               for share in (0.5, 0.99, 0.999)},
            "late": percentile([1e3 * result.late for result in counted],
                               0.99)}


def _measure_load(bench, lab, folder, chosen, load, rate):
    name, title, size = load
    asked = _asked(bench.seed, rate, bench.pick(SECONDS, 0.1), size)
    tail = Tail(name, f"{title}, an open loop of {rate:,.0f} a second",
                {server.name: [] for server in chosen}, {})
    bench.lab.site.put(arrivals.file_name(size), size)
    for turn in range(bench.rounds(ROUNDS)):
        for server in rounds.in_order(chosen, turn):
            bench.step(f"open loop, {title}: {server.name}")
            if server.name in tail.troubles:
                continue
            try:
                tail.runs[server.name].append(
                    _run(lab, folder, server, asked))
            except Failure as failure:
                tail.troubles[server.name] = str(failure)
                tail.runs.pop(server.name)
    for server in chosen:
        server.stop()
    return tail


def measure(bench, chosen, cells):
    """A Tail of each load that has a rate. cells: of wrk, for the rates."""
    tails = []
    with tempfile.TemporaryDirectory(dir=bench.lab.site.folder) as folder:
        lab = types.SimpleNamespace(
            programs=client.compile_programs(folder),
            children=bench.lab.children, client_cpu=bench.lab.client_cpu)
        for load in LOADS:
            rate = _rate(cells, load[0])
            if rate:
                tails.append(bench.part(
                    f"tail-{load[0]}", lambda load=load, rate=rate:
                    _measure_load(bench, lab, folder, chosen, load, rate)))
    return tails
