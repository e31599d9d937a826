"""Chromium without a screen, asked by its debugging protocol over a pipe: JSON
that ends in a NUL, on descriptors 3 and 4 of the browser."""

import json
import os
import select
import subprocess
import sys
import time

from lab import servers
from lab.processes import Failure

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
LOAD_S = 60
# The largest paint is told of a frame later.
SETTLE_S = 0.25
PLACE = """\
import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 60) for fd in sys.argv[1:3])
os.dup2(read, 3, inheritable=True)
os.dup2(write, 4, inheritable=True)
os.execvp(sys.argv[3], sys.argv[3:])
"""
OBSERVE = """\
window.largestPaint = 0;
new PerformanceObserver(list => {
    for (const entry of list.getEntries())
        window.largestPaint = entry.startTime;
}).observe({type: "largest-contentful-paint", buffered: true});
"""
TELL = """\
JSON.stringify({
    first: (performance.getEntriesByName("first-contentful-paint")[0] || {})
        .startTime,
    largest: window.largestPaint,
    load: performance.getEntriesByType("navigation")[0].loadEventEnd,
    protocol: performance.getEntriesByType("navigation")[0].nextHopProtocol,
    scripts: window.scripts,
    files: performance.getEntriesByType("resource")
        .filter(entry => entry.responseStatus == 200).length + 1
})
"""


def find():
    """The browser's path, or None."""
    return next(filter(None, map(servers.find, PROGRAMS)), None)


def has_font():
    """Without any, the browser tells the first paint for the largest."""
    try:
        found = subprocess.run(["fc-list"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return True  # nobody knows
    return bool(found.stdout.strip())


class Browser:
    """One process, in a namespace, while the with block lasts."""

    def __init__(self, net, children, cpus, folder):
        question, self.questions = os.pipe()
        self.answers, answer = os.pipe()
        self.children = children
        self.child = children.start(
            ["ip", "netns", "exec", net.client, sys.executable, "-c", PLACE,
             question, answer, find(), "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-quic",
             "--disable-component-update", "--disable-sync",
             "--no-proxy-server", "--ignore-certificate-errors",
             "--window-size=1200,900",
             f"--user-data-dir={os.path.join(folder, 'profile')}",
             "--remote-debugging-pipe", "about:blank"],
            cpus, os.path.join(folder, "browser.log"),
            pass_fds=(question, answer))
        os.close(question)
        os.close(answer)
        self.number = 0
        self.got = b""
        self.events = []

    def __enter__(self):
        self.ask("Browser.getVersion")
        return self

    def __exit__(self, *_error):
        self.children.end(self.child)
        os.close(self.questions)
        os.close(self.answers)

    def _read(self, end):
        while b"\0" not in self.got:
            ready, _none, _none = select.select(
                [self.answers], [], [], max(0, end - time.monotonic()))
            more = os.read(self.answers, 1 << 16) if ready else b""
            if not more:
                raise Failure("the browser says nothing more")
            self.got += more
        message, _nul, self.got = self.got.partition(b"\0")
        return json.loads(message)

    def ask(self, method, session=None, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if session:
            question["sessionId"] = session
        os.write(self.questions, json.dumps(question).encode() + b"\0")
        end = time.monotonic() + LOAD_S
        while True:
            message = self._read(end)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def _wait_for(self, event, session):
        end = time.monotonic() + LOAD_S
        while True:
            for message in self.events:
                if (message.get("method") == event
                        and message.get("sessionId") == session):
                    return
            self.events = [self._read(end)]

    def visit(self, url):
        """As somebody who has never been there: nothing is cached, and there
        is no connection. What OBSERVE and TELL say of it, in ms."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        try:
            target = self.ask("Target.createTarget", url="about:blank",
                              browserContextId=context)["targetId"]
            session = self.ask("Target.attachToTarget", targetId=target,
                               flatten=True)["sessionId"]
            self.ask("Page.enable", session)
            self.ask("Page.addScriptToEvaluateOnNewDocument", session,
                     source=OBSERVE)
            self.events.clear()
            error = self.ask("Page.navigate", session, url=url).get(
                "errorText")
            if error:
                raise Failure(f"{url}: {error}")
            self._wait_for("Page.loadEventFired", session)
            time.sleep(SETTLE_S)
            told = self.ask("Runtime.evaluate", session, expression=TELL)
            return json.loads(told["result"]["value"])
        finally:
            self.ask("Target.disposeBrowserContext", browserContextId=context)
