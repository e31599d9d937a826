"""ab through a proxy to Python's http.server, several of them behind another.

At first all of ab's connections come at once. http.server has a queue of five:
what does not fit is repeated by the kernel after 0.2 s (or 1 s, before it is
open), and then after twice as long each time. So some requests wait for tens
of seconds, in which there is nothing to do: the next run begins as soon as
http.server is idle, and only the last one is waited for to its end.
"""

import os
import subprocess
import time

from lab import classic, machine, rounds, servers, tools
from lab.processes import Failure

QUIET_S = 1.5
WORK_NS = 50_000_000  # in that time; less is idleness
LOOK_S = 0.05
LOAD_S_MAX = 120      # then the next one begins anyway
SOCKET_S = 120        # that ab waits; by itself less than the kernel may take
TAIL_S_MAX = 110      # behind the last load
TAIL_QUICK_S = 2


class Attempt:
    """One run of ab, before a server and an http.server of its own."""

    def __init__(self, lab, kind, requests, connections):
        self.lab = lab
        self.requests = requests
        self.python = classic.Python(lab)
        self.front = kind(lab) if kind else self.python
        self.front.upstream = self.python
        self.is_proxy = kind is not None
        self.begin = time.monotonic()
        self.load_s = None
        self.log_path = os.path.join(lab.site.folder, "ab.log")
        self.instance = self.front.instance(classic.PAGE)
        self.cpu_ns = machine.cpu_ns(self.instance.pids)
        self.child = lab.children.start(
            # -r: what the kernel resets has failed, and the others go on.
            ["ab", "-q", "-r", "-s", SOCKET_S, "-c", connections,
             "-n", requests, f"http://{servers.HOST}:{self.instance.port}/"],
            lab.client_cpu, self.log_path, stdout=subprocess.PIPE, text=True)

    def wait_for_quiet(self):
        """Until ab has ended, or all it still does is to wait."""
        pid = self.python.instance(classic.PAGE).child.pid
        begin = busy = time.monotonic()
        done_ns = 0
        while self.child.poll() is None:
            time.sleep(LOOK_S)
            now, spent_ns = time.monotonic(), machine.ticked_cpu_ns(pid)
            if spent_ns - done_ns >= WORK_NS:
                busy, done_ns = now, spent_ns
            if now - busy > QUIET_S or now - begin > LOAD_S_MAX:
                break
        else:
            busy = time.monotonic()
        self.load_s = busy - begin

    def finish(self, end):
        """A row of tools.AB's, and why it is no good; ab is waited for until
        that time, and everything ends."""
        try:
            output = self.child.communicate(
                timeout=max(0.1, end - time.monotonic()))[0]
            if self.child.returncode == 0:
                row = tools.read(output, tools.AB)
                row["software"] = tools.ab_software(output)
                row["trouble"] = classic.trouble_of(row, self.requests)
            else:
                row = {"trouble": "ab gave up: status "
                                  f"{self.child.returncode}"}
        except subprocess.TimeoutExpired:
            row = {"trouble": "ab has not ended long after the last load"}
        spent = machine.cpu_ns(self.instance.pids) - self.cpu_ns
        # http.server's threads end, and with them what they tell.
        row["cpu_us"] = (spent / 1e3 / self.requests if self.is_proxy
                         else None)
        row["load_per_second"] = (self.requests / self.load_s
                                  if self.load_s else None)
        self.stop()
        return row

    def stop(self):
        if self.child in self.lab.children.running:
            self.lab.children.end(self.child)
        self.front.stop()
        self.python.stop()


def overflows():
    """Connections that found a queue full, of all this system's so far."""
    with open("/proc/net/netstat", encoding="ascii") as file:
        lines = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(dict(zip(*lines))["ListenOverflows"])


def measure(bench, kinds, turns, requests, connections):
    """Rows by name, one of each turn. kinds: by name, None for http.server
    itself."""
    tools.need("ab", "apache2-utils")
    under_way = []
    rows = {name: [] for name in kinds}
    try:
        for turn in range(turns):
            for name, kind in rounds.in_order(list(kinds.items()), turn):
                bench.step(f"ab: {name}, turn {turn + 1}")
                try:
                    attempt = Attempt(bench.lab, kind, requests, connections)
                except Failure as failure:
                    rows[name].append({"trouble": str(failure)})
                    continue
                under_way.append((name, attempt))
                attempt.wait_for_quiet()
        bench.step("ab: what the kernel still repeats")
        end = time.monotonic() + bench.pick(TAIL_S_MAX, TAIL_QUICK_S)
        for name, attempt in under_way:
            rows[name].append(attempt.finish(end))
    finally:
        for _name, attempt in under_way:
            attempt.stop()
    return rows
