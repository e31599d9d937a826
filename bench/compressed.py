#!/usr/bin/env python3
"""compressed.py - a thousand pages of documentation, compressed: bytes on the
wire and CPU time of each server, beside its peers.

The files are the texts of 2 to 500 KB that this machine's packages have
installed below /usr/share/doc, asked for by a Zipf law over kept connections,
with "Accept-Encoding: zstd, br, gzip". Every server is asked for all of them
and warmed for ten seconds (--warm) before it is measured. One worker each, on one CPU;
the client has another.

    nginx           gzip 6, anew for each reply
    nginx-static    the same, of .gz files made beforehand by gzip 6
    lighttpd        gzip 6, kept in its folder on disk
    h2o             gzip 1 and brotli 1 (compress: ON), anew for each reply
    caddy           zstd and gzip 5 (encode zstd gzip), anew for each reply
    sprintd         as it is by itself
"""

import argparse
import glob
import itertools
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import machine, servers, setup
from lab.processes import Failure

DOCS = "/usr/share/doc"
FILES = 1000
BYTES_MIN, BYTES_MAX = 2_000, 500_000
WARM_S = 10
TYPES = {"html": "text/html", "txt": "text/plain", "md": "text/markdown",
         "js": "text/javascript", "css": "text/css", "": "text/plain"}
REQUEST = ("GET /{} HTTP/1.1\r\nHost: localhost\r\n"
           "Accept-Encoding: zstd, br, gzip\r\n\r\n")

NGINX = """    gzip on;
    gzip_comp_level 6;
    gzip_min_length 512;
    gzip_vary on;
    gzip_proxied any;
    {static}
    types {{ text/html html; text/css css; text/javascript js;
             text/plain txt; text/markdown md; }}
    default_type text/plain;
    gzip_types text/css text/javascript text/plain text/markdown;
    server {{"""
LIGHTTPD = """
server.modules += ( "mod_deflate" )
deflate.mimetypes = ( "text/html", "text/css", "text/plain",
                      "text/javascript", "text/markdown" )
deflate.allowed-encodings = ( "gzip" )
deflate.compression-level = 6
deflate.cache-dir = "{folder}"
"""
CADDY = """
{{
    admin off
    auto_https off
    grace_period 1s
}}
http://:{port} {{
    bind {host}
    root * {root}
    encode zstd gzip
    file_server
}}
"""


class Nginx(servers.Nginx):
    static = ""

    def write_config(self, template, folder, port, **more):
        own = NGINX.format(static=self.static).replace("{", "{{").replace(
            "}", "}}")
        return super().write_config(template.replace("    server {{", own, 1),
                                    folder, port, **more)


class NginxStatic(Nginx):
    """Its root has siblings."""
    name = "nginx-static"
    program = "nginx"
    static = "gzip_static on;"

    def __init__(self, lab):
        super().__init__(lab)
        self.root = lab.site.root + "-gz"


class Lighttpd(servers.Lighttpd):
    module = "/usr/lib/lighttpd/mod_deflate.so"

    def missing(self):
        return super().missing() or (
            None if os.path.exists(self.module) else
            "no mod_deflate (apt-get install lighttpd-mod-deflate)")

    def write_config(self, template, folder, port, **more):
        kinds = ", ".join(f'".{end}" => "{kind}"' if end else
                          f'"" => "{kind}"' for end, kind in TYPES.items())
        template = template.replace('"" => "application/octet-stream"', kinds)
        cache = os.path.join(folder, "cache")
        os.makedirs(cache, exist_ok=True)
        return super().write_config(
            template + LIGHTTPD.format(folder=cache), folder, port, **more)


class H2o(servers.H2o):

    def write_config(self, template, folder, port, **more):
        own = template.replace("listen:\n", "compress: ON\nlisten:\n", 1)
        kinds = "".join(f"    {kind}: .{end}\n"
                        for end, kind in TYPES.items() if end)
        own += ("file.mime.settypes:\n" + kinds +
                "file.mime.setdefaulttype: text/plain\n")
        return super().write_config(own, folder, port, **more)


class Caddy(servers.Server):
    """It has its state in its own folder; with one thread as the others."""
    name = "caddy"
    package = "caddy"

    def version(self):
        return servers.first_match([servers.find("caddy"), "version"],
                                   r"v?(\d\S*)")

    def command(self, folder, port, file_name):
        config = self.write_config(CADDY, folder, port)
        return ["env", f"HOME={folder}", "GOMAXPROCS=1", servers.find("caddy"),
                "run", "--config", config, "--adapter", "caddyfile"]


KINDS = (Nginx, NginxStatic, Lighttpd, H2o, Caddy, servers.Sprintd)


def find_texts(top):
    """Paths of texts, the same on each run of one machine."""
    found = []
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if (not os.path.islink(path) and
                    BYTES_MIN <= os.path.getsize(path) <= BYTES_MAX):
                with open(path, "rb") as file:
                    if b"\0" not in file.read() and not name.endswith(".gz"):
                        found.append(path)
    found.sort()
    random.Random(1).shuffle(found)
    return found


def publish(lab, count=FILES):
    """Copies so many; returns their names. A machine whose packages came without
    documentation has this project's sources at least."""
    names = []
    found = find_texts(DOCS)
    if len(found) < count:
        found += find_texts(os.path.join(servers.TOP, "src"))
    for number, path in enumerate(found[:count]):
        end = path.rpartition(".")[2]
        name = f"{number:04d}.{end if end in TYPES and end else 'txt'}"
        shutil.copyfile(path, lab.site.path(name))
        os.utime(lab.site.path(name), (1e9, 1e9))
        names.append(name)
    return names


