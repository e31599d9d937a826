"""One server: a network of its own, and visits in each case."""

import argparse
import statistics
import tempfile
import time
import os

from lab.processes import Failure
from link import measure, network, serving

from . import browser, crowd, page

RATE_BITS = 8_000_000
ROUND_TRIP_US = 40_000
QUEUE_BYTES = RATE_BITS // 8 // 5  # 200 ms of the link, and then it drops
LOAD = 0.6
VISITORS = 10
CASES = ("alone", "download", "visitors")
LEAD_S = 2.0   # of the others
DRAIN_S = 0.6  # of what they have left in the queue
NUMBERS = ("first", "largest", "load")

KIND = network.Kind("reader", (("10.99.2.10", ROUND_TRIP_US),),
                    rate_bits=RATE_BITS)
OPTIONS = argparse.Namespace(congestion="cubic", priority=10,
                             buffer=("bfifo", "limit", str(QUEUE_BYTES)))


def missing():
    """Why nothing can be measured here, or nothing."""
    if not browser.find():
        return "chromium is missing: apt-get install chromium"
    if not browser.has_font():
        return "no font is installed: apt-get install fonts-liberation"
    for tool, package in (("nghttp", "nghttp2-client"),
                          ("openssl", "openssl")):
        if not network.servers.find(tool):
            return f"{tool} is missing: apt-get install {package}"
    return network.trouble()


def _visit(made, url, count):
    told = made.visit(url)
    if told["protocol"] != "h2":
        raise Failure(f"the page comes by {told['protocol']}")
    if told["files"] < count:
        raise Failure(f"{told['files']} of {count} files have come")
    return {name: told[name] for name in NUMBERS}


def run(lab, server, cases, count, seed):
    """The numbers of a visit for each case, in ms; "others" are the means of
    the visitors' replies."""
    cpus = f"{lab.server_cpu},{lab.client_cpu}"
    found = {}
    with tempfile.TemporaryDirectory(dir=lab.folder,
                                     ignore_cleanup_errors=True) as folder, \
            measure.open_network(KIND, lab, OPTIONS, folder) as net, \
            serving.Instance(server, net, lab, folder), \
            browser.Browser(net, lab.children, cpus, folder) as made:
        # What one visit has found of the path is nothing to the next.
        network.forget_paths(net.server)
        downloader, *visitors = net.make_strangers(1 + VISITORS)
        url = f"https://{net.address}:{network.PORT}/"
        made.visit(url + page.TINY)  # what is slow once
        for case in cases:
            if case == "alone":
                found[case] = _visit(made, url, count)
            elif case == "download":
                with crowd.Download(net, downloader, lab.children,
                                    lab.client_cpu, folder):
                    time.sleep(LEAD_S)
                    found[case] = _visit(made, url, count)
            else:
                with crowd.Readers(net, visitors, lab.client_cpu,
                                   LOAD * RATE_BITS / 8, seed) as readers:
                    time.sleep(LEAD_S)
                    found[case] = _visit(made, url, count)
                if readers.failed:
                    raise Failure(f"{server.name}: {readers.failed} visitors "
                                  "did not get all they asked for")
                found[case]["others"] = statistics.mean(readers.times_ms)
            time.sleep(DRAIN_S)
    return found
