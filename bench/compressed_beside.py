#!/usr/bin/env python3
"""compressed_beside.py - small replies beside 32 large ones of another server,
which are compressed on their way.

One worker, on a CPU of its own, is a proxy before a server of long texts; wrk
takes 32 of them at a time, in a closed loop. Beside that small files are asked
for at given moments (open loop, --rate a second), at real-time priority, so that
what they wait for is the worker. Each round measures all codings in turns, and
without anything beside. Needs root, for the priority.
"""

import argparse
import dataclasses
import os
import random
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import servers, setup
from link import arrivals, client, summary

DOWNLOADS = 32
LARGE, LARGE_BYTES = "large.txt", 4 << 20
SMALL, SMALL_BYTES = "small.txt", 1024
NOTHING = "nothing"
BESIDE = (NOTHING, "identity", "zstd", "gzip", "br")
SETTLE_S = 0.5
PRIORITY = 10


class Behind(servers.Sprintd):
    """What is behind the proxy, on the client's CPU."""
    name = "behind"
    program = "sprintd"
    arguments = ("--compress=off",)

    def __init__(self, lab):
        super().__init__(dataclasses.replace(lab, server_cpu=lab.client_cpu))


class Proxy(servers.Sprintd):
    """The proxy, with small files of its own."""
    behind = None

    def command(self, folder, port, file_name):
        there = self.behind.instance(None).port
        self.arguments = ("--compress-proxied",
                          f"--proxy=/p/=http://{servers.HOST}:{there}/")
        return super().command(folder, port, file_name)


def write_texts(lab):
    """Words by a seed, which shrink to a third or so."""
    lot = random.Random(1)
    words = ["".join(lot.choices("etaoinshrdlu", k=lot.randrange(2, 9)))
             for _ in range(5000)]
    text = " ".join(lot.choices(words, k=LARGE_BYTES // 4)).encode()
    for name, size in ((LARGE, LARGE_BYTES), (SMALL, SMALL_BYTES)):
        with open(lab.site.path(name), "wb") as file:
            file.write(text[:size])


def draw(options, seed):
    lot = random.Random(seed)
    count = round(options.rate * options.seconds)
    return [arrivals.Arrival(start, SMALL_BYTES, path=SMALL) for start in
            sorted(lot.random() * options.seconds for _ in range(count))]


def ask(lab, options, port, seed, folder):
    """The percentiles of small replies, in ms."""
    results = client.send(lab, draw(options, seed), folder,
                          (servers.HOST, port),
                          ["chrt", "--rr", PRIORITY], options)
    times = sorted(1e3 * result.done for result in results
                   if result.outcome == client.OK)
    if len(times) < len(results):
        raise servers.Failure(f"{len(results) - len(times)} failed")
    return (summary.percentile(times, 50), summary.percentile(times, 99),
            times[-1])


def measure(lab, options, port, coding, seed):
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        wrk = coding != NOTHING and lab.children.start(
            [servers.find("wrk"), "-t1", f"-c{DOWNLOADS}",
             f"-d{options.seconds + 2 * SETTLE_S + 5:.0f}", "-H",
             f"Accept-Encoding: {coding}",
             f"http://{servers.HOST}:{port}/p/{LARGE}"],
            lab.client_cpu, os.path.join(folder, "wrk.log"))
        try:
            time.sleep(SETTLE_S)
            return ask(lab, options, port, seed, folder)
        finally:
            if wrk:
                lab.children.end(wrk)


@dataclasses.dataclass
class Lab:
    """What the open-loop client wants."""
    folder: str
    children: object
    client_cpu: int
    programs: dict


def run(made, options):
    if not servers.find("wrk"):
        raise servers.Failure("wrk is missing: apt-get install wrk")
    write_texts(made)
    lab = Lab(made.site.folder, made.children, made.client_cpu,
              client.compile_programs(made.site.folder))
    proxy = Proxy(made)
    proxy.behind = Behind(made)
    port = proxy.instance(None).port
    found = {coding: [] for coding in BESIDE}
    for seed in range(1, 1 + options.rounds):
        for coding in BESIDE:
            found[coding].append(measure(lab, options, port, coding, seed))
    print(f"{options.rounds} rounds of {options.seconds:g} s, {options.rate:g} "
          f"small replies a second beside {DOWNLOADS} of {LARGE_BYTES:,} "
          "bytes; medians\n")
    print("| beside | p50, ms | p99, ms | longest, ms | p99 by that beside "
          "identity |")
    print("|---|---:|---:|---:|---:|")
    for coding, runs in found.items():
        ratio = statistics.median(
            run[1] / other[1] for run, other in zip(runs, found["identity"]))
        p50, p99, longest = (statistics.median(column)
                             for column in zip(*runs))
        print(f"| {coding} | {p50:.2f} | {p99:.2f} | {longest:.2f} | "
              f"{ratio:.2f} |", flush=True)


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("--rounds", type=setup.positive(int), default=5,
                      metavar="N", help="(%(default)s)")
    made.add_argument("--seconds", type=setup.positive(float), default=4,
                      metavar="S", help="of each (%(default)s)")
    made.add_argument("--rate", type=setup.positive(float), default=500,
                      metavar="N", help="small replies a second (%(default)s)")
    made.set_defaults(keep_alive=False, wait=30)
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
