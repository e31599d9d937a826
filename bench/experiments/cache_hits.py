"""The hit ratios of sprintd's cache policies, as the server counts them.

A single connection asks for everything, in the list's order and without
waiting for replies: so the order, and with it the hits, is the same for every
policy and in every run.
"""

import dataclasses
import http.client
import json
import random
import socket
import threading
import time

from lab import processes, servers, site

from . import cache_model

POLICIES = ("lru", "gdsf", "sieve")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of what all files take
ENOUGH_BYTES = 1 << 30
STATUS = "/_status"
COUNTED_S = 10  # workers tell of their caches once a second
TIMEOUT_S = 30
READ_BYTES = 1 << 20
# Small enough to be kept in memory (up to 16 KiB), so that one limit holds.
MIXED_MIN, MIXED_MAX = 256, 16_000


@dataclasses.dataclass
class Trace:
    """A list of requests below a root, and the bodies' sizes."""

    root: str
    names: list
    sizes: list
    asked: list

    def text(self):
        """All requests, ready to be sent; the last one ends it."""
        heads = [f"GET /{name} HTTP/1.1\r\nHost: {servers.HOST}\r\n".encode()
                 for name in self.names]
        return b"".join(
            [heads[file] + b"\r\n" for file in self.asked[:-1]]
            + [heads[self.asked[-1]], b"Connection: close\r\n\r\n"])


def equal_files(made, files, total, seed):
    """Files that a Site has made, all of the same size."""
    return Trace(made.root, [site.many_name(index) for index in range(files)],
                 [site.KIB] * files, cache_model.draw(files, total, seed))


def mixed_files(made, files, total, seed):
    """Puts files of all sizes below a Site's root: as many between 1 and 2
    KiB as between 2 and 4. How often one is asked for has nothing to do with
    its size."""
    rng = random.Random(f"mixed {seed}")
    sizes = [round(MIXED_MIN * (MIXED_MAX / MIXED_MIN) ** rng.random())
             for _each in range(files)]
    names = [f"mixed/{index:05d}.bin" for index in range(files)]
    for name, size in zip(names, sizes):
        made.put(name, size)
    return Trace(made.root, names, sizes,
                 cache_model.draw(files, total, f"mixed {seed}"))


def _send(client, text):
    try:
        client.sendall(text)
    except OSError:
        pass  # who reads sees what is missing


def _ask(instance, trace):
    """Asks for everything; the number of bytes that came."""
    got = 0
    with socket.create_connection((servers.HOST, instance.port),
                                  TIMEOUT_S) as client:
        sender = threading.Thread(target=_send, args=(client, trace.text()),
                                  daemon=True)
        sender.start()
        room = bytearray(READ_BYTES)
        while count := client.recv_into(room):
            got += count
        sender.join(TIMEOUT_S)
    return got


def _status(instance):
    client = http.client.HTTPConnection(servers.HOST, instance.port,
                                        timeout=TIMEOUT_S)
    try:
        client.request("GET", f"{STATUS}/status.json")
        return json.loads(client.getresponse().read())
    finally:
        client.close()


def _count(server, trace):
    """What the server's statistics say of its cache, once they hold all."""
    end = time.monotonic() + COUNTED_S
    while True:
        said = _status(server.instance(""))
        cache = said["cache"]
        counted = cache["hits"] + cache["misses"]
        if counted == len(trace.asked):
            break
        if time.monotonic() > end:
            raise processes.Failure(
                f"{server.name}: {len(trace.asked)} files were asked for, its "
                f"cache has counted {counted}")
        time.sleep(0.05)
    good = said["requests"]["by_status"].get("200", 0)
    if good < len(trace.asked):
        raise processes.Failure(f"{server.name}: {good} good replies to "
                                f"{len(trace.asked)} requests")
    return cache


@dataclasses.dataclass(frozen=True)
class Job:
    """One list for one policy's cache."""

    trace: Trace
    policy: str
    room_bytes: int


def _run(bench, jobs):
    """What each job's cache counted, in their order. One job at a time, but
    all servers live until the end: their statistics are a second late."""
    started = []
    try:
        for job in jobs:
            server = bench.sprintd(
                job.policy, "--cache-policy", job.policy, "--cache-size",
                job.room_bytes, "--status", STATUS, root=job.trace.root)
            started.append(server)
            try:
                got = _ask(server.instance(""), job.trace)
            except OSError as error:
                raise processes.Failure(
                    f"{job.policy}: {error!r}") from error
            if got < sum(job.trace.sizes[file] for file in job.trace.asked):
                raise processes.Failure(f"{job.policy}: replies were cut "
                                        f"short")
        return [_count(server, job.trace)
                for server, job in zip(started, jobs)]
    finally:
        for server in started:
            server.stop()


@dataclasses.dataclass
class Row:
    """Hit ratios at one cache size."""

    share: float      # of the bytes of all files
    room_bytes: int
    policies: dict    # by name
    best: float       # Belady's, or the bound where sizes differ
    infinite: float
    model: float      # of lru, computed; None where sizes differ


@dataclasses.dataclass
class Outcome:
    """All of one list."""

    trace: Trace
    total_bytes: int  # that all files take in a cache
    footprints: list  # that each takes
    is_infinite_exact: bool  # a cache with room for all hit every repeat
    rows: list = dataclasses.field(default_factory=list)

    @property
    def is_equal(self):
        return len(set(self.trace.sizes)) == 1

    def room(self, share):
        """In files, and in bytes: rounded up, or one file less would fit."""
        files = max(1, round(share * len(self.footprints)))
        return files, 1 + int(files * self.footprints[0] if self.is_equal
                              else share * sum(self.footprints))

    def add(self, share, hits):
        """hits: by policy, at that size."""
        asked = self.trace.asked
        room_files, room_bytes = self.room(share)
        best = (cache_model.optimum(asked, room_files) if self.is_equal
                else cache_model.bound(asked, self.footprints, room_bytes))
        self.rows.append(Row(
            share, room_bytes,
            {policy: count / len(asked) for policy, count in hits.items()},
            best / len(asked), cache_model.infinite(asked) / len(asked),
            cache_model.least_recently_used(asked, room_files) / len(asked)
            if self.is_equal else None))


def _outcome(trace, everything):
    """everything: what a cache with room for all has counted."""
    bodies = sum(trace.sizes[file] for file in set(trace.asked))
    overhead = (everything["bytes"] - bodies) / everything["entries"]
    return Outcome(trace, everything["bytes"],
                   [size + overhead for size in trace.sizes],
                   everything["hits"] == cache_model.infinite(trace.asked))


def measure(bench, traces, shares, policies):
    """An Outcome for each list: all policies at all cache sizes."""
    bench.step("hit ratio: room for all")
    outcomes = [_outcome(trace, everything) for trace, everything in zip(
        traces, _run(bench, [Job(trace, policies[0], ENOUGH_BYTES)
                             for trace in traces]))]
    for share in shares:
        bench.step(f"hit ratio: room for {share:.0%}")
        jobs = [Job(outcome.trace, policy, outcome.room(share)[1])
                for outcome in outcomes for policy in policies]
        counted = iter(_run(bench, jobs))
        for outcome in outcomes:
            outcome.add(share, {policy: next(counted)["hits"]
                                for policy in policies})
    return outcomes
