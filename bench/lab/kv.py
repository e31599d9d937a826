"""The key-value store: against a file, against one commit for each put, and
against Redis, alone and behind webdis.

In every group all servers run in turns, like the peers.
"""

import argparse
import contextlib
import dataclasses
import http.client
import os
import tempfile

from . import loads, rounds, servers, site, stores
from .processes import Failure

KEYS = 10_000
PUT_BYTES = 100
CONNECTIONS = 64
PATIENCE_S = 5
FILL_S = 30
TRIES = 3
MARK = "00000000"  # load.lua's first key


@dataclasses.dataclass(frozen=True)
class KeyLoad(loads.Load):
    """Requests for random keys, in load.lua's way."""

    method: str = "GET"
    keys: int = KEYS
    value_bytes: int = PUT_BYTES


@dataclasses.dataclass(frozen=True)
class Goal:
    """sprintd's CPU time per reply is at most factor times another's; or its
    replies a second are at least that."""

    what: str  # an attribute of loads.Sample
    factor: float
    server: str
    load: str = ""  # "": the group's last

    def is_reached(self, ratio):
        return (ratio <= self.factor if self.what == "cpu_us"
                else ratio >= self.factor)

    def __str__(self):
        sign, what = (("≤", "CPU per reply") if self.what == "cpu_us"
                      else ("≥", "a second"))
        return f"{what} {sign} {self.factor:g} × {self.load or self.server}"


@dataclasses.dataclass(frozen=True)
class Group:
    """What is measured in turns, and compared."""

    title: str
    loads: tuple
    servers: tuple  # classes of stores, sprintd's first
    goals: tuple


def variant(kind, name, **settings):
    return type(kind.__name__, (kind,), {"name": name, **settings})


UNSYNCED = variant(stores.Sprintd, "sprintd, --kv-sync off", sync="off")
WEBDIS_NO = variant(stores.Webdis, "webdis + redis, no", fsync="no")
FILE = loads.Load("file", "the file", CONNECTIONS)
VALUE = KeyLoad("value", "the value", CONNECTIONS, keys=1,
                value_bytes=site.KIB)
GET = KeyLoad("get", "GET", CONNECTIONS, value_bytes=site.KIB)
PUT = KeyLoad("put", "PUT", CONNECTIONS, method="PUT")

GROUPS = (
    Group("GET of 1 KiB: a value against a file", (FILE, VALUE),
          (stores.Sprintd,), (Goal("cpu_us", 1.15, "sprintd", "file"),)),
    Group(f"GET of 1 KiB, {KEYS:,} keys", (GET,),
          (stores.Sprintd, stores.Webdis),
          (Goal("cpu_us", 1, stores.Webdis.name),)),
    Group(f"PUT of {PUT_BYTES} bytes, {KEYS:,} keys, answered when on disk",
          (PUT,),
          (stores.Sprintd, stores.Webdis, stores.Redis, stores.Commits),
          (Goal("per_second", 10, stores.Commits.name),
           Goal("per_second", 0.5, stores.Redis.name),
           Goal("cpu_us", 1, stores.Webdis.name))),
    Group(f"PUT of {PUT_BYTES} bytes, {KEYS:,} keys, answered at once", (PUT,),
          (UNSYNCED, WEBDIS_NO), (Goal("cpu_us", 1, WEBDIS_NO.name),)),
)


