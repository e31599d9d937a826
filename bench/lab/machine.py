"""What /proc tells: CPU time, memory, processes, the machine itself."""

import os
import platform
import subprocess

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, which may hold blanks."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def start_time(pid):
    """When pid began, in ticks: with pid it names a process for good. None
    once it has ended (a zombie has)."""
    fields = _stat_fields(pid)
    return fields[19] if fields and fields[0] not in "ZX" else None


def catches(pid, number):
    """Whether the process has a handler for a signal by now."""
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def tree(pid):
    """pid and all its descendants."""
    pids = [pid]
    for parent in pids:
        for task in _tasks(parent):
            children = _read(f"/proc/{parent}/task/{task}/children")
            pids.extend(int(child) for child in children.split())
    return pids


def _tasks(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _task_cpu_ns(pid, task):
    fields = _read(f"/proc/{pid}/task/{task}/schedstat").split()
    return int(fields[0]) if fields else None


def ticked_cpu_ns(pid):
    """User and system time in ticks, threads that have ended included: the way
    of kernels without schedstat."""
    fields = _stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) * TICK_NS if fields else 0


def cpu_ns(pids):
    """User and system time of the processes, all their threads included.

    The scheduler's own sum, to the nanosecond, where the kernel shows it; a
    thread that has ended by then is missing, but these servers keep theirs.
    """
    total = 0
    for pid in pids:
        times = [_task_cpu_ns(pid, task) for task in _tasks(pid)]
        if times and None not in times:
            total += sum(times)
        else:
            total += ticked_cpu_ns(pid)
    return total


def times_run(pids):
    """How often threads of these were given a CPU: each time costs a switch,
    and often a wake-up. 0 where the kernel does not tell."""
    total = 0
    for pid in pids:
        for task in _tasks(pid):
            fields = _read(f"/proc/{pid}/task/{task}/schedstat").split()
            total += int(fields[2]) if len(fields) == 3 else 0
    return total


def cpu_busy_ns(cpu):
    """How long a CPU has not been idle: everyone's work, to the tick."""
    for line in _read("/proc/stat").splitlines():
        name, *times = line.split()
        if name == f"cpu{cpu}":
            user, nice, system, _idle, _wait, irq, softirq, steal = times[:8]
            return TICK_NS * sum(map(int, (user, nice, system, irq, softirq,
                                           steal)))
    return 0


def soft_irq_thread(cpu):
    """The kernel thread that takes over when packets come in faster than
    they can be handled in passing; None when it cannot be found."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if _read(f"/proc/{pid}/comm").strip() == f"ksoftirqd/{cpu}":
            return int(pid)
    return None


def memory_bytes(pids):
    """Resident user memory. smaps_rollup counts pages; what statm says may
    lag behind by megabytes on machines with many CPUs."""
    total = 0
    for pid in pids:
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
    return total


def mapped_bytes(pids, path):
    """Resident pages that are a file's, mapped: others use them too, and the
    kernel takes them back when it needs room."""
    total = 0
    for pid in pids:
        is_ours = False
        for line in _read(f"/proc/{pid}/smaps").splitlines():
            words = line.split()
            if not words[0].endswith(":"):
                is_ours = words[-1] == path
            elif is_ours and words[0] == "Rss:":
                total += int(words[1]) * 1024
    return total


def file_system(path):
    """What kind of one a path is on: on some, syncing does nothing."""
    mounts = [line.split()[1:3] for line in _read("/proc/mounts").splitlines()]
    path = os.path.join(os.path.realpath(path), "")
    found = [(len(where), kind) for where, kind in mounts
             if path.startswith(os.path.join(where, ""))]
    if found:
        return max(found)[1]
    # A changed root need be no mount point; then no line is of it.
    return subprocess.run(["stat", "-f", "-c", "%T", path], check=True,
                          capture_output=True, text=True).stdout.strip()


def connections_opened():
    """TCP connections this system's clients have opened so far."""
    lines = [line.split() for line in _read("/proc/net/snmp").splitlines()
             if line.startswith("Tcp:")]
    return int(dict(zip(*lines))["ActiveOpens"])


def connections_held(port):
    """TCP connections to a local IPv4 port that the server there has not
    closed."""
    held = 0
    for line in _read("/proc/net/tcp").splitlines()[1:]:
        _slot, local, _remote, state, *_more = line.split(None, 4)
        if local.endswith(f":{port:04X}") and state in ("01", "08"):
            held += 1  # ESTABLISHED, CLOSE_WAIT
    return held


def _listeners(path):
    """The local ends of those who listen: they stand first in the table, which
    may be very long behind them."""
    try:
        with open(path, encoding="ascii") as file:
            next(file)
            for line in file:
                fields = line.split()
                if fields[3] != "0A":
                    return
                yield fields[1]
    except OSError:
        return


def listens(port):
    """Whether someone listens on the port; nobody is disturbed by asking."""
    return any(address.endswith(f":{port:04X}")
               for name in ("tcp", "tcp6")
               for address in _listeners(f"/proc/net/{name}"))


def describe():
    """The machine in a few words, for the head of a report."""
    model = [line.partition(":")[2].strip()
             for line in _read("/proc/cpuinfo").splitlines()
             if line.startswith("model name")]
    memory_kib = _read("/proc/meminfo").split()[1]
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": model[0] if model else platform.machine(),
        "cpus": os.cpu_count(),
        "memory_mib": int(memory_kib) // 1024,
        "python": platform.python_version(),
    }
