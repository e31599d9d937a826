"""Closed loops of h2load and httperf: short ones, run many times over.

A run of 80 requests takes milliseconds: one tells nothing, dozens in turns do.
What is compared is compared within its round, where whatever else the machine
was doing was the same for both.
"""

import dataclasses
import os
import time

from lab import machine, processes, servers, tools
from lab import rounds as lab_rounds

from . import bench as benches
from . import paired
from .model import Claim

NOISY_HALVES = 0.15  # by which the medians of two halves may differ
NOISY_TOLD = 5
EQUAL = 0.95         # what is "not below": less cannot be told from noise
QUICK_S = 3          # of a miniature
RUN_S = 15           # no run takes longer; what does is a trouble

SESSIONS = {
    "per_second": r"^finished in .*?, ([\d.]+) req/s",
    "complete": r"^requests: .* (\d+) succeeded",
    "body_bytes": r"^traffic: .*\((\d+)\) data",
    "client_min": r"^req/s +: +([\d.]+)",
    "client_max": r"^req/s +: +[\d.]+ +([\d.]+)",
    "client_mean": r"^req/s +: +[\d.]+ +[\d.]+ +([\d.]+)",
    "client_deviation": r"^req/s +: +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)",
}


@dataclasses.dataclass
class Run:
    """One run of a tool. Times of responses are from the request to the last
    byte; httperf tells no more than their mean."""

    replies: int = 0
    seconds: float = 0
    cpu_us: float = 0  # of the server, per reply
    times_run: float = 0  # its threads were given a CPU, per reply
    mean_ms: float = 0
    p99_ms: float = 0
    longest_ms: float = 0
    fairness: float = 0     # Jain's index of the clients' rates: 1 is equal
    slowest_share: float = 0  # its slowest client's rate by the mean one
    bytes_per_second: float = 0
    trouble: str = ""  # why the run counts for nothing

    @property
    def per_second(self):
        return self.replies / self.seconds

    @property
    def busy(self):
        """CPUs that the server used."""
        return self.cpu_us * self.per_second / 1e6


class Runs:
    """All runs of one load on one server, in the order of the rounds."""

    def __init__(self):
        self.all = []

    @property
    def trouble(self):
        return next((run.trouble for run in self.all if run.trouble),
                    "" if self.all else "was not run")

    @property
    def is_broken(self):
        """Then it is not tried again: each time might take RUN_S."""
        return any(run.trouble for run in self.all)

    def values(self, what):
        return [getattr(run, what) for run in self.all]

    def median(self, what):
        return None if self.trouble else benches.median(self.values(what))

    @property
    def drift(self):
        """By how much the rate in the later rounds was another one than in
        the earlier: then small differences cannot be read."""
        half = len(self.all) // 2
        if self.trouble or not half:
            return 0
        rates = self.values("per_second")
        return abs(benches.median(rates[-half:])
                   / benches.median(rates[:half]) - 1)

    @property
    def is_noisy(self):
        return self.drift > NOISY_HALVES


def ratios(runs, base, what):
    """runs by base, round for round; [] where one of them is in trouble."""
    if runs.trouble or base.trouble:
        return []
    return paired.ratios(runs.values(what), base.values(what))


def turns(bench, chosen_servers, full_rounds, full_seconds):
    """So many rounds, each in another order; none begins when the seconds are
    over."""
    rounds = bench.rounds(full_rounds)
    # Who asks for more rounds buys them with time.
    end = time.monotonic() + bench.pick(
        full_seconds * rounds / full_rounds, QUICK_S)
    for turn in range(rounds):
        if turn and time.monotonic() > end:
            return
        yield turn, lab_rounds.in_order(chosen_servers, turn)


def _spent(instance, run):
    """What run() returns, the server's CPU time for it, in µs, and how often
    its threads were given a CPU."""
    before = machine.times_run(instance.pids), machine.cpu_ns(instance.pids)
    outcome = run()
    cpu_ns = machine.cpu_ns(instance.pids) - before[1]
    return outcome, cpu_ns / 1e3, machine.times_run(instance.pids) - before[0]


def _responses_ms(path):
    """What h2load's log says, sorted: start, status, µs it took."""
    with open(path, encoding="ascii") as log:
        return sorted(int(line.split()[2]) / 1e3 for line in log)


