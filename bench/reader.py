#!/usr/bin/env python3
"""reader.py - what does a reader of a page see?

A link of 8 Mbit/s and 40 ms between network namespaces, with a router that
holds 200 ms and drops what is more. Chromium opens a page of 70 files and 1.9
MB by HTTP/2 over TLS, with an empty cache and without a connection:

    alone      nobody else is there
    download   somebody fetches 20 MB at the same server
    visitors   others open short pages of 12 files, 0.6 of the link in all

Told are the first paint (of contents), the largest, and the end of loading,
in ms after the address was entered; of the visitors the mean of their replies.
All servers are measured once before any is measured again. Needs root, for the
namespaces.

    reader.py --servers sprintd,h2o --cases download --rounds 3
    reader.py --servers "sprintd,other=/tmp/sprintd:--schedule fifo"
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import processes, rounds, setup
from link import client, network
from link import measure as link_measure
from reader import measure, page, serving

ROUNDS = 5
TITLES = {"alone": "alone", "download": "beside a download",
          "visitors": "among visitors"}
# What is aimed at, as a share of the best peer's.
GOALS = {"alone": 1.0, "download": 0.5, "visitors": 1.0}
OTHERS_GOAL = 0.7
SYNTAX = re.compile(r"(?P<name>[^=:]+)(=(?P<binary>[^:]*))?(:(?P<flags>.*))?")
EX_UNAVAILABLE = 69


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", metavar="A,B",
                        help="NAME[=BINARY][:FLAGS]; what is no peer's name is "
                        "sprintd (sprintd and all peers)")
    parser.add_argument("--cases", default=",".join(measure.CASES),
                        metavar="A,B", help="(%(default)s)")
    parser.add_argument("--rounds", type=setup.positive(int), default=ROUNDS,
                        metavar="N", help="in turn (%(default)s)")
    parser.add_argument("--first", type=int, default=1, metavar="N",
                        help="the number of the first round (%(default)s)")
    parser.add_argument("--json", metavar="FILE",
                        help="every visit is kept there; what is there already "
                        "counts, too")
    parser.add_argument("--quick", action="store_true",
                        help="a miniature: one round of sprintd alone")
    options = parser.parse_args()
    options.cases = options.cases.split(",")
    if not set(options.cases) <= set(measure.CASES):
        parser.error("cases are " + ", ".join(measure.CASES))
    if options.quick:
        options.servers, options.rounds = "sprintd", 1
    return options


@contextlib.contextmanager
def open_lab():
    """Yields a Lab; nothing of it is left when the block ends."""
    cpus = sorted(os.sched_getaffinity(0))
    folder = tempfile.mkdtemp(prefix=f"{network.PREFIX}-{os.getpid()}-")
    try:
        with processes.Children() as children:
            network.remove_leftovers()
            yield link_measure.Lab(folder, os.path.join(folder, "root"),
                                   children, cpus[0], cpus[-1],
                                   client.compile_programs(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def choose(text, certificate):
    """The servers that can run here; says which cannot."""
    peers = {kind.name: kind for kind in serving.PEERS}
    found = []
    for word in (text or ",".join(["sprintd", *peers])).split(","):
        parts = SYNTAX.fullmatch(word.strip())
        if not parts:
            raise processes.Failure(f"no server: '{word}'")
        name = parts["name"]
        server = (peers[name](certificate) if name in peers else
                  serving.Sprintd(certificate, name, parts["binary"],
                                  shlex.split(parts["flags"] or "")))
        if server.missing():
            setup.note(f"left out: {server.missing()}")
        else:
            found.append(server)
    if not found:
        raise processes.Failure("there is nobody to be measured")
    return found


# --- What comes out ----------------------------------------------------------


def median_of(visits, case, number):
    values = [visit[case][number] for visit in visits
              if number in visit.get(case, {})]
    return statistics.median(values) if values else None


def tell(visits, cases):
    """A table, and what of the aims holds."""
    print("\n| first / largest paint / load, ms | "
          + " | ".join(TITLES[case] for case in cases)
          + (" | the visitors' replies |" if "visitors" in cases else " |"))
    print("|---" * (len(cases) + 1)
          + ("|---:|" if "visitors" in cases else "|"))
    for name, found in visits.items():
        row = [" / ".join(f"{median_of(found, case, number) or 0:,.0f}"
                          for number in measure.NUMBERS) for case in cases]
        if "visitors" in cases:
            row.append(f"{median_of(found, 'visitors', 'others') or 0:,.0f}")
        print(f"| {name} | " + " | ".join(row) + " |")
    peers = [name for name in visits
             if name in {kind.name for kind in serving.PEERS}]
    if peers and "sprintd" in visits:
        tell_goals(visits, cases, peers)


def tell_goals(visits, cases, peers):
    print()
    for case in cases:
        numbers = [(number, GOALS[case]) for number in measure.NUMBERS]
        if case == "visitors":
            numbers.append(("others", OTHERS_GOAL))
        for number, goal in numbers:
            theirs = [median_of(visits[name], case, number) for name in peers]
            ours = median_of(visits["sprintd"], case, number)
            if ours is None or None in theirs:
                continue
            share = ours / min(theirs)
            print(f"{TITLES[case]}, {number}: {share:.2f} of the best peer's, "
                  f"{goal:g} would do: "
                  f"{'holds' if share <= goal else 'MISSED'}")


def load_visits(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save_visits(path, visits):
    """After each, as a long run may be broken off."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(visits, file, indent=1)


def run(lab, options):
    chosen = choose(options.servers, serving.make_certificate(lab.folder))
    count, total = page.make(lab.root)
    visits = load_visits(options.json)
    print(f"a page of {count} files, {total / 1e6:.2f} MB")
    for turn in range(options.first, options.first + options.rounds):
        for server in rounds.in_order(chosen, turn):
            found = measure.run(lab, server, options.cases, count, turn)
            visits.setdefault(server.name, []).append(found)
            print(f"round {turn}, {server.name}: " + "; ".join(
                case + " " + " / ".join(f"{value:.0f}" for value
                                        in found[case].values())
                for case in options.cases), flush=True)
            save_visits(options.json, visits)
    tell(visits, options.cases)


def main():
    options = parse()
    trouble = measure.missing()
    if trouble:
        setup.note(f"skipped: {trouble}" if options.quick else trouble)
        return 0 if options.quick else EX_UNAVAILABLE
    try:
        with open_lab() as lab:
            run(lab, options)
    except processes.Failure as failure:
        setup.note(failure)
        return 1
    except KeyboardInterrupt:
        setup.note("interrupted; everything it started has ended")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
