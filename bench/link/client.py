"""The open-loop client (openloop.c, requests.c) and its results."""

import csv
import dataclasses
import os

from lab import compiled

from . import arrivals, network

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = {"openloop": ("openloop.c", "requests.c"), "delay": ("delay.c",)}
END_S = 60  # beyond the last reply
OK = "ok"


@dataclasses.dataclass
class Result:
    """What became of one arrival; times in seconds from its start."""

    late: float
    first: float
    done: float   # of a request that failed: nothing to reckon with
    bytes: int
    outcome: str


def compile_programs(folder):
    """Compiles what is in C; returns the programs' paths by name."""
    return {name: compiled.build(os.path.join(folder, name),
                                 *(os.path.join(FOLDER, source)
                                   for source in sources))
            for name, sources in SOURCES.items()}


def run(net, lab, asked, folder, name="run"):
    """Sends all arrivals at their times; returns a Result for each."""
    return send(lab, asked, folder, (net.address, network.PORT),
                net.prefix(net.client), net.options, name)


def send(lab, asked, folder, where, prefix, options, name="run"):
    """The same, to an address and a port. prefix: what the program is started
    by; options: keep_alive; wait, seconds for the last replies; perhaps codings,
    what the clients take."""
    arrivals_path = os.path.join(folder, f"{name}.arrivals")
    results_path = os.path.join(folder, f"{name}.csv")
    arrivals.save(asked, arrivals_path)
    compiled.run(
        lab, [*prefix, lab.programs["openloop"],
              *(["-k"] if options.keep_alive else []), "-w", options.wait,
              *(["-a", options.codings]
                if getattr(options, "codings", None) else []),
              *where, arrivals_path, results_path],
        asked[-1].start + options.wait + END_S,
        os.path.join(folder, "client.log"))
    return load(results_path)


def load(path):
    """Reads a file of results."""
    with open(path, encoding="ascii", newline="") as file:
        return [Result(int(row["late_us"]) / 1e6, int(row["first_us"]) / 1e6,
                       int(row["done_us"]) / 1e6, int(row["bytes"]),
                       row["outcome"])
                for row in csv.DictReader(file)]
