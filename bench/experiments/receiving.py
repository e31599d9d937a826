"""bench/receiver.c: a client that takes a file over and over, as any client
does or without copying it, and tells what that costs it and how it came."""

import dataclasses
import json
import os
import subprocess

from lab import compiled, machine, processes, servers, site

COPY, DISCARD = "copy", "discard"
MORE_S = 10


@dataclasses.dataclass
class Sample:
    mib_per_second: float
    server_us: float  # CPU time for each MiB
    client_us: float
    packet_bytes: float
    read_bytes: float

    @property
    def server_cpus(self):
        """CPUs that the server used."""
        return self.server_us * self.mib_per_second / 1e6

    @property
    def client_cpus(self):
        return self.client_us * self.mib_per_second / 1e6


def build(bench):
    """The program's path."""
    return compiled.build(
        os.path.join(bench.lab.site.folder, "receiver"),
        os.path.join(servers.BENCH, "receiver.c"))


def take(bench, binary, server, file_name, connections, seconds, how):
    """A Sample of so many connections for about that long."""
    instance = server.instance("")
    file_bytes = os.path.getsize(bench.lab.site.path(file_name))
    log_path = os.path.join(bench.lab.site.folder, "receiver.log")
    before = machine.cpu_ns(instance.pids)
    child = bench.lab.children.start(
        [binary, instance.port, f"/{file_name}", file_bytes, connections,
         round(seconds * 1e3), how],
        bench.lab.client_cpu, log_path, stdout=subprocess.PIPE, text=True)
    try:
        said = child.communicate(timeout=seconds + MORE_S)[0]
    except subprocess.TimeoutExpired:
        said = ""
    finally:
        bench.lab.children.end(child)
    spent_us = (machine.cpu_ns(instance.pids) - before) / 1e3
    if not said:
        raise processes.Failure("the receiver got nothing")
    told = json.loads(said)
    mib = told["bytes"] / site.MIB
    if not mib or not told["packets"] or not told["reads"]:
        raise processes.Failure("the receiver got nothing")
    return Sample(mib / (told["duration_us"] / 1e6), spent_us / mib,
                  told["cpu_us"] / mib, told["bytes"] / told["packets"],
                  told["bytes"] / told["reads"])
