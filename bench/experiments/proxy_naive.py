"""What a proxy that asks for as many connections as it has does to Python's
http.server: bench/naive_proxy.c tells of every request how often the kernel
sent its first packet again, and how long that took.

Newer kernels send the first packet again after one second four times before
they double it (tcp_syn_linear_timeouts); the originals' did not know that. So
all of it runs in a network namespace where it is as it was.
"""

import contextlib
import dataclasses
import os
import time

from lab import compiled, processes, proxy, servers
from link import network

from . import proxy_ab, proxy_reports
from .bench import median
from .model import Claim, Result, Table

LINEAR = "/proc/sys/net/ipv4/tcp_syn_linear_timeouts"
OLD_KERNEL = "where first packets are sent again after 1, 3, 7 and 15 s"
LATE = 0.06      # of a wait: by so much the kernel's timers may be late
SYN_S = 1.0      # before the kernel sends it again, at first
DATA_S = 0.2     # the same of what follows it, at least
END_S = 115      # for what the kernel still repeats
END_QUICK_S = 5
QUICK_REQUESTS = 100
FORGET_S = 63    # 1, 2, 4 s and so on, of tcp_synack_retries as it comes
FORGOTTEN = (
    "A connection whose third packet found no place is open for the proxy and "
    "not for http.server; a kernel that has answered its SYN in vain as often "
    "as it does may forget it, after a minute by default "
    "(tcp_synack_retries), and reset the request that is sent again then. A "
    "naive proxy makes an error of that, which ab counts as another length "
    "and as non-2xx. The "
    "originals' failures came within the 7.447 and 15.044 s of their longest "
    "requests: if they are of this kind their kernel forgot sooner, which "
    "cannot be seen from here.")
AVOIDED = (
    " sprintd does not leave that to the kernel: to a server on the same "
    "machine it begins connecting anew after 10 ms at the earliest, later the "
    "more often it has tried, in the order of the last tries. How long its "
    "longest request took stands above.")


class Naive(proxy.Proxy, servers.Server):
    """A thread for each connection, and a connection for each thread."""

    name = "a naive proxy"
    program = "cc"
    log_path = ""

    def missing(self):
        return servers.Floor(self.lab).missing()

    def command(self, folder, port, file_name):
        binary = compiled.build(
            os.path.join(self.lab.site.folder, "naive_proxy"),
            os.path.join(servers.BENCH, "naive_proxy.c"),
            libraries=("-pthread",))
        # Whoever reads it looks there when the process has ended.
        Naive.log_path = os.path.join(folder, "requests.log")
        return [binary, port, self.upstream_port(file_name), self.log_path]


@dataclasses.dataclass
class Told:
    """A line of its log. Times in seconds."""

    connect_s: float
    reply_s: float
    first_again: int
    more_again: int
    failure: str

    @classmethod
    def of_line(cls, line):
        connect, reply, first, more, failure = line.split(None, 4)
        return cls(int(connect) / 1e6, int(reply) / 1e6, int(first),
                   int(more), failure.strip().replace("-", ""))


def _read(path):
    with open(path, encoding="ascii") as log:
        return [Told.of_line(line) for line in log if line.endswith("\n")]


@contextlib.contextmanager
def _old_kernel():
    """All that begins in the with block has a loopback of its own, on which a
    first packet is sent again after 1, 3, 7 and 15 s."""
    name = f"{network.PREFIX}-{os.getpid()}-old"
    network.run("ip", "netns", "add", name)
    try:
        network.run("ip", "-n", name, "link", "set", "lo", "up")
        with network.inside(name):
            if os.path.exists(LINEAR):
                with open(LINEAR, "w", encoding="ascii") as file:
                    file.write("0")
            yield
    finally:
        network.run("ip", "netns", "del", name)


def _attempt(bench, kind, requests, connections):
    """A row of ab's; what is still under way has until END_S."""
    bench.step(f"ab: {kind.name}, as on an old kernel")
    attempt = proxy_ab.Attempt(bench.lab, kind, requests, connections)
    try:
        attempt.wait_for_quiet()
        return attempt.finish(time.monotonic()
                              + bench.pick(END_S, END_QUICK_S))
    finally:
        attempt.stop()


def expected_s(again):
    """When a packet that was sent again so often has left: after 1, 3, 7 s."""
    return SYN_S * (2 ** again - 1)


def _by_first(told):
    """Of requests by how often their SYN was sent again."""
    rows = []
    for again in sorted({one.first_again for one in told}):
        found = [one.connect_s for one in told if one.first_again == again
                 and one.connect_s]
        if found:
            rows.append([again, len(found), expected_s(again), min(found),
                         median(found), max(found)])
    return Table(
        "A naive proxy: how long connecting to http.server took",
        ["SYN sent again, times", "requests", "due after s", "least s",
         "median s", "most s"], rows,
        "Due: a SYN that nobody answers is sent again 1 s later, then after "
        "twice as long each time.")


