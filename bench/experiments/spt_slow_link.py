"""When does shortest-first pay? The machinery is that of bench/link."""

import argparse
import os
import re
import statistics
import time

from lab import processes, servers

from link import (arrivals, client, ideal, measure, network, report, rows,
                  serving, summary, wire)

from . import bench as benches
from .model import LINES, Claim, Experiment, Figure, Result, Series, Table

LOADS = (0.5, 0.7, 0.8, 0.9, 0.95, 1.2)
QUICK_LOADS = (0.9,)
CLOSE_LOAD = 0.9  # looked at more closely
OVERLOAD = 1.2
ORDERS = ("srpt", "fifo", "fair")
SHAPED = "srpt,fifo,fair,nginx@local-0.9"
# Loads of the 80 Mbit/s link, offered over loopback, and how many times over.
LOOPBACK = (("loopback-0.5", 1), ("loopback-0.9", 1), ("loopback-1.2", 1),
            ("loopback-0.9", 10))
FAST_SHARE = 0.4  # of a run's time for what comes ten times over

SEEDS, SECONDS = 2, 6
QUICK_SECONDS, QUICK_TIMES_OVER = 0.15, 3
WAIT_S, QUICK_WAIT_S = 20, 5
MOST_S = 400         # of the whole; later, no disturbed run is repeated
PRIORITY = 10        # real-time; see link.py
NOISE_MARGIN = 1.25  # that a disturbed run's times may be off by
CPU_MAX = 1.1        # of srpt, by fifo's

COLUMNS = (("mean", "all mean"), ("p99", "all p99"),
           ("small mean", "small mean"), ("small p50", "small p50"),
           ("small p99", "small p99"), ("medium mean", "medium mean"),
           ("medium p99", "medium p99"), ("large mean", "large mean"),
           ("large p99", "large p99"))
NEEDED = {name for _title, name in COLUMNS}
MORE = (("slowdown", "slowdown"), ("CPU µs a reply", "CPU"))


class Study:
    """All runs, and what they say. Owned by one call of run()."""

    def __init__(self, bench):
        self.bench = bench
        self.begin = time.monotonic()
        self.result = Result()
        self.options = argparse.Namespace(
            congestion="cubic", buffer=network.BUFFER, priority=PRIORITY,
            keep_alive=False, raw=None, retries=0,
            wait=bench.pick(WAIT_S, QUICK_WAIT_S),
            seconds=bench.pick(SECONDS, QUICK_SECONDS))
        self.lab = self._open_lab()
        self.link = wire.Link()
        self.made = self.left = 0  # runs
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
        found = []
        for server in serving.parse(text, sprintd):
            if server.name != serving.NGINX or servers.find(serving.NGINX):
                found.append(server)
            else:
                self.result.left_out.append("nginx: it is not installed "
                                            "(apt-get install nginx-light)")
        return found

    def run_one(self, row, seed, server, link):
        """One run, repeated when others disturbed it and there is time."""
        self.bench.step(f"{row.name}: {server.name}, seed {seed}")
        spent = time.monotonic() - self.begin
        pace = spent / self.made if self.made else self.options.seconds
        self.options.retries = self.bench.pick(
            int(spent + (self.left + 1) * pace < MOST_S), 0)
        self.made += 1
        self.left -= 1
        return measure.calm_run(self.lab, self.options, row, seed, server,
                                link)

    def measure_shaped(self):
        """Every server on the same arrivals before the next draw (A B A B),
        another one first each time."""
        chosen = self.servers(self.bench.pick(SHAPED, ",".join(ORDERS)))
        self.left = ((len(LOADS) * SEEDS + len(LOOPBACK) + 1) * len(ORDERS)
                     + SEEDS)
        if not self.bench.is_quick:
            self.bench.step("the link, by one large file")
            self.link = measure.calibrate(self.lab, self.options, chosen[0])
        for load in self.bench.pick(LOADS, QUICK_LOADS):
            row, = rows.parse(f"local-{load:g}")
            here = [server for server in chosen if server.is_for(row.name)
                    and (row.load == CLOSE_LOAD or not server.rows)]
            self.tables[load] = self.take_turns(row, here, SEEDS, self.link)

    def take_turns(self, row, chosen, seeds, link):
        runs = []
        for seed in range(1, 1 + self.bench.pick(seeds, 1)):
            first = seed % len(chosen)
            runs += [self.run_one(row, seed, server, link)
                     for server in chosen[first:] + chosen[:first]]
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
        """The same arrivals where nothing is narrow."""
        chosen = self.servers(",".join(self.bench.pick(ORDERS, ORDERS[:2])))
        for name, times_over in self.bench.pick(LOOPBACK, LOOPBACK[-1:]):
            row, = rows.parse(name)
            link, seeds, seconds = self.link, 1, self.options.seconds
            if times_over > 1:
                times_over = self.bench.pick(times_over, QUICK_TIMES_OVER)
                link, seeds = wire.Link(8 * times_over * link.rate), SEEDS
                self.options.seconds *= FAST_SHARE
            table = self.take_turns(row, chosen, seeds, link)
            self.options.seconds = seconds
            self.loopback.append((row.load, times_over, table))

    def all_runs(self):
        for table in (*self.tables.values(),
                      *(table for _load, _over, table in self.loopback)):
            yield from table.runs

    def ratios(self, load, figure, over):
        """srpt's figure by another's, of each seed; and whether a run of
        these was disturbed."""
        if load not in self.tables:
            return [], False
        return ratios_of(self.tables[load], figure, over)


