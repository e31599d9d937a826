"""What compressing saves, and costs: beside peers, over a narrow link, and for
small replies beside large ones."""

import argparse

import compressed
import compressed_beside
import compressed_link
from lab import processes, rounds
from link import client, measure, network, wire

from . import paired
from .bench import median
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

TEXTS, QUICK_TEXTS = 1000, 20
REQUESTS, QUICK_REQUESTS = 2_000, 60  # of each round
WARM_S, QUICK_WARM_S = 10, 0.2
SEEDS, LINK_SECONDS, QUICK_LINK_SECONDS = 12, 4, 0.2
ROUNDS, BESIDE_SECONDS, QUICK_BESIDE_SECONDS = 12, 1.5, 0.2
P99_GOAL = 1.5
OURS = compressed.servers.Sprintd.name
OFF = "sprintd-off"


class Study:
    """Owned by one call of run()."""

    def __init__(self, bench):
        self.bench = bench
        self.lab = bench.lab
        self.left_out = []
        self.warm = bench.pick(WARM_S, QUICK_WARM_S)
        self.names = compressed.publish(self.lab,
                                        bench.pick(TEXTS, QUICK_TEXTS))
        self.texts = {}   # bytes, CPU µs, p99 ms, … of each round, by server
        self.link = {}    # a dict for each draw, by server
        self.beside = {}  # p50, p99, longest in ms of each round, by coding

    def can_run(self, server):
        reason = server.missing()
        if reason:
            self.left_out.append(f"{server.name}: {reason}")
        return not reason

    def measure_texts(self):
        compressed.add_siblings(self.lab)
        requests = self.bench.pick(REQUESTS, QUICK_REQUESTS)
        draws = compressed.draw(self.names, requests, 2)
        warm = []
        try:
            for server in [kind(self.lab) for kind in compressed.KINDS]:
                if self.can_run(server):
                    self.bench.step(f"texts: {server.name} is warmed")
                    warm.append(compressed.Warm(server, self.names, draws,
                                                self.warm))
            for turn in range(self.bench.rounds(ROUNDS)):
                self.bench.step(f"texts, round {turn + 1}")
                draws = compressed.draw(self.names, requests, 3 + turn)
                for each in rounds.in_order(warm, turn):
                    self.texts.setdefault(each.server.name, []).append(
                        each.take(draws))
        finally:
            for each in warm:
                each.stop()

    def measure_link(self):
        trouble = network.trouble()
        if trouble:
            self.left_out.append(f"the narrow link: {trouble}")
            return
        options = argparse.Namespace(
            keep_alive=False, wait=30, congestion="cubic", priority=0,
            buffer=network.BUFFER, codings=compressed_link.CODINGS,
            warm=self.warm)
        lab = measure.Lab(self.lab.site.folder, self.lab.site.root,
                          self.lab.children, self.lab.server_cpu,
                          self.lab.client_cpu, self.programs())
        seconds = self.bench.pick(LINK_SECONDS, QUICK_LINK_SECONDS)
        chosen = [server for server in compressed_link.known_servers()
                  if self.can_run(server)]
        for seed in range(1, 1 + self.bench.rounds(SEEDS)):
            asked = compressed_link.draw(lab, self.names, seconds, seed,
                                         wire.Link())
            for server in chosen:
                self.bench.step(f"link: {server.name}, draw {seed}")
                self.link.setdefault(server.name, []).append(
                    compressed_link.measure_one(lab, options, self.names,
                                                server, asked, wire.Link()))

    def measure_beside(self):
        trouble = network.trouble()  # who may do that may have priority, too
        if trouble:
            self.left_out.append(f"small replies beside large: {trouble}")
            return
        options = argparse.Namespace(
            keep_alive=False, wait=30, rate=500,
            seconds=self.bench.pick(BESIDE_SECONDS, QUICK_BESIDE_SECONDS))
        compressed_beside.write_texts(self.lab)
        lab = compressed_beside.Lab(self.lab.site.folder, self.lab.children,
                                    self.lab.client_cpu, self.programs())
        proxy = compressed_beside.Proxy(self.lab)
        proxy.behind = compressed_beside.Behind(self.lab)
        port = proxy.instance(None).port
        for seed in range(1, 1 + self.bench.rounds(ROUNDS)):
            for coding in compressed_beside.BESIDE:
                self.bench.step(f"beside {coding}, round {seed}")
                self.beside.setdefault(coding, []).append(
                    compressed_beside.measure(lab, options, port, coding,
                                              seed))
        proxy.stop()
        proxy.behind.stop()

    def text(self, name):
        """Medians of bytes, CPU µs and p99 ms."""
        return [median(column) for column in zip(*self.texts[name])][:3]

    def programs(self):
        return client.compile_programs(self.lab.site.folder)

    def link_ratios(self, other):
        return paired.ratios([run["mean"] for run in self.link[OURS]],
                             [run["mean"] for run in self.link[other]])

    def beside_ratios(self, coding):
        return paired.ratios([run[1] for run in self.beside[coding]],
                             [run[1] for run in self.beside["identity"]])


