"""The field's own tools, each run once: what they print, as numbers."""

import os
import re
import subprocess

from . import servers
from .processes import Failure

PLENTY_S = 60

AB = {
    "complete": r"^Complete requests:\s+(\d+)",
    "failed": r"^Failed requests:\s+(\d+)",
    "other_status": r"^Non-2xx responses:\s+(\d+)",
    "length": r"^Document Length:\s+(\d+)",
    "per_second": r"^Requests per second:\s+([\d.]+)",
    "mean_ms": r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)",
    "mean_all_ms": r"^Time per request:\s+([\d.]+) \[ms\] \(mean, across",
    "kib_per_second": r"^Transfer rate:\s+([\d.]+)",
    "transferred": r"^Total transferred:\s+(\d+)",
    "html": r"^HTML transferred:\s+(\d+)",
    # It says so only where some have failed.
    **{f"failed_{why.lower()}": rf"^ +\(.*\b{why}: (\d+)"
       for why in ("Connect", "Receive", "Length", "Exceptions")},
    "seconds": r"^Time taken for tests:\s+([\d.]+)",
    "median_ms": r"^ +50% +(\d+)",
    **{f"p{share}_ms": rf"^ +{share}% +(\d+)"
       for share in (66, 75, 80, 90, 95, 98, 99)},
    "longest_ms": r"^ +100% +(\d+)",
    # Connection Times (ms): a line for each part, of five numbers.
    **{f"{part.lower()}_{what}_ms":
       rf"^{part}:(?: +[\d.]+){{{at}}} +([\d.]+)"
       for part in ("Connect", "Processing", "Waiting", "Total")
       for at, what in enumerate(("min", "mean", "sd", "median", "max"))},
}
# Times are in ms. connection_*: from opening to closing it; response: from the
# request to the first byte; transfer: from there to the last.
HTTPERF = {
    "connections": r"^Total: connections (\d+)",
    "replies": r"^Total: .* replies (\d+)",
    "seconds": r"^Total: .* test-duration ([\d.]+)",
    "connection_min_ms": r"^Connection time \[ms\]: min ([\d.]+)",
    "connection_ms": r"^Connection time \[ms\]: min .* avg ([\d.]+)",
    "connection_max_ms": r"^Connection time \[ms\]: min .* max ([\d.]+)",
    "connection_median_ms": r"^Connection time \[ms\]: min .* median ([\d.]+)",
    "connect_ms": r"^Connection time \[ms\]: connect ([\d.]+)",
    "request_rate": r"^Request rate: ([\d.]+)",
    "reply_rate": r"^Reply rate .* avg ([\d.]+)",
    "response_ms": r"^Reply time \[ms\]: response ([\d.]+)",
    "transfer_ms": r"^Reply time \[ms\]: .*transfer ([\d.]+)",
    "ok": r"^Reply status: .* 2xx=(\d+)",
    "kib_per_second": r"^Net I/O: ([\d.]+) KB/s",
    "errors": r"^Errors: total (\d+)",
    "timeouts": r"^Errors: .* client-timo (\d+)",
    "fd_unavailable": r"^Errors: fd-unavail (\d+)",
    "refused": r"^Errors: .* connrefused (\d+)",
    "reset": r"^Errors: .* connreset (\d+)",
    "no_address": r"^Errors: .* addrunavail (\d+)",
    "others": r"^Errors: .* other (\d+)",
}
# What each kind is called where a run has failed.
HTTPERF_ERRORS = {
    "timeouts": "timed out",
    "refused": "refused",
    "reset": "reset",
    "fd_unavailable": "without a descriptor",
    "no_address": "without a local port",
    "others": "of other kinds",
}
H2LOAD = {
    "per_second": r"^finished in .*?, ([\d.]+) req/s",
    "complete": r"^requests: .* (\d+) succeeded",
    "failed": r"^requests: .* (\d+) failed",
}


def need(tool, package):
    """The tool's path; a Failure that says how to get it."""
    path = servers.find(tool)
    if not path:
        raise Failure(f"{tool} is missing: apt-get install {package}")
    return path


def read(output, what):
    """Numbers by name; what a tool did not say is 0."""
    found = {name: re.search(pattern, output, re.MULTILINE)
             for name, pattern in what.items()}
    return {name: float(match.group(1)) if match else 0.0
            for name, match in found.items()}


def run(lab, command, timeout):
    """What a tool prints, from the client's CPU. A Failure when it fails, or
    takes longer."""
    log_path = os.path.join(lab.site.folder, f"{command[0]}.log")
    child = lab.children.start(command, lab.client_cpu, log_path,
                               stdout=subprocess.PIPE, text=True)
    try:
        output = child.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{command[0]} does not end") from error
    finally:
        lab.children.end(child)
    if child.returncode != 0:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            said = log.read().strip().splitlines()
        raise Failure(f"{command[0]}: {said[-1] if said else 'has failed'}")
    return output


def ab(lab, port, path, requests, connections, *options, timeout=PLENTY_S):
    """ApacheBench, a closed loop of new connections (of kept ones by -k)."""
    need("ab", "apache2-utils")
    return read(run(lab, ["ab", "-q", "-c", connections, "-n", requests,
                          *options, f"http://{servers.HOST}:{port}{path}"],
                    timeout), AB)


def ab_software(output):
    """Whom the first answer was from, by its own word: nothing when it did
    not say so."""
    found = re.search(r"^Server Software:[ \t]*(\S*)", output, re.MULTILINE)
    return found.group(1) if found else ""


def httperf(lab, port, connections, *options, calls=1, rate=0, timeout_s=10,
            path="/", timeout=PLENTY_S):
    """httperf: so many connections of so many calls each, begun at a rate (an
    open loop), or one after the other. options: such as --wlog=n,FILE, whose
    paths end with NUL bytes. A call without an answer in timeout_s has
    failed.

    Without --hog: with it, httperf binds local ports itself, from 1024 on, and
    cannot take one again for a minute (TIME_WAIT). Built for 64 bits it knows
    33,264 of them; when runs before have used those up it looks for another
    for ever, and no timeout ends that. The kernel does better."""
    need("httperf", "httperf")
    return read(run(lab, ["httperf", "--server", servers.HOST,
                          "--port", port, "--uri", path,
                          "--num-conns", connections, "--num-calls", calls,
                          *(["--rate", rate] if rate else []),
                          "--timeout", timeout_s, *options],
                    timeout), HTTPERF)


def say_errors(said):
    """What of a run of httperf's has failed, by kind."""
    kinds = ", ".join(f"{said[name]:.0f} {what}"
                      for name, what in HTTPERF_ERRORS.items() if said[name])
    return f"{said['errors']:.0f} errors" + (f" ({kinds})" if kinds else "")


def h2load(lab, port, path, requests, connections, *options,
           timeout=PLENTY_S):
    """h2load over HTTP/1.1."""
    need("h2load", "nghttp2-client")
    return read(run(lab, ["h2load", "--h1", "-n", requests, "-c", connections,
                          *options, f"http://{servers.HOST}:{port}{path}"],
                    timeout), H2LOAD)
