"""perf's samples of a sprintd, put into the phases of its own sampling."""

import collections
import contextlib
import os
import re
import signal
import subprocess
import time

from lab import processes, tools

from . import phase_sources

# The functions that begin a phase: the innermost one of a stack says where a
# sample of perf's belongs.
BEGINS = phase_sources.begins()
# Where a stack could not be followed out of the kernel.
CALLS = {"accept4": "accept", "recvfrom": "read", "sendto": "send",
         "sendmsg": "send", "writev": "send", "sendfile64": "send"}
CALL = re.compile(r"__\w+_sys_(\w+)")
FRAME = re.compile(r"\s+([0-9a-f]+) (\S+)")
SWITCHED_IN = "finish_task_switch"  # what a thread runs first
THREAD_ROOTS = ("start_thread", "clone", "clone3", "main", "_start")

HZ = 997            # no part of a tick
STACK_BYTES = 4096  # of each sample: to the thread's first function
ATTACH_S = 5
END_S = 30


def phase_of(frames):
    """The phase of a stack, from its innermost function on."""
    for name in frames:
        if name in BEGINS:
            return BEGINS[name]
    for name in frames:
        call = CALL.fullmatch(name)
        if call:
            return CALLS.get(call.group(1), "other")
    return "other"


def count(text):
    """What `perf script` prints, a stack in each paragraph: samples by (phase,
    is kernel); by phase those of a thread that was just switched in; and how
    many stacks could be followed to their first function."""
    found, switched = collections.Counter(), collections.Counter()
    followed = 0
    for paragraph in text.split("\n\n"):
        frames = FRAME.findall("\n" + paragraph)
        if not frames:
            continue
        names = [name.partition("+")[0] for _address, name in frames]
        address = frames[0][0]
        # The upper half of all addresses is the kernel's.
        is_kernel = len(address) == 16 and address[0] in "89abcdef"
        phase = phase_of(names)
        found[phase, is_kernel] += 1
        switched[phase] += names[0].startswith(SWITCHED_IN)
        followed += any(root in names for root in THREAD_ROOTS)
    return found, switched, followed


class Perf:
    """`perf record` of a process, while the with block lasts."""

    def __init__(self, lab, pid):
        self.lab = lab
        self.path = os.path.join(lab.site.folder, "perf.data")
        self.log_path = os.path.join(lab.site.folder, "perf.log")
        self.child = lab.children.start(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", HZ,
             "--call-graph", f"dwarf,{STACK_BYTES}", "-o", self.path,
             "-p", pid], lab.client_cpu, self.log_path)

    def __enter__(self):
        end = time.monotonic() + ATTACH_S
        while (not self.is_attached() and self.child.poll() is None
               and time.monotonic() < end):
            time.sleep(0.01)
        return self

    def is_attached(self):
        """Whether it has opened what it watches by."""
        folder = f"/proc/{self.child.pid}/fd"
        with contextlib.suppress(OSError):
            return any("perf_event" in os.readlink(f"{folder}/{fd}")
                       for fd in os.listdir(folder))
        return False

    def __exit__(self, *_error):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)  # it writes and ends
            try:
                self.child.wait(END_S)
            except subprocess.TimeoutExpired:
                pass
        self.lab.children.end(self.child)

    def stacks(self):
        """What `perf script` makes of it; a Failure when it was refused."""
        if not os.path.exists(self.path):
            with open(self.log_path, encoding="utf-8",
                      errors="replace") as log:
                said = log.read().strip().splitlines()
            raise processes.Failure(
                f"perf record: {said[0] if said else 'wrote nothing'}")
        try:
            return tools.run(self.lab, ["perf", "script", "-i", self.path,
                                        "-F", "ip,sym"], tools.PLENTY_S)
        finally:
            os.remove(self.path)
