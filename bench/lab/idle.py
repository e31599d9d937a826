"""Memory per idle connection."""

import socket
import time

from . import machine, servers, site
from .processes import Failure

CONNECTIONS = 8000
SPARE = 200  # descriptors a server and this program need for other things
WARM_UP = 16
SETTLE_S = 0.3
TIMEOUT_S = 5
REQUEST = (f"GET /{site.SMALL} HTTP/1.1\r\nHost: {servers.HOST}\r\n\r\n"
           .encode())


def _open(port):
    """A connection that has had one request answered."""
    client = socket.create_connection((servers.HOST, port), TIMEOUT_S)
    client.sendall(REQUEST)
    got = b""
    while len(got.partition(b"\r\n\r\n")[2]) < site.KIB:
        more = client.recv(65536)
        if not more:
            raise Failure("an idle connection was closed")
        got += more
    return client


def connections(lab):
    """As many as there should be, or as the descriptors allow."""
    return min(CONNECTIONS, lab.descriptors - SPARE)


def measure(lab, server):
    """Bytes of user memory that each of many idle connections costs.

    On a fresh process: memory that earlier loads made it take would hide
    some. What a server sets aside for connections before any is open does not
    count, unless it is touched only when they come.
    """
    server.stop()
    lab.site.put(site.SMALL, site.KIB)
    instance = server.instance(site.SMALL)
    count = connections(lab)
    clients = []
    try:
        for _warm_up in range(WARM_UP):
            _open(instance.port).close()
        time.sleep(SETTLE_S)
        before = machine.memory_bytes(instance.pids)
        for _each in range(count):
            clients.append(_open(instance.port))
        time.sleep(SETTLE_S)
        after = machine.memory_bytes(instance.pids)
    except OSError as error:
        raise Failure(f"{server.name}: {len(clients)} idle connections, then "
                      f"{error!r}") from error
    finally:
        for client in clients:
            client.close()
    server.stop()
    return {"connections": count, "before_bytes": before,
            "after_bytes": after, "per_connection": (after - before) / count}
