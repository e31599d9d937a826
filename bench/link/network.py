"""Namespaces, the narrow link, and the cable that takes time.

loopback   server and client in one namespace, nothing narrow between them
local      server ==HTB==> client
           The bottleneck is the server's own interface: its queueing
           discipline is what fills. A veth pair, no delay.
crowd      the same, with requests from 200 addresses
remote     server ----> middle ==HTB, drop-tail buffer==> cable --> client
mixed      the same, with clients near and far behind the same buffer
           The server's interface is fast; what fills is somebody else's
           buffer, and all a server hears of it are acknowledgements.

Each run gets a network of its own, so that nothing (remembered round trips,
connections that linger, bytes in queues) goes from one server to the next.
Names hold our process id; leaving the with block removes them, and so does
the next run if this program was killed.
"""

import array
import contextlib
import dataclasses
import fcntl
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from lab import processes, servers, site

from . import wire

PREFIX = "sprintd-link"
FOLDER = "/run/netns"
PORT = 8080
START_S = 5
COMMAND_S = 10
CLONE_NEWNET = 0x40000000
SIOCETHTOOL = 0x8946
ETHTOOL_STSO = 0x1F

BUFFER = "256p"  # of the middle box
STRANGERS = 101  # the first of their addresses
CROWD = 200
US = 1e-6
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A network's shape. Clients: addresses and their round trips in µs; none
    where the server is next to the client, which may have many addresses."""

    name: str
    clients: tuple = ()
    neighbours: tuple = ("10.99.1.2",)
    is_narrow: bool = True
    rate_bits: int = wire.RATE_BITS

    @property
    def round_trips(self):
        """Seconds by the client's address; "" is the first client's."""
        if not self.clients:
            return {}
        return {address: us * US
                for address, us in (*self.clients, ("", self.clients[0][1]))}

    @property
    def sources(self):
        """Where requests come from, if it matters."""
        addresses = (tuple(address for address, _us in self.clients)
                     or self.neighbours)
        return addresses if len(addresses) > 1 else ()


# All that were run here, for who tells them; who begins anew empties it.
commands = []


KINDS = {kind.name: kind for kind in (
    Kind("loopback", is_narrow=False),
    Kind("local"),
    Kind("crowd", neighbours=tuple(f"10.99.1.{2 + number}"
                                   for number in range(CROWD))),
    Kind("remote", (("10.99.2.10", 10_000),)),
    Kind("mixed", (("10.99.2.4", 4_000), ("10.99.2.60", 60_000))),
)}


def run(*command, given=None):
    """Runs a command to its end; returns what it printed."""
    commands.append(command if given is None
                    else (*command, given.replace("\n", "; ")))
    try:
        done = subprocess.run(command, input=given, capture_output=True,
                              text=True, timeout=COMMAND_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise processes.Failure(f"{command[0]}: {error}") from error
    if done.returncode:
        raise processes.Failure(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def ours():
    """Namespaces that this process has made and not yet removed."""
    return [name for name in os.listdir(FOLDER)
            if name.startswith(f"{PREFIX}-{os.getpid()}-")]


def _remove(netns):
    subprocess.run(["ip", "netns", "del", netns], capture_output=True,
                   timeout=COMMAND_S, check=False)


def buffer(text):
    """An argument's type: so many bytes, or packets with a p behind."""
    made = re.fullmatch(r"(\d+)(p?)", text)
    if not made or int(made.group(1)) == 0:
        raise ValueError(text)
    return ("pfifo" if made.group(2) else "bfifo", "limit", made.group(1))


def remove_leftovers():
    """Removes what earlier runs were kept from removing: namespaces and
    folders whose name holds the id of a process that is no more."""
    for folder, remove in ((FOLDER, _remove),
                           (tempfile.gettempdir(), _remove_folder)):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if site.ended(name, f"{PREFIX}-"):
                remove(name)


def _remove_folder(name):
    shutil.rmtree(os.path.join(tempfile.gettempdir(), name),
                  ignore_errors=True)


