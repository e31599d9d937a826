"""sprintd's key-value store, filled beforehand, with a cache in front of it or
without.

Of LOADS the keys are named as the site's many small files, and the values are
as large, so that the same lists of paths do for both.
"""

import dataclasses
import http.client
import json
import os
import shutil
import subprocess

from . import loads, machine, pressure, servers, site
from .processes import Failure

SCRIPT = os.path.join(servers.BENCH, "kv_cache.lua")
PREFIX = "/kv"
ENTRY_BYTES = 1330  # a value, its key, and what is known of them
SIZES = (("all", 64 * site.MIB), ("a tenth", site.MANY * ENTRY_BYTES // 10))
REPLY_BYTES_MIN = 90  # of a PUT: a head
LOADS = (loads.Load("get", "GET", 64, script=(0,)),
         loads.Load("mixed", "90 % GET, 10 % PUT", 64, script=(10,)))
SCARCE = loads.Load("scarce", "GET, memory taken away", 64, script=(0,))
IMPORT_S = 60


@dataclasses.dataclass(frozen=True)
class Way:
    """How a store is cached."""

    title: str
    options: tuple


NO_CACHE = Way("no cache", ("--kv-cache-size=0",))


def cached(size_title, policy, groups):
    """The way with a cache of one of SIZES."""
    return Way(f"{size_title}, {policy}, {groups} groups",
               (f"--kv-cache-size={dict(SIZES)[size_title]}",
                f"--kv-cache-policy={policy}", f"--kv-lock-groups={groups}"))


def name_of(way, workers):
    return f"{way.title}, {workers}"


def fill(lab, name, keys):
    """Makes a store of these keys, a KiB each; returns its folder."""
    server = servers.Sprintd(lab)
    if server.missing():
        raise Failure(server.missing())
    path = os.path.join(lab.site.folder, name)
    lines = "".join(json.dumps({"key": key, "value": "v" * site.KIB}) + "\n"
                    for key in keys)
    done = subprocess.run([server.binary(), "kv", "import", path], input=lines,
                          text=True, capture_output=True, check=False,
                          timeout=IMPORT_S)
    if done.returncode != 0:
        raise Failure(f"import: {done.stderr.strip()}")
    return path


def fill_many(lab):
    """The store of LOADS' keys; returns its folder."""
    return fill(lab, "filled", map(site.many_name, range(site.MANY)))


class Store(servers.Sprintd):
    """sprintd with a store of its own, a copy of the template. Its writes are
    not synced: what a sync costs would hide the rest."""

    program = "sprintd"

    def __init__(self, lab, way, workers, template, disk=""):
        """disk: a folder for the store, where it shall lie on one."""
        super().__init__(lab)
        self.name = name_of(way, workers)
        self.workers = workers
        self.arguments = way.options
        self.template = template
        self.disk = disk
        self.store = ""
        if workers > 1:
            self.cpus = f"{lab.server_cpu},{lab.client_cpu}"

    def command(self, folder, port, file_name):
        self.store = os.path.join(self.disk or folder, f"kv-{port}")
        shutil.copytree(self.template, self.store)
        return [*super().command(folder, port, file_name)[:-1],
                f"--kv={PREFIX}={self.store}", "--kv-sync=off", self.root]


class Runner(loads.Runner):
    """Asks for keys by a list, in the place of files."""

    def __init__(self, lab):
        super().__init__(lab)
        self.list_path = lab.site.draw()

    def prepare(self, load):
        pass  # the store is filled

    def check(self, server, load):
        client = http.client.HTTPConnection(
            servers.HOST, server.instance("").port, timeout=loads.TIMEOUT_S)
        try:
            client.request("GET", f"{PREFIX}/{site.many_name(0)}")
            reply = client.getresponse()
            if reply.status != 200 or len(reply.read()) != site.KIB:
                raise Failure(f"{server.name}: a wrong reply, status "
                              f"{reply.status}")
        except (OSError, http.client.HTTPException) as error:
            raise Failure(f"{server.name}: {error!r}") from error
        finally:
            client.close()
        self.reply_bytes[server.name, load.name] = REPLY_BYTES_MIN

    def command(self, port, load, seconds):
        return ["wrk", "-t1", f"-c{load.connections}",
                f"-d{int(seconds) + 2}s", "-s", SCRIPT,
                f"http://{servers.HOST}:{port}{PREFIX}/", "--",
                self.list_path, *map(str, load.script)]


class ScarceRunner(Runner):
    """The same, while the store's pages are taken away from the server."""

    def __init__(self, lab):
        super().__init__(lab)
        self.faults = {}  # waits for the disk by 1,000 replies: a list for
                          # each server's name

    def check(self, server, load):
        super().check(server, load)
        path = os.path.join(server.store, "data.mdb")
        kind = machine.file_system(server.store)
        if kind == "tmpfs":
            raise Failure(f"{server.store} is on no disk ({kind})")
        with open(path, "rb") as file:
            os.fsync(file.fileno())  # what is not written cannot be taken
        try:
            pressure.take_pages(server.instance("").child.pid, path)
        except (OSError, AttributeError) as error:
            raise Failure(f"pages cannot be taken away: {error}") from error

    def measure(self, server, load, seconds):
        pid = server.instance("").child.pid
        before = pressure.major_faults(pid)
        with pressure.Pressure(pid, os.path.join(server.store, "data.mdb")):
            sample = super().measure(server, load, seconds)
        if not sample.trouble:
            self.faults.setdefault(server.name, []).append(
                (pressure.major_faults(pid) - before) / sample.replies * 1e3)
        return sample
