"""The runs of spt_slow_link: all servers on the same arrivals, over a narrow
link and over loopback."""

import argparse
import os

from lab import processes, rounds, servers
from link import (arrivals, client, ideal, measure, network, report, rows,
                  serving, wire)

from . import paired

LOADS = (0.5, 0.7, 0.9, 0.95, 1.2)
QUICK_LOADS = (0.9,)
CLOSE_LOAD = 0.9  # looked at more closely
OVERLOAD = 1.2
ORDERS = ("srpt", "fifo", "fair")
SHAPED = "srpt,fifo,fair,nginx@local-0.9"
# Loads of the 80 Mbit/s link, offered over loopback, and how many times over.
LOOPBACK = ((0.5, 1), (CLOSE_LOAD, 1), (OVERLOAD, 1), (CLOSE_LOAD, 10))
FAST_SHARE = 0.4  # of a run's time for what comes ten times over

SEEDS, SECONDS = 16, 1.2
QUICK_SECONDS, QUICK_TIMES_OVER = 0.15, 3
WAIT_S, QUICK_WAIT_S = 20, 5
PRIORITY = 10  # real-time; see link.py
REPEATS = 12   # runs at most that are made again, as others disturbed them

COLUMNS = (("mean", "all mean"), ("p99", "all p99"),
           ("small mean", "small mean"), ("small p50", "small p50"),
           ("small p99", "small p99"), ("medium mean", "medium mean"),
           ("medium p99", "medium p99"), ("large mean", "large mean"),
           ("large p99", "large p99"))
NEEDED = {name for _title, name in COLUMNS}


class Study:
    """All runs. Owned by one call of spt_slow_link's run()."""

    def __init__(self, bench):
        self.bench = bench
        self.left_out = []
        self.repeats = bench.pick(REPEATS, 0)
        self.options = argparse.Namespace(
            congestion="cubic", buffer=network.BUFFER, priority=PRIORITY,
            keep_alive=False, raw=None,
            wait=bench.pick(WAIT_S, QUICK_WAIT_S),
            seconds=bench.pick(SECONDS, QUICK_SECONDS))
        self.lab = self._open_lab()
        self.link = wire.Link()
        self.tables = {}    # report.Table by load
        self.loopback = []  # (load, times over, report.Table)

    def _open_lab(self):
        lab = self.bench.lab
        root = os.path.join(lab.site.folder, "sizes")
        arrivals.make_files(root)
        return measure.Lab(lab.site.folder, root, lab.children,
                           lab.server_cpu, lab.client_cpu,
                           client.compile_programs(lab.site.folder))

    def servers(self, text):
        """Those of a list that can run here."""
        sprintd = self.bench.sprintd("sprintd").binary()
        found = serving.parse(text, sprintd)
        if serving.NGINX in text and not servers.find(serving.NGINX):
            self.left_out.append("nginx: it is not installed (apt-get install "
                                 "nginx-light)")
            found = [server for server in found
                     if server.name != serving.NGINX]
        return found

    def run_one(self, row, seed, server, link):
        self.bench.step(f"{row.name}: {server.name}, draw {seed}")
        found = measure.run(self.lab, self.options, row, seed, server, link)
        if found.noise and self.repeats:
            self.repeats -= 1
            found = measure.run(self.lab, self.options, row, seed, server,
                                link)
        return found

    def measure_shaped(self):
        """Every server on the same arrivals before the next draw (A B A B),
        another one first each time."""
        chosen = self.servers(self.bench.pick(SHAPED, ",".join(ORDERS)))
        if not self.bench.is_quick:
            self.bench.step("the link, by one large file")
            self.link = measure.calibrate(self.lab, self.options, chosen[0])
        for load in self.bench.pick(LOADS, QUICK_LOADS):
            row, = rows.parse(f"local-{load:g}")
            here = [server for server in chosen if server.is_for(row.name)
                    and (row.load == CLOSE_LOAD or not server.rows)]
            self.tables[load] = self.take_turns(
                row, here, self.bench.rounds(SEEDS), self.link)

    def take_turns(self, row, chosen, draws, link):
        runs = []
        for seed in range(1, 1 + draws):
            runs += [self.run_one(row, seed, server, link)
                     for server in rounds.in_order(chosen, seed)]
            runs += measure.compute(self.options, row, seed, link)
        for each in runs:
            if not NEEDED <= set(each.figures):
                raise processes.Failure(
                    f"{row.name}, {each.name}: of {len(each.asked)} requests "
                    f"failed {sum(each.outcomes.values())}")
        order = [*(server.name for server in chosen), *ideal.REFERENCES]
        runs.sort(key=lambda run: order.index(run.name))
        return report.Table(row, runs, link)

    def measure_loopback(self):
        """The same arrivals where nothing is narrow: one draw of them, and
        all of what comes many times over."""
        chosen = self.servers(",".join(self.bench.pick(ORDERS, ORDERS[:2])))
        for load, times_over in self.bench.pick(LOOPBACK, LOOPBACK[-1:]):
            row, = rows.parse(f"loopback-{load:g}")
            link, draws, seconds = self.link, 1, self.options.seconds
            if times_over > 1:
                times_over = self.bench.pick(times_over, QUICK_TIMES_OVER)
                link = wire.Link(8 * times_over * link.rate)
                draws = self.bench.rounds(SEEDS)
                self.options.seconds *= FAST_SHARE
            table = self.take_turns(row, chosen, draws, link)
            self.options.seconds = seconds
            self.loopback.append((load, times_over, table))

    def all_runs(self):
        for table in (*self.tables.values(),
                      *(table for _load, _over, table in self.loopback)):
            yield from table.runs

    def ratios(self, load, figure, over):
        """srpt's figure by another's, of each seed."""
        if load not in self.tables:
            return []
        return ratios_of(self.tables[load], figure, over)


def ratios_of(table, figure, over):
    mine, other = ({run.seed: run.figures[figure] for run in table.runs
                    if run.name == name and figure in run.figures}
                   for name in ("srpt", over))
    seeds = [seed for seed in mine if other.get(seed)]
    return paired.ratios([mine[seed] for seed in seeds],
                         [other[seed] for seed in seeds])
