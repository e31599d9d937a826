"""Takes a file's pages away from a process again and again, as the kernel does
when others need the memory: what is mapped must be read from the disk then.

Where there is no swap the kernel has nothing but pages of files to take, so
what a process keeps in memory of its own stays.
"""

import ctypes
import os
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_PROCESS_MADVISE = 440  # on every architecture
MADV_PAGEOUT = 21
PERIOD_S = 0.05


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _ranges(pid, path):
    """Where the file is mapped."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[-1] == path:
                begin, end = (int(text, 16) for text in words[0].split("-"))
                found.append(Iovec(begin, end - begin))
    return found


def take_pages(pid, path):
    """Once. An OSError when the kernel does not let us. They must be written
    already."""
    ranges = _ranges(pid, path)
    pid_fd = os.pidfd_open(pid)
    try:
        for each in ranges:
            if LIBC.syscall(SYS_PROCESS_MADVISE, pid_fd, ctypes.byref(each),
                            ctypes.c_size_t(1), MADV_PAGEOUT, 0) == -1:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
    finally:
        os.close(pid_fd)


def major_faults(pid):
    """How often the process has waited for a page from the disk."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[9])


class Pressure:
    """Goes on as long as the block."""

    def __init__(self, pid, path):
        self.pid = pid
        self.path = path
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.is_over.wait(PERIOD_S):
            try:
                take_pages(self.pid, self.path)
            except OSError:
                return  # it has ended; its own trouble is told elsewhere

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.is_over.set()
        self.thread.join()
