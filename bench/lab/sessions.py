"""Sessions with the key-value store (sessions.c): what they ask, what came of
it, and the server's word on the same requests, by its log.

A session has keys of its own and knows at any time which of them are there, so
each reply is known beforehand: one that is another has failed.
"""

import collections
import csv
import dataclasses
import os
import random
import time

from . import compiled, servers
from .processes import Failure

SESSIONS = 10
KEYS = 100  # of each
VALUE_BYTES = 1024  # as filled.fill() puts them
METHODS = {"GET": 0.8, "PUT": 0.1, "DELETE": 0.1}
PREFIX = "/kv"
LOG_FORMAT = "%{remote_port} %{requests} %{total_us}"
RUN_S = 60  # as sessions.c
END_S = 60  # beyond RUN_S
LOG_S = 10


@dataclasses.dataclass(frozen=True)
class Ask:
    """One request, and how it is to be answered."""

    session: int
    method: str
    key: str
    status: int

    def line(self):
        """As sessions.c wants it."""
        body = VALUE_BYTES if self.method == "PUT" else 0
        reply = VALUE_BYTES if self.method == "GET" else 0
        return (f"{self.session} {self.method} {PREFIX}/{self.key} {body} "
                f"{self.status} {reply}\n")


@dataclasses.dataclass(frozen=True)
class Answer:
    """One request's times, in µs."""

    method: str
    took: float    # from before send() to behind the last recv()
    call: float    # of it, in send()
    lay: float     # of it, in the client's socket; 0 when that is not known
    server: float  # first byte read to last byte handed over, which includes
                   # its own call

    @property
    def way(self):
        """What neither of them sees: the client's call, the network, and the
        server's socket. On loopback the calls that send do the network's work,
        and who receives may be done before they return: so it may be less than
        nothing by some µs."""
        return self.took - self.server - self.lay


def keys():
    return [f"s{session}/{index:04d}" for session in range(SESSIONS)
            for index in range(KEYS)]


def _draw_one(session, count, rng, shares):
    """One session's. A PUT brings back what was deleted, or else replaces, so
    that there is always as much to be found."""
    there = [key for key in keys() if key.startswith(f"s{session}/")]
    gone = []
    for method in rng.choices(list(shares), list(shares.values()), k=count):
        if method == "DELETE" and len(there) == 1:
            method = "GET"
        if method == "PUT" and gone:
            there.append(gone.pop(rng.randrange(len(gone))))
            yield Ask(session, method, there[-1], 201)
            continue
        at = rng.randrange(len(there))
        yield Ask(session, method, there[at], 200 if method == "GET" else 204)
        if method == "DELETE":
            gone.append(there.pop(at))


def draw(seed, count, turns=1, shares=None):
    """All sessions' requests, count of each in each turn: the same for a seed.
    A turn's begin where those of the last one have left the store."""
    rng = random.Random(f"sessions {seed}")
    drawn = [list(_draw_one(session, count * turns, rng, shares or METHODS))
             for session in range(SESSIONS)]
    return [[ask for one in drawn for ask in one[turn * count:][:count]]
            for turn in range(turns)]


def ask(lab, port, asks, name):
    """Lets the sessions ask; returns a row of RESULTS for each. The files are
    named after name."""
    base = os.path.join(lab.site.folder, name)
    with open(f"{base}.asks", "w", encoding="ascii") as file:
        file.writelines(each.line() for each in asks)
    program = compiled.build(os.path.join(lab.site.folder, "sessions"),
                             os.path.join(servers.BENCH, "sessions.c"))
    compiled.run(lab, [program, f"{servers.HOST}:{port}", f"{base}.asks",
                       f"{base}.csv"], RUN_S + END_S, f"{base}.log")
    with open(f"{base}.csv", encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def failed(rows):
    """How many requests by what went wrong."""
    return collections.Counter(row["outcome"] for row in rows
                               if row["outcome"] != "ok")


def seconds(rows):
    """From the first request to the last reply."""
    return max(int(row["begun_us"]) / 1e6 + int(row["took_ns"]) / 1e9
               for row in rows)


def _read_log(log, told):
    """Reads on. A line that is half there is read again."""
    begin = log.tell()
    text = log.read()
    whole = text.rfind(b"\n") + 1
    log.seek(begin + whole)
    for line in text[:whole].decode("ascii").splitlines():
        port, number, total_us = line.split()
        told[port, number] = float(total_us)


def answers(asks, rows, log):
    """An Answer for each request: the client's times, and the server's of the
    same one. log: a file that is read on from where it is."""
    told = {}
    end = time.monotonic() + LOG_S
    while True:
        _read_log(log, told)
        lost = sum((row["port"], row["number"]) not in told for row in rows)
        if not lost:
            break
        if time.monotonic() > end:
            raise Failure(f"the log lacks {lost} of {len(rows)} requests")
        time.sleep(0.01)
    return [Answer(asked.method, int(row["took_ns"]) / 1e3,
                   int(row["sent_ns"]) / 1e3, max(0, int(row["lay_ns"])) / 1e3,
                   told[row["port"], row["number"]])
            for asked, row in zip(asks, rows)]
