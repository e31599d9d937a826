#!/usr/bin/env python3
"""http2.py - what a reply by HTTP/2 over TLS costs, here and elsewhere.

As tls.py, whose servers these are: TLS 1.3, AES-128-GCM, a key of P-256, one
worker on one CPU; h2load on another, with so many connections and so many
streams of each. Told is CPU time of the server for each reply, in µs: the
median of the rounds, in which all are measured once before any is again.

    http2.py --servers sprintd,h2o --rounds 9
    http2.py --servers sprintd,before --other before=/tmp/before/sprintd
    http2.py --other "small=:--chunk-size 64K"
"""

import argparse
import re
import shlex
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the tree

import tls
from lab import machine, processes, rounds, servers, setup, site

# Files, bytes, connections, streams; h2load's windows are no limit.
LOADS = (
    ("1 KiB, 8 connections with 32 streams", site.SMALL, site.KIB, 8, 32),
    ("1 KiB, 100 connections with 1", site.SMALL, site.KIB, 100, 1),
    ("64 KiB, 8 with 8", "64k.bin", 64 * site.KIB, 8, 8),
    ("10 MiB, 4 with 2", "10m.bin", 10 * site.MIB, 4, 2),
)
WINDOW_BITS = "30"
WARM_UP_S = 0.2
DONE = re.compile(r"(\d+) succeeded, (\d+) failed, (\d+) errored")


class Nginx(tls.Nginx):
    after = tls.Nginx.after.replace(" ssl;", " ssl http2;")


class Sprintd(tls.Sprintd):
    def __init__(self, lab, name="sprintd", binary="", flags=""):
        super().__init__(lab)
        self.arguments = tuple(shlex.split(flags))
        self.name = name
        self.program = "sprintd"
        if binary:
            self.binary = lambda: binary


KINDS = (Nginx, tls.Lighttpd, tls.H2o, Sprintd)


def ask(server, name, connections, streams, seconds, lab):
    """CPU µs of the server for each reply."""
    instance = server.instance(name)
    command = ["taskset", "-c", str(lab.client_cpu), "h2load", "-c",
               str(connections), "-m", str(streams), "-w", WINDOW_BITS, "-W",
               WINDOW_BITS, "-D"]
    url = f"https://{servers.HOST}:{instance.port}/{name}"
    before = machine.cpu_ns(instance.pids)
    done = subprocess.run([*command, f"{1000 * seconds:.0f}ms", url],
                          capture_output=True, text=True, check=False)
    spent = machine.cpu_ns(instance.pids) - before
    found = DONE.search(done.stdout)
    if not found or int(found[2]) or int(found[3]) or int(found[1]) == 0:
        raise processes.Failure(f"{server.name}, {url}: "
                                f"{found and found[0]} {done.stderr.strip()}")
    return spent / 1e3 / int(found[1])


def parse():
    made = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=setup.positive(int), default=5,
                      metavar="N", help="in turn (%(default)s)")
    made.add_argument("--seconds", type=setup.positive(float), default=1.0,
                      metavar="S", help="of one load (%(default)s)")
    made.add_argument("--servers", metavar="A,B", help="(all)")
    made.add_argument("--other", metavar="NAME=FILE[:FLAGS]",
                      action="append", default=[], help="another sprintd")
    made.add_argument("--loads", metavar="1,2", default="1,2,3,4",
                      help="by their numbers (%(default)s)")
    return made.parse_args()


def run(lab, options):
    tls.prepare(lab)
    others = [Sprintd(lab, *re.fullmatch("([^=]*)=([^:]*):?(.*)",
                                         word).groups())
              for word in options.other]
    chosen = setup.available(setup.choose(
        options.servers, [*(kind(lab) for kind in KINDS), *others], "server"))
    chosen_loads = [LOADS[int(number) - 1]
                    for number in options.loads.split(",")]
    samples = {}
    for _title, name, size, _connections, _streams in chosen_loads:
        lab.site.put(name, size)
    for number in range(options.rounds):
        for title, name, _size, connections, streams in chosen_loads:
            for server in rounds.in_order(chosen, number):
                setup.note(f"round {number + 1}, {title}, {server.name}")
                ask(server, name, connections, streams, WARM_UP_S, lab)
                samples.setdefault((title, server.name), []).append(
                    ask(server, name, connections, streams, options.seconds,
                        lab))
    print("| |" + "".join(f" {server.name} |" for server in chosen))
    print("|---|" + "---:|" * len(chosen))
    for title, *_load in chosen_loads:
        print(f"| {title} |" + "".join(
            f" {statistics.median(samples[title, server.name]):.4g} |"
            for server in chosen))
    for title, *_load in chosen_loads:
        print(f"{title}: " + "; ".join(
            f"{server.name} {min(samples[title, server.name]):.4g} to "
            f"{max(samples[title, server.name]):.4g}" for server in chosen))
    for server in chosen:
        server.stop()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