def h2load(bench, server, file_name, requests, connections, timeout=RUN_S):
    """One run: so many requests, shared out equally to the connections."""
    tools.need("h2load", "nghttp2-client")
    instance = server.instance(file_name)
    log_path = os.path.join(bench.lab.site.folder, "responses.log")
    if os.path.exists(log_path):
        os.remove(log_path)
    url = f"http://{servers.HOST}:{instance.port}/{file_name}"
    command = ["h2load", "--h1", "-n", requests, "-c", connections,
               f"--log-file={log_path}", url]
    try:
        said, cpu_us, times_run = _spent(instance, lambda: tools.read(
            tools.run(bench.lab, command, timeout), SESSIONS))
    except processes.Failure as failure:
        return Run(trouble=f"{failure} in {timeout:g} s"
                   if "does not end" in str(failure) else str(failure))
    wanted = requests * os.path.getsize(bench.lab.site.path(file_name))
    if said["complete"] != requests or said["body_bytes"] != wanted:
        return Run(trouble=f"{said['complete']:.0f} of {requests} replies, "
                   f"{said['body_bytes']:.0f} bytes of {wanted}")
    took_ms = _responses_ms(log_path)
    mean, deviation = said["client_mean"], said["client_deviation"]
    return Run(
        replies=requests, seconds=requests / said["per_second"],
        cpu_us=cpu_us / requests, times_run=times_run / requests,
        mean_ms=sum(took_ms) / len(took_ms),
        p99_ms=benches.percentile(took_ms, 0.99), longest_ms=took_ms[-1],
        fairness=mean ** 2 / (mean ** 2 + deviation ** 2) if mean else 0,
        slowest_share=said["client_min"] / mean if mean else 0,
        bytes_per_second=wanted * said["per_second"] / requests)


def httperf(bench, server, file_name, connections, calls, rate,
            timeout=RUN_S):
    """One run: connections begun at a rate, or each behind the last one."""
    instance = server.instance(file_name)
    try:
        said, cpu_us, times_run = _spent(instance, lambda: tools.httperf(
            bench.lab, instance.port, connections, calls=calls, rate=rate,
            path=f"/{file_name}", timeout_s=RUN_S / 3, timeout=timeout))
    except processes.Failure as failure:
        return Run(trouble=str(failure))
    requests = connections * calls
    if said["ok"] != requests or said["errors"]:
        return Run(trouble=f"{said['ok']:.0f} of {requests} replies, "
                   f"{tools.say_errors(said)}")
    if not said["request_rate"]:
        return Run(trouble="over before httperf's clock could tell")
    # Its duration has three digits behind the point, its rate has more.
    return Run(replies=requests, seconds=requests / said["request_rate"],
               cpu_us=cpu_us / requests, times_run=times_run / requests,
               mean_ms=said["response_ms"] + said["transfer_ms"],
               bytes_per_second=1024 * said["kib_per_second"])


def log_options(bench, name):
    """(options, path): sprintd writes every line, whatever it waits for. What
    loses lines cannot be compared with what writes none."""
    path = os.path.join(bench.lab.site.folder, f"{name}.log")
    return (f"--access-log={path}", "--log-overflow=wait"), path


def count_lines(path):
    lines = 0
    with open(path, "rb") as log:
        while piece := log.read(1 << 20):
            lines += piece.count(b"\n")
    return lines


def peak_bytes(pids):
    """The most memory that processes have had."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            total += sum(int(line.split()[1]) * 1024 for line in status
                         if line.startswith("VmHWM:"))
    return total


def troubles(cells):
    """A line for each cell that is invalid."""
    return [f"{', '.join(map(str, key))}: {runs.trouble}"
            for key, runs in cells.items() if runs.trouble]


def claim_sound(text, cells, detail):
    """That nothing fails. None: nothing did, but not all of it was run."""
    found = troubles(cells)
    is_broken = any(runs.is_broken for runs in cells.values())
    holds = False if is_broken else None if found else True
    return Claim(text, holds, "; ".join(found) or detail)


def noises(cells):
    """What is too noisy for small differences: the worst, and how many."""
    noisy = {key: runs.drift for key, runs in cells.items() if runs.is_noisy}
    worst = sorted(noisy, key=noisy.get, reverse=True)[:NOISY_TOLD]
    if not worst:
        return []
    return [f"{len(noisy)} of {len(cells)} rates drifted by more than "
            f"{NOISY_HALVES:.0%} from the first half of the rounds to the "
            "second, most of all " + "; ".join(
                f"{', '.join(map(str, key))} ({noisy[key]:.0%})"
                for key in worst)]
