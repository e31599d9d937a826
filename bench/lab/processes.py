"""Starts programs on a CPU and ends them, whatever happens."""

import ctypes
import os
import resource
import signal
import subprocess
import time

from . import machine

END_S = 5
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failure(Exception):
    """Something the reader must be told in a line; no traceback helps."""


def _end_with_parent():
    """Runs in the child: when this program is killed outright, the child is
    told to end too."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def raise_descriptor_limit():
    """Raises RLIMIT_NOFILE as far as it goes, for all children too."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Children:
    """The processes started here; leaving the with block ends them all."""

    def __init__(self):
        self.running = []
        self.commands = []
        self.handlers = {}

    def __enter__(self):
        self.handlers = {number: signal.getsignal(number)
                         for number in ENDING_SIGNALS}
        for number in (signal.SIGTERM, signal.SIGHUP):
            if self.handlers[number] != signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_error):
        # A second Ctrl-C must not leave servers behind.
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        for child in reversed(self.running[:]):
            self.end(child)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    @staticmethod
    def _on_signal(number, _frame):
        raise SystemExit(128 + number)

    def start(self, command, cpu, log_path, **options):
        """Starts a command on one CPU, in a session of its own so that Ctrl-C
        reaches only us. Its stderr goes to log_path, and its stdout unless
        options say otherwise."""
        argv = ["taskset", "-c", str(cpu), *map(str, command)]
        if argv not in self.commands:
            self.commands.append(argv)
        with open(log_path, "ab") as log:
            options.setdefault("stdout", log)
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stderr=log,
                start_new_session=True, preexec_fn=_end_with_parent,
                **options)
        self.running.append(child)
        return child

    def end(self, child):
        """Ends a child and whatever it started."""
        family = [(pid, machine.start_time(pid))
                  for pid in machine.tree(child.pid)]
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.running.remove(child)
        for pid, began in family[1:]:
            _end_orphan(pid, began)


def _end_orphan(pid, began):
    """A parent that was killed cannot end its children any more."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + 1
        while began is not None and machine.start_time(pid) == began:
            if time.monotonic() > end:
                break
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return
            time.sleep(0.01)