def trouble():
    """Why there can be no such network here, or nothing."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"),
                          ("chrt", "util-linux"), ("taskset", "util-linux")):
        if not servers.find(tool):
            return f"{tool} is missing: apt-get install {package}"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    probe = f"{PREFIX}-{os.getpid()}-probe"
    try:
        run("ip", "netns", "add", probe)
        run("ip", "-n", probe, "link", "add", "veth0", "type", "veth",
            "peer", "name", "veth1")
        run("tc", "-n", probe, "qdisc", "add", "dev", "veth0", "root",
            "handle", "1:", "htb")
    except processes.Failure as failure:
        return str(failure)
    finally:
        _remove(probe)
    return ""


class Network:
    """One network, while the with block lasts."""

    _numbers = itertools.count()

    def __init__(self, kind, options, children, cable_cpu, programs, log_path):
        self.kind = kind
        self.options = options
        self.children = children
        self.cable_cpu = cable_cpu
        self.programs = programs  # of C: name to path
        self.log_path = log_path
        name = f"{PREFIX}-{os.getpid()}-{next(self._numbers)}"
        self.server, self.middle, self.client = (
            f"{name}-{role}" for role in ("server", "middle", "client"))
        self.address = "10.99.1.1"
        if not kind.is_narrow:
            self.client, self.address = self.server, "127.0.0.1"
        # Where the narrow link is, as tc wants it told.
        self.narrow = (self.server, "eth0")
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            if not self.kind.is_narrow:
                self._namespace(self.server)
                return self
            if self.kind.clients:
                self._make_remote()
            else:
                self._make_local()
            self._make_narrow()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        # A second Ctrl-C has to wait until all is removed.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self.stack.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def prefix(self, netns):
        """What a command must begin with to run there."""
        return [*self._priority(1 if netns == self.client else 0),
                "ip", "netns", "exec", netns]

    def _priority(self, more=0):
        """Ahead of everything else on the machine: whoever shares the CPU
        would show as waiting times of milliseconds. The link, not the CPU,
        is what is scarce here, so nobody else starves. The client goes before
        the cable, which has enough to do to keep it from being in time."""
        number = self.options.priority + more
        return ["chrt", "--rr", number] if self.options.priority else []

    def _namespace(self, netns, forwards=False):
        self.stack.callback(_remove, netns)
        run("ip", "netns", "add", netns)
        settings = {
            "net/ipv6/conf/default/disable_ipv6": 1,
            "net/ipv6/conf/all/disable_ipv6": 1,
            "net/ipv4/ip_forward": int(forwards),
            # One connection per request takes many ports.
            "net/ipv4/ip_local_port_range": "1024 65535",
        }
        with inside(netns):
            for path, value in settings.items():
                _write_setting(path, value)
        _ip(netns, "link set lo up")

    def _congestion(self):
        """What a route must end with. (As a setting of the namespace, only
        what the system allows to everybody could be chosen.)"""
        name = self.options.congestion
        return f"congctl {name}" if name else ""

    def _make_local(self):
        self._namespace(self.server)
        self._namespace(self.client)
        run("ip", "link", "add", "eth0", "netns", self.server, "type",
            "veth", "peer", "name", "eth0", "netns", self.client)
        _ip(self.server, f"address add {self.address}/24 dev eth0",
            "link set eth0 up", "route replace 10.99.1.0/24 dev eth0 "
            f"src {self.address} {self._congestion()}")
        _ip(self.client, *(f"address add {address}/24 dev eth0"
                           for address in self.kind.neighbours),
            "link set eth0 up")

    def _make_remote(self):
        self._namespace(self.server)
        self._namespace(self.middle, forwards=True)
        self._namespace(self.client)
        self.narrow = (self.middle, "cable0")
        run("ip", "link", "add", "eth0", "netns", self.server, "type",
            "veth", "peer", "name", "eth0", "netns", self.middle)
        self._start_cable()
        _ip(self.server, f"address add {self.address}/24 dev eth0",
            "link set eth0 up",
            f"route add default via 10.99.1.254 {self._congestion()}")
        # A middle box sees frames as they are on a wire, not a bundle that
        # the sender's card would still have to take apart.
        _set_feature(self.server, "eth0", ETHTOOL_STSO, 0)
        _ip(self.middle, "address add 10.99.1.254/24 dev eth0",
            "link set eth0 up", "address add 10.99.2.254/24 dev cable0",
            "link set cable0 up")
        _ip(self.client, *(f"address add {address}/24 dev cable0"
                           for address, _us in self.kind.clients),
            "link set cable0 up", "route add default via 10.99.2.254")

    def _start_cable(self):
        # A round trip goes through the cable twice.
        first, *others = [(address, us // 2)
                          for address, us in self.kind.clients]
        child = self.children.start(
            [*self._priority(), self.programs["delay"], self.middle, "cable0",
             self.client, "cable0", first[1],
             *(f"{address}={us}" for address, us in others)],
            self.cable_cpu, self.log_path, stdout=subprocess.PIPE)
        self.stack.callback(self.children.end, child)
        ready, _none, _none = select.select([child.stdout], [], [], START_S)
        if not ready or child.stdout.readline() != b"ready\n":
            with open(self.log_path, encoding="utf-8") as log:
                raise processes.Failure(f"the cable: {log.read().strip()}")

    def _make_narrow(self):
        netns, device = self.narrow
        rate = f"{self.kind.rate_bits}bit"
        run("tc", "-n", netns, "qdisc", "add", "dev", device, "root",
            "handle", "1:", "htb", "default", "1")
        run("tc", "-n", netns, "class", "add", "dev", device, "parent", "1:",
            "classid", "1:1", "htb", "rate", rate, "quantum", "1514")
        if self.kind.clients:
            run("tc", "-n", netns, "qdisc", "add", "dev", device, "parent",
                "1:1", *self.options.buffer)

    def make_strangers(self, count):
        """More addresses of the server; each is asked from an address of its
        own, so that whoever asks there is somebody else to it."""
        asked = [f"10.99.1.{STRANGERS + number}" for number in range(count)]
        asking = [f"10.99.2.{STRANGERS + number}" for number in range(count)]
        _ip(self.server, *(f"address add {address}/24 dev eth0"
                           for address in asked))
        _ip(self.client, *(f"address add {address}/24 dev cable0"
                           for address in asking),
            *(f"route add {to} via 10.99.2.254 src {source}"
              for to, source in zip(asked, asking)))
        return asked

    def counted(self):
        """What the narrow link has counted so far."""
        if not self.kind.is_narrow:
            return dict.fromkeys(("bytes", "packets", "drops"), 0)
        netns, device = self.narrow
        root = json.loads(run("tc", "-n", netns, "-s", "-j", "qdisc", "show",
                              "dev", device, "root"))[0]
        return {name: root[name] for name in ("bytes", "packets", "drops")}

    def wait_for_server(self, is_alive):
        """Returns when the server takes connections; False: it will not."""
        end = time.monotonic() + START_S
        while is_alive() and time.monotonic() < end:
            with inside(self.client):
                probe = socket.socket()
            with probe:
                probe.settimeout(1)
                if probe.connect_ex((self.address, PORT)) == 0:
                    return True
            time.sleep(0.02)
        return False


@contextlib.contextmanager
def inside(netns):
    """We are in a namespace while the block lasts; a socket made there stays
    there."""
    with open("/proc/self/ns/net", "rb") as home, \
            open(os.path.join(FOLDER, netns), "rb") as there:
        _enter(there)
        try:
            yield
        finally:
            _enter(home)


def _enter(file):
    if processes.LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise processes.Failure("setns does not work here")


def forget_paths(netns):
    """What TCP has learnt of a client by one connection is nothing to the
    next, from now on."""
    with inside(netns):
        _write_setting("net/ipv4/tcp_no_metrics_save", 1)


def _write_setting(path, value):
    try:
        with open(f"/proc/sys/{path}", "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError as error:
        raise processes.Failure(f"{path} = {value}: {error}") from error


def _ip(netns, *lines):
    run("ip", "-n", netns, "-batch", "-", given="\n".join(lines))


def _set_feature(netns, device, feature, value):
    """What `ethtool -K` does."""
    asked = array.array("I", [feature, value])
    with inside(netns), socket.socket(socket.AF_INET,
                                      socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCETHTOOL, struct.pack(
            "16sQ8x", device.encode(), asked.buffer_info()[0]))


def congestion(options):
    """TCP's congestion control in these networks: they begin with the
    system's."""
    if options.congestion:
        return options.congestion
    with open("/proc/sys/net/ipv4/tcp_congestion_control",
              encoding="ascii") as file:
        return file.read().strip()
