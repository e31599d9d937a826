"""Each load's shape, the goal set for it, and one run of wrk."""

import dataclasses
import http.client
import json
import os
import signal
import subprocess
import time

from . import machine, servers, site
from .processes import Failure

SCRIPT = os.path.join(servers.BENCH, "load.lua")
TIMEOUT_S = 5
WARM_UP_S = 0.1
SETTLE_S = 0.02
CLOSING_S = 5
CLOSE = "Connection: close"
SHORT_OF = 0.97  # what passes for "all", where a run's ends are ragged


@dataclasses.dataclass(frozen=True)
class Goal:
    """sprintd's CPU time per reply against another's, or its own elsewhere."""

    factor: float
    server: str
    load: str = ""  # "": the same load

    def __str__(self):
        whose = self.load or self.server
        return f"≤ {self.factor:g} × {whose}"


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    title: str
    connections: int
    file_name: str = site.SMALL
    file_bytes: int = site.KIB
    script: tuple = ()  # load.lua's arguments; a callable is asked for it
    body_bytes: int = 0  # of a request, which is a POST then
    closes: bool = False
    goal: Goal = None

    @property
    def is_large(self):
        """Whether one reply is so much that counting whole ones misleads."""
        return self.file_bytes >= site.MIB


LOADS = (
    Load("1k", "1 KiB, 64 keep-alive connections", 64,
         goal=Goal(1.12, "floor")),
    Load("64k", "64 KiB, 64 connections", 64, "64k.bin", 64 * site.KIB,
         goal=Goal(1.0, "nginx")),
    Load("10m", "10 MiB, 4 connections", 4, "10m.bin", 10 * site.MIB,
         goal=Goal(1.05, "floor")),
    Load("new", "1 KiB, a new connection for every request", 64, closes=True,
         goal=Goal(1.0, "h2o")),
    Load("1000", "1 KiB, 1,000 connections", 1000, goal=Goal(1.12, "floor")),
    Load("one", "1 KiB, one connection, one request at a time", 1,
         goal=Goal(1.2, "floor")),
    Load("pipeline", "1 KiB, pipelined by 16, 64 connections", 64,
         script=("pipeline", 16), goal=Goal(0.6, "floor")),
    Load("one-file", "1 KiB, the next row's requests, but for a single file",
         64, script=("paths", site.Site.repeat)),
    Load("zipf", "1 KiB, 10,000 files by Zipf's law", 64,
         script=("paths", site.Site.draw),
         goal=Goal(1.15, "sprintd", "one-file")),
)


@dataclasses.dataclass
class Sample:
    """One load on one server for a moment."""

    replies: float = 0
    seconds: float = 0
    cpu_us: float = 0  # per reply
    busy: float = 0    # the server's share of its CPU
    soft_irq_us: float = 0  # per reply, of the kernel's thread; not in cpu_us
    foreign: float = 0  # others' share of the server's CPU
    p50_us: float = 0
    p99_us: float = 0
    trouble: str = ""  # why the sample counts for nothing

    @property
    def per_second(self):
        return self.replies / self.seconds if self.seconds else 0


