"""What both programs of bench/ begin with: options, CPUs, a folder."""

import argparse
import contextlib
import dataclasses
import json
import os
import platform
import shlex
import shutil
import signal
import sys
import tempfile
import time

from . import machine, processes, servers, site


REMOVALS = 10


@dataclasses.dataclass
class Lab:
    """What everything here runs in."""

    site: site.Site
    children: processes.Children
    server_cpu: int
    client_cpu: int
    descriptors: int


def positive(kind):
    """An argument's type: a number above zero."""
    def convert(text):
        value = kind(text)
        if not value > 0:
            raise ValueError
        return value
    convert.__name__ = f"positive {kind.__name__}"
    return convert


def parser(description, rounds, seconds):
    """An argument parser with the options both programs have."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--rounds", type=positive(int), default=rounds,
                      metavar="N",
                      help="measure everything N times in turn (%(default)s)")
    made.add_argument("--seconds", type=positive(float), default=seconds,
                      metavar="S",
                      help="of one measurement (%(default)s)")
    made.add_argument("--patience", type=float, default=30, metavar="S",
                      help="go on that long to repeat what others using the "
                      "CPU have disturbed (%(default)s)")
    made.add_argument("--json", metavar="FILE",
                      help="write every sample there too")
    made.add_argument("-v", "--verbose", action="store_true",
                      help="print command lines and configurations")
    return made


def choose(wanted, known, what):
    """Those of the known things that a comma-separated option names."""
    if wanted is None:
        return list(known)
    names = wanted.split(",")
    strangers = set(names) - {thing.name for thing in known}
    if strangers:
        raise processes.Failure(
            f"no such {what}: {', '.join(sorted(strangers))} (there are: "
            f"{', '.join(thing.name for thing in known)})")
    return [thing for thing in known if thing.name in names]


def _end_once(number, _frame):
    """A signal's handler: what is removed now must not be broken off by the
    next one."""
    for each in processes.ENDING_SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _catch():
    for number in processes.ENDING_SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_once)


def _hold_signals():
    """Returns the mask as it was."""
    return signal.pthread_sigmask(signal.SIG_BLOCK,
                                  processes.ENDING_SIGNALS)


@contextlib.contextmanager
def _temporary_files_in(folder):
    """Of the programs that are started, which leave them when they are killed
    as compilers do; Python has settled on its own place already."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _remove(folder):
    """Who is ending may still write into it while it is being emptied."""
    for _try in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.2)


@contextlib.contextmanager
def open_lab():
    """Yields a Lab; nothing of it is left when the block ends."""
    for tool, package in (("wrk", "wrk"), ("taskset", "util-linux")):
        if not servers.find(tool):
            raise processes.Failure(
                f"{tool} is missing: apt-get install {package}")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        note("only one CPU: server and client share it, the numbers tell "
             "little")
    if not site.PLAIN.fullmatch(tempfile.gettempdir()):
        raise processes.Failure("TMPDIR: servers' configurations take plain "
                                "names only, without blanks")
    site.remove_leftovers()
    before = os.sched_getaffinity(0)
    # Signals have to wait but where all that was begun is ended: a second
    # Ctrl-C, too, until everything is removed.
    mask = _hold_signals()
    folder = site.make_folder()
    try:
        with _temporary_files_in(folder), processes.Children() as children:
            _catch()
            os.sched_setaffinity(0, cpus[-1:])
            made = Lab(site.Site(folder), children, cpus[0], cpus[-1],
                       min(processes.raise_descriptor_limit(), 20_000))
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                yield made
            finally:
                _hold_signals()
    finally:
        os.sched_setaffinity(0, before)
        _remove(folder)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def available(wanted):
    """Those servers that can be measured here; says why others cannot."""
    found = []
    left_out = {}
    for server in wanted:
        reason = server.missing()
        if reason:
            left_out[type(server).name] = reason
        else:
            found.append(server)
    for name, reason in left_out.items():
        note(f"{name} is left out: {reason}")
    if not found:
        raise processes.Failure("nothing is left to measure")
    return found


def note(text):
    print(f"bench: {text}", file=sys.stderr)


def has_terminal():
    """Whether somebody sees a line that is written over and over."""
    return (sys.stderr is not None and sys.stderr.isatty()
            and os.environ.get("TERM", "dumb") != "dumb")


class Progress:
    """Where a run stands, on a terminal's last line."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.begin = time.monotonic()
        self.shown = has_terminal()

    def step(self, text):
        """Another of the total steps begins."""
        spent = time.monotonic() - self.begin
        left = spent / self.done * (self.total - self.done) if self.done else 0
        self.done += 1
        self.total = max(self.total, self.done)  # some steps are repeated
        if self.shown:
            sys.stderr.write(f"\r\033[K{self.done}/{self.total}  "
                             f"{left:.0f} s left  {text}")
            sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")


def facts(lab, started):
    """The machine and the versions, in order."""
    known = machine.describe()
    known["server_cpu"], known["client_cpu"] = lab.server_cpu, lab.client_cpu
    known["descriptors"] = lab.descriptors
    known["libc"] = " ".join(platform.libc_ver())
    # By the class: programs, where several servers are the same one.
    known["versions"] = {type(server).name: server.version()
                         for server in started}
    known["versions"]["wrk"] = servers.first_match(["wrk", "-v"],
                                                   r"wrk (?:debian/)?(\S+)")
    return known


def print_facts(known):
    print(f"{known['kernel']}, {known['cpu']}, {known['cpus']} CPUs, "
          f"{known['memory_mib']} MiB; server on CPU {known['server_cpu']}, "
          f"wrk on CPU {known['client_cpu']}")
    print(", ".join(f"{name} {version}"
                    for name, version in known["versions"].items()))


def print_commands(lab, started):
    """Everything that was run, so that anybody may run it again."""
    print("\nCommand lines (in a folder that is gone now):")
    for argv in lab.children.commands:
        print("  " + shlex.join(argv))
    for server in started:
        if server.config:
            print(f"\n{server.name}.conf:")
            print("  " + server.config.replace("\n", "\n  ").rstrip())


def finish(lab, options, started, begin, result):
    """What both programs end with."""
    if options.verbose:
        print_commands(lab, started)
    print(f"\n{options.rounds} rounds of {options.seconds:g} s, "
          f"{time.monotonic() - begin:.0f} s in all")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**result, "rounds": options.rounds,
                       "seconds": options.seconds,
                       "commands": lab.children.commands,
                       "configurations": {server.name: server.config
                                          for server in started}},
                      file, indent=1)
            file.write("\n")


def main(run, options):
    """Runs a program in a lab; returns its exit status."""
    try:
        with open_lab() as lab:
            run(lab, options)
    except processes.Failure as failure:
        note(failure)
        return 1
    except KeyboardInterrupt:
        note("interrupted; everything it started has ended")
        return 130
    return 0
