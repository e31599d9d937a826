"""Each key-value store's configuration, command line and version.

All of them keep what they are given in a folder that lies on a disk. Redis
shall not begin to write its file anew while it is measured, which would cost
it more.
"""

import json
import os
import re
import shlex
import subprocess

from . import compiled, servers
from .loads import Sample

DISK = "/var/tmp"  # /tmp may be in memory, where syncing costs nothing
PLENTY_S = 60

WEBDIS_CONF = """\
{{
    "redis_host": "{folder}/redis.sock", "redis_port": 0, "redis_auth": null,
    "http_host": "{host}", "http_port": {port}, "threads": 1, "pool_size": 20,
    "daemonize": false, "database": 0,
    "verbosity": 0, "logfile": "{folder}/webdis.log"
}}
"""


class Store:
    """What is told of a server beside servers.Server's."""

    program = ""
    disk = ""  # a folder
    get_path = ("", "")  # what stands before and behind a key
    put_path = ("", "")
    put_load = None  # wrk does

    def data_folder(self):
        name = re.sub("[^a-z]+", "-", self.name)
        path = os.path.join(self.disk, name)
        os.makedirs(path, exist_ok=True)
        return path


class Sprintd(Store, servers.Sprintd):
    """One worker, and the thread that writes."""

    name = program = "sprintd"
    sync = "full"
    get_path = put_path = ("/kv/", "")

    def command(self, folder, port, file_name):
        self.arguments = (*servers.Sprintd.arguments,
                          f"--kv=/kv={self.data_folder()}",
                          f"--kv-sync={self.sync}")
        return super().command(folder, port, file_name)


class Redis(Store, servers.Server):
    """Spoken to by redis-benchmark, in its own protocol."""

    name = "redis, always"
    package = "redis-server"
    program = "redis-server"
    fsync = "always"
    rate = 20_000  # a second; what the last sample had

    def version(self):
        return servers.first_match([servers.find(self.program), "--version"],
                                   r"v=(\S+)")

    def redis_command(self, *listening):
        return [servers.find("redis-server"), *listening, "--save", "",
                "--dir", self.data_folder(), "--appendonly", "yes",
                "--appendfsync", self.fsync,
                "--auto-aof-rewrite-percentage", "0"]

    def command(self, folder, port, file_name):
        return self.redis_command("--bind", servers.HOST, "--port", str(port))

    def put_load(self, runner, load, seconds):
        """redis-benchmark takes a number of requests, not of seconds."""
        count = max(load.connections, int(self.rate * seconds))
        child = runner.lab.children.start(
            ["redis-benchmark", "-h", servers.HOST,
             "-p", self.instance("").port, "-c", load.connections,
             "-n", count, "-r", load.keys, "-d", load.value_bytes,
             "-t", "set", "--csv"],
            runner.lab.client_cpu, runner.log_path, stdout=subprocess.PIPE,
            text=True)
        output = _output(runner, child)
        found = re.search(r'^"SET",(.*)', output, re.MULTILINE)
        if not found:
            return None
        rate, _mean, _least, p50, _p95, p99, _most = (
            float(text.strip('"')) for text in found.group(1).split(","))
        self.rate = max(rate, 1)
        return {"requests": count, "duration_us": count / self.rate * 1e6,
                "bytes": count * runner.reply_bytes[self.name, load.name],
                "p50_us": p50 * 1e3, "p99_us": p99 * 1e3,
                **dict.fromkeys(("connect_errors", "read_errors",
                                 "write_errors", "timeouts", "status_errors"),
                                0)}


class Webdis(Redis):
    """webdis, and the Redis behind it: what it costs is what both cost."""

    name = "webdis + redis, always"
    program = "webdis"
    package = "webdis redis-server"
    get_path = ("/GET/", ".txt")  # as it was put, not in JSON
    put_path = ("/SET/", "")
    put_load = None

    def missing(self):
        return super().missing() or Redis.missing(Redis(self.lab))

    def version(self):
        return servers.first_match(["dpkg-query", "-W", "webdis"],
                                   r"webdis\s+(\S+)")

    def command(self, folder, port, file_name):
        socket = os.path.join(folder, "redis.sock")
        webdis = [servers.find("webdis"),
                  self.write_config(WEBDIS_CONF, folder, port)]
        redis = shlex.join(self.redis_command("--port", "0", "--unixsocket",
                                              socket))
        ping = shlex.join(["redis-cli", "-s", socket, "ping"])
        return ["sh", "-c", f"{redis} & until {ping}; do sleep 0.05; done; "
                f"exec {shlex.join(webdis)}"]


class Commits(Store, servers.Server):
    """commits.c: no server, but the measure for durable ones."""

    name = "a commit for each"
    compiler = servers.Floor.compiler

    def missing(self):
        return servers.Floor.missing(self)

    def sample(self, runner, load, seconds):
        folder = self.data_folder()
        binary = compiled.build(os.path.join(self.disk, "commits.bin"),
                                os.path.join(servers.BENCH, "commits.c"),
                                libraries=("-llmdb",))
        child = runner.lab.children.start(
            [binary, folder, round(seconds * 1e3), load.keys,
             load.value_bytes], runner.lab.server_cpu, runner.log_path,
            stdout=subprocess.PIPE, text=True)
        output = _output(runner, child)
        if not output:
            return Sample(trouble="commits.c has failed")
        said = json.loads(output)
        return Sample(replies=said["requests"],
                      seconds=said["duration_us"] / 1e6,
                      cpu_us=said["cpu_us"] / said["requests"],
                      busy=said["cpu_us"] / said["duration_us"],
                      p50_us=said["p50_us"], p99_us=said["p99_us"])


def _output(runner, child):
    try:
        return child.communicate(timeout=PLENTY_S)[0]
    except subprocess.TimeoutExpired:
        return ""
    finally:
        runner.lab.children.end(child)