def _by_more(told):
    """How long the reply took to begin once connected, by how often the request
    was sent again: the third packet of opening was dropped as well."""
    rows = []
    for again in sorted({one.more_again for one in told}):
        found = [one.reply_s - one.connect_s for one in told
                 if one.more_again == again and not one.failure]
        if found:
            rows.append([again, len(found),
                         DATA_S * 2 ** (again - 1) if again else 0.0,
                         min(found), median(found), max(found)])
    return Table(
        "A naive proxy: how long the reply took to begin, once connected",
        ["request sent again, times", "requests", "due after s", "least s",
         "median s", "most s"], rows,
        "A connection that the client takes for open may have found no place "
        "in the queue either: its request is dropped, and sent again, first "
        "after 0.2 s, then after 0.2 s more, and from there after twice as "
        "long each time. Why some have to be sent so often is not shown.")


def _rows_table(rows, requests, connections):
    return Table(
        f"ab -c {connections} -n {requests:,} {OLD_KERNEL}",
        ["before http.server", "a second, in all", "median ms", "99 % ms",
         "longest s", "failed", "invalid"],
        [[name, row.get("per_second"), row.get("median_ms"),
          row.get("p99_ms"),
          row["longest_ms"] / 1e3 if "longest_ms" in row else None,
          int(row.get("failed", 0)), row["trouble"]]
         for name, row in rows.items()],
        "The originals: 622.31 and 649.21 a second, median 15 and 10, 99 % "
        "1,034 and 1,017 ms, longest 7.447 and 15.044 s, failed 7 and 3 of "
        "50,000.")


def _claims(told, rows):
    """That the seconds are the kernel's: each wait ends when it sends again."""
    late = [one for one in told if one.first_again and one.connect_s]
    astray = [one for one in late
              if not 1 <= one.connect_s / expected_s(one.first_again)
              <= 1 + LATE]
    claims = [Claim(
        "a naive proxy waits for the kernel: each connection whose SYN was "
        "sent again was made when that was due, 1, 3, 7 s and so on after "
        f"the first, to {LATE:.0%}",
        not astray if late else None,
        f"{len(late)} of {len(told):,} connections by a SYN sent again, "
        f"{len(astray)} at another time")]
    ours = rows.get(proxy.Sprintd.name)
    if ours and not ours["trouble"]:
        longest = ours["longest_ms"] / 1e3
        claims.append(Claim(
            "through sprintd with one worker no request waits for that: the "
            "longest takes less than 1 s, when a first packet is sent again",
            longest < SYN_S, f"{longest:.2f} s"))
    return claims


def _outlived(told):
    """That some were answered which a kernel may have forgotten by then."""
    waits = [one.reply_s - one.connect_s for one in told
             if one.more_again and not one.failure]
    long = [wait for wait in waits if wait > FORGET_S]
    if not long:
        return ""
    return (f" Here {len(long)} waited longer than that minute once they were "
            f"connected, up to {max(long):.0f} s, and were answered all the "
            "same: what decides is not shown.")


def _reading(told, rows):
    late = [one for one in told if one.first_again or one.more_again]
    if not late:
        return []
    failed = [one for one in told if one.failure]
    slowest = max((one for one in late if not one.failure),
                  key=lambda one: one.reply_s, default=None)
    if not slowest:
        return []
    text = (f"Whose the waiting is: of {len(told):,} requests of a naive "
            f"proxy {len(late):,} had a packet sent again. The slowest whose "
            f"reply came waited {slowest.reply_s:.2f} s: "
            f"{slowest.connect_s:.2f} s until it was connected (its SYN was "
            f"sent again so often: {slowest.first_again}), the rest for its "
            f"request (so often: {slowest.more_again}). The originals' "
            "longest, 7.447 and 15.044 s, fit a SYN that is sent again three "
            f"and four times.{AVOIDED}")
    if not failed:
        return [text, "No request failed through the naive proxy in this "
                f"run. {FORGOTTEN}{_outlived(told)}"]
    why = [one.failure for one in failed]
    return [text, f"{len(failed)} requests failed through it, where the "
            "originals lost 7 and 3: " + ", ".join(
                f"{why.count(each)} {each}" for each in dict.fromkeys(why))
            + f", {min(one.reply_s for one in failed):.0f} s and more after "
            f"they had begun. {FORGOTTEN}{_outlived(told)}"]


def measure(bench, full_requests, connections):
    """A Result of tables, claims and readings; what cannot be had here is
    left out."""
    requests = bench.pick(full_requests, QUICK_REQUESTS)
    rows, told = {}, []
    try:
        with _old_kernel():
            for kind in (Naive, proxy.Sprintd):
                rows[kind.name] = _attempt(bench, kind, requests, connections)
            told = _read(Naive.log_path)
    except (processes.Failure, OSError) as failure:
        return Result(left_out=[f"a naive proxy as on an old kernel: "
                                f"{failure}"])
    return Result(
        tables=[_rows_table(rows, requests, connections),
                *proxy_reports.tables(
                    rows, f"{requests:,} requests {OLD_KERNEL}"),
                _by_first(told), _by_more(told)],
        claims=_claims(told, rows), reading=_reading(told, rows))
