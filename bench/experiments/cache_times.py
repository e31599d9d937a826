"""What a reply costs by where its file lies: on disk, in the kernel's page
cache, in a cache of sprintd's own, on tmpfs."""

import contextlib
import dataclasses
import os
import random
import shutil
import signal
import subprocess

from lab import loads, machine, processes, rounds, servers, site
from link import client

from . import bench as bench_module

DISK, MEMORY = "/var/tmp", "/dev/shm"
MEMORY_KINDS = ("tmpfs", "ramfs")
CONNECTIONS = 64
COLD_S, COLD_S_MIN = 0.4, 0.05
WARM_ROUNDS, WARM_S = 12, 0.2
COLD_NAMES_SHARE = 0.6  # wrk goes on for a moment, which must not use them up
PACED_PART = 5
RATE_MAX = 2000
RATE_SHARE = 0.5  # of what the slowest way can do
WAIT_S = 5
TENTH = 0.1
PAGE_CACHE = "page cache"
TMPFS = "tmpfs"
FLOOR = "floor"
ERRORS = ("connect_errors", "read_errors", "write_errors", "timeouts",
          "status_errors")


@contextlib.contextmanager
def folder_in(parent):
    """A Site in a folder of its own there, which is removed afterwards; None
    where there is no such place."""
    try:
        folder = site.make_folder(parent)
    except OSError:
        yield None
        return
    try:
        yield site.Site(folder)
    finally:
        # A second Ctrl-C must not leave files behind.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGINT, before)


def is_in_memory(folder):
    return machine.file_system(folder) in MEMORY_KINDS


