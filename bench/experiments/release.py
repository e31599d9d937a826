"""What a release costs who has the one before."""

import argparse
import os

import release
from lab import processes

from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

CHANGES, QUICK_CHANGES = 100, 5
QUICK_BYTES = 60_000


def _sizes(bench, server, offer):
    """Bytes at first and later, by coding."""
    port = server.instance(None).port
    release.ask(port, release.NAMES[0], "identity")
    offers = {coding: offer if coding == "dcz" else None
              for coding in release.CODINGS}
    found = {}
    for coding in release.CODINGS:
        bench.step(coding)
        first = release.await_coding(port, release.NAMES[1], coding,
                                     offers[coding])
        later = bench.pick(release.settle, lambda *_, size: size)(
            port, release.NAMES[1], coding, offers[coding], size=first)
        found[coding] = (first, later)
    return found


def run(bench):
    options = argparse.Namespace(
        files=[], changes=bench.pick(CHANGES, QUICK_CHANGES),
        bytes=bench.pick(release.BUNDLE_BYTES, QUICK_BYTES))
    offer = release.publish(bench.lab, options)
    whole = os.path.getsize(bench.lab.site.path(release.NAMES[1][1:]))
    server = release.Server(bench.lab)
    if server.missing():
        raise processes.Failure(server.missing())
    try:
        found = _sizes(bench, server, offer)
    finally:
        server.stop()
    delta = found["dcz"][0]
    least = min(later for coding, (_first, later) in found.items()
                if coding != "dcz")
    return Result(
        tables=[Table(f"A bundle of {whole:,} bytes, {options.changes} places "
                      "of which have changed, and one name wherever it stands",
                      ["coding", "bytes at first", "bytes later",
                       "% of the file, later"],
                      [[coding, first, later, 100 * later / whole]
                       for coding, (first, later) in found.items()],
                      "Of identity and dcz both are of the first time.")],
        figures=[Figure("bytes", "The new version", "coding", "bytes",
                        [Series("later", [[coding, later] for coding,
                                          (_first, later) in found.items()])],
                        BARS)],
        claims=[Claim("a delta is a tenth at most of the smallest without "
                      "(most of the bundle is as it was)",
                      delta <= least / 10, f"{delta:,} of {least:,} bytes")],
        reading=[f"Who has the version before gets {delta:,} bytes, "
                 f"{100 * delta / whole:.1f} % of the file; others "
                 f"{least:,} at least."])


EXPERIMENT = Experiment(
    16, "release", "What does a release cost who has the one before?",
    "None of the originals speaks of files that change.",
    "A bundle of this project's own text, and the same with changes all over "
    "it, from a server with a rule for dictionaries (RFC 9842): the bytes of "
    "the new version by each coding at first, once the server has compressed "
    f"it with more effort, as {release.ASKS:,} requests make it do, and as a "
    "delta. `bench/release.py` does it for any two files.", 120, run)
