"""Where does the time go? The server's own sampling and perf's, side by side:
the same moments, the same phases."""

import collections
import contextlib
import dataclasses
import math
import re
import urllib.request

from lab import loads, processes, rounds, servers, site

from . import phases_then, stacks
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

STATUS = "/_sprintd"
PHASES = ("accept", "read", "parse", "lookup", "schedule", "send", "log",
          "other")

WAYS = {
    "1k": (loads.Load("1k", "1 KiB, keep-alive", 64), ()),
    "1m": (loads.Load("1m", "1 MiB by sendfile", 16, "1m.bin", site.MIB),
           ("--send-method", "sendfile")),
    "new": (loads.Load("new", "1 KiB, new connections", 64, closes=True), ()),
}
ROUNDS, SECONDS = 3, 3.5
QUICK_SECONDS = 0.15
SIGMAS = 2
POINTS_MAX = 3
FOLLOWED_MIN = 0.95  # of perf's stacks


@dataclasses.dataclass
class Seen:
    """What was seen of one load, over all rounds."""

    own: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)   # samples by phase
    perf: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)   # by (phase, is kernel)
    switched: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)   # of these, just switched in
    followed: int = 0  # of perf's stacks, to their first function
    samples: list = dataclasses.field(default_factory=list)  # loads.Sample

    @property
    def cell(self):
        """None when no sample is any good."""
        good = [sample for sample in self.samples if not sample.trouble]
        return rounds.Cell(good) if good else None

    @property
    def cpu_us(self):
        return self.cell.cpu_us if self.cell else None

    def own_share(self, phase):
        total = sum(self.own.values())
        return 100 * self.own[phase] / total if total else None

    def perf_share(self, phase, kinds=(False, True)):
        total = sum(self.perf.values())
        return (100 * sum(self.perf[phase, kind] for kind in kinds) / total
                if total else None)

    def kernel_share(self):
        shares = [self.perf_share(phase, (True,)) for phase in PHASES]
        return None if None in shares else sum(shares)

    def switched_share(self):
        total = sum(self.perf.values())
        return 100 * sum(self.switched.values()) / total if total else None

    def rest_share(self, phase):
        """perf's share of the phase without what it saw of threads that had
        just been switched in."""
        total = sum(self.perf.values()) - sum(self.switched.values())
        if total <= 0:
            return None
        return 100 * (self.perf[phase, False] + self.perf[phase, True]
                      - self.switched[phase]) / total

    def difference(self, phase):
        """In points: how far the server's share is outside of perf's two, and
        a standard error of it."""
        own = self.own_share(phase)
        both = self.perf_share(phase), self.rest_share(phase)
        if own is None or None in both:
            return None, None
        nearest = min(max(own, min(both)), max(both))
        # Nothing seen of a phase is not nothing for sure: at least one sample.
        error = math.sqrt(sum(
            max(share * (100 - share) / n, (100 / n) ** 2)
            for share, n in ((own, sum(self.own.values())),
                             (nearest, sum(self.perf.values())))))
        return own - nearest, error


class Study:
    """Owned by one call of run()."""

    def __init__(self, bench):
        self.bench = bench
        self.lab = bench.lab
        self.runner = loads.Runner(bench.lab)
        self.result = Result()
        self.seen = {name: Seen() for name in WAYS}
        self.has_perf = bool(servers.find("perf"))
        if not self.has_perf:
            self.result.left_out.append(
                "perf: it is not installed (apt-get install linux-perf)")

    def give_up_perf(self, reason):
        self.has_perf = False
        self.result.left_out.append(f"perf: {reason}")
        for seen in self.seen.values():
            seen.perf.clear()
            seen.switched.clear()

    def own_samples(self, server):
        """The server's counter of samples, by phase."""
        port = server.instance(site.SMALL).port
        try:
            with urllib.request.urlopen(
                    f"http://{servers.HOST}:{port}{STATUS}/metrics",
                    timeout=loads.TIMEOUT_S) as reply:
                text = reply.read().decode()
        except OSError as error:
            raise processes.Failure(f"the server's metrics: {error}") \
                from error
        counted = collections.Counter({
            phase: int(count) for phase, count in re.findall(
                r'^sprintd_profile_samples_total\{phase="(\w+)"\} (\d+)',
                text, re.MULTILINE)})
        if set(counted) != set(PHASES):
            raise processes.Failure("the server does not tell its samples")
        return counted

    def measure_one(self, name, server):
        """One round of a load: both watch the same moments."""
        load, _arguments = WAYS[name]
        seen = self.seen[name]
        self.bench.step(f"{load.title}: sampled from within"
                        + (" and by perf" if self.has_perf else ""))
        seconds = self.bench.pick(SECONDS, QUICK_SECONDS)
        instance = server.instance(load.file_name)
        before = self.own_samples(server)
        perf = (stacks.Perf(self.lab, instance.pids[0]) if self.has_perf
                else None)
        with perf or contextlib.nullcontext():
            sample = self.runner.measure(server, load, seconds)
        after = self.own_samples(server)
        seen.samples.append(sample)
        seen.own.update(after - before)
        if perf:
            try:
                found, switched, followed = stacks.count(perf.stacks())
                seen.perf.update(found)
                seen.switched.update(switched)
                seen.followed += followed
            except processes.Failure as failure:
                self.give_up_perf(failure)

    def measure(self):
        """All loads in turns, each on a server of its own."""
        made = {}
        for name, (load, arguments) in WAYS.items():
            made[name] = self.bench.sprintd(
                f"sprintd, {name}", "--profile", "--status", STATUS,
                *arguments)
            self.runner.prepare(load)
            self.runner.check(made[name], load)
        for _round in range(self.bench.pick(ROUNDS, 1)):
            for name, server in made.items():
                self.measure_one(name, server)
        for server in made.values():
            server.stop()
        if self.has_perf and not any(
                seen.kernel_share() for seen in self.seen.values()):
            self.give_up_perf("it may not look into the kernel here "
                              "(kernel.perf_event_paranoid)")


