"""The servers that are compared, each in a namespace."""

import contextlib
import dataclasses
import glob
import os
import re
import shlex

from lab import machine, processes, servers

from . import network

# A burst leaves thousands of connections open; all else is as nginx comes.
NGINX_CONF = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
user root;
worker_processes 1;
worker_rlimit_nofile 40000;
events {{
    worker_connections 20000;
}}
http {{
    access_log off;
    sendfile on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {address}:{port};
        root {root};
    }}
}}
"""

SYNTAX = re.compile(r"(?P<name>[^@=:]+)(@(?P<rows>[^=:]*))?"
                    r"(=(?P<binary>[^:]*))?(:(?P<flags>.*))?")
NGINX = "nginx"
DEFAULT = ("nginx,srpt,fsp,fifo,fair,off:--schedule srpt --link-rate off,"
           "rate:--schedule srpt --link-rate 80mbit,"
           "one@local-0.9:--schedule srpt --workers 1,"
           "two@local-0.9:--schedule srpt --workers 2,"
           "four@local-0.9:--schedule srpt --workers 4")


@dataclasses.dataclass(frozen=True)
class Server:
    """What one server is called here and how it is started."""

    name: str
    rows: str = ""    # only in rows whose names begin so
    binary: str = ""
    flags: tuple = ()

    def is_for(self, row_name):
        return row_name.startswith(self.rows)

    def missing(self):
        """Why it cannot run, or nothing."""
        if os.access(self.binary or "", os.X_OK):
            return ""
        return f"{self.name}: no program '{self.binary}'"

    def version(self):
        if self.name == NGINX:
            return servers.first_match([self.binary, "-v"], r"nginx/(\S+)")
        return servers.first_match([self.binary, "-V"], r"sprintd (\S+)")

    def command(self, net, root, folder):
        if self.name == NGINX:
            return self._nginx_command(net, root, folder)
        return [self.binary, "--listen", f"{net.address}:{network.PORT}",
                *self.flags, root]

    def _nginx_command(self, net, root, folder):
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(NGINX_CONF.format(folder=folder, root=root,
                                         address=net.address,
                                         port=network.PORT))
        return [self.binary, "-p", folder, "-c", path,
                "-e", os.path.join(folder, "error.log")]


def parse(text, sprintd):
    """Servers from NAME[@ROWS][=BINARY][:FLAGS],... A name without flags is
    nginx or a schedule; one worker unless the flags say otherwise."""
    found = []
    for word in text.split(","):
        parts = SYNTAX.fullmatch(word.strip())
        if not parts:
            raise processes.Failure(f"no server: '{word}'")
        name = parts["name"]
        binary = parts["binary"] or (
            servers.find(NGINX) if name == NGINX else sprintd)
        flags = shlex.split(parts["flags"] or f"--schedule {name}")
        if not any(flag.startswith("--workers") for flag in flags):
            flags = ["--workers", "1", *flags]
        found.append(Server(name, parts["rows"] or "", binary or NGINX,
                            () if name == NGINX else tuple(flags)))
    names = [(server.name, server.rows) for server in found]
    if len(set(names)) < len(names):
        raise processes.Failure("two servers have the same name")
    return found


class Instance:
    """A server that runs, while the with block lasts."""

    def __init__(self, server, net, lab, folder):
        log_path = os.path.join(folder, "server.log")
        self.children = lab.children
        self.child = lab.children.start(
            [*net.prefix(net.server), *server.command(net, lab.root, folder)],
            lab.server_cpu, log_path)
        if not net.wait_for_server(self.is_alive):
            self.__exit__()
            with open(log_path, encoding="utf-8", errors="replace") as log:
                raise processes.Failure(f"{server.name} does not start: "
                                        f"{log.read().strip()}")
        self.pids = machine.tree(self.child.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.children.end(self.child)

    def is_alive(self):
        return self.child.poll() is None

    def cpu_seconds(self):
        return machine.cpu_ns(self.pids) / 1e9

    def starved_seconds(self):
        """How long its threads could have run, but somebody else did."""
        total = 0
        for pid in self.pids:
            for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
                with contextlib.suppress(OSError), \
                        open(path, encoding="ascii") as file:
                    total += int(file.read().split()[1])
        return total / 1e9
