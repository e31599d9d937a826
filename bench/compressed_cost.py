#!/usr/bin/env python3
"""compressed_cost.py - what a reply costs that is a compressed variant out of the
cache, beside an uncompressed file of its size; and what it costs that files may
be compressed, where the client does not wish it.

For each size two files: a text, whose variant (gzip) is so long, and bytes that
do not get smaller, as many as the variant has. One worker on one CPU, wrk with
16 connections on another. Each round measures all in turns (A B B A): user and
system time of the server for each reply. What is judged are the ratios of the
same round, by their median.

    variant    the text's variant, for "Accept-Encoding: gzip"
    file       the file that is as long, for the same request
    not wished the text itself, for a request without Accept-Encoding
    off        the same, of a server that compresses nothing
"""

import argparse
import os
import random
import statistics
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import loads, machine, servers, setup
from lab.processes import Failure

import release

CONNECTIONS = 16
SIZES = {"short": 14_000, "long": 200_000}  # of texts, in bytes
PAIRS = (("variant", "file", 1.03), ("not wished", "off", 1.01))


class Off(servers.Sprintd):
    name = "sprintd-off"
    program = "sprintd"
    arguments = ("--compress=off",)


def write_text(lab, name, size):
    lot = random.Random(1)
    words = ["".join(lot.choices("etaoinshrdlu", k=lot.randrange(2, 9)))
             for _ in range(2000)]
    text = " ".join(lot.choices(words, k=size // 3)).encode()
    with open(lab.site.path(name), "wb") as file:
        file.write(text[:size])
    os.utime(lab.site.path(name), (1e9, 1e9))


def write_bytes(lab, name, size):
    with open(lab.site.path(name), "wb") as file:
        file.write(random.Random(2).randbytes(size))
    os.utime(lab.site.path(name), (1e9, 1e9))


def settled_size(port, name):
    """Of the variant, once it does not get smaller any more."""
    release.await_coding(port, name, "gzip", None)
    release.ask_often(port, name, "gzip")
    for _ in range(100):
        size, _ = release.ask(port, name, "gzip")
        time.sleep(0.02)
    return size


class Cost:
    """What is measured."""

    def __init__(self, lab):
        self.runner = loads.Runner(lab)
        self.lab = lab

    def take(self, instance, name, coding, seconds):
        """CPU µs for each reply."""
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{int(seconds) + 2}s",
                   "-s", loads.SCRIPT]
        if coding:
            command += ["-H", f"Accept-Encoding: {coding}"]
        command += [f"http://{servers.HOST}:{instance.port}/{name}"]
        before = machine.cpu_ns(instance.pids)
        said = self.runner.wrk(command, seconds)
        time.sleep(loads.SETTLE_S)
        spent = machine.cpu_ns(instance.pids) - before
        if not said or not said["requests"]:
            raise Failure(f"no replies ({self.runner.log_path})")
        return spent / 1e3 / said["requests"]


def measure(cost, cases, options):
    """The costs of each case, by its name, round for round."""
    found = {name: [] for name in cases}
    for turn in range(options.rounds):
        order = list(cases) if turn % 2 == 0 else list(cases)[::-1]
        for name in order:
            found[name].append(cost.take(*cases[name], options.seconds))
    return found


def run(lab, options):
    if not servers.find("wrk"):
        raise Failure("wrk is missing: apt-get install wrk")
    for kind, size in SIZES.items():
        write_text(lab, f"{kind}.txt", size)
    ours = servers.Sprintd(lab).instance(None)
    off = Off(lab).instance(None)
    cost = Cost(lab)
    print("| | bytes | CPU, µs a reply | | CPU, µs | ratio | aim |")
    print("|---|---:|---:|---|---:|---:|---:|")
    is_met = True
    for kind, size in SIZES.items():
        text, plain = f"{kind}.txt", f"{kind}.bin"
        coded = settled_size(ours.port, f"/{text}")
        write_bytes(lab, plain, coded)
        found = measure(cost, {
            "variant": (ours, text, "gzip"), "file": (ours, plain, "gzip"),
            "not wished": (ours, text, None), "off": (off, text, None)},
            options)
        for one, other, aim in PAIRS:
            ratio = statistics.median(
                mine / theirs for mine, theirs in zip(found[one],
                                                      found[other]))
            is_met &= ratio <= aim
            print(f"| {one} | {coded if one == 'variant' else size:,} | "
                  f"{statistics.median(found[one]):.2f} | {other} | "
                  f"{statistics.median(found[other]):.2f} | {ratio:.3f} | "
                  f"{aim:.2f} |", flush=True)
    if not is_met:
        raise Failure("dearer than it should be")


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("--rounds", type=setup.positive(int), default=8,
                      metavar="N", help="(%(default)s)")
    made.add_argument("--seconds", type=setup.positive(float), default=0.5,
                      metavar="S", help="of each (%(default)s)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