def title(name):
    return WAYS[name][0].title


def tables(study):
    rows = []
    for name, seen in study.seen.items():
        cell = seen.cell
        kernel = seen.kernel_share()
        rows.append([
            title(name), cell and cell.median("per_second"), seen.cpu_us,
            cell and 100 * cell.median("busy"),
            None if kernel is None else 100 - kernel,
            kernel, seen.switched_share(), sum(seen.own.values()),
            sum(seen.perf.values()) or None])
    yield Table("The loads",
                ["load", "replies/s", "CPU µs a reply", "CPU busy %",
                 "user %", "kernel %", "switched in %", "own samples",
                 "perf's samples"], rows,
                "One worker. User, kernel, switched in (a thread that runs "
                "again after a wait): shares of perf's samples.")
    for name, seen in study.seen.items():
        rows = []
        for phase in PHASES:
            own = seen.own_share(phase)
            difference, error = seen.difference(phase)
            rows.append([phase, own, seen.perf_share(phase),
                         seen.perf_share(phase, (False,)),
                         seen.perf_share(phase, (True,)),
                         seen.rest_share(phase), difference, error,
                         None if None in (own, seen.cpu_us)
                         else seen.cpu_us * own / 100])
        yield Table(
            f"{title(name)}: CPU by phase",
            ["phase", "server %", "perf %", "perf, user %", "perf, kernel %",
             "perf, no switches %", "difference", "± by chance",
             "µs a reply"], rows,
            "no switches: without the samples of a thread just switched in. "
            "difference: how far the server's share is outside of perf's two, "
            "in points; by chance: one standard error of it, from the number "
            "of samples. µs: by the server's share.")


def _by_original(study):
    """phases_then's table; None without perf."""
    return phases_then.table([
        (title(name),
         {(phase, kind): seen.perf_share(phase, (kind,)) or 0
          for phase in PHASES for kind in (False, True)}, seen.cpu_us)
        for name, seen in study.seen.items() if seen.perf])


def figure(study):
    series = []
    for name, seen in study.seen.items():
        for kind, share in (("", seen.own_share), (", perf", seen.perf_share)):
            points = [[phase, share(phase)] for phase in PHASES
                      if share(phase) is not None]
            if points:
                series.append(Series(f"{name}{kind}", points,
                                     is_reference=bool(kind)))
    return Figure("phases", "CPU by phase: the server's view and perf's",
                  "phase", "share of CPU time (%)", series, BARS)


def _apart(study):
    """(load, phase, points, error) where both were watching, the farthest
    apart first."""
    found = [(name, phase, *seen.difference(phase))
             for name, seen in study.seen.items() for phase in PHASES
             if seen.difference(phase)[0] is not None]
    return sorted(found, key=lambda each: -abs(each[2]))


def _verdict(apart):
    if not apart:
        return None
    if any(abs(points) - SIGMAS * error > POINTS_MAX
           for _name, _phase, points, error in apart):
        return False
    return True if abs(apart[0][2]) <= POINTS_MAX else None


def claims(study):
    apart = _apart(study)
    yield Claim(
        f"the server's own sampling is within {POINTS_MAX} points of perf's "
        "(with or without switches) in every phase of every load (two "
        "standard errors, where these are largest)",
        _verdict(apart), "farthest apart: " + ", ".join(
            f"{title(name)}, {phase} {points:+.1f} ± {error:.1f}"
            for name, phase, points, error in apart[:3]) if apart
        else "perf could not be asked")
    samples = [(name, sample) for name, seen in study.seen.items()
               for sample in seen.samples]
    trouble = [f"{title(name)}: {sample.trouble}"
               for name, sample in samples if sample.trouble]
    replies = sum(sample.replies for _name, sample in samples)
    yield Claim("no request fails while both are watching", not trouble,
                "; ".join(trouble) or f"{replies:,.0f} replies")


