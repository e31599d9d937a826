#!/usr/bin/env python3
"""peers.py - what a reply costs here, at other servers, and at the kernel.

Each server runs on one CPU with one worker, wrk on another, one server at a
time. The number to look at is CPU µs per reply: user and system time of all
the server's processes and threads. It is steadier than replies a second,
which depend on what else the machine does, and it is what a server takes
from a machine that has other work too.

The floor (floor.c) does nothing but to wait and send; a ratio to it says how
much a server adds to what the kernel takes.

All servers are measured once before any is measured again (A B A B), each
after a warm-up of its own; shown are medians and the extremes. A row with an
error, a wrong reply or a connection that did not close is invalid. Samples in
which others used the server's CPU are repeated for a while and left out; a row
that stays noisy says so.
"""

import dataclasses
import shlex
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import (cache, classic, costs, idle, kv, kv_report, loads, proxy,
                 proxy_report, report, rounds, scale, servers, setup)
from lab.processes import Failure


@dataclasses.dataclass(frozen=True)
class Special:
    """Stands among the loads so that --loads can name it."""

    name: str


IDLE = Special("idle")
COSTS = Special("costs")
KV = Special("kv")
PROXY = Special("proxy")
CACHE = Special("cache")
SPECIALS = (IDLE, COSTS, KV, PROXY, CACHE)
# What is measured when nothing is asked for, in about three minutes.
USUAL = (*loads.LOADS, IDLE, PROXY)


def parse():
    parser = setup.parser(__doc__.partition("\n")[0], 3, 0.4)
    parser.add_argument("--loads", metavar="A,B",
                        help=f"{report.known_loads()} (all but costs, "
                        "kv and cache)")
    parser.add_argument("--servers", metavar="A,B", help=",".join(
        server.name for server in servers.SERVERS))
    parser.add_argument("--sprintd-args", metavar="ARGS", default="",
                        help="more of sprintd's options, in one word")
    parser.add_argument("--kv-keys", metavar="N", type=setup.positive(int),
                        default=1_000_000, help="of the largest key-value "
                        "store, from 10,000 tenfold (%(default)s)")
    parser.add_argument("--ab-requests", metavar="N",
                        type=setup.positive(int), default=2000,
                        help="that ab makes through each proxy, at least "
                        f"{classic.CONNECTIONS} (%(default)s)")
    return parser.parse_args()


def measure_idle(lab, chosen_servers, progress):
    rows = {}
    for server in chosen_servers:
        progress.step(f"idle connections: {server.name}")
        try:
            rows[server.name] = idle.measure(lab, server)
        except Failure as failure:
            rows[server.name] = str(failure)
    return rows


def measure_kv(lab, options, progress):
    options = kv.patient(options)
    with kv.disk() as folder:
        return (kv.measure(lab, folder, options, progress),
                scale.measure(lab, folder, options, progress))


def measure_proxy(lab, options, progress):
    return (*proxy.measure(lab, options, progress),
            classic.measure(lab, options.ab_requests, progress))


def run(lab, options):
    begin = time.monotonic()
    chosen = (setup.choose(options.loads, (*loads.LOADS, *SPECIALS), "load")
              if options.loads else USUAL)
    chosen_loads = [load for load in chosen if load not in SPECIALS]
    servers.Sprintd.arguments = shlex.split(options.sprintd_args)
    chosen_servers = setup.available(
        kind(lab) for kind in setup.choose(options.servers, servers.SERVERS,
                                           "server"))
    logging_servers = costs.make(lab) if COSTS in chosen else []
    facts = setup.facts(lab, chosen_servers)
    setup.print_facts(facts)

    progress = setup.Progress(
        len(chosen_servers) * (len(chosen_loads) * options.rounds
                               + (IDLE in chosen))
        + len(logging_servers) * max(options.rounds, costs.ROUNDS)
        + (KV in chosen) * (kv.samples_wanted(kv.GROUPS, options)
                            + scale.samples_wanted(options))
        + (PROXY in chosen) * (kv.samples_wanted(proxy.GROUPS, options)
                               + classic.rows_wanted())
        + (CACHE in chosen) * kv.samples_wanted(cache.GROUPS, options))
    cells = {}
    if chosen_loads:
        cells = rounds.measure(loads.Runner(lab), chosen_loads, chosen_servers,
                               options, progress)
    rows = (measure_idle(lab, chosen_servers, progress) if IDLE in chosen
            else {})
    cost_cells = (costs.measure(lab, logging_servers, options, progress)
                  if logging_servers else {})
    kv_groups, kv_sizes = (measure_kv(lab, options, progress)
                           if KV in chosen else ([], []))
    proxy_groups, proxies, classic_rows = (
        measure_proxy(lab, options, progress) if PROXY in chosen
        else ([], [], {}))
    cache_groups, caches = (cache.measure(lab, options, progress)
                            if CACHE in chosen else ([], []))
    progress.end()

    names = [server.name for server in chosen_servers]
    for load in chosen_loads:
        report.print_load(cells, load, names)
    if rows:
        report.print_idle(rows, names)
    if cost_cells:
        report.print_costs(cost_cells)
    if KV in chosen:
        kv_report.print_groups(lab, kv_groups)
        kv_report.print_sizes(kv_sizes)
    if PROXY in chosen:
        proxy_report.print_groups(lab, proxy_groups)
        proxy_report.print_classic(classic_rows, options.ab_requests)
    if CACHE in chosen:
        proxy_report.print_cache(lab, cache_groups)
    if chosen_loads or rows:
        report.print_markdown(cells, chosen_loads, rows, names)
    if cost_cells:
        report.print_costs_markdown(cost_cells)
    if KV in chosen:
        kv_report.print_markdown(kv_groups, kv_sizes)
    if PROXY in chosen:
        proxy_report.print_markdown(proxy_groups, classic_rows)
    if CACHE in chosen:
        kv_report.print_groups_markdown(cache_groups)
    setup.finish(lab, options,
                 [*chosen_servers, *logging_servers, *proxies, *caches], begin,
                 {"facts": facts, **report.as_json(cells, chosen_loads, rows,
                                                   cost_cells),
                  "kv": kv_report.as_json(kv_groups, kv_sizes),
                  "proxy": proxy_report.as_json(proxy_groups, classic_rows),
                  "cache": kv_report.as_json(cache_groups, [])})


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
