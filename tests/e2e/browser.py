"""browser.py - has a browser without a screen open a page once it is shown.

usage: browser.py URL TEXT SECONDS READY BEGAN [OPTION...]

The browser is started, and the file READY made. It opens URL again and again,
each time as one that has no connection yet, until the page has TEXT in it, over
TLS that the browser trusts. Printed is then "MILLISECONDS AUTHORITY", counted
from the time that the file BEGAN has (nanoseconds, as of `date +%s%N`). The
status is 1, and the last reason printed, when SECONDS after that it still does
not. OPTIONs are the browser's own.

It is asked by DevTools' pipe: JSON that ends in a NUL, on descriptors 3 and 4.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

url, text, seconds, ready, began_file, *options = sys.argv[1:]


class Browser:
    """A browser, and the numbers of the questions that it has been asked."""

    def __init__(self, profile):
        ask_end, self.questions = os.pipe()
        self.answers, answer_end = os.pipe()

        def place():
            # Beyond what either may have, so that none covers the other.
            one, other = os.dup2(ask_end, 60), os.dup2(answer_end, 61)
            os.dup2(one, 3, inheritable=True)
            os.dup2(other, 4, inheritable=True)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--no-proxy-server",
             "--user-data-dir=" + profile, "--remote-debugging-pipe",
             *options, "about:blank"],
            preexec_fn=place, start_new_session=True, close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ask_end)
        os.close(answer_end)
        self.number = 0
        self.got = b""
        self.events = []

    def read(self):
        while b"\0" not in self.got:
            more = os.read(self.answers, 1 << 16)
            if not more:
                sys.exit("the browser has ended")
            self.got += more
        message, self.got = self.got.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if session:
            question["sessionId"] = session
        os.write(self.questions, json.dumps(question).encode() + b"\0")
        while True:
            message = self.read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise OSError(message["error"]["message"])
                return message["result"]
            self.events.append(message)

    def end(self):
        """Its helpers write into the profile as long as they live."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def authority_of(events):
    for event in events:
        if event.get("method") == "Network.responseReceived":
            response = event["params"]["response"]
            if response.get("securityState") == "secure":
                return response["securityDetails"]["issuer"]
    return None


def show(browser):
    """The authority whose certificate was trusted, or why there was no page."""
    context = browser.ask("Target.createBrowserContext")["browserContextId"]
    try:
        target = browser.ask("Target.createTarget", url="about:blank",
                             browserContextId=context)["targetId"]
        session = browser.ask("Target.attachToTarget", targetId=target,
                              flatten=True)["sessionId"]
        browser.ask("Network.enable", session)
        browser.events.clear()
        error = browser.ask("Page.navigate", session, url=url).get("errorText")
        if error:
            return None, error
        shown = browser.ask("Runtime.evaluate", session, expression=
                            "document.documentElement.innerText")
        shown = shown["result"].get("value", "")
        if text not in shown:
            return None, "it shows: " + shown[:200]
        authority = authority_of(browser.events)
        return authority, "it is not called secure"
    except OSError as error:
        return None, str(error)
    finally:
        browser.ask("Target.disposeBrowserContext", browserContextId=context)


def main():
    # A helper that is about to end may write once more; the page was shown.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            browser.ask("Browser.getVersion")
            show(browser)  # what is slow once
            with open(ready, "w", encoding="ascii"):
                pass
            why = "it did not begin"
            end = time.time() + 60
            began = None
            while time.time() < end:
                if began is None and os.path.exists(began_file):
                    with open(began_file, encoding="ascii") as file:
                        began = int(file.read() or 0) / 1e9
                    end = began + float(seconds)
                authority, why = show(browser)
                if authority and began is not None:
                    print(int((time.time() - began) * 1000), authority)
                    return 0
                time.sleep(0.05)
            print(why)
            return 1
        finally:
            browser.end()


sys.exit(main())
