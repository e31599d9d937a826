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

import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import filled, report, rounds, setup

GROUPS = (1, 16, 64)
WORKERS = (1, 2)


def ways(policies):
    yield filled.NO_CACHE
    for policy in policies:
        for title, _size in filled.SIZES:
            for groups in GROUPS:
                yield filled.cached(title, policy, groups)


def print_table(cells, load, chosen_ways):
    print(f"\n{load.title}: CPU µs per reply (min..max)  [{load.name}]")
    print(f"  {'':28}" + "".join(f"{f'workers: {workers}':>32}"
                                 for workers in WORKERS))
    for way in chosen_ways:
        text = ""
        for workers in WORKERS:
            cell, base = (cells[load.name, filled.name_of(each, workers)]
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
                        help="lru,gdsf,sieve (%(default)s)")
    return parser.parse_args()


def run(lab, options):
    begin = time.monotonic()
    chosen_ways = list(ways(options.policies.split(",")))
    template = filled.fill_many(lab)
    chosen = [filled.Store(lab, way, workers, template)
              for workers in WORKERS for way in chosen_ways]
    facts = setup.facts(lab, chosen)
    setup.print_facts(facts)
    progress = setup.Progress(len(chosen) * len(filled.LOADS) * options.rounds)
    cells = rounds.measure(filled.Runner(lab), filled.LOADS, chosen, options,
                           progress)
    progress.end()
    for load in filled.LOADS:
        print_table(cells, load, chosen_ways)
    setup.finish(lab, options, chosen, begin,
                 {"facts": facts, **report.as_json(cells, filled.LOADS, {})})


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
