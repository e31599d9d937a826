#!/usr/bin/env python3
"""kv_cache.py - does a cache in front of the key-value store pay?

10,000 keys of 1 KiB by Zipf's law, 64 connections: CPU µs per reply without
a cache, with one that holds all values, and with one that holds a tenth; in
one group, which is a single lock, and in several. One worker has a CPU of its
own; two have both CPUs, and share them with wrk. Writes are not synced
(--kv-sync=off): what a sync costs would hide the rest.

Shares compare with the same workers and no cache, in the same run. The store's
pages are in memory all the time, as they are when there is enough of it.
"""

import dataclasses
import http.client
import json
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import loads, report, rounds, servers, setup, site
from lab.processes import Failure

SCRIPT = os.path.join(servers.BENCH, "kv_cache.lua")
PREFIX = "/kv"
ENTRY_BYTES = 1330  # a value, its key, and what is known of them
SIZES = (("all", 64 * site.MIB), ("a tenth", site.MANY * ENTRY_BYTES // 10))
GROUPS = (1, 16, 64)
WORKERS = (1, 2)
REPLY_BYTES_MIN = 90  # of a PUT: a head
LOADS = (loads.Load("get", "GET", 64, script=(0,)),
         loads.Load("mixed", "90 % GET, 10 % PUT", 64, script=(10,)))


@dataclasses.dataclass(frozen=True)
class Way:
    """How a store is cached."""

    title: str
    options: tuple


def ways(policies):
    yield Way("no cache", ("--kv-cache-size=0",))
    for policy in policies:
        for title, size in SIZES:
            for groups in GROUPS:
                yield Way(f"{title}, {policy}, {groups} groups",
                          (f"--kv-cache-size={size}",
                           f"--kv-cache-policy={policy}",
                           f"--kv-lock-groups={groups}"))


def name_of(way, workers):
    return f"{way.title}, {workers}"


class Store(servers.Sprintd):
    """sprintd with a store of its own, filled beforehand."""

    template = ""

    def command(self, folder, port, file_name):
        path = os.path.join(folder, "kv")
        shutil.copytree(self.template, path)
        return [*super().command(folder, port, file_name)[:-1],
                f"--kv={PREFIX}={path}", "--kv-sync=off", self.lab.site.root]


def fill(lab, binary):
    """Makes the store that all begin with; returns its folder."""
    path = os.path.join(lab.site.folder, "filled")
    lines = "".join(json.dumps({"key": site.many_name(index),
                                "value": "v" * site.KIB}) + "\n"
                    for index in range(site.MANY))
    done = subprocess.run([binary, "kv", "import", path], input=lines,
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(f"import: {done.stderr.strip()}")
    return path


def variants(lab, chosen_ways):
    for workers in WORKERS:
        cpus = (f"{lab.server_cpu},{lab.client_cpu}" if workers > 1
                else lab.server_cpu)
        for way in chosen_ways:
            server = Store(dataclasses.replace(lab, server_cpu=cpus))
            server.name = name_of(way, workers)
            server.program = "sprintd"
            server.workers = workers
            server.arguments = way.options
            yield server


class Runner(loads.Runner):
    """Asks for keys by the same list, in the place of files."""

    def __init__(self, lab):
        super().__init__(lab)
        self.list_path = lab.site.draw()

    def prepare(self, load):
        pass  # the store is filled

    def check(self, server, load):
        client = http.client.HTTPConnection(
            servers.HOST, server.instance("").port, timeout=loads.TIMEOUT_S)
        try:
            client.request("GET", f"{PREFIX}/{site.many_name(0)}")
            reply = client.getresponse()
            if reply.status != 200 or len(reply.read()) != site.KIB:
                raise Failure(f"{server.name}: a wrong reply, status "
                              f"{reply.status}")
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{server.name}: {error!r}") from error
        finally:
            client.close()
        self.reply_bytes[server.name, load.name] = REPLY_BYTES_MIN

    def command(self, port, load, seconds):
        return ["wrk", "-t1", f"-c{load.connections}", f"-d{int(seconds) + 2}s",
                "-s", SCRIPT, f"http://{servers.HOST}:{port}{PREFIX}/", "--",
                self.list_path, *map(str, load.script)]


def print_table(cells, load, chosen_ways):
    print(f"\n{load.title}: CPU µs per reply (min..max)  [{load.name}]")
    print(f"  {'':28}" + "".join(f"{f'workers: {workers}':>32}"
                                 for workers in WORKERS))
    for way in chosen_ways:
        text = ""
        for workers in WORKERS:
            cell, base = (cells.get((load.name, name_of(each, workers)))
                          for each in (way, chosen_ways[0]))
            if cell.trouble or base.trouble:
                text += f"{'invalid':>32}"
                continue
            low, high = map(report.short, cell.spread)
            more = f"{cell.cpu_us / base.cpu_us - 1:+.1%}"
            shown = f"{report.short(cell.cpu_us)} ({low}..{high}) {more}"
            text += f"{shown:>32}"
        print(f"  {way.title:28}{text}")
    for (name, server), cell in cells.items():
        if name == load.name and cell.trouble:
            print(f"  {server}: {cell.trouble}")


def parse():
    parser = setup.parser(__doc__.partition("\n")[0], 3, 0.4)
    parser.add_argument("--policies", default="sieve", metavar="A,B",
                        help="lru,gdsf,sieve,s3fifo (%(default)s)")
    return parser.parse_args()


def run(lab, options):
    begin = time.monotonic()
    chosen_ways = list(ways(options.policies.split(",")))
    chosen = setup.available(variants(lab, chosen_ways))
    Store.template = fill(lab, chosen[0].binary())
    facts = setup.facts(lab, chosen)
    setup.print_facts(facts)
    progress = setup.Progress(len(chosen) * len(LOADS) * options.rounds)
    cells = rounds.measure(Runner(lab), LOADS, chosen, options, progress)
    progress.end()
    for load in LOADS:
        print_table(cells, load, chosen_ways)
    setup.finish(lab, options, chosen, begin,
                 {"facts": facts, **report.as_json(cells, LOADS, {})})


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
