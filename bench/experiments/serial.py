"""What the original of file_size and session_length compares with: a server
that serves a session to its end before it takes the next, and what its clients
wait for."""

import os
import socket
import statistics
import threading
import time

from lab import compiled, processes, servers

from .model import Table

SESSIONS, CALLS = 8, 10
ENDLESS_S = 3     # how long the session without an end has one
ENDLESS_QUICK_S = 0.5
PAUSE_S = 0.05    # between its requests
WAIT_S = 30
RECEIVE = 1 << 16
TIMES = 5         # medians of so many


class Serial(servers.Floor):
    """bench/serial.c. calls: of a session, which it ends then; 0: its client
    does."""

    name = "a session at a time"
    calls = 0

    def command(self, folder, port, file_name):
        binary = compiled.build(
            os.path.join(self.lab.site.folder, "serial"),
            os.path.join(servers.BENCH, "serial.c"))
        calls = (self.calls,) if self.calls else ()
        return [binary, port, self.lab.site.path(file_name), *calls]


def _ask(client, path, body_bytes):
    """One request to its last byte."""
    client.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    read = b""
    while b"\r\n\r\n" not in read:
        read += _receive(client)
    left = body_bytes - len(read.partition(b"\r\n\r\n")[2])
    while left > 0:
        left -= len(_receive(client))


def _receive(client):
    piece = client.recv(RECEIVE)
    if not piece:
        raise OSError("the server has closed")
    return piece


class _Session(threading.Thread):
    """CALLS requests, each when the last is answered. waits: in ms."""

    def __init__(self, client, path, body_bytes):
        super().__init__(daemon=True)
        self.client, self.path, self.body_bytes = client, path, body_bytes
        self.waits, self.trouble = [], ""

    def run(self):
        try:
            for _call in range(CALLS):
                begin = time.monotonic()
                _ask(self.client, self.path, self.body_bytes)
                self.waits.append((time.monotonic() - begin) * 1e3)
        except OSError as error:
            self.trouble = str(error)
        finally:
            self.client.close()


def _connect(port):
    return socket.create_connection((servers.HOST, port), WAIT_S)


def _sessions(port, path, body_bytes, count):
    """Waits of all requests of sessions that begin together."""
    begun = [_Session(_connect(port), path, body_bytes)
             for _each in range(count)]
    for session in begun:
        session.start()
    for session in begun:
        session.join(WAIT_S)
    trouble = next((s.trouble for s in begun if s.trouble), "")
    if trouble or any(len(s.waits) != CALLS for s in begun):
        raise processes.Failure(trouble or "a session did not end")
    return [wait for session in begun for wait in session.waits]


def _beside_endless(port, path, body_bytes, seconds):
    """The same beside one that goes on asking for so long."""
    endless = _connect(port)
    _ask(endless, path, body_bytes)  # it is the one that is served

    def go_on():
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                _ask(endless, path, body_bytes)
                time.sleep(PAUSE_S)
        except OSError:
            pass  # whoever waits for it sees that it has ended
        endless.close()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    waits = _sessions(port, path, body_bytes, SESSIONS - 1)
    thread.join(WAIT_S)
    return waits


def _row(bench, server, size, path, body_bytes):
    port = server.instance(path).port
    together, endless = [], []
    for _time in range(bench.pick(TIMES, 1)):
        begin = time.monotonic()
        waits = _sessions(port, path, body_bytes, SESSIONS)
        whole_ms = (time.monotonic() - begin) * 1e3 / (SESSIONS * CALLS)
        together.append([statistics.median(waits), max(waits), whole_ms])
    endless = _beside_endless(port, path, body_bytes,
                              bench.pick(ENDLESS_S, ENDLESS_QUICK_S))
    return [f"{size}, {server.name}",
            *(statistics.median(each) for each in zip(*together)),
            max(endless), ""]


def table(bench, sizes, name_of):
    """sizes: bytes by what they are called; name_of: their files' names."""
    rows = []
    for size, body_bytes in sizes.items():
        path = name_of(size)
        bench.lab.site.put(path, body_bytes)
        for server in (Serial(bench.lab), bench.sprintd("sprintd, 1 worker")):
            bench.step(f"{server.name}, {size}")
            try:
                rows.append(_row(bench, server, size, path, body_bytes))
            except (processes.Failure, OSError) as failure:
                rows.append([f"{size}, {server.name}", *[None] * 4,
                             str(failure)])
            finally:
                server.stop()
    return Table(
        f"A session at a time, as the original's serial server: {SESSIONS} "
        f"sessions of {CALLS} requests",
        ["file and server", "median of a request ms", "longest request ms",
         "duration / requests ms", "longest beside an endless session ms",
         "trouble"], rows,
        "What the original calls response time is the duration of the test by "
        "the number of requests: it does not show that sessions wait for each "
        "other. An endless session is one that asks for "
        f"{ENDLESS_S} s, with {PAUSE_S * 1e3:.0f} ms between: where one is "
        "served at a time, whoever comes behind it waits that long, or for "
        f"ever if it never ends. Medians of {TIMES} runs, of the endless "
        "session one; the two servers do not take turns, and have no "
        "warm-up; the client is a thread of Python for each session, and its "
        "time is in all of these.")


def read(found):
    """What it tells of the first file, the smallest, and of the last one.
    found: a table()."""
    size, large = (found.rows[at][0].partition(",")[0] for at in (0, -1))
    then, ours = _pair(found, size)
    if not then or not ours:
        return []
    return [f"A server that serves a session to its end, as the original's "
            f"serial one did, {size}: the median of a request is "
            f"{then[0]:.2g} ms, but who has to wait for other sessions up to "
            f"{then[1]:.1f} ms, and behind one that goes on asking "
            f"{then[3]:,.0f} ms, as long as it does. Here {ours[0]:.2g}, "
            f"{ours[1]:.1f} and {ours[3]:.1f} ms."
            f"{_read_whole(found, (size, large))}"]


def _pair(found, size):
    """What was found of a size, then and here; None: it was not."""
    rows = {row[0]: row[1:] for row in found.rows if not row[-1]}
    return [rows.get(f"{size}, {name}")
            for name in (Serial.name, "sprintd, 1 worker")]


def _read_whole(found, sizes):
    """The same by what the original calls response time: who serves one after
    the other need not lose by that."""
    told = [f"{size} {then[2]:.2g} ms there and {ours[2]:.2g} here"
            for size in dict.fromkeys(sizes)
            for then, ours in [_pair(found, size)] if then and ours]
    return (" By the duration of the whole test by the number of requests, "
            f"which the original gives, a request takes: {', '.join(told)}.")
