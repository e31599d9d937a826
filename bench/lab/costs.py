"""What logs and statistics cost: the same servers with and without.

All of them run in turns, like the peers; each has the workers it is given, on
one CPU, so that what is compared is work and not where it was done. Shares
compare with the same server, with the same workers and neither log nor
samples, in the same round: what slows the whole machine down for a while slows
both.
"""

import argparse
import dataclasses
import statistics
import subprocess

from . import loads, rounds, servers

WORKERS = (1, 2)
ROUNDS = 5
SECONDS = 0.3
PATIENCE_S = 5
LOAD = loads.Load("costs", "1 KiB, 64 connections", 64)


@dataclasses.dataclass(frozen=True)
class Way:
    """A server, and what it does besides serving."""

    title: str
    kind: type
    base: str = ""  # title of what it is compared with
    settings: tuple = ()  # attributes of the kind
    options: tuple = ()


WAYS = (
    Way("sprintd, no log", servers.Sprintd),
    Way("combined to a file", servers.Sprintd, "sprintd, no log",
        (("log_file", "access.log"),)),
    Way("json to a file", servers.Sprintd, "sprintd, no log",
        (("log_file", "access.log"),), ("--log-format=json",)),
    Way("--profile", servers.Sprintd, "sprintd, no log",
        options=("--profile",)),
    Way("nginx, no log", servers.Nginx),
    Way("nginx, combined, buffer=64k", servers.Nginx, "nginx, no log",
        (("access_log", "{folder}/access.log combined buffer=64k"),)),
)


def name_of(way, workers):
    return f"{way.title}, {workers}"


def _lacks(server, option):
    """Whether its program does not know the option."""
    done = subprocess.run([server.binary(), "--help"], text=True, check=False,
                          capture_output=True)
    return option.partition("=")[0] not in done.stdout


def _make(lab, way, workers):
    """The server of a way; None when it cannot run here."""
    kind = type(way.kind.__name__, (way.kind,), {
        "name": name_of(way, workers), "program": way.kind.name,
        "workers": workers, **dict(way.settings)})
    if issubclass(kind, servers.Sprintd):
        kind.arguments = (*servers.Sprintd.arguments, *way.options)
    server = kind(lab)
    if server.missing() or any(_lacks(server, option)
                               for option in way.options):
        return None
    return server


def make(lab):
    """All servers to be measured."""
    made = [_make(lab, way, workers) for workers in WORKERS for way in WAYS]
    return [server for server in made if server]


def measure(lab, chosen_servers, options, progress):
    """A Cell by the server's name."""
    options = argparse.Namespace(
        rounds=max(options.rounds, ROUNDS), seconds=SECONDS,
        patience=min(options.patience, PATIENCE_S))
    cells = rounds.measure(loads.Runner(lab), [LOAD], chosen_servers, options,
                           progress, fresh=True)
    return {server: cell for (_load, server), cell in cells.items()}


def share(cells, way, workers):
    """What the way costs more, as a share; None: not known."""
    pair = [cells.get(f"{title}, {workers}")
            for title in (way.title, way.base)]
    if not all(cell and not cell.trouble for cell in pair):
        return None
    found = rounds.ratios(*pair)
    return statistics.median(found) - 1 if found else None
