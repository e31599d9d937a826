"""Each server's configuration, command line and version.

All are set up as one who knows them would for static files: one worker, no
access log (but where costs.py asks for it), descriptors cached, connections
never closed for their age.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time

from . import machine
from .processes import Failure

HOST = "127.0.0.1"
START_S = 10
BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(BENCH)
SEARCH = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin"

NGINX_CONF = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
{user}
worker_processes {workers};
worker_rlimit_nofile {descriptors};
events {{
    worker_connections {connections};
    multi_accept on;
}}
http {{
    access_log {access_log};
    sendfile on;
    tcp_nopush {nopush};
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    reset_timedout_connection on;
    open_file_cache max=20000 inactive=600s;
    open_file_cache_valid 60s;
    open_file_cache_errors on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {host}:{port} deferred backlog=4096;
        root {root};
    }}
}}
"""

LIGHTTPD_CONF = """\
server.document-root = "{root}"
server.bind = "{host}"
server.port = {port}
server.errorlog = "{folder}/error.log"
server.max-fds = {descriptors}
server.max-connections = {connections}
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 600
server.listen-backlog = 4096
server.network-backend = "sendfile"
server.stat-cache-engine = "{stat_cache}"
server.defer-accept = 1
mimetype.assign = ( "" => "application/octet-stream" )
"""

H2O_CONF = """\
{user}
pid-file: {folder}/pid
error-log: {folder}/error.log
num-threads: 1
num-name-resolution-threads: 1
max-connections: {connections}
http1-request-timeout: 600
listen:
  host: {host}
  port: {port}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
"""


def find(program):
    """The program's path, or None when it is not installed."""
    return shutil.which(program, path=SEARCH)


def free_port():
    """A port that is free now. Somebody else may take it before the server
    does; then the server says so and the run ends."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def first_match(command, pattern):
    """What a program says of itself, on whichever stream."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(pattern, done.stdout)
    return found.group(1) if found else "unknown"


class Instance:
    """One running server."""

    def __init__(self, child, port, folder):
        self.child = child
        self.port = port
        self.folder = folder  # its own
        self.pids = machine.tree(child.pid)

    def is_alive(self):
        return self.child.poll() is None


class Server:
    """How one server is started. A subclass gives command() and the rest."""

    name = ""
    program = ""  # "": as it is named
    package = ""
    per_file = False  # one process for each file: the floor

    def __init__(self, lab):
        self.lab = lab
        self.cpus = lab.server_cpu  # one, or several with commas
        self.root = lab.site.root
        self.instances = {}
        self.config = None

    def missing(self):
        """None, or why this server cannot run here."""
        if find(self.program or self.name):
            return None
        return f"not installed (apt-get install {self.package})"

    def version(self):
        raise NotImplementedError

    def command(self, folder, port, file_name):
        raise NotImplementedError

    def write_config(self, template, folder, port, **more):
        """Fills the template into the folder; returns the file's path."""
        # Where masters run as root they hand their worker another user, who
        # may not enter a temporary folder of root's.
        user = {"nginx": "user root;", "h2o": "user: root"}.get(
            self.program or self.name, "")
        text = template.format(
            folder=folder, port=port, host=HOST, root=self.root,
            descriptors=self.lab.descriptors,
            connections=self.lab.descriptors - 100,
            user=user if os.geteuid() == 0 else "", **more)
        self.config = text
        path = os.path.join(folder,
                            f"{self.program or self.name}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def instance(self, file_name):
        """The process that serves a file: the same for all files, but for the
        floor's. Started when first asked for."""
        key = file_name if self.per_file else None
        if key not in self.instances:
            self.instances[key] = self._start(file_name)
        return self.instances[key]

    def _start(self, file_name):
        port = free_port()
        # A port may be free again.
        folder = tempfile.mkdtemp(
            prefix=f"{self.program or self.name}-{port}-",
            dir=self.lab.site.folder)
        log_path = os.path.join(folder, "output.log")
        child = self.lab.children.start(
            self.command(folder, port, file_name), self.cpus,
            log_path)
        end = time.monotonic() + START_S
        while not machine.listens(port):
            if child.poll() is not None or time.monotonic() > end:
                with open(log_path, encoding="utf-8", errors="replace") as log:
                    raise Failure(f"{self.name} does not start: "
                                  f"{log.read().strip() or 'no word from it'}")
            time.sleep(0.01)
        time.sleep(0.05)  # workers are forked by now
        return Instance(child, port, folder)

    def stop(self):
        for instance in self.instances.values():
            self.lab.children.end(instance.child)
        self.instances = {}


class Floor(Server):
    """bench/floor.c, compiled when first needed."""

    name = "floor"
    per_file = True
    compiler = shlex.split(os.environ.get("CC") or "cc")
    way = ()  # or ("memory",), ("sendfile",)

    def missing(self):
        program = self.compiler[0]
        return None if find(program) else f"no compiler '{program}'"

    def version(self):
        return first_match([*self.compiler, "--version"], r"(.*)") + " -O2"

    def command(self, folder, port, file_name):
        binary = os.path.join(self.lab.site.folder, "floor")
        if not os.path.exists(binary):
            subprocess.run([*self.compiler, "-std=c11", "-D_GNU_SOURCE", "-O2",
                            "-o", binary, os.path.join(BENCH, "floor.c")],
                           check=True)
        return [binary, port, self.lab.site.path(file_name), *self.way]


class Nginx(Server):
    name = "nginx"
    package = "nginx-light"
    nopush = "on"
    workers = 1
    access_log = "off"  # or a file below {folder} and how it is written

    def version(self):
        return first_match([find("nginx"), "-v"], r"nginx/(\S+)")

    def command(self, folder, port, file_name):
        config = self.write_config(NGINX_CONF, folder, port,
                                   nopush=self.nopush, workers=self.workers,
                                   access_log=self.access_log.format(
                                       folder=folder))
        return [find("nginx"), "-p", folder, "-c", config,
                "-e", os.path.join(folder, "error.log")]


class Lighttpd(Server):
    name = "lighttpd"
    package = "lighttpd"
    stat_cache = "inotify"

    def version(self):
        return first_match([find("lighttpd"), "-v"], r"lighttpd/(\S+)")

    def command(self, folder, port, file_name):
        return [find("lighttpd"), "-D", "-f",
                self.write_config(LIGHTTPD_CONF, folder, port,
                                  stat_cache=self.stat_cache)]


class H2o(Server):
    name = "h2o"
    package = "h2o"

    def version(self):
        return first_match([find("h2o"), "--version"], r"version (\S+)")

    def command(self, folder, port, file_name):
        return [find("h2o"), "-c", self.write_config(H2O_CONF, folder, port)]


class Sprintd(Server):
    name = "sprintd"
    workers = 1
    arguments = ()
    log_file = ""  # in the server's folder; "": no log

    @staticmethod
    def binary():
        build = os.environ.get("BUILD", "build")
        return os.path.join(TOP, build, "release", "sprintd")

    def missing(self):
        if os.access(self.binary(), os.X_OK):
            return None
        return f"not built: no {os.path.relpath(self.binary())} (make)"

    def version(self):
        return first_match([self.binary(), "-V"], r"sprintd (\S+)")

    def command(self, folder, port, file_name):
        log = ([f"--access-log={os.path.join(folder, self.log_file)}"]
               if self.log_file else [])
        return [self.binary(), "--workers", self.workers,
                "--listen", f"{HOST}:{port}", *log, *self.arguments,
                self.root]


SERVERS = (Floor, Nginx, Lighttpd, H2o, Sprintd)
