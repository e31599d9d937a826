"""Others on the same link: a download, and readers that come as strangers do.

Each of those is an nghttp, which asks for all files of a short page over a
connection of its own and says how long each reply took."""

import os
import random
import re
import subprocess
import threading
import time

from link import network

from . import page

LINE = re.compile(r"^\s*\d+\s+\+\S+\s+\*?\+\S+\s+([\d.]+)(us|ms|s)\s+(\d+)\s",
                  re.MULTILINE)
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
END_S = 30
# As wide as browsers open them.
WINDOWS = ("-w", "22", "-W", "24")


def _url(address, name):
    return f"https://{address}:{network.PORT}/{name}"


class Download:
    """20 MB that somebody else fetches from an address of the server's, while
    the with block lasts."""

    def __init__(self, net, address, children, cpu, folder):
        self.children = children
        self.child = children.start(
            ["ip", "netns", "exec", net.client, "nghttp", "-ny", *WINDOWS,
             _url(address, page.DOWNLOAD)], cpu,
            os.path.join(folder, "download.log"))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.children.end(self.child)


class Readers:
    """They come by chance, so many bytes a second in all, each as one of
    several strangers, while the with block lasts; times_ms: of their
    replies."""

    def __init__(self, net, addresses, cpu, bytes_per_second, seed):
        self.command = ["taskset", "-c", str(cpu), "ip", "netns", "exec",
                        net.client, "nghttp", "-nsy", *WINDOWS]
        self.addresses = addresses
        self.rate = bytes_per_second / page.VISIT_BYTES
        self.draw = random.Random(seed)
        self.is_over = threading.Event()
        self.running = []
        self.times_ms = []
        self.failed = 0
        self.thread = threading.Thread(target=self._come)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.is_over.set()
        self.thread.join()
        for child in self.running:
            self._take(child)

    def _come(self):
        at = time.monotonic()
        while not self.is_over.is_set():
            address = self.addresses[len(self.running) % len(self.addresses)]
            self.running.append(subprocess.Popen(
                [*self.command, *(_url(address, name) for name in page.VISIT)],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
            at += self.draw.expovariate(self.rate)
            self.is_over.wait(max(0, at - time.monotonic()))

    def _take(self, child):
        try:
            said, _none = child.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            said, _none = child.communicate()
        found = [float(value) * UNITS[unit]
                 for value, unit, status in LINE.findall(said)
                 if status == "200"]
        self.times_ms += found
        self.failed += len(found) < len(page.VISIT)
