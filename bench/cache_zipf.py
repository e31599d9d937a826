#!/usr/bin/env python3
"""What caches with room for a tenth of 10,000 things hit, asked for by Zipf: sprintd
under each policy, nginx and Varnish, one after another, before the same files.

    python3 bench/cache_zipf.py [REQUESTS]

Things are of 512 bytes to 64 KiB, in equal parts; what comes from behind is counted by
what an answer says of itself. nginx looks every ten seconds only whether there is too much,
so it is told what it keeps in the end. BUILD is where sprintd was built (build).
"""

import bisect
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HOST = "127.0.0.1"
THINGS = 10_000
SIZES = [512 << k for k in range(8)]
EXPONENT = 0.9
SEED = 7
BYTES = THINGS // len(SIZES) * sum(SIZES)
ROOM = BYTES // 10
SPRINTD = os.path.join(os.environ.get("BUILD", "build"), "release", "sprintd")
POLICIES = ("sieve", "gdsf", "lru", "saved")

NGINX_CONF = """\
daemon off; pid {folder}/pid; error_log {folder}/error.log crit; {user}
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
    scgi_temp_path {folder}/s;
    proxy_cache_path {folder}/cache keys_zone=all:64m max_size={room}
        use_temp_path=off manager_sleep=50ms manager_threshold=1s
        manager_files=10000;
    upstream there {{ server {host}:{behind}; keepalive 16; }}
    server {{
        listen {host}:{port};
        location / {{
            proxy_pass http://there; proxy_http_version 1.1;
            proxy_set_header Connection ""; proxy_cache all;
            add_header X-Cache $upstream_cache_status;
        }}
    }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


class Running:
    """A program that listens at a port, while the block lasts."""

    def __init__(self, port, command):
        self.port = port
        self.child = subprocess.Popen([str(word) for word in command],
                                      stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(100):
            try:
                socket.create_connection((HOST, self.port)).close()
                time.sleep(0.3)
                return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"{self.child.args[0]} does not listen")

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection((HOST, port))
        self.read = self.socket.makefile("rb")

    def ask(self, path):
        """The head, in lower case, and how long the body was."""
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.read.readline()
            if not line:
                raise SystemExit(f"{path}: the connection has ended")
            head += line
        head = head.lower()
        length = int(re.search(rb"content-length: (\d+)", head).group(1))
        self.read.read(length)
        return head, length


def is_hit(head):
    if b"cache-status:" in head:
        return b"; hit" in head
    if b"x-cache:" in head:
        return b"x-cache: hit" in head
    return len(re.search(rb"x-varnish: ([\d ]+)", head).group(1).split()) == 2


def draw(requests):
    weights, total = [], 0.0
    for rank in range(1, THINGS + 1):
        total += rank ** -EXPONENT
        weights.append(total)
    dice = random.Random(SEED)
    names = list(range(THINGS))
    dice.shuffle(names)  # what is popular has no size of its own
    return [names[bisect.bisect_left(weights, dice.random() * total)]
            for _ in range(requests)]


def room_taken(folder):
    """What a cache has in files, or nothing."""
    taken = sum(os.path.getsize(os.path.join(path, name))
                for path, _, names in os.walk(folder) for name in names)
    return f", which keeps {taken / 2**20:.0f} MiB" if taken else ""


def measure(name, port, command, wanted, folder=""):
    hits = asked = behind = 0
    with Running(port, command):
        client = Client(port)
        warm = len(wanted) // 4
        for number, thing in enumerate(wanted):
            head, length = client.ask(f"/{thing}")
            if number < warm:
                continue
            asked += length
            if is_hit(head):
                hits += 1
            else:
                behind += length
    counted = len(wanted) - warm
    print(f"| {name}{room_taken(folder)} | {100 * hits / counted:.1f} % | "
          f"{behind / 2**20:.0f} MiB ({100 * behind / asked:.1f} %) |",
          flush=True)


def main():
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    wanted = draw(requests)
    folder = tempfile.mkdtemp(prefix="sprintd-zipf-")
    root = os.path.join(folder, "root")
    os.mkdir(root)
    for thing in range(THINGS):
        with open(os.path.join(root, str(thing)), "wb") as file:
            file.write(b"x" * SIZES[thing % len(SIZES)])
    print(f"{requests} requests, a quarter to warm up; room for "
          f"{ROOM / 2**20:.1f} of {BYTES / 2**20:.0f} MiB\n\n"
          "| | hits | from behind |\n|---|---:|---:|")
    try:
        behind = free_port()
        with Running(behind, [SPRINTD, "--listen", f"{HOST}:{behind}",
                              "--cache-control=max-age=36000", root]):
            for policy in POLICIES:
                port = free_port()
                measure(f"sprintd, `{policy}`", port, [
                    SPRINTD, "--listen", f"{HOST}:{port}", "--workers=1",
                    f"--proxy=/=http://{HOST}:{behind}",
                    "--proxy-cache=memory", f"--proxy-cache-size={ROOM}",
                    f"--proxy-cache-policy={policy}"], wanted)
            if shutil.which("nginx"):
                port = free_port()
                config = os.path.join(folder, "nginx.conf")
                with open(config, "w", encoding="utf-8") as file:
                    file.write(NGINX_CONF.format(
                        folder=folder, host=HOST, port=port, behind=behind,
                        room=ROOM,
                        user="user root;" if os.geteuid() == 0 else ""))
                measure("nginx", port, ["nginx", "-p", folder, "-c", config],
                        wanted, os.path.join(folder, "cache"))
            if shutil.which("varnishd"):
                port = free_port()
                jail = ["-j", "none"] if os.geteuid() == 0 else []
                measure("Varnish", port, [
                    "varnishd", "-F", *jail, "-n", f"{folder}/varnish", "-a",
                    f"{HOST}:{port}", "-b", f"{HOST}:{behind}", "-s",
                    f"malloc,{ROOM}", "-s", "Transient=malloc,1m"], wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