def ratios_of(table, figure, over):
    mine, other = ({run.seed: run for run in table.runs if run.name == name}
                   for name in ("srpt", over))
    both = [(run, other[seed]) for seed, run in mine.items()
            if seed in other and figure in run.figures
            and other[seed].figures.get(figure)]
    return ([run.figures[figure] / beside.figures[figure]
             for run, beside in both],
            any(run.noise or beside.noise for run, beside in both))


def verdict(ratios, limit, is_noisy):
    """Whether they are at most the limit; None: the draws disagree, or noise
    could decide it."""
    margin = NOISE_MARGIN if is_noisy else 1
    if not ratios:
        return None
    if max(ratios) <= limit / margin:
        return True
    return False if min(ratios) > limit * margin else None


def all_of(verdicts):
    """One that fails decides; else one that is not known."""
    verdicts = list(verdicts)
    if False in verdicts:
        return False
    return None if None in verdicts or not verdicts else True


def _claim(study, text, figure, over, loads, limit=1.0):
    """srpt's figure is at most limit × each of the others', at each load."""
    verdicts, details = [], []
    for load in loads:
        for other in over:
            ratios, is_noisy = study.ratios(load, figure, other)
            verdicts.append(verdict(ratios, limit, is_noisy))
            if ratios:
                details.append(
                    f"{load:g}: {statistics.fmean(ratios):.2f} × {other}"
                    f"{' (noisy)' if is_noisy else ''}")
    return Claim(text, all_of(verdicts), "; ".join(details) or "not measured")