def add_siblings(lab):
    beside = lab.site.root + "-gz"
    shutil.copytree(lab.site.root, beside)
    subprocess.run(["gzip", "-6", "-k", "-r", beside], check=True)


def draw(names, count, seed):
    """So many of them, by Zipf's law."""
    weights = [1 / rank for rank in range(1, len(names) + 1)]
    return random.Random(seed).choices(names, weights, k=count)


class Client:
    """One kept connection; another when the server ends it, as lighttpd does
    after 65535 requests."""

    def __init__(self, port):
        self.port = port
        self.connect()

    def connect(self):
        self.socket = socket.create_connection((servers.HOST, self.port))
        self.file = self.socket.makefile("rb", buffering=1 << 18)

    def ask(self, name):
        """Bytes of the reply, head and frames included."""
        request = REQUEST.format(name).encode()
        try:
            self.socket.sendall(request)
            if not self.file.peek(1):
                raise ConnectionResetError
        except (ConnectionResetError, BrokenPipeError):
            self.socket.close()
            self.connect()
            self.socket.sendall(request)
        took, length, chunked = 0, 0, False
        while (line := self.file.readline()) != b"\r\n":
            if not line or (took == 0 and b" 200 " not in line):
                raise Failure(f"{name}: {line!r}")
            took += len(line)
            key, _, value = line.lower().partition(b":")
            if key == b"content-length":
                length = int(value)
            chunked |= key == b"transfer-encoding" and b"chunked" in value
        took += 2
        if not chunked:
            return took + len(self.file.read(length))
        while True:
            line = self.file.readline()
            size = int(line, 16)
            took += len(line) + len(self.file.read(size + 2))
            if size == 0:
                return took


def beside_ns(pids):
    """The CPU time of threads that give way to all others: compressors."""
    spent = 0
    for path in (path for pid in pids
                 for path in glob.glob(f"/proc/{pid}/task/*")):
        with open(f"{path}/stat", encoding="ascii", errors="replace") as file:
            nice = int(file.read().rpartition(")")[2].split()[16])
        if nice == 19:
            with open(f"{path}/schedstat", encoding="ascii") as file:
                spent += int(file.read().split()[0])
    return spent


class Warm:
    """A server that has been asked for everything; running until stop()."""

    def __init__(self, server, names, draws, seconds):
        self.server = server
        self.instance = server.instance(None)
        self.client = Client(self.instance.port)
        end = time.monotonic() + seconds
        warmed = itertools.cycle(itertools.chain(names, draws))
        asked = 0
        while time.monotonic() < end or asked < 2 * len(names):
            self.client.ask(next(warmed))
            asked += 1
        self.spent, self.beside = self.cpu()

    def cpu(self):
        """All of it, and what was compressed beside; in ns."""
        pids = self.instance.pids
        return machine.cpu_ns(pids), beside_ns(pids)

    def take(self, draws):
        """Bytes and CPU µs for each reply, the 99th percentile in ms, and the
        part of the CPU time that went to compressing beside. What is put off
        until nobody asks counts: the time runs from the end of what was taken
        before."""
        took, times = 0, []
        for name in draws:
            began = time.perf_counter()
            took += self.client.ask(name)
            times.append(time.perf_counter() - began)
        before, beside = self.spent, self.beside
        self.spent, self.beside = self.cpu()
        return (took / len(times), (self.spent - before) / 1000 / len(times),
                1000 * statistics.quantiles(times, n=100)[98],
                (self.beside - beside) / 1000 / len(times))

    def stop(self):
        self.client.socket.close()
        self.server.stop()


def measure(server, names, draws, options):
    """Bytes and CPU µs for each reply, and the 99th percentile in ms."""
    warm = Warm(server, names, draws, options.warm)
    *found, beside = warm.take(draws[:options.requests])
    warm.stop()
    if beside:
        print(f"{server.name}: {beside:.1f} µs of a reply's CPU time go to what "
              "is compressed beside", file=sys.stderr)
    return found


def run(lab, options):
    names = publish(lab)
    add_siblings(lab)
    whole = sum(os.path.getsize(lab.site.path(name)) for name in names)
    draws = draw(names, options.requests, 2)
    plain = sum(os.path.getsize(lab.site.path(name)) for name in draws)
    print(f"{len(names)} texts, {whole:,} bytes; a reply of "
          f"{plain // len(draws):,} bytes before compression\n")
    print("| | bytes a reply | CPU, µs a reply | p99, ms |")
    print("|---|---:|---:|---:|", flush=True)
    chosen = setup.choose(options.servers, KINDS, "server")
    for server in setup.available([kind(lab) for kind in chosen]):
        size, cpu, tail = measure(server, names, draws, options)
        print(f"| {server.name} {server.version()} | {size:,.0f} | {cpu:.1f} | "
              f"{tail:.2f} |", flush=True)


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("--requests", type=setup.positive(int), default=20_000,
                      metavar="N", help="of each server (%(default)s)")
    made.add_argument("--warm", type=setup.positive(float), default=WARM_S,
                      metavar="S", help="for so long (%(default)s); more where "
                      "others have the CPU: compressors wait for them")
    made.add_argument("--servers", metavar="A,B",
                      help=",".join(kind.name for kind in KINDS))
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
