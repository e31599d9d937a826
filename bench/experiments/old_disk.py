"""A machine as the originals may have had: a slow disk, no memory to keep
files, and sockets that take little at once.

The kernel itself makes a server wait for reads as long as such a disk would
(blkio's throttle of a control group), its page cache is told to forget the
files, and a network namespace has small socket buffers, Ethernet's frames, and
a link that is no faster than a few old ones.
"""

import contextlib
import os
import threading

from lab import processes, site
from link import network

GROUPS = "/sys/fs/cgroup"
PREFIX = "sprintd-lab"
BYTES_PER_SECOND = 16_000_000
READS_PER_SECOND = 2_000
FORGET_S = 0.02
SOCKET_BYTES = 32_768  # of what is to be sent
FRAME_BYTES = 1_500
LINK_MBIT = 200


def _device(path):
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)


def _limits(device):
    """How each version of control groups wants to be told: the folder, and
    what goes to which of its files."""
    return (
        ("blkio", {
            "blkio.throttle.read_bps_device": f"{device} {BYTES_PER_SECOND}",
            "blkio.throttle.read_iops_device":
                f"{device} {READS_PER_SECOND}"}),
        ("", {"io.max": f"{device} rbps={BYTES_PER_SECOND} "
                        f"riops={READS_PER_SECOND}"}),
    )


def remove_leftovers():
    """Removes the control groups of runs that were killed outright."""
    for parent, _told in _limits(""):
        folder = os.path.join(GROUPS, parent)
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if site.ended(name, f"{PREFIX}-"):
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(folder, name))


@contextlib.contextmanager
def group(path):
    """Yields the folder of a control group whose processes read from the disk
    of this path slowly; or a Failure."""
    reasons = []
    for parent, limits in _limits(_device(path)):
        folder = os.path.join(GROUPS, parent, f"{PREFIX}-{os.getpid()}")
        try:
            os.mkdir(folder)
        except OSError as error:
            reasons.append(str(error))
            continue
        try:
            try:
                for name, text in limits.items():
                    _write(folder, name, text)
            except OSError as error:
                reasons.append(str(error))
                continue
            yield folder
            return
        finally:
            os.rmdir(folder)
    raise processes.Failure("no slow disk can be had here: "
                            + "; ".join(reasons))


def join(folder, pids):
    for pid in pids:
        _write(folder, "cgroup.procs", str(pid))


@contextlib.contextmanager
def small_sockets(mbit=LINK_MBIT):
    """All that begins in the with block has a loopback of its own, so wide and
    of small socket buffers; or a Failure."""
    # Named so that network.remove_leftovers() knows it.
    name = f"{network.PREFIX}-{os.getpid()}-old"
    network.run("ip", "netns", "add", name)
    try:
        network.run("ip", "-n", name, "link", "set", "lo", "mtu",
                    str(FRAME_BYTES), "up")
        network.run("tc", "-n", name, "qdisc", "add", "dev", "lo", "root",
                    "tbf", "rate", f"{mbit}mbit", "burst", "64k",
                    "limit", "4m")
        with network.inside(name):
            _write("/proc/sys/net/ipv4", "tcp_wmem",
                   f"4096 {SOCKET_BYTES // 2} {SOCKET_BYTES}")
            yield
    finally:
        network.run("ip", "netns", "del", name)


def settle(paths):
    """Sees that files are on the disk: others could not be forgotten."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_all(paths):
    return [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths]


def _forget(descriptors):
    for descriptor in descriptors:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


class Forgetful:
    """Files that the kernel does not have in memory when the with block
    begins. Those in often it does not keep for longer than FORGET_S either,
    while the block lasts. The others it keeps: large ones, of which it would
    throw away what it has just read ahead."""

    def __init__(self, often, others):
        self.often = _open_all(often)
        self.others = _open_all(others)
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.end.wait(FORGET_S):
            _forget(self.often)

    def __enter__(self):
        _forget(self.often + self.others)
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.end.set()
        self.thread.join()
        for descriptor in self.often + self.others:
            os.close(descriptor)
