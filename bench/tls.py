#!/usr/bin/env python3
"""tls.py - what a reply and a handshake over TLS cost, here and elsewhere.

As peers.py: each server has one worker on one CPU, the client another, and all
are measured once before any is measured again. TLS 1.3, AES-128-GCM, a key of
P-256. The floor (floor_tls.c) is OpenSSL and epoll, and nothing else.

    replies                    wrk; CPU µs of the server each
    full, resumed              handshakes.c: a handshake of a client without a
                               ticket, or with the one that the connection before
                               has brought, and a reply of 1 KiB; the same
    idle, unread               KiB of the server for each connection that has
                               had one reply, or reads nothing of 20 MiB
"""

import argparse
import os
import socket
import ssl
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the tree

from lab import loads, machine, servers, setup, site
from lab.processes import Failure

CONNECTIONS = 200  # whose memory is measured
REQUEST = "GET /{} HTTP/1.1\r\nHost: localhost\r\n{}\r\n"
CLIENTS_CONF = """\
openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = ciphers
[ciphers]
Ciphersuites = TLS_AES_128_GCM_SHA256
"""

WRK = (
    loads.Load("1k", "1 KiB, 64 connections, µs", 64),
    loads.Load("64k", "64 KiB, 32 connections, µs", 32, "64k.bin",
               64 * site.KIB),
    loads.Load("10m", "10 MiB, 8 connections, µs", 8, "10m.bin",
               10 * site.MIB),
)
SHAKEN = (
    loads.Load("full", "full handshake and 1 KiB, µs", 32, closes=True),
    loads.Load("resumed", "resumed, with 1 KiB, µs", 32, closes=True),
)
UNREAD = loads.Load("unread", "", 1, "20m.bin", 20 * site.MIB)


def place(lab, name):
    return os.path.join(lab.site.folder, "tls", name)


def prepare(lab):
    """The certificate, and what clients may use."""
    os.mkdir(place(lab, ""))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-keyout",
         place(lab, "key"), "-out", place(lab, "cert")],
        check=True, capture_output=True)
    with open(place(lab, "both"), "w", encoding="utf-8") as both:
        for name in ("cert", "key"):
            with open(place(lab, name), encoding="utf-8") as file:
                both.write(file.read())
    with open(place(lab, "conf"), "w", encoding="utf-8") as file:
        file.write(CLIENTS_CONF)
    os.environ["OPENSSL_CONF"] = place(lab, "conf")


# --- Servers ------------------------------------------------------------------


class Floor(servers.Floor):
    def command(self, folder, port, file_name):
        return [compiled(self.lab, "floor_tls"), port,
                self.lab.site.path(file_name), place(self.lab, "cert"),
                place(self.lab, "key")]


class Configured:
    """A peer whose configuration gets TLS by a replacement."""

    before = after = ""

    def write_config(self, template, folder, port, **more):
        assert self.before in template
        return super().write_config(template.replace(
            self.before, self.after.format(cert=place(self.lab, "cert"),
                                           key=place(self.lab, "key"),
                                           both=place(self.lab, "both"))),
            folder, port, **more)


class Nginx(Configured, servers.Nginx):
    before = "deferred backlog=4096;"
    after = ("deferred backlog=4096 ssl;\n        ssl_protocols TLSv1.3;\n"
             "        ssl_certificate {cert};\n"
             "        ssl_certificate_key {key};")


class Lighttpd(Configured, servers.Lighttpd):
    package = "lighttpd-mod-openssl"
    module = "/usr/lib/lighttpd/mod_openssl.so"

    def missing(self):
        if os.path.exists(self.module):
            return super().missing()
        return f"not installed (apt-get install {self.package})"

    before = 'server.network-backend = "sendfile"'
    after = ('server.modules += ( "mod_openssl" )\nssl.engine = "enable"\n'
             'ssl.pemfile = "{both}"')


class H2o(Configured, servers.H2o):
    before = "  port: {port}"
    after = ("  port: {{port}}\n  ssl:\n    certificate-file: {cert}\n"
             "    key-file: {key}")

    def write_config(self, template, folder, port, **more):
        self.after = type(self).after.replace("{{port}}", str(port))
        return super().write_config(template, folder, port, **more)


class Sprintd(servers.Sprintd):
    def command(self, folder, port, file_name):
        command = super().command(folder, port, file_name)
        at = command.index("--listen") + 1
        command[at] = f"https://{command[at]}"
        command[1:1] = ["--certificate", place(self.lab, "both")]
        return command


KINDS = (Floor, Nginx, Lighttpd, H2o, Sprintd)


# --- Measuring -----------------------------------------------------------------


def compiled(lab, name):
    """A program of this folder that needs OpenSSL."""
    binary = place(lab, name)
    if not os.path.exists(binary):
        subprocess.run([*servers.Floor.compiler, "-std=c11", "-D_GNU_SOURCE",
                        "-O2", "-o", binary,
                        os.path.join(servers.BENCH, f"{name}.c"), "-lssl",
                        "-lcrypto"], check=True)
    return binary


