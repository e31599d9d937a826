#!/usr/bin/env python3
"""laboratory.py - every experiment, and the report that is made of them.

    laboratory.py                     all; one that was broken off goes on
    laboratory.py spt-slow-link       one, whether it is done already or not
    laboratory.py --quick --out TMP   a miniature of all, in a minute or two

Results, figures and the report go to build/lab. Of a real run the results are
kept in bench/results, too, with those figures that the documentation shows.
One that is broken off goes on behind the last part of it that was whole.
"""

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True  # nothing is left in the tree

from experiments import (bench, catalog, judging, old_disk, paired, parts,
                         results, writing)
from lab import machine, processes, proxy, servers, setup, stores
from link import network

KEPT = os.path.join(servers.BENCH, "results")
OUT = os.path.join(servers.TOP, os.environ.get("BUILD", "build"), "lab")
BAR = 20
TOOLS = {
    "wrk": (["wrk", "-v"], r"wrk (?:debian/)?(\S+)"),
    "httperf": (["httperf", "--version"], r"httperf-(\S+)"),
    "ab": (["ab", "-V"], r"Version (\S+)"),
    "h2load": (["h2load", "--version"], r"h2load nghttp2/(\S+)"),
}
VERSIONS = {}
PEERS = (*servers.SERVERS, proxy.Haproxy, stores.Redis, stores.Webdis)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="of an experiment: " + ", ".join(
                            (*catalog.NAMES, *catalog.MORE)).replace("_", "-"))
    parser.add_argument("--quick", action="store_true",
                        help="a miniature of each: all of its code in "
                        "seconds, for numbers that mean nothing")
    parser.add_argument("--out", metavar="FOLDER", default=OUT,
                        help="where results/ and REPORT.md go (build/lab)")
    parser.add_argument("--rounds", type=setup.positive(int), default=0,
                        metavar="N", help="of what is compared at least N "
                        "(each experiment has a number of its own, of twelve "
                        "or more): certainty for time")
    parser.add_argument("--fresh", action="store_true",
                        help="begin anew, though a run was broken off")
    parser.add_argument("--report", action="store_true",
                        help="measure nothing, make the report again")
    parser.add_argument("--check", action="store_true",
                        help="measure nothing, see whether NAMEs are known")
    options = parser.parse_args()
    if options.quick and options.out == OUT and not options.report:
        parser.error("--quick wants --out, lest it overwrites real results")
    return options


def about(seconds):
    """For people who wait."""
    return (f"{seconds / 60:.0f} min" if seconds >= 90 else
            f"{max(seconds, 1):.0f} s")


