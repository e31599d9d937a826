#!/usr/bin/env python3
"""abuse.py - what others notice while somebody abuses HTTP/2.

The server has one worker on one CPU. On the other CPU four clients do nothing
but one kind of abuse, in clear text, which is the cheapest for them: each says
it until its connection is ended, comes again, and goes on. Beside them, ahead
of them in the CPU's order, somebody asks for 1 KiB again and again over a
connection of his own. Told are the median and the 99th percentile of his
replies, before and during, in µs; and by how much the server's memory grew,
beyond what it keeps after a first round of the same abuse, in KiB for each of
the abusers, who may have a connection that ends beside the one that begins.

    abuse.py --only rapid-reset,pings --seconds 5
"""

import argparse
import contextlib
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import machine, servers, setup, site
from lab.processes import Failure

ABUSERS = 4
SECONDS, QUIET_S = 2.5, 1.5
BEGIN_S, LEAVE_S = 0.5, 1.5  # of the abusers
PACE_S = 0.001  # between two requests of the one beside
PRIORITY = "10"
SKIPPED = 50
LARGE, LARGE_BYTES = "20m.bin", 20 * site.MIB
GOAL = 2.0           # times the quiet one
MEMORY_GOAL = 256    # KiB of a connection
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY_FRAME, RESET, SETTINGS, _PUSH, PING, GOAWAY, WINDOW,
 CONTINUATION) = range(10)
PRIORITY_UPDATE, UNKNOWN = 16, 0xf0
END, BOTH, ACK, PADDED = 1, 5, 1, 8
BYTES_MIN = 1 << 18  # of what is said by a connection, at least


def frame(kind, flags, stream, payload=b""):
    return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags])
            + struct.pack(">I", stream) + payload)


def literal(name, value):
    """A field that no table keeps, as it is."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(path, method=b"\x82", more=b""):
    return method + b"\x86" + literal(b":path", path) + literal(
        b":authority", b"a") + more


GET_SMALL = head(b"/1k.bin")
GET_LARGE = head(b"/" + LARGE.encode())
POST = head(b"/1k.bin", b"\x83")


def number(value):
    return struct.pack(">I", value)


def streams(say, count=20000):
    return b"".join(say(2 * at + 1) for at in range(count))


def repeated(said):
    return said * (BYTES_MIN // len(said) + 1)


# By its name: what is said behind the preface and SETTINGS. What is an empty
# string at the end says nothing more, and waits to be sent away.
def rapid_reset():
    return streams(lambda at: frame(HEADERS, BOTH, at, GET_LARGE)
                   + frame(RESET, 0, at, number(8)))


def made_to_reset():
    return streams(lambda at: frame(HEADERS, 4, at, POST)
                   + frame(WINDOW, 0, at, number(0)))


def malformed():
    return streams(lambda at: frame(HEADERS, BOTH, at,
                                    GET_SMALL + literal(b"A", b"b")))


def too_many_streams():
    return streams(lambda at: frame(HEADERS, 4, at, POST))


def settings():
    return repeated(frame(SETTINGS, 0, 0, b"\0\4" + number(65535)))


def pings():
    return repeated(frame(PING, 0, 0, b"8 bytes!"))


def priorities():
    return repeated(frame(PRIORITY_FRAME, 0, 1, number(3) + b"\0"))


def priority_updates():
    return streams(lambda at: frame(PRIORITY_UPDATE, 0, 0,
                                    number(at) + b"u=1, i"))


def windows():
    return (frame(HEADERS, BOTH, 1, GET_LARGE)
            + repeated(frame(WINDOW, 0, 0, number(1))))


def empty_data():
    return frame(HEADERS, 4, 1, POST) + repeated(frame(DATA, 0, 1))


def padding():
    return frame(HEADERS, 4, 1, POST) + repeated(
        frame(DATA, PADDED, 1, b"\xff" + bytes(255)))


def continuations():
    return frame(HEADERS, END, 1, GET_SMALL) + repeated(
        frame(CONTINUATION, 0, 1, b"\0"))


def unknown_frames():
    return repeated(frame(UNKNOWN, 0, 0, b"what?"))


def long_lists():
    """A field of 4,000 bytes that the table keeps, and lists of nothing else:
    15 times for 15 bytes."""
    value = b"v" * 4000
    kept = b"\x40\1x\x7f" + bytes([(len(value) - 127) % 128 + 128,
                                   (len(value) - 127) // 128]) + value
    return frame(HEADERS, BOTH, 1, head(b"/", more=kept)) + streams(
        lambda at: frame(HEADERS, BOTH, at + 2, head(b"/", more=b"\xbe" * 15)))


def small_windows():
    """A hundred large streams by a byte at a time."""
    return (frame(SETTINGS, 0, 0, b"\0\4" + number(1))
            + b"".join(frame(HEADERS, BOTH, 2 * at + 1, GET_LARGE)
                       for at in range(100))
            + b"".join(frame(WINDOW, 0, 2 * at + 1, number(1))
                       for _turn in range(200) for at in range(100)))


def shut_windows():
    """A hundred large streams that never go on, and a new connection."""
    return (frame(SETTINGS, 0, 0, b"\0\4" + number(0))
            + b"".join(frame(HEADERS, BOTH, 2 * at + 1, GET_LARGE)
                       for at in range(100)))


def prefaces():
    return b""


KINDS = {kind.__name__.replace("_", "-"): kind for kind in (
    rapid_reset, made_to_reset, malformed, too_many_streams, settings, pings,
    priorities, priority_updates, windows, empty_data, padding, continuations,
    unknown_frames, long_lists, small_windows, shut_windows, prefaces)}
# These are over as soon as they are said; the others last until they are ended.
SHORT = {"shut-windows", "prefaces"}


# --- Who abuses, and who is beside -------------------------------------------


def abuse(port, kind):
    """Until it is killed. How many connections there were is counted by the
    file's length."""
    said = PREFACE + frame(SETTINGS, 0, 0) + KINDS[kind]()
    while True:
        with socket.create_connection((servers.HOST, port)) as client:
            client.setblocking(False)
            at = 0
            while True:
                try:
                    if at < len(said):
                        at += client.send(said[at:at + 65536])
                    elif kind in SHORT:
                        break
                except BlockingIOError:
                    pass
                except OSError:
                    break
                try:
                    if not client.recv(1 << 18):
                        break
                except BlockingIOError:
                    if at == len(said):
                        time.sleep(0.001)
                except OSError:
                    break
        os.write(1, b".")