class Runner(loads.Runner):
    def shaker(self):
        return compiled(self.lab, "handshakes")

    def command(self, port, load, seconds):
        if load in SHAKEN:
            return [self.shaker(), str(port), f"/{load.file_name}",
                    str(load.connections), load.name]
        return [word.replace("http://", "https://")
                for word in super().command(port, load, seconds)]

    def check(self, server, load):
        """One reply, which says how long all are."""
        with connect(server, load.file_name) as client:
            head, body = ask(client, load.file_name, load.closes)
        if not head.startswith(b"HTTP/1.1 200"):
            raise Failure(f"{server.name}: {head.splitlines()[0]}")
        self.reply_bytes[server.name, load.name] = len(head) + body


def context():
    made = ssl.create_default_context()
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made


def connect(server, file_name, made=None):
    port = server.instance(file_name).port
    plain = socket.create_connection((servers.HOST, port), timeout=10)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return (made or context()).wrap_socket(plain, server_hostname="localhost")


def ask(client, file_name, closes=False):
    """The head of a reply, and how long its body is."""
    client.sendall(REQUEST.format(
        file_name, "Connection: close\r\n" if closes else "").encode())
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65536) or b"\r\n\r\n"
    head, _mark, rest = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    got = len(rest)
    while got < length:
        got += len(client.recv(65536))
    return head + b"\r\n\r\n", length


def measure_memory(server, file_name, reads):
    """KiB for each of many connections."""
    made = context()
    clients = []

    def come():
        client = connect(server, file_name, made)
        if reads:
            ask(client, file_name)
        else:
            client.sendall(REQUEST.format(file_name, "").encode())
        clients.append(client)

    for _number in range(20):  # what the first ones make is all's
        come()
    time.sleep(0.3)
    pids = server.instance(file_name).pids
    before = machine.memory_bytes(pids)
    for _number in range(CONNECTIONS):
        come()
    time.sleep(0.5)
    grown = machine.memory_bytes(pids) - before
    for client in clients:
        client.close()
    time.sleep(0.3)
    return grown / CONNECTIONS / 1024


def measure_load(runner, server, load, seconds):
    sample = runner.measure(server, load, seconds)
    if sample.trouble:
        raise Failure(f"{server.name}, {load.title}: {sample.trouble}")
    return sample.cpu_us


def measure_idle(server):
    server.stop()  # one that has done nothing yet
    return measure_memory(server, site.SMALL, True)


def measure_unread(server):
    server.stop()
    return measure_memory(server, UNREAD.file_name, False)


REST = {
    "idle": ("idle connection, KiB", measure_idle),
    "unread": ("unread 20 MiB, KiB", measure_unread),
}


def measure(runner, server, rows, seconds):
    """The rows of a server, once."""
    found = {}
    for load in (*WRK, *SHAKEN):
        if load.name in rows:
            found[load.title] = measure_load(runner, server, load, seconds)
    for name, (title, take) in REST.items():
        if name in rows:
            found[title] = take(server)
    server.stop()
    return found


def run(lab, options):
    prepare(lab)
    runner = Runner(lab)
    chosen = setup.available([kind(lab) for kind in KINDS
                              if kind.name in options.servers])
    loaded = [load for load in (*WRK, *SHAKEN) if load.name in options.rows]
    for load in (*loaded, UNREAD):
        runner.prepare(load)
    samples = {server.name: [] for server in chosen}
    for number in range(options.rounds):
        for server in chosen:
            setup.note(f"round {number + 1}, {server.name}")
            for load in loaded:
                runner.check(server, load)
            samples[server.name].append(measure(
                runner, server, options.rows, options.seconds))
    names = [server.name for server in chosen]
    print("| |" + "".join(f" {name} |" for name in names))
    print("|---|" + "---:|" * len(names))
    for title in samples[names[0]][0]:
        print(f"| {title} |" + "".join(
            f" {statistics.median(one[title] for one in samples[name]):.4g} |"
            for name in names))


def words_of(known):
    """An argument's type: some of these words, commas between."""
    def words(text):
        chosen = text.split(",")
        if not set(chosen) <= set(known):
            raise ValueError
        return chosen
    return words


def parse():
    rows = [load.name for load in (*WRK, *SHAKEN)] + list(REST)
    names = [kind.name for kind in KINDS]
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("--rounds", type=setup.positive(int), default=5,
                      metavar="N", help="in turn (%(default)s)")
    made.add_argument("--seconds", type=setup.positive(float), default=0.6,
                      metavar="S", help="of one load (%(default)s)")
    made.add_argument("--rows", type=words_of(rows), default=rows,
                      metavar="A,B", help=",".join(rows) + " (all)")
    made.add_argument("--servers", type=words_of(names), default=names,
                      metavar="A,B", help=",".join(names) + " (all)")
    return made.parse_args()


if __name__ == "__main__":
    sys.exit(setup.main(run, parse()))
