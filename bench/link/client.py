"""The open-loop client (openloop.c, requests.c) and its results."""

import csv
import dataclasses
import os
import shlex
import subprocess

from lab import processes, servers

from . import arrivals, network

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = {"openloop": ("openloop.c", "requests.c"), "delay": ("delay.c",)}
COMPILE_S = 60
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
    compiler = shlex.split(os.environ.get("CC") or "cc")
    if not servers.find(compiler[0]):
        raise processes.Failure(f"there is no compiler '{compiler[0]}'")
    programs = {}
    for name, sources in SOURCES.items():
        programs[name] = os.path.join(folder, name)
        done = subprocess.run(
            [*compiler, "-std=c11", "-D_GNU_SOURCE", "-O2", "-o",
             programs[name],
             *(os.path.join(FOLDER, source) for source in sources)],
            capture_output=True, text=True, timeout=COMPILE_S, check=False)
        if done.returncode:
            raise processes.Failure(f"{name}.c: {done.stderr.strip()}")
    return programs


def run(net, lab, asked, folder, name="run"):
    """Sends all arrivals at their times; returns a Result for each."""
    return send(lab, asked, folder, (net.address, network.PORT),
                net.prefix(net.client), net.options, name)


def send(lab, asked, folder, where, prefix, options, name="run"):
    """The same, to an address and a port. prefix: what the program is started
    by; options: keep_alive, and wait, seconds for the last replies."""
    arrivals_path = os.path.join(folder, f"{name}.arrivals")
    results_path = os.path.join(folder, f"{name}.csv")
    log_path = os.path.join(folder, "client.log")
    arrivals.save(asked, arrivals_path)
    child = lab.children.start(
        [*prefix, lab.programs["openloop"],
         *(["-k"] if options.keep_alive else []), "-w", options.wait,
         *where, arrivals_path, results_path],
        lab.client_cpu, log_path)
    try:
        status = child.wait(asked[-1].start + options.wait + COMPILE_S)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        lab.children.end(child)
    if status != 0:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            raise processes.Failure(f"the client: {log.read().strip()}")
    return load(results_path)


def load(path):
    """Reads a file of results."""
    with open(path, encoding="ascii", newline="") as file:
        return [Result(int(row["late_us"]) / 1e6, int(row["first_us"]) / 1e6,
                       int(row["done_us"]) / 1e6, int(row["bytes"]),
                       row["outcome"])
                for row in csv.DictReader(file)]
