"""The two tables of the original of connections_calls, on the same work.

By its second table few calls a connection decrease throughput. Its connections
were begun at one a second, though, and one connection took 23.5 ms for each
call: both together say every row of it.
"""

import contextlib
import dataclasses

from lab import processes

from . import closed_loops as loops
from . import old_disk
from .model import Table

RATE = 200  # connections a second, of the first table
LINK_MBIT = 80
LINK_CALLS = 40  # a connection: enough to ask for more than the link gives
CALL_S = 1 / 42.5  # of theirs: one connection, one call after the other
ROOM_S = 30  # that a run may take beyond what it has to
LINK_ALIKE = 1.02  # times as much: what passes for the same
LIMITED = 0.5      # of what comes without a link: then it is the limit


@dataclasses.dataclass(frozen=True)
class Row:
    workers: int
    connections: int
    rate: int
    calls: int
    kib_per_second: str  # the original's, with the digits that it gives
    per_second: str

    @property
    def begun_s(self):
        """When the last connection begins."""
        return (self.connections - 1) / self.rate

    @property
    def offered(self):
        """Replies a second, if answers took no time."""
        return self.connections * self.calls / max(
            self.begun_s, 1 / self.rate)

    @property
    def predicted(self):
        """Of theirs, by its time for a call alone."""
        return self.connections * self.calls / (
            self.begun_s + self.calls * CALL_S)


FAST = (Row(5, 1000, RATE, 400, "8966.6", "4687.7"),
        Row(20, 1000, RATE, 400, "9621.0", "4590.7"),
        Row(20, 1000, RATE, 800, "7886.6", "4149.2"),
        Row(25, 1000, RATE, 800, "7489.1", "3794.9"))
SLOW = tuple(Row(5, connections, 1, calls, *theirs)
             for connections, calls, *theirs in (
                 (1, 1000, "81.6", "42.5"), (2, 500, "150.7", "79.2"),
                 (4, 250, "216.8", "116"), (5, 200, "223.7", "123.2"),
                 (10, 100, "172.2", "93.2"), (50, 20, "38.8", "20"),
                 (100, 10, "19.3", "10"), (200, 5, "9.6", "5")))