def _spent_reading(study):
    parts = []
    for name, seen in study.seen.items():
        order = sorted(PHASES, key=lambda phase: -seen.own[phase])[:3]
        kernel = seen.kernel_share()
        parts.append(
            f"{title(name)}: "
            + ", ".join(f"{phase} {seen.own_share(phase) or 0:.0f} %"
                        for phase in order)
            + (f" of {seen.cpu_us:,.1f} µs a reply" if seen.cpu_us else "")
            + (f", {kernel:.0f} % of it in the kernel" if kernel else ""))
    return ("Where most of the time goes, by the server, and how much of it is "
            "the kernel's, by perf: " + "; ".join(parts) + ".")


def _agreement_reading(study):
    apart = _apart(study)
    if not apart:
        return ("perf could not be asked, so the server's word stands alone "
                "here.")
    beyond = [each for each in apart if abs(each[2]) > SIGMAS * each[3]]
    mean = sum(abs(points) for _n, _p, points, _e in apart) / len(apart)
    own = sum(sum(seen.own.values()) for seen in study.seen.values())
    theirs = sum(sum(seen.perf.values()) for seen in study.seen.values())
    text = (f"The server's {len(apart)} shares are outside of perf's two, "
            f"with switches and without, by {mean:.1f} points on average, by "
            f"{abs(apart[0][2]):.1f} at most. ")
    text += (f"In {len(beyond)} of them the difference is more than "
             f"{SIGMAS} standard errors, where chance alone would make it "
             f"about {0.05 * len(apart):.0f} on average, or fewer: "
             + ", ".join(f"{phase} of {name} {points:+.1f} ± {error:.1f}"
                         for name, phase, points, error in beyond[:6]) + ". "
             if beyond else
             f"None of these is more than {SIGMAS} standard errors. ")
    return text + (
        "Why the two may differ: both count at steps of CPU time, but the "
        "server when the kernel's tick finds its timer due (here one sample "
        f"for {theirs / own:.1f} of perf's), perf by a timer of its own (up to "
        f"{stacks.HZ} a CPU second), which goes on with what is left of its "
        "step each time the thread is switched in. Of perf's samples "
        + ", ".join(f"{seen.switched_share():.0f} % of {name}"
                    for name, seen in study.seen.items()
                    if seen.switched_share() is not None)
        + " are of just that moment, which may in part be perf's own; the "
        "server's share ought to lie between perf's with and without them. "
        "Besides, the server's phase is the one its code has announced, "
        "perf's is read off the stack; and perf sees every thread, the server "
        "its workers and the acceptor.")


def notes(study):
    for name, seen in study.seen.items():
        if seen.cell and seen.cell.noise:
            yield f"{title(name)}: {seen.cell.noise}"
        total = sum(seen.perf.values())
        if total and seen.followed < FOLLOWED_MIN * total:
            yield (f"{title(name)}: of perf's stacks only "
                   f"{seen.followed / total:.0%} could be followed to their "
                   "first function; the others count by what was found of "
                   "them, or by their system call")


def run(bench):
    study = Study(bench)
    study.measure()
    for argv in bench.lab.children.commands:
        if "-p" in argv:  # perf's: each the process of a server
            argv[argv.index("-p") + 1] = "PID"
    result = study.result
    by_original = _by_original(study)
    result.tables = [*([by_original] if by_original else []), *tables(study)]
    result.figures = [figure(study)]
    result.claims = list(claims(study))
    result.reading = [
        *(phases_then.read(by_original) if by_original else []),
        _spent_reading(study), _agreement_reading(study)]
    result.noise = list(notes(study))
    return result


EXPERIMENT = Experiment(
    13, "where-time-goes", "Where does the time go?",
    "One of the originals was profiled: a large amount of its time went to "
    "its buffers (write, consume, the size to be read, iterating), and main "
    "consumers were parsing and the statistics when a request was finished; "
    "it gives no shares. Which part of the work takes the CPU here: "
    "accepting, reading, parsing, finding the file, choosing whose turn it "
    "is, sending, logging?",
    "Three loads on one worker, in turns: 1 KiB by keep-alive, 1 MiB by "
    "sendfile, a new connection for every request. The server samples itself "
    "(--profile) while `perf record -e cpu-clock` watches the same process "
    "with stacks; perf's samples are put into the same phases, by the "
    "innermost function that begins one.",
    60, run)
