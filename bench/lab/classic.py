"""ab before `python3 -m http.server`, and a proxy between them.

The toy that many proxies begin as fails some of these requests, and lets
others wait for seconds. Python's server takes five connections that it has not
accepted yet; how it does alone, and behind others, tells whose the waiting is.

At its end ab opens connections for which it has no request left. When one is
closed before the last reply is there, it counts as a request that failed.
sprintd has its default limits of time.
"""

import dataclasses

from . import machine, proxy, servers, site, tools
from .processes import Failure

CONNECTIONS = 50
WORKERS = 4
PAGE = "index.html"
SECOND_REQUESTS_MIN = 100  # slower than this is a failure
PLENTY_S = 60


class Python(servers.Server):
    """It serves the root on the CPU of the client."""

    name = "http.server"
    program = "python3"
    package = "python3"

    def __init__(self, lab):
        super().__init__(dataclasses.replace(lab, server_cpu=lab.client_cpu))

    def command(self, folder, port, file_name):
        return [servers.find("python3"), "-m", "http.server", port,
                "--bind", servers.HOST, "--directory", self.lab.site.root]


class SeveralWorkers(proxy.Sprintd):
    """On all CPUs that there are."""

    name = f"sprintd, {WORKERS} workers"
    workers = WORKERS

    def __init__(self, lab):
        super().__init__(dataclasses.replace(
            lab, server_cpu=f"{lab.server_cpu},{lab.client_cpu}"))


PROXIES = (proxy.Sprintd, SeveralWorkers, proxy.Nginx, proxy.Haproxy)


def rows_wanted():
    """For who shows progress."""
    return 1 + len(PROXIES)


def trouble_of(row, requests):
    """Why a row is not what it should be, or nothing."""
    faults = [f"{row[name]:.0f} {what}" for name, what in (
        ("failed", "failed"), ("other_status", "of another status"))
        if row[name]]
    if row["complete"] != requests:
        faults.append(f"{row['complete']:.0f} complete")
    if row["length"] != site.KIB:
        faults.append(f"{row['length']:.0f} bytes instead of {site.KIB}")
    return ", ".join(faults)


def _run_ab(lab, port, requests):
    """A row, whose trouble says what went wrong."""
    row = tools.ab(lab, port, "/", requests, CONNECTIONS,
                   timeout=PLENTY_S + requests / SECOND_REQUESTS_MIN)
    return {**row, "trouble": trouble_of(row, requests)}


def _measure_one(lab, kind, requests):
    """One proxy before an http.server of its own; or, with no kind, that
    alone."""
    python = front = Python(lab)
    if kind:
        front = kind(lab)
        front.upstream = python
    try:
        reason = front.missing()
        if reason:
            return {"left_out": reason}
        instance = front.instance(PAGE)
        before = machine.cpu_ns(instance.pids)
        row = _run_ab(lab, instance.port, requests)
        spent = machine.cpu_ns(instance.pids) - before
        # http.server's threads end, and with them what they tell.
        return {**row, "cpu_us": spent / 1e3 / requests if kind else None}
    except Failure as failure:
        return {"trouble": str(failure)}
    finally:
        front.stop()
        python.stop()


def measure(lab, requests, progress):
    """A row by the proxy's name."""
    if not servers.find("ab"):
        return {"ab": {"left_out": "not installed (apt-get install "
                                   "apache2-utils)"}}
    lab.site.put(PAGE, site.KIB)
    rows = {}
    for kind in (None, *PROXIES):
        name = kind.name if kind else f"{Python.name} alone"
        progress.step(f"ab: {name}")
        rows[name] = _measure_one(lab, kind, requests)
    return rows