def ask_again(port, seconds):
    """Times of replies in µs, one a line."""
    gc.disable()
    asked = b"GET /1k.bin HTTP/1.1\r\nHost: a\r\n\r\n"
    times = []
    with socket.create_connection((servers.HOST, port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = time.monotonic_ns()
            client.sendall(asked)
            got = client.recv(65536)
            while len(got) < 1024 + got.find(b"\r\n\r\n") + 4:
                got += client.recv(65536)
            times.append((time.monotonic_ns() - before) / 1e3)
            time.sleep(PACE_S)
    print("\n".join(f"{value:.1f}" for value in times))


# --- Measuring ---------------------------------------------------------------


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def look(port, cpu, seconds):
    """The times of the one beside."""
    done = subprocess.run(
        ["chrt", "--rr", PRIORITY, "taskset", "-c", str(cpu), sys.executable,
         os.path.abspath(__file__), "--ask", str(port), "--seconds",
         str(seconds)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"who is beside has failed: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()][SKIPPED:]


@contextlib.contextmanager
def abusers(lab, instance, kind, log):
    """From when they are at it until they are gone."""
    started = [lab.children.start(
        ["nice", "-n", "10", sys.executable, os.path.abspath(__file__),
         "--abuse", kind, "--port", instance.port], lab.client_cpu, log)
        for _abuser in range(ABUSERS)]
    try:
        time.sleep(BEGIN_S)
        yield
    finally:
        for child in started:
            lab.children.end(child)


def measure(lab, server, kind, options):
    instance = server.instance(site.SMALL)
    quiet = look(instance.port, lab.client_cpu, QUIET_S)
    log = os.path.join(lab.site.folder, "abusers")
    with abusers(lab, instance, kind, log):
        pass
    time.sleep(LEAVE_S)
    before = machine.memory_bytes(instance.pids)
    open(log, "w", encoding="ascii").close()
    with abusers(lab, instance, kind, log):
        during = look(instance.port, lab.client_cpu, options.seconds)
        grown = machine.memory_bytes(instance.pids) - before
    return quiet, during, max(grown, 0) / ABUSERS / 1024, os.path.getsize(log)


def run(lab, options):
    chosen = options.only.split(",") if options.only else list(KINDS)
    if not set(chosen) <= set(KINDS):
        raise Failure("there are: " + ", ".join(KINDS))
    for name, size in ((site.SMALL, site.KIB), (LARGE, LARGE_BYTES)):
        lab.site.put(name, size)
    server = servers.Sprintd(lab)
    if options.binary:
        server.binary = lambda: options.binary
    server.arguments = ("--http2=all",)
    print("| abuse | connections | median, quiet | during | 99 %, quiet | "
          "during | times | KiB |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in chosen:
        quiet, during, grown, connections = measure(lab, server, kind, options)
        before, after = (percentile(values, 0.99)
                         for values in (quiet, during))
        print(f"| {kind} | {connections:,} | {percentile(quiet, 0.5):.0f} | "
              f"{percentile(during, 0.5):.0f} | {before:.0f} | {after:.0f} | "
              f"{after / before:.2f} | {grown:.0f} |"
              + (" MISSED" if after > GOAL * before or grown > MEMORY_GOAL
                 else ""), flush=True)
        server.stop()


def parse():
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--only", metavar="A,B", help=", ".join(KINDS))
    made.add_argument("--seconds", type=setup.positive(float), default=SECONDS,
                      metavar="S", help="of each (%(default)s)")
    made.add_argument("--binary", metavar="FILE", help="another sprintd")
    for hidden, kind in (("--abuse", str), ("--ask", int), ("--port", int)):
        made.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    return made.parse_args()


def main():
    options = parse()
    if options.abuse:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return abuse(options.port, options.abuse)
    if options.ask:
        return ask_again(options.ask, options.seconds)
    return setup.main(run, options)


if __name__ == "__main__":
    sys.exit(main())
