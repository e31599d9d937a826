#!/usr/bin/env python3
"""crossover.py - from which size on is sendfile cheaper than memory?

For files of 1 KiB to 256 KiB: CPU µs per reply of sprintd under every
--send-method, and of the floor (floor.c) both ways, which is what the kernel
alone makes of them. Where the two ways cross is where `auto` should change
from one to the other.
"""

import math
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import loads, report, rounds, servers, setup, site

SIZES_KIB = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONNECTIONS = 64
METHODS = ("read", "mmap", "sendfile", "auto")
WAYS = ("memory", "sendfile")
# Pairs to compare: the way for small files first.
PAIRS = (("mmap", "sendfile"), ("floor-memory", "floor-sendfile"))
CLOSE_ENOUGH = 1.05


def size_loads():
    return [loads.Load(f"{kib}k", f"{kib} KiB", CONNECTIONS, f"{kib}k.bin",
                       kib * site.KIB)
            for kib in SIZES_KIB]


def variants(lab):
    """sprintd by each method and the floor by each way."""
    for method in METHODS:
        server = servers.Sprintd(lab)
        server.name = method
        server.arguments = ("--send-method", method)
        yield server
    for way in WAYS:
        server = servers.Floor(lab)
        server.name = f"floor-{way}"
        server.way = (way,)
        yield server


def cost(cells, load, name):
    cell = cells.get((load.name, name))
    return cell.cpu_us if cell and not cell.trouble else None


def print_table(cells, measured, names):
    print("\nCPU µs per reply (min..max)")
    print("  " + "size".rjust(8) + "".join(name.rjust(22) for name in names))
    for load in measured:
        row = ""
        for name in names:
            cell = cells[load.name, name]
            low, high = cell.spread
            text = f"{report.short(cell.cpu_us)} " \
                   f"({report.short(low)}..{report.short(high)})"
            row += (cell.trouble and "invalid" or text).rjust(22)
        print("  " + load.title.rjust(8) + row)
    for trouble in sorted({cell.trouble for cell in cells.values()} - {""}):
        print(f"  invalid: {trouble}")


def crossing_kib(cells, measured, small_way, large_way):
    """Up to which size the first way should be taken, and the second beyond:
    where the costs of all sizes together come out least, so that a single
    noisy row moves nothing. Between the sizes by a straight line over the
    logarithm. 0 and infinity: one way is always the better."""
    sizes = [math.log2(load.file_bytes / site.KIB) for load in measured]
    gains = [math.log(cost(cells, load, small_way) /
                      cost(cells, load, large_way)) for load in measured]
    above = max(range(len(gains) + 1), key=lambda at: sum(gains[at:]))
    if above == 0:
        return 0
    if above == len(gains):
        return math.inf
    below = above - 1
    share = gains[below] / (gains[below] - gains[above])
    return 2 ** (sizes[below] + share * (sizes[above] - sizes[below]))


def crossing_text(cells, measured, small_way, large_way):
    if None in [cost(cells, load, way) for load in measured
                for way in (small_way, large_way)]:
        return f"{small_way} and {large_way} were not measured everywhere"
    kib = crossing_kib(cells, measured, small_way, large_way)
    if kib == 0:
        return f"{large_way} is cheaper than {small_way} everywhere"
    if kib == math.inf:
        return f"{small_way} is cheaper than {large_way} everywhere"
    return f"{large_way} is cheaper than {small_way} from {kib:.0f} KiB on"


def print_reading(cells, measured, names):
    """What the table says, in a few lines."""
    print()
    for small_way, large_way in PAIRS:
        if small_way in names:
            print(crossing_text(cells, measured, small_way, large_way))
    if "auto" not in names:
        return
    worse = []
    for load in measured:
        auto = cost(cells, load, "auto")
        best = min(filter(None, (cost(cells, load, name)
                                 for name in ("mmap", "sendfile"))),
                   default=None)
        if auto and best and auto > CLOSE_ENOUGH * best:
            worse.append(f"{load.title} (× {auto / best:.2f})")
    print("auto costs more than the better way at: " + ", ".join(worse)
          if worse else "auto is as cheap as the better way at every size")


def run(lab, options):
    begin = time.monotonic()
    measured = size_loads()
    chosen = setup.available(variants(lab))
    names = [server.name for server in chosen]
    facts = setup.facts(lab, chosen)
    setup.print_facts(facts)
    progress = setup.Progress(len(chosen) * len(measured) * options.rounds)
    cells = rounds.measure(loads.Runner(lab), measured, chosen, options,
                           progress)
    progress.end()
    print_table(cells, measured, names)
    print_reading(cells, measured, names)
    setup.finish(lab, options, chosen, begin,
                 {"facts": facts, **report.as_json(cells, measured, {})})


if __name__ == "__main__":
    sys.exit(setup.main(run, setup.parser(
        __doc__.partition("\n")[0], 3, 0.3).parse_args()))
