#!/usr/bin/env python3
"""compressed_link.py - the same texts over a narrow link, compressed and not.

A thousand texts of this machine's documentation (compressed.py) are asked for
over 80 Mbit/s, as many strangers would (open loop, a connection each, Zipf's
law), so often that they would take 0.9 of the link's time as they are. How long
does each take, by servers that compress and by one that does not? Every server
gets the same requests in turns, after it has been asked for every text (--warm).

Needs root, for the network's namespaces, which are gone when this ends.
"""

import argparse
import dataclasses
import os
import random
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

import compressed
from lab import processes, servers, setup
from link import arrivals, client, measure, network, serving, summary, wire

CODINGS = "zstd, br, gzip"
LOAD = 0.9
WARM_A_SECOND = 400
SPRINTD = ("--workers", "1", "--schedule", "srpt")


@dataclasses.dataclass(frozen=True)
class Caddy(serving.Server):

    def version(self):
        return compressed.Caddy.version(self)

    def command(self, net, root, folder):
        path = os.path.join(folder, "Caddyfile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(compressed.CADDY.format(port=network.PORT, root=root,
                                               host=net.address))
        return ["env", f"HOME={folder}", "GOMAXPROCS=1", self.binary, "run",
                "--config", path, "--adapter", "caddyfile"]


def known_servers():
    binary = servers.Sprintd.binary()
    return (serving.Server("sprintd", binary=binary, flags=SPRINTD),
            serving.Server("sprintd-off", binary=binary,
                           flags=(*SPRINTD, "--compress", "off")),
            Caddy("caddy", binary=servers.find("caddy") or "caddy"))


def draw(lab, names, seconds, seed, link):
    """What comes in about so long, with the load that it is without
    compression."""
    sizes = {name: os.path.getsize(os.path.join(lab.root, name))
             for name in names}
    took = {name: link.seconds(size) for name, size in sizes.items()}
    mean = statistics.fmean(took[name] for name in
                            compressed.draw(names, 20_000, 0))
    asked = compressed.draw(names, round(LOAD * seconds / mean), seed)
    span = sum(took[name] for name in asked) / LOAD
    rng = random.Random(seed)
    starts = sorted(rng.random() * span for _each in asked)
    return [arrivals.Arrival(start, sizes[name], path=name)
            for start, name in zip(starts, asked)]


def warm(net, lab, names, seconds, folder):
    """Every text again and again."""
    end = time.monotonic() + seconds
    asked = [arrivals.Arrival(at / WARM_A_SECOND, 0, path=name)
             for at, name in enumerate(names)]
    while True:
        client.run(net, lab, asked, folder, "warm-up")
        if time.monotonic() > end:
            return


def measure_one(lab, options, names, server, asked, link):
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder, \
            measure.open_network(network.KINDS["local"], lab, options,
                                 folder) as net, \
            serving.Instance(server, net, lab, folder) as instance:
        warm(net, lab, names, options.warm, folder)
        cpu = instance.cpu_seconds()
        results = client.run(net, lab, asked, folder)
        cpu = instance.cpu_seconds() - cpu
    found = summary.of_results(asked, results, link, {})
    if found["errors"]:
        raise processes.Failure(f"{server.name}: {found['errors']} failed")
    return {"mean": found["all mean"], "p99": found["all p99"],
            "bytes": statistics.fmean(result.bytes for result in results),
            "cpu": 1e6 * cpu / len(asked)}


def run(made, options):
    trouble = network.trouble()
    if trouble:
        raise processes.Failure(f"no narrow link here: {trouble}")
    processes.raise_descriptor_limit()
    names = compressed.publish(made)
    lab = measure.Lab(made.site.folder, made.site.root, made.children,
                      made.server_cpu, made.client_cpu,
                      client.compile_programs(made.site.folder))
    link = wire.Link()
    chosen = setup.available(setup.choose(options.servers, known_servers(),
                                          "server"))
    found = {server.name: [] for server in chosen}
    for seed in range(1, 1 + options.seeds):
        asked = draw(lab, names, options.seconds, seed, link)
        for server in chosen:
            found[server.name].append(measure_one(lab, options, names, server,
                                                  asked, link))
    print(f"{len(names)} texts, {options.seeds} draws of "
          f"{options.seconds:g} s, 80 Mbit/s\n")
    print("| | mean, ms | p99, ms | bytes a reply | CPU, µs a reply |")
    print("|---|---:|---:|---:|---:|")
    for server in chosen:
        runs = found[server.name]
        mean, p99, size, cpu = (statistics.fmean(run[what] for run in runs)
                                for what in ("mean", "p99", "bytes", "cpu"))
        print(f"| {server.name} {server.version()} | {mean:.2f} "
              f"({min(run['mean'] for run in runs):.2f} to "
              f"{max(run['mean'] for run in runs):.2f}) | {p99:.1f} | "
              f"{size:,.0f} | {cpu:.0f} |", flush=True)


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("--seeds", type=setup.positive(int), default=4,
                      metavar="N", help="draws of the requests (%(default)s)")
    made.add_argument("--seconds", type=setup.positive(float), default=10,
                      metavar="S", help="of each (%(default)s)")
    made.add_argument("--warm", type=setup.positive(float), default=10,
                      metavar="S", help="for so long (%(default)s)")
    made.add_argument("--servers", metavar="A,B",
                      help="|".join(each.name for each in known_servers()))
    made.set_defaults(keep_alive=False, wait=30, congestion="cubic",
                      buffer=network.BUFFER, priority=0, codings=CODINGS)
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