class Runner:
    """Puts loads on servers and measures."""

    def __init__(self, lab):
        self.lab = lab
        self.log_path = os.path.join(lab.site.folder, "wrk.log")
        self.scripts = {}      # load name: load.lua's arguments
        self.reply_bytes = {}  # (server, load): head and body
        thread = machine.soft_irq_thread(lab.server_cpu)
        self.soft_irq_pids = [thread] if thread else []

    def prepare(self, load):
        """Makes the files and lists of paths a load needs."""
        self.lab.site.put(load.file_name, load.file_bytes)
        if load.script and load.script[0] == "paths":
            self.lab.site.put_many()
        self.scripts[load.name] = [
            part(self.lab.site) if callable(part) else str(part)
            for part in load.script]

    def check(self, server, load):
        """Asks for the file once, and fails unless the reply is right."""
        instance = server.instance(load.file_name)
        client = http.client.HTTPConnection(servers.HOST, instance.port,
                                            timeout=TIMEOUT_S)
        headers = {"Connection": "close"} if load.closes else {}
        body = b"v" * load.body_bytes
        try:
            client.request("POST" if body else "GET", f"/{load.file_name}",
                           body or None, headers)
            reply = client.getresponse()
            body = reply.read()
            with open(self.lab.site.path(load.file_name), "rb") as file:
                if reply.status != 200 or body != file.read():
                    raise Failure(f"{server.name}: a wrong reply, status "
                                  f"{reply.status}, {len(body)} bytes")
            if load.closes and reply.headers["Connection"] != "close":
                raise Failure(f"{server.name}: no `{CLOSE}` in the reply")
            # http.client hides the end of the connection: the status line,
            # the fields and the empty line, as they were.
            head = f"HTTP/1.1 200 {reply.reason}\r\n" + "".join(
                f"{key}: {value}\r\n" for key, value in reply.getheaders())
            self.reply_bytes[server.name, load.name] = (len(head) + 2
                                                        + len(body))
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{server.name}: {error!r}") from error
        finally:
            client.close()

    def command(self, port, load, seconds):
        command = ["wrk", "-t1", f"-c{load.connections}",
                   f"-d{int(seconds) + 2}s", "-s", SCRIPT]
        if load.closes:
            command += ["-H", CLOSE]
        command += [f"http://{servers.HOST}:{port}/{load.file_name}"]
        if load.script:
            command += ["--", *self.scripts[load.name]]
        return command

    def wrk(self, command, seconds):
        """Runs wrk for about that long. It takes whole seconds only, but on
        SIGINT it stops within 0.1 s and reports as usual. It gets ready for
        that right before it begins, which tells us when that is."""
        child = self.lab.children.start(
            command, self.lab.client_cpu, self.log_path,
            stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + TIMEOUT_S
        while (not machine.catches(child.pid, signal.SIGINT)
               and child.poll() is None and time.monotonic() < end):
            time.sleep(0.005)
        time.sleep(seconds)
        child.send_signal(signal.SIGINT)
        try:
            output, _none = child.communicate(timeout=seconds + TIMEOUT_S)
        except subprocess.TimeoutExpired:
            output = ""
        self.lab.children.end(child)
        for line in output.splitlines():
            if line.startswith("{"):
                return json.loads(line)
        return None

    def put_load(self, server, load, seconds):
        """Puts the load on the server for about that long. Returns what
        load.lua told at its end, or None."""
        port = server.instance(load.file_name).port
        return self.wrk(self.command(port, load, seconds), seconds)

    def _let_close(self, instance, load):
        """Waits until a server has closed what a load has left, where that and
        the next one's connections could be too many at once."""
        if load.connections < self.lab.descriptors / 4:
            return
        end = time.monotonic() + CLOSING_S
        few = (1 - SHORT_OF) * load.connections
        while (machine.connections_held(instance.port) > few
               and time.monotonic() < end):
            time.sleep(SETTLE_S)

    def _read_clocks(self, instance):
        """All that grows while a load runs."""
        return (time.monotonic_ns(), machine.cpu_ns(instance.pids),
                machine.cpu_ns(self.soft_irq_pids),
                machine.cpu_busy_ns(self.lab.server_cpu),
                machine.connections_opened())

    def measure(self, server, load, seconds):
        """One sample, behind a warm-up."""
        instance = server.instance(load.file_name)
        if not instance.is_alive():
            return Sample(trouble=f"{server.name} has ended")
        self.put_load(server, load, WARM_UP_S)
        self._let_close(instance, load)
        before = self._read_clocks(instance)
        said = self.put_load(server, load, seconds)
        time.sleep(SETTLE_S)  # the server hears of the closed connections
        after = self._read_clocks(instance)
        wall_ns, cpu_ns, soft_irq_ns, busy_ns, opened = (
            end - begin for begin, end in zip(before, after))
        if not instance.is_alive():
            return Sample(trouble=f"{server.name} has ended")
        reply_bytes = self.reply_bytes[server.name, load.name]
        replies = 0
        if said:
            replies = (said["bytes"] / reply_bytes if load.is_large
                       else said["requests"])
        if not replies:
            return Sample(trouble="no replies")
        seconds = said["duration_us"] / 1e6
        return Sample(
            replies=replies, seconds=seconds,
            cpu_us=cpu_ns / 1e3 / replies,
            busy=cpu_ns / 1e9 / seconds,
            soft_irq_us=soft_irq_ns / 1e3 / replies,
            foreign=max(0, busy_ns - cpu_ns - soft_irq_ns) / wall_ns,
            p50_us=said["p50_us"], p99_us=said["p99_us"],
            trouble=_trouble(load, said, reply_bytes, opened))


def _trouble(load, said, reply_bytes, opened):
    """Why a run is not what it should be, or nothing."""
    errors = [f"{said[name]} {name.replace('_', ' ')}"
              for name in ("connect_errors", "read_errors", "write_errors",
                           "timeouts", "status_errors") if said[name]]
    if said["bytes"] < SHORT_OF * said["requests"] * reply_bytes:
        errors.append(f"{said['bytes'] / said['requests']:.0f} bytes a reply "
                      f"instead of {reply_bytes}")
    if load.closes and opened < SHORT_OF * said["requests"]:
        errors.append(f"{opened} connections for {said['requests']} requests")
    return ", ".join(errors)
