#!/usr/bin/env python3
"""laboratory.py - every experiment, and the report that is made of them."""

import argparse
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from experiments import bench, catalog
from lab import processes, setup


def parse():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="of an experiment (all)")
    parser.add_argument("--quick", action="store_true",
                        help="a miniature of each, in seconds")
    return parser.parse_args()


def show(result):
    for table in result.tables:
        print(f"\n{table.title}")
        for row in (table.columns, *table.rows):
            print("  " + "".join(
                f"{f'{cell:,.4g}' if isinstance(cell, float) else cell!s:>14}"
                for cell in row))
    for claim in result.claims:
        print(f"  {claim.holds}: {claim.text}: {claim.detail}")
    for text in (*result.reading, *result.noise, *result.left_out):
        print(text)


def main():
    options = parse()
    for experiment in catalog.chosen(options.names):
        begin = time.monotonic()
        with setup.open_lab() as lab:
            result = experiment.measure(bench.Bench(
                lab, options.quick, lambda text: print(text, file=sys.stderr)))
        show(result)
        print(f"{experiment.name}: {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except processes.Failure as failure:
        setup.note(failure)
        sys.exit(1)
