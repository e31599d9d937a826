"""What can be measured: bottleneck, kind of sizes, load."""

import dataclasses
import re

from lab import processes

from . import arrivals, network

SYNTAX = re.compile(r"(?P<net>[a-z]+)(-(?P<sizes>[a-z]+))?-(?P<load>[0-9.]+)")
LOAD_MAX = 3
BURST_S = 20  # of more than the link can carry
DEFAULT = ("local-0.5,local-0.7,local-0.8,local-0.9,local-0.95,local-1.2,"
           "local-web-0.9,remote-0.9,mixed-0.9")


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    net: network.Kind
    sizes: str
    load: float

    @property
    def is_burst(self):
        return self.load > 1

    @property
    def title(self):
        where = {"loopback": "no bottleneck: loopback",
                 "local": "bottleneck: the server's own interface",
                 "crowd": "bottleneck: the server's own interface, "
                          f"{network.CROWD} clients",
                 "remote": "bottleneck further away, 10 ms round trip",
                 "mixed": "bottleneck further away, 4 and 60 ms round trips"}
        what = {"pareto": "Pareto sizes", "web": "web-like sizes"}
        return (f"{where[self.net.name]}, {what[self.sizes]}, "
                f"load {self.load:g}")

    def seconds(self, options):
        """How long requests come."""
        return (min(options.seconds, BURST_S) if self.is_burst
                else options.seconds)

    def draw(self, options, seed, link):
        return arrivals.draw(self.sizes, self.load, self.seconds(options),
                             seed, link, self.net.sources)


def parse(text):
    """Rows from NET[-SIZES]-LOAD,..."""
    found = []
    for name in text.split(","):
        parts = SYNTAX.fullmatch(name.strip())
        sizes = parts and parts["sizes"] or "pareto"
        if (not parts or parts["net"] not in network.KINDS or
                sizes not in arrivals.KINDS or
                not 0 < float(parts["load"]) <= LOAD_MAX):
            raise processes.Failure(
                f"no such row: '{name}' (NET-LOAD or NET-SIZES-LOAD; NET is "
                f"{', '.join(network.KINDS)}; SIZES is "
                f"{', '.join(arrivals.KINDS)})")
        found.append(Row(name.strip(), network.KINDS[parts["net"]], sizes,
                         float(parts["load"])))
    return found
