#!/usr/bin/env python3
"""release.py - what a release costs a client that has the one before: bytes of
the new version as it is, by gzip, br, zstd, and as a delta (dcz, RFC 9842).

    release.py                    a bundle of 1 MB of this project's own text, and
                                  the same with --changes changes in it
    release.py OLD NEW            two versions of your own

Each is sent by the real server: at first, and after it had time to compress it
with more effort. What comes is what curl has read of the body.
"""

import argparse
import base64
import hashlib
import http.client
import os
import random
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import servers, setup
from lab.processes import Failure

BUNDLE_BYTES = 1_000_000
CODINGS = ("identity", "gzip", "br", "zstd", "dcz")
ASKS = 8000       # after which what is sent often is compressed again
PATIENCE_S = 300  # a compressor waits for all others
NAMES = ("/app.1.js", "/app.2.js")


def bundle():
    """The project's sources, one behind the other, and without comments, as what
    packs scripts leaves them."""
    text = []
    for folder, _, names in sorted(os.walk(os.path.join(servers.TOP, "src"))):
        for name in sorted(names):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text.append(re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S))
    return "".join(text)[:BUNDLE_BYTES]


def change(text, count):
    """As a release does: some lines are changed, some are new or gone, and a name
    that stands in many places is another."""
    lot = random.Random(count)
    lines = text.split("\n")
    for _ in range(count):
        at = lot.randrange(len(lines) - 20)
        kind = lot.randrange(3)
        if kind == 0:
            lines[at] += f" + {lot.randrange(1000)}"
        elif kind == 1:
            lines[at:at] = [line[::-1] for line in lines[at:at + 3]]
        else:
            del lines[at:at + 2]
    return re.sub(r"\bworker\b", "engine", "\n".join(lines))


class Server(servers.Sprintd):
    """With a rule for dictionaries, and a folder for them."""

    def command(self, folder, port, file_name):
        self.arguments = ("--dictionary", "/app.*.js", "--state-directory",
                          folder)
        return super().command(folder, port, file_name)


def ask(port, name, coding, offer=None):
    """The length of the body, and how it is coded."""
    command = ["curl", "-s", "-o", os.devnull, "-w",
               "%{size_download} %header{content-encoding}",
               "-H", f"Accept-Encoding: {coding}"]
    if offer:
        command += ["-H", f"Available-Dictionary: {offer}"]
    said = subprocess.run([*command, f"http://{servers.HOST}:{port}{name}"],
                          check=True, stdout=subprocess.PIPE, text=True)
    size, _, coded = said.stdout.partition(" ")
    return int(size), coded or "identity"


def ask_often(port, name, coding):
    """As ASKS clients do, over one connection."""
    connection = http.client.HTTPConnection(servers.HOST, port)
    for _ in range(ASKS):
        connection.request("GET", name, headers={"Accept-Encoding": coding})
        connection.getresponse().read()
    connection.close()


def await_coding(port, name, coding, offer):
    """The same, once it comes so."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        size, coded = ask(port, name, coding, offer)
        if coded == coding:
            return size
        time.sleep(0.1)
    raise Failure(f"it never comes as {coding}")


def settle(port, name, coding, offer, size):
    """Its length after many have asked for it."""
    end = time.monotonic() + PATIENCE_S
    if coding not in ("gzip", "br", "zstd"):
        return size
    ask_often(port, name, coding)
    while time.monotonic() < end:
        smaller, _ = ask(port, name, coding, offer)
        if smaller != size:
            return smaller
        time.sleep(0.05)
    return size


def publish(lab, options):
    """Writes both versions, as old as a minute; that which is there already is
    offered."""
    if options.files:
        for path, name in zip(options.files, NAMES):
            shutil.copyfile(path, lab.site.path(name[1:]))
    else:
        old = bundle()[:options.bytes]
        for text, name in zip((old, change(old, options.changes)), NAMES):
            with open(lab.site.path(name[1:]), "w", encoding="utf-8") as file:
                file.write(text)
    for at, name in enumerate(NAMES):
        stamp = time.time() - 60 + at
        os.utime(lab.site.path(name[1:]), (stamp, stamp))
    with open(lab.site.path(NAMES[0][1:]), "rb") as file:
        digest = hashlib.sha256(file.read()).digest()
    time.sleep(0.3)
    return f":{base64.b64encode(digest).decode()}:"


def run(lab, options):
    offer = publish(lab, options)
    whole = os.path.getsize(lab.site.path(NAMES[1][1:]))
    server = Server(lab)
    missing = server.missing()
    if missing:
        raise Failure(missing)
    port = server.instance(None).port
    ask(port, NAMES[0], "identity")
    offers = {coding: offer if coding == "dcz" else None for coding in CODINGS}
    first = {coding: await_coding(port, NAMES[1], coding, offers[coding])
             for coding in CODINGS}
    print("| coding | bytes at first | later | of the file |")
    print("|---|---:|---:|---:|")
    for coding in CODINGS:
        later = settle(port, NAMES[1], coding, offers[coding], first[coding])
        print(f"| {coding} | {first[coding]:,} | {later:,} | "
              f"{100 * later / whole:.2f} % |", flush=True)
    server.stop()


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    made.add_argument("files", nargs="*", metavar="FILE",
                      help="an old and a new version")
    made.add_argument("--changes", type=setup.positive(int), default=100,
                      metavar="N", help="places that change (%(default)s)")
    made.set_defaults(bytes=BUNDLE_BYTES)
    options = made.parse_args()
    if len(options.files) not in (0, 2):
        made.error("either no file or two")
    return options


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