def _ask(bench, server, file_name, row):
    """loops.Run of a row; in miniature a fiftieth of it, and faster."""
    bench.step(f"the originals' {row.connections} x {row.calls}")
    calls = max(1, row.calls // bench.pick(1, 50))
    rate = bench.pick(row.rate, 50 * row.rate)
    return loops.httperf(bench, server, file_name, row.connections, calls,
                         rate, row.begun_s + ROOM_S)


def _server(bench, workers, where=""):
    return bench.sprintd(f"{workers} workers{where}", workers=workers,
                         both_cpus=True)


def _by_link(bench, file_name):
    """Replies a second over a link as wide as theirs, by workers; why not,
    where there is none."""
    found, trouble = {}, ""
    try:
        with old_disk.small_sockets(LINK_MBIT):
            for workers in sorted({row.workers for row in FAST}):
                server = _server(bench, workers, " over a link")
                row = Row(workers, 1000, RATE, LINK_CALLS, "", "")
                try:
                    found[workers] = _ask(bench, server, file_name, row)
                finally:
                    server.stop()
    except (processes.Failure, OSError) as failure:
        trouble = f"over a link of {LINK_MBIT} Mbit/s: {failure}"
    return found, trouble


def _cells(run):
    return ([run.per_second, run.bytes_per_second / 1024, run.busy, ""]
            if not run.trouble else [None, None, None, run.trouble])


def _fast_table(found, by_link):
    def over_link(row):
        run = by_link.get(row.workers)
        return ([run.per_second, run.bytes_per_second / 1024]
                if run and not run.trouble else [None, None])

    return Table(
        f"1,000 connections, begun at {RATE} a second: is Net I/O the limit?",
        ["workers x calls", "original: replies/s", "original: KB/s",
         f"replies/s over {LINK_MBIT} Mbit/s",
         f"KB/s over {LINK_MBIT} Mbit/s", "replies/s", "KB/s", "CPUs used",
         "trouble"],
        [[f"{row.workers} x {row.calls}", row.per_second, row.kib_per_second,
          *over_link(row), *_cells(found[row])] for row in FAST],
        "The original's 9,621.0 KB/s, of requests and replies, are 78.8 "
        "Mbit/s, as httperf's KB have 1,024 bytes; "
        f"a link of {LINK_MBIT} carries the heads of packets, too, "
        "here of both directions (one run by each number of workers, of "
        f"{LINK_CALLS} calls a connection, enough to fill it; a socket "
        f"sends at most {old_disk.SOCKET_BYTES // 1024} KB ahead). A link "
        "alone would give the same rate in all rows, whatever the workers: "
        "the original's last one has 22 % fewer KB/s than its second, so that "
        "something else limits there. Without a link, at this rate at most "
        "80,000 or 160,000 replies a second are asked for.")


def _slow_table(found):
    return Table(
        "1,000 calls by connections begun at one a second, 5 workers",
        ["connections x calls", "most that is offered, replies/s",
         "original: replies/s", "original: KB/s", "by 23.5 ms a call",
         "replies/s", "KB/s", "CPUs used", "trouble"],
        [[f"{row.connections} x {row.calls}",
          None if row.connections == 1 else row.offered, row.per_second,
          row.kib_per_second, row.predicted, *_cells(found[row])]
         for row in SLOW],
        "By 23.5 ms a call: what a server would give that takes as long for a "
        "call as theirs did in the first row, whatever the number of "
        "connections. It says all of their rows within 8 %: from 50 "
        "connections on they got what was offered, to 2 %, and none of them "
        "shows that connections cost anything. By that few connections are "
        "slow as each has one request under way, and waits 23.5 ms for its "
        "reply.")


def read_link(table):
    """What the first table says of the link; nothing where there was none."""
    linked, free = ([row[at] for row in table.rows if row[at] is not None]
                    for at in (3, 5))
    if not linked or not free:
        return []
    told, without = (" to ".join(dict.fromkeys(
        f"{choose(rates):,.0f}" for choose in (min, max)))
                     for rates in (linked, free))
    text = (f"Is Net I/O the limit? Over {LINK_MBIT} Mbit/s {FAST[0].workers} "
            f"to {FAST[-1].workers} workers get {told} replies/s, without a "
            f"link {without}")
    text += (": here the link is the limit"
             + (", and the workers' number changes nothing"
                if max(linked) <= LINK_ALIKE * min(linked) else "")
             if max(linked) < LIMITED * min(free) else "")
    return [f"{text}. The original's rows have {FAST[0].per_second} replies/s "
            f"down to {FAST[-1].per_second}, and {FAST[1].kib_per_second} "
            f"KB/s down to {FAST[-1].kib_per_second}: a link may have been "
            "the limit of the best of them, and does not explain that the "
            "others have less."]


def read(found):
    """What the second table says, and why its first row is slow."""
    first = found[SLOW[0]]
    ours = ("" if first.trouble else
            f" Here a call of that row takes {1e3 / first.per_second:.2g} ms.")
    return ["The row that asks for an explanation is one connection with "
            "1,000 calls at 42.5 replies a second, 23.5 ms a call. On a "
            "kept connection a server that writes head and body of a reply by "
            "two calls, without TCP_NODELAY, waits with the second for an "
            "acknowledgement that the client delays by some 40 ms; mixed "
            "with replies that are acknowledged at once that makes a mean "
            "such as this. That fits, and cannot be proved without their "
            "machine." + ours]


def take(bench, file_name):
    """Both tables, what they say, and what could not be had: lists of tables,
    texts and troubles."""
    found = {}
    with contextlib.ExitStack() as stack:
        for workers in sorted({row.workers for row in (*FAST, *SLOW)}):
            server = _server(bench, workers)
            stack.callback(server.stop)
            for row in (*FAST, *SLOW):
                if row.workers == workers:
                    found[row] = _ask(bench, server, file_name, row)
    by_link, trouble = _by_link(bench, file_name)
    fast = _fast_table(found, by_link)
    return ([fast, _slow_table(found)], [*read_link(fast), *read(found)],
            [trouble] if trouble else [])