class Progress:
    """Where all of it stands: a bar on a terminal, lines elsewhere."""

    def __init__(self, expected):
        self.expected = expected  # seconds, by name of what is left to do
        self.total = sum(expected.values())
        self.spent = 0
        self.name = ""
        self.begin = 0
        self.shown = setup.has_terminal()

    def start(self, name):
        self.name, self.begin = name, time.monotonic()

    def step(self, text):
        if not self.shown:
            return
        now = min(time.monotonic() - self.begin, self.expected[self.name])
        done = self.spent + now
        filled = round(BAR * done / self.total)
        left = max(0, self.total - done)
        line = (f"[{'#' * filled:{BAR}}] {about(left)} left  "
                f"{self.name}: {text}")
        width = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\033[K{line[:width - 1]}")
        sys.stderr.flush()

    def finish(self):
        self.spent += self.expected[self.name]
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def versions(lab):
    """By program; asked for once, as it takes starting all of them."""
    if not VERSIONS:
        VERSIONS.update(ask_versions(lab))
    return dict(VERSIONS)


def ask_versions(lab):
    known = {}
    for kind in PEERS:
        server = kind(lab)
        if not server.missing():
            known[(kind.program or kind.name).split()[0]] = server.version()
    for tool, (command, pattern) in TOOLS.items():
        if servers.find(tool):
            known[tool] = servers.first_match(command, pattern)
    known["sprintd"] = " ".join(filter(None, (known.get("sprintd"),
                                              commit())))
    return known


def _git(*words):
    try:
        done = subprocess.run(["git", "-C", servers.TOP, *words],
                              capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit():
    """Of the source, as far as it is known: it may have been unpacked within
    somebody else's repository."""
    top = _git("rev-parse", "--show-toplevel")
    if not top or os.path.realpath(top) != os.path.realpath(servers.TOP):
        return ""
    changed = _git("status", "--porcelain", "--", "src", "include", "bench",
                   ":!bench/results")
    return (f"({_git('rev-parse', '--short', 'HEAD') or 'no commit'}"
            + (", changed)" if changed else ")"))


def measure(experiment, options, progress, done):
    """One experiment, in a lab of its own: a record and a result, which is
    None when it cannot be done here. done: its parts.Parts."""
    begin = time.monotonic()
    result = None
    network.commands.clear()
    with setup.open_lab() as lab:
        record = {"experiment": experiment.name, "is_quick": options.quick,
                  "rounds_min": paired.ROUNDS_MIN,
                  "rounds_wanted": options.rounds,
                  "method": experiment.method,
                  "day": time.strftime("%Y-%m-%d"),
                  "machine": machine.describe(), "versions": versions(lab)}
        made = bench.Bench(lab, options.quick, progress.step, options.rounds,
                           done)
        try:
            result = experiment.measure(made)
            judging.settle(result.claims)
            result = results.mask_result(result)
            if lab.server_cpu == lab.client_cpu:
                result.noise.insert(0, "all of it: server and client had to "
                                    "share the only CPU")
        except (processes.Failure, OSError) as failure:
            record["failure"] = results.mask(str(failure))
        except Exception as error:  # the others shall be measured all the same
            traceback.print_exc()
            record["failure"] = f"a fault of the experiment: {error!r}"
        record["commands"] = results.tell_commands(
            [*network.commands, *lab.children.commands, *made.commands],
            lab.site.folder)
    record["seconds"] = round(time.monotonic() - begin + done.seconds, 1)
    return record, result


def expected_seconds(folder, experiment, options):
    record, result = results.load(folder, experiment)
    if result and record["is_quick"] == options.quick:
        return results.usual_seconds(experiment, record)
    return 3.0 if options.quick else experiment.seconds


@contextlib.contextmanager
def alone_in(folder):
    """Nobody else writes results there while the block lasts; that it can be
    done at all is seen before anything is measured."""
    os.makedirs(folder, exist_ok=True)
    results.write(os.path.join(folder, "probe"), "")
    os.remove(os.path.join(folder, "probe"))
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise processes.Failure("another run writes to "
                                    f"{os.path.relpath(folder)}") from error
        yield
    finally:
        os.close(descriptor)


def remove_leftovers():
    """Of runs that were killed outright; folders go with every lab."""
    network.remove_leftovers()
    old_disk.remove_leftovers()


def run(options):
    """Measures what is left to do; returns the exit status."""
    chosen = catalog.chosen(options.names)
    # Else all results would become failures.
    if not os.access(servers.Sprintd.binary(), os.X_OK):
        raise processes.Failure(
            f"there is no {os.path.relpath(servers.Sprintd.binary())}: make")
    folder = os.path.join(options.out, "results")
    with alone_in(folder):
        remove_leftovers()
        if options.out == OUT:
            results.restore(folder, KEPT, catalog.all_known())
        return measure_all(options, chosen, folder)


def measure_all(options, chosen, folder):
    state = results.Run(os.path.join(options.out, "lab.json"),
                        servers.Sprintd.binary(), options.quick,
                        options.rounds)
    if not options.fresh and not options.names:
        state.resume()
    # What has not worked is tried again, and what is lost.
    done = [each for each in chosen if each.name in state.done
            and results.load(folder, each)[1]]
    todo = [each for each in chosen if each not in done]
    if done:
        print(f"going on: {len(done)} were measured before")
    progress = Progress({each.name: expected_seconds(folder, each, options)
                         for each in todo})
    print(f"{len(todo)} experiment{'s' * (len(todo) != 1)}, about "
          f"{about(progress.total)}", flush=True)
    failures = 0
    for experiment in todo:
        progress.start(experiment.name)
        whole = parts.Parts(os.path.join(options.out, "parts",
                                         experiment.name), state.mark)
        if options.fresh:
            whole.end()
        record, result = measure(experiment, options, progress, whole)
        whole.end()
        try:
            results.save(folder, experiment, record, result)
        except (processes.Failure, subprocess.TimeoutExpired) as failure:
            setup.note(f"{experiment.name}: a figure is missing: {failure}")
        if options.out == OUT:
            results.keep(folder, KEPT, experiment)
        if not options.names:
            state.note(experiment.name)
        progress.finish()
        failures += result is None
        print(f"{experiment.name}: "
              + (f"{record['seconds']:.0f} s" if result else
                 f"not measured: {record['failure']}"), flush=True)
        if options.names:
            print("", *writing.section(folder, experiment, record, result),
                  sep="\n")
        report(options)
    if not options.names:
        state.end()
    return 1 if failures else 0


def report(options):
    folder = os.path.join(options.out, "results")
    if options.report and options.out == OUT:
        results.restore(folder, KEPT, catalog.all_known())
    path = os.path.join(options.out, "REPORT.md")
    writing.write(path, folder, catalog.all_known(folder))
    return path


def main():
    options = parse()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")  # not all can say µ
    try:
        if options.check:
            catalog.chosen(options.names)
            return 0
        status = 0 if options.report else run(options)
        print(f"the report is {os.path.relpath(report(options))}")
        return status
    except (processes.Failure, OSError) as failure:
        setup.note(failure)
        return 1
    except KeyboardInterrupt:
        setup.note("interrupted; everything it started has ended; what is "
                   "measured stays, and the next run goes on from there")
        return 130


if __name__ == "__main__":
    sys.exit(main())
