"""10 sessions with the key-value store, with any number of threads: the runs
of kv_threads.

All sessions' requests are known beforehand, with their answers; each server
has a copy of the same store. Client and server tell of the same requests: the
log's lines are found by port and number.
"""

import dataclasses
import os
import re
import shutil
import statistics
import time

from lab import filled, kv, machine, processes, sessions

from . import bench as benches

REQUESTS = 100  # of a session
ROUNDS = 36
RUNS_S = 270  # of ROUNDS: none is begun that would probably end later
WARM_UP = 50


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    title: str
    sync: str
    both_cpus: bool = False


MODES = (Mode("durable", "durable", "full"),
         Mode("unsynced", "not synced", "off"),
         Mode("both", "durable, both CPUs", "full", both_cpus=True))


@dataclasses.dataclass
class Run:
    """One server's, from the first request to the last. Times in µs."""

    answers: list
    seconds: float
    cpu_us: float

    def times(self, what="took", methods=sessions.METHODS):
        return [getattr(answer, what) for answer in self.answers
                if answer.method in methods]

    def mean(self, what="took", methods=sessions.METHODS):
        return statistics.fmean(self.times(what, methods))


def cpu_us_of(run):
    return run.cpu_us


class Cell:
    """One mode with so many threads: a server, and all its runs. trouble: why
    there is none that counts."""

    def __init__(self):
        self.runs = []
        self.trouble = ""
        self.server = None
        self.log = None
        self.unread = None  # of a run: what was asked, its rows, its CPU time
        self.writes_a_commit = None

    def middle(self, of):
        """The median over the runs of what is asked of each."""
        return benches.median(map(of, self.runs))

    def mean(self, what="took", methods=sessions.METHODS):
        return self.middle(lambda run: run.mean(what, methods))

    @property
    def means_ms(self):
        return [run.mean() / 1e3 for run in self.runs]

    @property
    def spread(self):
        return benches.spread(self.means_ms)

    def settle(self):
        """Finds the last run in the log. The server writes that now and then:
        a round later, or when it has ended, nobody waits for it."""
        if self.unread:
            asks, rows, cpu_us = self.unread
            self.unread = None
            self.runs.append(Run(sessions.answers(asks, rows, self.log),
                                 sessions.seconds(rows), cpu_us))

    def stop(self):
        if self.server:
            self.server.stop()
        if self.log:
            self.log.close()


class Runs:
    """Takes them."""

    def __init__(self, bench, disk):
        self.bench = bench
        self.lab = bench.lab
        self.disk = disk
        self.template = filled.fill(self.lab, "sessions-store",
                                    sessions.keys())
        self.turns = sessions.draw(bench.seed, bench.pick(REQUESTS, 10),
                                   bench.rounds(ROUNDS))
        self.warm_up, = sessions.draw(bench.seed + 1, bench.pick(WARM_UP, 2),
                                      shares={"GET": 1})

    def _store(self, name):
        """A fresh one. What was copied is on disk before the first write has
        to wait for it."""
        path = os.path.join(self.disk, name)
        shutil.copytree(self.template, path)
        for file_name in os.listdir(path):
            with open(os.path.join(path, file_name), "rb") as file:
                os.fsync(file.fileno())
        return path

    def _begin(self, cell, mode, threads):
        store = self._store(f"{mode.name}-{threads}")
        cell.server = self.bench.sprintd(
            f"{mode.title}, {threads}",
            f"--kv={sessions.PREFIX}={store}", f"--kv-sync={mode.sync}",
            f"--log-format={sessions.LOG_FORMAT}", "--report=always",
            workers=threads, log_file="access.log", both_cpus=mode.both_cpus)
        instance = cell.server.instance("")
        cell.log = open(os.path.join(instance.folder, "access.log"), "rb")
        sessions.ask(self.lab, instance.port, self.warm_up, "warm-up")

    def take(self, cell, mode, threads, turn):
        if not cell.server:
            self._begin(cell, mode, threads)
        cell.settle()
        instance = cell.server.instance("")
        asks = self.turns[turn]
        before = machine.cpu_ns(instance.pids)
        rows = sessions.ask(self.lab, instance.port, asks, "sessions")
        cpu_ns = machine.cpu_ns(instance.pids) - before
        failed = sessions.failed(rows)
        if failed:
            raise processes.Failure(", ".join(
                f"{count} requests: {what}" for what, count in failed.items()))
        cell.unread = asks, rows, cpu_ns / 1e3 / len(rows)

    def end(self, cell):
        """Ends the server, and reads its report."""
        report_path = os.path.join(cell.server.instance("").folder,
                                   "output.log")
        cell.server.stop()
        cell.settle()
        with open(report_path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^ *writes a commit +([\d.]+)", file.read(),
                              re.MULTILINE)
        cell.writes_a_commit = float(found.group(1)) if found else None


def _take_turn(runs, cells, turn):
    order = list(cells)
    for mode, count in order[::-1] if turn % 2 else order:
        cell = cells[mode, count]
        runs.bench.step(f"{count} threads, {mode.title}")
        _try(cell, lambda: runs.take(cell, mode, count, turn))


def _try(cell, what):
    if not cell.trouble:
        try:
            what()
        except processes.Failure as failure:
            cell.trouble = str(failure)


def take_all(bench, threads):
    cells = {(mode, count): Cell() for count in threads for mode in MODES}
    with kv.disk() as disk:
        runs = Runs(bench, disk)
        try:
            patience_s = RUNS_S * bench.rounds(ROUNDS) / ROUNDS
            begin = time.monotonic()
            for turn in range(len(runs.turns)):
                spent = time.monotonic() - begin
                if spent * (turn + 1) > patience_s * turn > 0:
                    break
                _take_turn(runs, cells, turn)
            for cell in cells.values():
                _try(cell, lambda cell=cell: runs.end(cell))
        finally:
            for cell in cells.values():
                cell.stop()
    return cells