class Runner(loads.Runner):
    """Puts loads of keys on stores, besides those of files."""

    def prepare(self, load):
        if not isinstance(load, KeyLoad):
            super().prepare(load)

    def _arguments(self, server, load, order, method):
        """What load.lua is told."""
        head, tail = (server.get_path if method == "GET"
                      else server.put_path)
        body = load.value_bytes if method == "PUT" else 0
        return ["--", "keys", order, method, head, tail, str(load.keys),
                str(body)]

    def _command(self, server, load, order, method, seconds):
        return ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "-s",
                loads.SCRIPT,
                f"http://{servers.HOST}:{server.instance('').port}",
                *self._arguments(server, load, order, method)]

    def fill(self, server, load):
        """Puts every key, at least once."""
        seconds = 1
        while seconds < FILL_S:
            said = self.wrk(self._command(server, load, "each", "PUT",
                                          seconds + 2), seconds)
            if said and said["requests"] >= load.keys:
                return
            seconds *= 2
        raise Failure(f"{server.name}: filling it takes too long")

    def _ask(self, client, method, path, body=None):
        """The reply's body, and how many bytes all of it were."""
        client.request(method, MARK.join(path), body)
        reply = client.getresponse()
        got = reply.read()
        if reply.status >= 300:
            raise Failure(f"{method} is answered with {reply.status}")
        head = f"HTTP/1.1 200 {reply.reason}\r\n" + "".join(
            f"{key}: {value}\r\n" for key, value in reply.getheaders())
        return got, len(head) + 2 + len(got)

    def check(self, server, load):
        """Fills the store, and fails unless it has what was put there."""
        if not isinstance(load, KeyLoad):
            super().check(server, load)
            return
        if isinstance(server, stores.Commits) or server.put_load:
            self.reply_bytes[server.name, load.name] = 0
            return
        if load.keys <= KEYS:
            self.fill(server, load)
        client = http.client.HTTPConnection(
            servers.HOST, server.instance("").port, timeout=loads.TIMEOUT_S)
        value = b"v" * load.value_bytes
        found = b""
        try:
            # webdis has been seen to answer wrongly, once in a while.
            for _try in range(TRIES):
                if found != value:
                    _body, put_bytes = self._ask(client, "PUT",
                                                 server.put_path, value)
                    found, get_bytes = self._ask(client, "GET",
                                                 server.get_path)
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{server.name}: {error!r}") from error
        finally:
            client.close()
        if found != value:
            raise Failure(f"{server.name}: {len(found)} bytes, not those "
                          "that were put")
        self.reply_bytes[server.name, load.name] = (
            put_bytes if load.method == "PUT" else get_bytes)

    def put_load(self, server, load, seconds):
        if not isinstance(load, KeyLoad):
            return super().put_load(server, load, seconds)
        if server.put_load:
            return server.put_load(self, load, seconds)
        return self.wrk(self._command(server, load, "random", load.method,
                                      int(seconds) + 2), seconds)

    def measure(self, server, load, seconds):
        if isinstance(server, stores.Commits):
            return server.sample(self, load, seconds)
        return super().measure(server, load, seconds)


@contextlib.contextmanager
def disk():
    """A folder on a disk that is gone when the block ends."""
    with tempfile.TemporaryDirectory(
            prefix=f"{site.PREFIX}{os.getpid()}-", dir=stores.DISK,
            ignore_cleanup_errors=True) as folder:
        yield folder


def made(kinds, lab, folder):
    """Those of the servers that can run here; and why others cannot."""
    found = [kind(lab) for kind in kinds]
    reasons = {server.name: server.missing() for server in found}
    for server in found:
        server.disk = folder
    return [server for server in found if not reasons[server.name]], {
        name: reason for name, reason in reasons.items() if reason}


def patient(options):
    """There are many groups, and disks disturb by themselves."""
    return argparse.Namespace(**{
        **vars(options), "patience": min(options.patience, PATIENCE_S)})


def samples_wanted(options):
    """For who shows progress."""
    return options.rounds * sum(len(group.loads) * len(group.servers)
                                for group in GROUPS)


def measure(lab, folder, options, progress):
    """Of each group: cells by load and server, and what was left out."""
    results = []
    for group in GROUPS:
        found, left_out = made(group.servers, lab, folder)
        cells = {}
        if found:
            cells = rounds.measure(Runner(lab), group.loads, found, options,
                                   progress)
        results.append((group, cells, left_out))
    return results


def ratio(group, cells, goal):
    """sprintd's by what the goal compares it with; None: not measured."""
    load = group.loads[-1].name
    pair = [cells.get((load, group.servers[0].name)),
            cells.get((goal.load or load, goal.server))]
    if not all(cell and not cell.trouble for cell in pair):
        return None
    ours, theirs = (cell.median(goal.what) for cell in pair)
    return ours / theirs
