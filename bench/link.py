#!/usr/bin/env python3
"""link.py - when does shortest-first pay?

A link of 80 Mbit/s between network namespaces, and more or less to be carried
over it: requests arrive as they would from many strangers (open loop, Poisson)
for files of very different sizes. How long does each take, counted from when
it should have begun, under each server; and how long would it take if the
link were shared ideally, or ideally in the order of shortest remaining?

Needs root, for the namespaces; they are gone when this ends.

    link.py --rows local-0.9 --servers srpt,nginx --seeds 1 --seconds 20
    link.py --rows remote-0.9 --servers "srpt,rate:--link-rate 80mbit"

A server is NAME[@ROWS][=BINARY][:FLAGS]. nginx is nginx; any other name is
sprintd with FLAGS, by default `--schedule NAME`, perhaps another BINARY, only
in rows whose names begin with ROWS. A row is NET-LOAD or NET-SIZES-LOAD, as
local-0.9 or remote-web-0.7.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time

from lab import machine, processes, setup

from link import (arrivals, check, client, figures, goals, measure, network,
                  report, rows, serving)

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPRINTD = os.path.join(TOP, os.environ.get("BUILD", "build"), "release",
                       "sprintd")
SEEDS = 3
SECONDS = 20
WAIT_S = 30
EX_UNAVAILABLE = 69
EX_NOPERM = 77


def add_what(parser):
    """Options that say what is measured."""
    parser.add_argument("--rows", metavar="A,B",
                        help=f"what to measure ({rows.DEFAULT})")
    parser.add_argument("--servers", metavar="A,B",
                        help=f"({serving.DEFAULT})")
    parser.add_argument("--seeds", type=setup.positive(int), metavar="N",
                        help=f"so many draws of the arrivals ({SEEDS})")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N",
                        help="(%(default)s)")
    parser.add_argument("--seconds", type=setup.positive(float), metavar="S",
                        help="of arrivals in one run; a burst has at most "
                        f"{rows.BURST_S} ({SECONDS})")
    parser.add_argument("--wait", type=setup.positive(int), metavar="S",
                        help=f"for the last replies ({WAIT_S})")
    parser.add_argument("--quick", action="store_true",
                        help="a miniature of everything, checked, in seconds")


def add_how(parser):
    """Options that say how."""
    parser.add_argument("--keep-alive", action="store_true",
                        help="use connections again")
    parser.add_argument("--congestion", metavar="NAME", default="cubic",
                        help="the server's congestion control; '': the "
                        "system's (%(default)s)")
    parser.add_argument("--buffer", type=network.buffer, metavar="N[p]",
                        default=network.BUFFER,
                        help="of the middle box: bytes, with p packets "
                        "(%(default)s)")
    parser.add_argument("--priority", type=int, default=10, metavar="N",
                        help="of all programs, real-time; 0: as any other "
                        "(%(default)s)")
    parser.add_argument("--retries", type=int, default=2, metavar="N",
                        help="repeat a run that others disturbed up to N "
                        "times (%(default)s)")
    parser.add_argument("--out", metavar="FOLDER",
                        help="write link.csv, .json, .md and figures there")
    parser.add_argument("--raw", metavar="FOLDER",
                        help="write every request of every run there")
    parser.add_argument("--details", action="store_true",
                        help="print percentiles by size class too")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add_what(parser)
    add_how(parser)
    options = parser.parse_args()
    if options.quick:
        check.prepare(options)
    options.rows = options.rows or rows.DEFAULT
    options.servers = options.servers or serving.DEFAULT
    options.seeds = options.seeds or SEEDS
    options.seconds = options.seconds or SECONDS
    options.wait = options.wait or WAIT_S
    return options


@contextlib.contextmanager
def open_lab():
    """Yields a Lab; nothing of it is left when the block ends."""
    cpus = sorted(os.sched_getaffinity(0))
    folder = tempfile.mkdtemp(prefix=f"{network.PREFIX}-{os.getpid()}-")
    try:
        with processes.Children() as children:
            network.remove_leftovers()
            programs = client.compile_programs(folder)
            root = os.path.join(folder, "root")
            arrivals.make_files(root)
            os.sched_setaffinity(0, cpus[-1:])
            processes.raise_descriptor_limit()
            yield measure.Lab(folder, root, children, cpus[0], cpus[-1],
                              programs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure_all(lab, options, chosen_rows, servers, link):
    """Every server on the same arrivals before the next draw (A B A B)."""
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    plan = [(row, seed, [server for server in servers
                         if server.is_for(row.name)])
            for row in chosen_rows for seed in seeds]
    progress = setup.Progress(sum(len(named) for _row, _seed, named in plan))
    runs = []
    for row, seed, named in plan:
        for server in named:
            progress.step(f"{row.name}: {server.name}, seed {seed}")
            runs.append(measure.calm_run(lab, options, row, seed, server,
                                         link))
            progress.end()
            print(report.run_line(runs[-1]), flush=True)
        runs.extend(measure.compute(options, row, seed, link))
    return [report.Table(row, [run for run in runs if run.row is row], link)
            for row in chosen_rows]


def run(lab, options):
    begin = time.monotonic()
    chosen_rows = rows.parse(options.rows)
    servers = serving.parse(options.servers, SPRINTD)
    for server in servers:
        if server.missing():
            raise processes.Failure(server.missing())
    link = measure.calibrate(lab, options, servers[0])
    facts = {**machine.describe(),
             "versions": {server.name: server.version() for server in servers},
             "flags": {server.name: server.flags for server in servers},
             "server_cpu": lab.server_cpu, "client_cpu": lab.client_cpu,
             "congestion": network.congestion(options),
             "buffer": options.buffer, "keep_alive": options.keep_alive,
             "seeds": options.seeds, "seconds": options.seconds,
             "wire_bits_per_second": link.rate * 8}
    print(f"{facts['kernel']}, {facts['cpu']}, {facts['cpus']} CPUs, "
          f"{facts['congestion']}; the link carries {link.rate * 8 / 1e6:.2f} "
          f"Mbit/s, {link.goodput / 1e6:.2f} MB/s of a large file")
    tables = measure_all(lab, options, chosen_rows, servers, link)
    for table in tables:
        print("", *table.lines(), sep="\n")
        if not options.quick:
            print(*goals.lines(table, tables, servers), sep="\n")
        if options.details:
            print(*table.detail_lines(), sep="\n")
    if options.out:
        report.save(options.out, tables, facts, lab.children.commands)
        figures.draw(options.out, tables)
    print(f"\n{options.seeds} seeds, {time.monotonic() - begin:.0f} s in all")
    return tables


def refuse(options, trouble):
    """Says why nothing is measured; a miniature that cannot be is no
    failure."""
    if options.quick:
        setup.note(f"skipped: {trouble}")
        return 0
    setup.note(trouble)
    return EX_NOPERM if os.geteuid() != 0 else EX_UNAVAILABLE


def main():
    options = parse()
    trouble = network.trouble()
    if trouble:
        return refuse(options, trouble)
    try:
        if options.quick:
            check.check_references()
        with open_lab() as lab:
            tables = run(lab, options)
        if options.quick:
            check.check_tables(tables)
            print("check: all is well")
    except processes.Failure as failure:
        setup.note(failure)
        return 1
    except KeyboardInterrupt:
        setup.note("interrupted; everything it started has ended")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