def claims(study):
    loads = [load for load in study.tables if load < 1]
    rivals = ("fifo", "fair")
    yield _claim(study, "80 Mbit/s: srpt's mean response is below fifo's and "
                 "fair's at every load", "all mean", rivals, loads)
    yield _claim(study, "80 Mbit/s, overload: srpt's mean response is below "
                 "fifo's and fair's", "all mean", rivals, [OVERLOAD])
    yield _claim(study, "80 Mbit/s: the small files' 99th percentile under "
                 "srpt is below that under fifo and fair, overload included",
                 "small p99", rivals, list(study.tables))
    yield _claim(study, "80 Mbit/s: the largest 1 % take no longer under srpt "
                 "than under fair", "large mean", ("fair",), loads)
    if serving.NGINX in study.tables[CLOSE_LOAD].names:
        yield _claim(study, "80 Mbit/s, load 0.9: the mean response under "
                     "srpt is below nginx's", "all mean", (serving.NGINX,),
                     [CLOSE_LOAD])
    load, times_over, table = study.loopback[-1]
    ratios, _is_noisy = ratios_of(table, "CPU", "fifo")
    yield Claim("loopback: where order gains nothing it costs nothing either "
                f"(CPU per reply of srpt at most {CPU_MAX:g} × fifo's)",
                verdict(ratios, CPU_MAX, is_noisy=False),
                f"load {load:g} × {times_over}: "
                + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    failed = [f"{run.row.name}, {run.name}: {count} {kind}"
              for run in study.all_runs()
              for kind, count in run.outcomes.items()]
    asked = sum(len(run.asked) for run in study.all_runs()
                if run.name not in ideal.REFERENCES)
    yield Claim("no request fails", not failed,
                f"of {asked:,}: " + ("; ".join(failed) or "none"))


def _mark(name):
    return f"{name} (computed)" if name in ideal.REFERENCES else name


def tables(study):
    for table in study.tables.values():
        yield Table(
            f"80 Mbit/s, load {table.row.load:g} (ms)",
            ["server", *(title for title, _name in (*COLUMNS, *MORE))],
            [[_mark(name), *(table.figures[name].get(figure)
                             for _title, figure in (*COLUMNS, *MORE))]
             for name in table.names],
            "slowdown: the mean of response times by what each takes on an "
            "idle link.")
    close = study.tables[CLOSE_LOAD]
    yield Table(
        f"By size class, load {CLOSE_LOAD:g} (ms)",
        ["class", "server", "requests", *report.BY_CLASS],
        [[group, _mark(name), close.figures[name].get(f"{group} n"),
          *(close.figures[name].get(f"{group} {figure}")
            for figure in report.BY_CLASS)]
         for group in summary.CLASSES for name in close.names],
        f"small: below {summary.SMALL_BELOW:,} bytes; large: the largest 1 % "
        "of the requests; medium: between. Requests: of one draw, on average.")
    yield Table(
        "What the largest 1 % pay: their mean (ms)",
        ["load", *ORDERS, *map(_mark, ideal.REFERENCES), "srpt by fair"],
        [[load, *(table.figures[name].get("large mean")
                  for name in (*ORDERS, *ideal.REFERENCES)),
          benches.median(study.ratios(load, "large mean", "fair")[0])]
         for load, table in study.tables.items()])
    yield Table(
        "Loopback, unlimited: the same arrivals (ms)",
        ["load of 80 Mbit/s", "server", "requests a second",
         *(title for title, _name in COLUMNS), "CPU µs a reply"],
        [[f"{load:g}" if times_over == 1 else f"{load:g} × {times_over}",
          name, len(table.runs[0].asked) / table.runs[0].asked[-1].start,
          *(table.figures[name].get(figure) for _title, figure in COLUMNS),
          table.figures[name].get("CPU")]
         for load, times_over, table in study.loopback
         for name in table.names],
        "× 10: ten times as many requests in the same time.")


def _curve(study, name, figure):
    points = []
    for load, table in study.tables.items():
        found = table.over_seeds[name].get(figure)
        if found and load < 1:
            points.append([load, *found])
    return Series(name, points, is_reference=name in ideal.REFERENCES)


def figures(study):
    for suffix, figure, title in (
            ("mean", "all mean", "Mean response by load, 80 Mbit/s"),
            ("large", "large mean", "The largest 1 % by load, 80 Mbit/s")):
        yield Figure(suffix, title, "load", "mean response (ms)",
                     [_curve(study, name, figure)
                      for name in (*ORDERS, *ideal.REFERENCES)],
                     LINES, log_y=True)


def _how_often(study, load, figure, over):
    """How many times less srpt's is than another's."""
    ratios = study.ratios(load, figure, over)[0]
    return 1 / statistics.fmean(ratios) if ratios else None


def _gain_text(study, over):
    gains = {load: _how_often(study, load, "all mean", over)
             for load in study.tables if load < 1}
    gains = {load: gain for load, gain in gains.items() if gain}
    if not gains:
        return ""
    listed = ", ".join(f"{gain:.2f} at {load:g}"
                       for load, gain in gains.items())
    wins = [load for load, gain in gains.items() if gain > 1]
    where = ("at every load" if len(wins) == len(gains) else
             f"from load {min(wins):g} on"
             if wins and all(load in wins for load in gains
                             if load >= min(wins)) else
             "at some loads only" if wins else "at no load")
    return f"against {over} it pays {where} (times as quick: {listed})"


def _narrow_reading(study):
    here = study.tables[CLOSE_LOAD].figures
    texts = "; ".join(filter(None, (_gain_text(study, over)
                                    for over in ORDERS[1:])))
    nearest = here["srpt"]["all mean"] / here["ideal SRPT"]["all mean"]
    shared = here["srpt"]["all mean"] / here["ideal PS"]["all mean"]
    return (f"On the narrow link, by mean response, {texts}. At load "
            f"{CLOSE_LOAD:g} srpt's mean is {nearest:.2f} × that of the best "
            "order there is, computed for a link without a byte in any "
            f"queue, and {shared:.2f} × that of an ideally shared link, "
            "which a kernel's fair queueing would come near to with any "
            "server.")


def _large_reading(study):
    parts = [f"{statistics.fmean(ratios):.2f} at {load:g}"
             for load in study.tables
             for ratios in [study.ratios(load, "large mean", "fair")[0]]
             if ratios]
    by_fifo = study.ratios(CLOSE_LOAD, "large mean", "fifo")[0]
    pays = [f"{load:g}" for load in study.tables
            for ratios in [study.ratios(load, "large mean", "fair")[0]]
            if ratios and statistics.fmean(ratios) > 1]
    text = ("they pay nothing: no load makes them wait longer" if not pays else
            f"they pay at load {', '.join(pays)}")
    return ("What the largest 1 % pay, as a share of their mean under fair: "
            f"{', '.join(parts)}; so {text}. Fifo, where nobody passes them, "
            + ("does not help them either"
               if statistics.fmean(by_fifo) < 1 else "serves them sooner")
            + f": under srpt they take {statistics.fmean(by_fifo):.2f} × as "
            f"long at load {CLOSE_LOAD:g}.")


def _loopback_reading(study):
    here = 1 / statistics.median(
        ratio for _load, _over, table in study.loopback
        for ratio in ratios_of(table, "all mean", "fifo")[0])
    there = _how_often(study, CLOSE_LOAD, "all mean", "fifo")
    text = ("Over loopback the same requests take "
            + ", ".join(f"{table.figures['srpt']['all mean']:.2f} ms on "
                        f"average at {load:g}"
                        + (f" × {over}" if over > 1 else "")
                        for load, over, table in study.loopback)
            + f" under srpt, and fifo's mean by srpt's is {here:.2f} in the "
            f"median of these; on the link, at load {CLOSE_LOAD:g}, it is "
            f"{there:.2f}. ")
    return text + (
        "The order pays where replies wait for something that it can be kept "
        "for: the link has to be what is scarce." if there > 2 * here else
        "So the order gains hardly more on the link than without one, which "
        "is not what theory says.")


def notes(study):
    for table in study.tables.values():
        yield from (f"{table.row.name}: {remark}"
                    for remark in table.remarks())
    for load, times_over, table in study.loopback:
        yield from (f"loopback-{load:g} × {times_over}: {remark}"
                    for remark in table.remarks())


def tell_alike(commands):
    """Leaves one of the commands that differ by the number of a run."""
    alike = {tuple(re.sub(r"/tmp\w{8}\b", "/RUN", re.sub(
        rf"{network.PREFIX}-\d+-\d+-", f"{network.PREFIX}-N-", word))
                   for word in argv): None
             for argv in commands}
    commands[:] = map(list, alike)


def run(bench):
    trouble = network.trouble()
    if trouble:
        raise processes.Failure(f"no narrow link here: {trouble}")
    network.remove_leftovers()
    processes.raise_descriptor_limit()
    study = Study(bench)
    study.measure_shaped()
    study.measure_loopback()
    result = study.result
    result.tables = list(tables(study))
    result.figures = list(figures(study))
    result.claims = list(claims(study))
    result.reading = [_narrow_reading(study), _large_reading(study),
                      _loopback_reading(study)]
    result.noise = list(notes(study))
    tell_alike(bench.lab.children.commands)
    result.left_out = list(dict.fromkeys(result.left_out))
    return result


EXPERIMENT = Experiment(
    4, "spt-slow-link", "When does shortest-first pay?",
    "Shortest job first was built, and over a fast local network made no "
    "difference. When does it?",
    "Poisson arrivals that do not wait for replies (open loop; times count "
    "from the intended start), sizes by a bounded Pareto law (1 KiB to 10 "
    "MiB, mean 6.6 KB), a new connection for each. The same arrivals for "
    "srpt, fifo and fair, in turns: through 80 Mbit/s (HTB on the server's "
    "interface, in a network namespace) at six loads, one of them more than "
    "the link carries; and over loopback, unlimited. Ideal sharing and ideal "
    "SRPT are computed for the same arrivals. Two short draws for each load "
    "and one over loopback; `make bench-link` is the long run. One worker, on "
    "a CPU of its own; both programs at real-time priority.",
    360, run)