def write_out(folder):
    """What is on its way to the disk cannot be evicted."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if processes.LIBC.syncfs(descriptor) == -1:
            raise processes.Failure(f"{folder} cannot be written out")
    finally:
        os.close(descriptor)


def evict(paths):
    """Has the kernel forget the files' pages; their inodes stay."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _disk_bytes(pids):
    """What processes have had fetched from a disk so far; 0 when the kernel
    does not tell."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), \
                open(f"/proc/{pid}/io", encoding="ascii") as file:
            total += sum(int(line.split()[1]) for line in file
                         if line.startswith("read_bytes:"))
    return total


@dataclasses.dataclass
class Cold:
    """The first time that files are asked for, by a new process."""

    cpu_us: float
    per_second: float
    disk_bytes: float  # per reply
    p99_ms: float = 0
    warm_p99_ms: float = 0  # of the same requests, the second time


class Times:
    """The measurements of one set of files, in three places."""

    def __init__(self, bench, disk, memory, files, policies):
        self.bench = bench
        self.disk = disk
        self.policies = policies
        self.runner = loads.Runner(bench.lab)
        names = [site.many_name(index) for index in range(files)]
        random.Random(bench.seed).shuffle(names)
        paced = files // PACED_PART
        self.paced_names = names[:paced]  # asked for at a fixed rate
        self.cold_names = names[paced:]   # and these as fast as can be
        self.cold_s = COLD_S_MIN
        self.programs = client.compile_programs(bench.lab.site.folder)
        self.rate = RATE_MAX
        bench.lab.site.put(site.SMALL, site.KIB)
        for made in filter(None, (disk, memory)):
            if made is not bench.lab.site:
                shutil.copy(bench.lab.site.path(site.SMALL), made.root)
        self.on_disk = [bench.sprintd(PAGE_CACHE, "--cache-size", 0,
                                      root=disk.root)]
        self.on_disk += [bench.sprintd(policy, "--cache-policy", policy,
                                       root=disk.root)
                         for policy in policies]
        self.others = []
        if memory:
            self.others.append(bench.sprintd(TMPFS, "--cache-size", 0,
                                             root=memory.root))
        self.floor = servers.Floor(bench.lab)
        if not self.floor.missing():
            self.others.append(self.floor)

    # --- Warm ----------------------------------------------------------------

    def _load(self, name, title, list_path):
        """Of paths in a file; the Site's own ones are not wanted."""
        return loads.Load(name, title, CONNECTIONS,
                          script=(lambda _site: "paths",
                                  lambda _site: list_path))

    def _write_list(self, name, names):
        path = os.path.join(self.bench.lab.site.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"/{each}\n" for each in names)
        return path

    def warm(self, trace, total_bytes):
        """A rounds.Cell by way: all in memory, and with own caches that hold
        a tenth of all (by "POLICY, a tenth")."""
        load = self._load("warm", "files in memory", self._write_list(
            "warm.txt", [trace.names[file] for file in trace.asked]))
        tenths = [self.bench.sprintd(
            tenth(policy), "--cache-policy", policy, "--cache-size",
            int(TENTH * total_bytes), root=self.disk.root)
            for policy in self.policies]
        cells = self.bench.measure(
            [load], [*self.on_disk, *tenths, *self.others], WARM_ROUNDS,
            WARM_S)
        return {server: cell for (_load, server), cell in cells.items()}

    # --- Cold ----------------------------------------------------------------

    def _cold_run(self, server, load):
        """As fast as can be, over files that nobody has asked for yet."""
        instance = server.instance(site.SMALL)
        before_cpu = machine.cpu_ns(instance.pids)
        before_disk = _disk_bytes(instance.pids)
        said = self.runner.put_load(server, load, self.cold_s)
        if not said or not said["requests"]:
            raise processes.Failure("no replies")
        replies = said["requests"]
        wrong = [f"{said[name]} {name.replace('_', ' ')}"
                 for name in ERRORS if said[name]]
        if wrong:
            raise processes.Failure(", ".join(wrong))
        if replies + CONNECTIONS > len(self.cold_names):
            raise processes.Failure(f"{replies} replies: files were asked for "
                                    f"twice")
        return Cold(
            cpu_us=((machine.cpu_ns(instance.pids) - before_cpu) / 1e3
                    / replies),
            per_second=replies / said["duration_us"] * 1e6,
            disk_bytes=(_disk_bytes(instance.pids) - before_disk) / replies)

    def _paced_run(self, server, name):
        """Requests at their times, whatever became of the others; ms."""
        lab = self.bench.lab
        rng = random.Random(f"{self.bench.seed} {self.rate:g}")
        count = min(len(self.paced_names),
                    round(self.rate * self.bench.pick(1.0, 0.1)))
        starts = sorted(rng.random() * count / self.rate
                        for _each in range(count))
        arrivals, results, log = (
            os.path.join(lab.site.folder, f"{name}.{end}")
            for end in ("arrivals", "csv", "log"))
        with open(arrivals, "w", encoding="ascii") as file:
            file.writelines(f"{round(start * 1e6)} {site.KIB} {path} -\n"
                            for start, path in zip(starts, self.paced_names))
        child = lab.children.start(
            [self.programs["openloop"], "-k", "-w", WAIT_S, servers.HOST,
             server.instance(site.SMALL).port, arrivals, results],
            lab.client_cpu, log)
        try:
            child.wait(starts[-1] + 2 * WAIT_S)
        except subprocess.TimeoutExpired:
            pass  # its status tells, once it has been ended
        finally:
            lab.children.end(child)
        if child.returncode != 0:
            raise processes.Failure("openloop has failed")
        found = client.load(results)
        failed = [each.outcome for each in found if each.outcome != client.OK]
        if failed:
            raise processes.Failure(f"{len(failed)} of {len(found)} requests "
                                    f"failed: {failed[0]}")
        return [each.done * 1e3 for each in found]

    def paced_p99_ms(self, server):
        """Of files in memory, the second time that they are asked for."""
        try:
            self._paced_run(server, "paced")
            return bench_module.percentile(
                self._paced_run(server, "paced"), 0.99)
        finally:
            server.stop()

    def _take_cold(self, server, load, is_paced=True):
        server.stop()
        server.instance(site.SMALL)
        evict(map(self.disk.path, self.cold_names + self.paced_names))
        try:
            sample = self._cold_run(server, load)
            if is_paced:
                first = self._paced_run(server, "paced")
                again = self._paced_run(server, "paced")
                sample.p99_ms = bench_module.percentile(first, 0.99)
                sample.warm_p99_ms = bench_module.percentile(again, 0.99)
            return sample
        except processes.Failure as failure:
            raise processes.Failure(f"{server.name}: {failure}") from failure
        finally:
            server.stop()

    def cold(self, full_rounds):
        """Lists of Cold by way's name, and what went wrong by the same."""
        load = self._load("cold", "files on disk", self._write_list(
            "cold.txt", self.cold_names))
        self.runner.prepare(load)
        self.bench.step("cold: how fast is the disk?")
        probe = self._take_cold(self.on_disk[0], load, is_paced=False)
        self.rate = min(RATE_MAX, RATE_SHARE * probe.per_second)
        self.cold_s = self.bench.pick(max(COLD_S_MIN, min(
            COLD_S, COLD_NAMES_SHARE * len(self.cold_names)
            / probe.per_second)), COLD_S_MIN)
        samples = {server.name: [] for server in self.on_disk}
        troubles = {}
        for turn in range(self.bench.rounds(full_rounds)):
            for server in rounds.in_order(self.on_disk, turn):
                if server.name in troubles:
                    continue
                self.bench.step(f"cold: {server.name}")
                try:
                    samples[server.name].append(self._take_cold(server, load))
                except processes.Failure as failure:
                    troubles[server.name] = str(failure)
        return {name: found for name, found in samples.items()
                if name not in troubles}, troubles


def tenth(policy):
    return f"{policy}, a tenth"