def _tables(study):
    yield Table(
        f"{len(study.names):,} texts by Zipf's law, one connection",
        ["server", "bytes a reply", "CPU µs a reply", "p99 ms"],
        [[name, *study.text(name)] for name in study.texts],
        f"Accept-Encoding: {compressed_link.CODINGS}. After "
        f"{study.warm:g} s of the same; medians of {ROUNDS} rounds of "
        f"{REQUESTS:,} replies in turns. The CPU time of a server is all that "
        "it took since its round before. By gzip 6: nginx each reply, lighttpd "
        "each file once, and nginx-static has files made by it. h2o compresses "
        "each reply by brotli 1, Caddy by zstd; sprintd each file once, and "
        "some anew with more effort.")
    if study.link:
        yield Table(
            "The same over 80 Mbit/s, load 0.9 before compression",
            ["server", "mean ms", "p99 ms", "bytes a reply",
             "CPU µs a reply"],
            [[name, *(median([run[what] for run in runs])
                      for what in ("mean", "p99", "bytes", "cpu"))]
             for name, runs in study.link.items()],
            f"Medians of {len(study.link[OURS])} draws. Bytes: of the body "
            "alone; above, with head and frames.")
    if study.beside:
        yield Table(
            f"A small reply beside {compressed_beside.DOWNLOADS} proxied "
            "downloads, by how these are compressed",
            ["beside", "p50 ms", "p99 ms", "longest ms"],
            [[coding, *(median(column) for column in zip(*runs))]
             for coding, runs in study.beside.items()],
            "The proxy has a CPU of its own; wrk, which takes the downloads, "
            "and the server behind share the other one.")


def _least(study, at, what, unit):
    """Beside the peer that has the least by its median."""
    others = [name for name in study.texts if name != OURS]
    says = f"texts: {what} than any peer"
    if not others:
        return Claim(says, None, "no peer is installed here")
    best = min(others, key=lambda name: study.text(name)[at])
    found = paired.ratios(*([run[at] for run in study.texts[name]]
                            for name in (OURS, best)))
    return Claim(says, None,
                 f"{study.text(OURS)[at]:,.1f} {unit}, {best} "
                 f"{study.text(best)[at]:,.1f}; {paired.say(found)}",
                 paired.at_most(found, 1))


def _claims(study):
    yield _least(study, 0, "no more bytes a reply", "bytes")
    yield _least(study, 1, "no more CPU time a reply", "µs")
    for name in study.link:
        if name != OURS:
            found = study.link_ratios(name)
            yield Claim("a narrow link: the mean response is below that of "
                        f"{name}", None, paired.say(found),
                        paired.at_most(found, 1))
    for coding in study.beside:
        if coding in ("zstd", "gzip", "br"):
            found = study.beside_ratios(coding)
            yield Claim("a small reply's p99 beside large ones by "
                        f"{coding} is at most {P99_GOAL} times that beside "
                        "these as they are (that of so few requests differs "
                        "by as much)", None, paired.say(found),
                        paired.at_most(found, P99_GOAL))


def _reading(study):
    texts = [f"{study.text(name)[0]:,.0f} bytes and "
             f"{study.text(name)[1]:.0f} µs ({name})" for name in study.texts]
    yield "A text takes so many bytes and so much CPU time: " + ", ".join(
        texts) + "."
    if OFF in study.link:
        yield ("Over the narrow link sprintd's mean response is "
               f"{paired.say(study.link_ratios(OFF))} times that without "
               "compression.")


def run(bench):
    processes.raise_descriptor_limit()
    study = Study(bench)
    if not study.names:
        raise processes.Failure("no texts are there")
    study.measure_texts()
    study.measure_link()
    study.measure_beside()
    return Result(
        tables=list(_tables(study)),
        figures=[Figure("bytes", "A text's reply", "server", "bytes",
                        [Series("bytes", [[name, study.text(name)[0]]
                                          for name in study.texts])], BARS)],
        claims=list(_claims(study)), reading=list(_reading(study)),
        left_out=list(dict.fromkeys(study.left_out)))


EXPERIMENT = Experiment(
    15, "compression", "What does compressing save, and cost?",
    "None of the originals speaks of compressing what it sends.",
    "Texts of this machine's documentation, 2 to 500 KB (where it has too "
    "few, this project's sources, too), from servers that compress each "
    "reply, that have files made before, or that compress each once: bytes "
    "and CPU time. The same over 80 Mbit/s (open loop, a connection each), "
    "with compression and without. And a proxy's small replies beside "
    f"{compressed_beside.DOWNLOADS} large ones that it compresses on their way. "
    "`bench/compressed.py`, `compressed_link.py` and `compressed_beside.py` "
    "each do one of these.", 900, run)
