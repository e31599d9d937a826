#!/usr/bin/env python3
"""authority.py - an authority of certificates (RFC 8555) that does wrong.

usage: authority.py PORT CERTIFICATE KEY HOW NAMES

It says that all names are shown already, and hands out certificates of its own
making, in one of these ways:

    right        as it should be
    endless      its directory has no end
    words        its directory is no JSON
    deep         its directory is JSON without measure
    redirect     its directory is elsewhere
    other-key    the certificate is for another key
    fewer-names  the certificate lacks all names but one
    expired      the certificate has ended
    no-text      there is nothing where the certificate should be
    stranger     it wants a name shown that nobody asked for
    token        its token would be a file elsewhere
    plain        it wants the request for the certificate in clear text
    limited      no order is taken before two seconds from now

A line on standard output for each request.
"""
import base64
import http.server
import json
import os
import ssl
import subprocess
import sys
import tempfile

PORT, CERTIFICATE, KEY, HOW, NAMES = sys.argv[1:6]
BASE = f"https://127.0.0.1:{PORT}"
NAMES = NAMES.split(",")
FOLDER = tempfile.mkdtemp(prefix="sprintd-authority.")
state = {"status": "ready", "orders": 0, "chain": b""}


def run(*words, text=None):
    return subprocess.run(words, input=text, check=True, capture_output=True,
                          cwd=FOLDER).stdout


def issue(request):
    """A chain for the key of a request, or another one, as HOW says."""
    names = NAMES[:1] if HOW == "fewer-names" else NAMES
    with open(f"{FOLDER}/names", "w", encoding="ascii") as to:
        to.write("subjectAltName=" + ",".join("DNS:" + n for n in names))
    with open(f"{FOLDER}/request.der", "wb") as to:
        to.write(request)
    public = ["-force_pubkey", "public.pem"]
    run("openssl", "req", "-inform", "der", "-in", "request.der", "-pubkey",
        "-noout", "-out", "public.pem")
    if HOW == "other-key":
        public = []
    days = ["-days", "-1"] if HOW == "expired" else ["-days", "90"]
    run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:P-256", "-nodes", "-keyout", "own.pem", "-subj",
        "/CN=" + names[0], "-out", "own.req")
    return run("openssl", "x509", "-req", "-in", "own.req", "-CA", CERTIFICATE,
               "-CAkey", KEY, "-set_serial", str(state["orders"] + 1),
               "-extfile", "names", *public, *days)


class Authority(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json", **fields):
        self.send_response(status)
        self.send_header("Replay-Nonce", os.urandom(9).hex())
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def say(self, status, value, **fields):
        self.answer(status, json.dumps(value).encode(), **fields)

    def log_message(self, *_):
        print(self.command, self.path, flush=True)

    def directory(self):
        if HOW == "endless":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 65536)
            except OSError:
                self.close_connection = True
            return
        if HOW == "words":
            self.answer(200, b"well, {hello", "application/json")
        elif HOW == "deep":
            self.answer(200, b"[" * 100000, "application/json")
        elif HOW == "redirect":
            self.answer(302, b"", Location=BASE + "/right")
        else:
            self.say(200, {"newNonce": BASE + "/nonce",
                           "newAccount": BASE + "/account",
                           "newOrder": BASE + "/order",
                           "revokeCert": BASE + "/revoke"})

    def order(self):
        finalize = BASE + "/finalize"
        if HOW == "plain":
            finalize = finalize.replace("https:", "http:")
        order = {"status": state["status"], "finalize": finalize,
                 "authorizations": [BASE + "/name"]}
        if state["status"] == "valid":
            order["certificate"] = BASE + "/certificate"
        return order

    def do_HEAD(self):
        self.answer(200, b"")

    def do_GET(self):
        if self.path == "/dir":
            self.directory()
        else:
            self.say(404, {})

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        payload = json.loads(text)["payload"]
        payload += "=" * (-len(payload) % 4)
        payload = base64.urlsafe_b64decode(payload)
        if self.path == "/account":
            self.say(201, {"status": "valid"}, Location=BASE + "/account/1")
        elif self.path == "/order" and HOW == "limited" and \
                state["orders"] == 0:
            state["orders"] = 1
            self.answer(429, json.dumps(
                {"type": "urn:ietf:params:acme:error:rateLimited",
                 "detail": "too many"}).encode(), "application/problem+json",
                Retry_After="2")
        elif self.path == "/order":
            state["status"] = ("pending" if HOW in ("stranger", "token")
                               else "ready")
            state["orders"] += 1
            self.say(201, self.order(), Location=BASE + "/order/1")
        elif self.path == "/order/1":
            self.say(200, self.order())
        elif self.path == "/name":
            name = "other.example.net" if HOW == "stranger" else NAMES[0]
            token = "../../../token" if HOW == "token" else "token"
            self.say(200, {"status": "pending",
                           "identifier": {"type": "dns", "value": name},
                           "challenges": [{"type": "http-01", "token": token,
                                           "url": BASE + "/shown"}]})
        elif self.path == "/finalize":
            request = json.loads(payload)["csr"]
            request += "=" * (-len(request) % 4)
            state["chain"] = issue(base64.urlsafe_b64decode(request))
            state["status"] = "valid"
            self.say(200, self.order())
        elif self.path == "/certificate":
            self.answer(200, b"" if HOW == "no-text" else state["chain"],
                        "application/pem-certificate-chain")
        else:
            self.say(404, {})


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Authority)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
