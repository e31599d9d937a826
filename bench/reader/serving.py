"""The servers that are compared, all by HTTP/2 over TLS and with one worker.
Each is set up as it comes, but for what says where it listens and for the
number of requests that a connection may have."""

import os
import subprocess

from lab import servers
from link import network

NGINX_CONF = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
user root;
worker_processes 1;
events {{ worker_connections 1000; }}
http {{
    types {{ text/html html; text/css css; text/javascript js;
             image/png png; }}
    access_log off;
    sendfile on;
    tcp_nopush on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {port} ssl http2;
        ssl_certificate {cert};
        ssl_certificate_key {key};
        root {root};
    }}
}}
"""

H2O_CONF = """\
user: root
pid-file: {folder}/pid
error-log: {folder}/error.log
num-threads: 1
listen:
  host: 0.0.0.0
  port: {port}
  ssl:
    certificate-file: {cert}
    key-file: {key}
hosts:
  default:
    paths:
      /:
        file.dir: {root}
"""

CADDY_CONF = """\
{{
    admin off
    auto_https off
    grace_period 1s
}}
https://:{port} {{
    tls {cert} {key}
    root * {root}
    file_server
}}
"""


def make_certificate(folder):
    """For all addresses of these networks; its file and its key's."""
    cert, key = (os.path.join(folder, name) for name in ("cert", "key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=page", "-addext",
         "subjectAltName=" + ",".join(f"IP:10.99.1.{last}"
                                      for last in range(1, 255)),
         "-days", "2", "-keyout", key, "-out", cert], check=True,
        capture_output=True)
    return cert, key


class Server:
    """As bench/link/serving.py has them."""

    name = program = template = ""

    def __init__(self, certificate):
        self.cert, self.key = certificate

    def missing(self):
        """Why it cannot run, or nothing."""
        if servers.find(self.program):
            return ""
        return f"{self.name} is not installed (apt-get install {self.program})"

    def command(self, net, root, folder):
        path = os.path.join(folder, f"{self.program}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.template.format(
                folder=folder, root=root, port=network.PORT,
                cert=self.cert, key=self.key))
        return self.run(path, folder)

    def run(self, path, folder):
        raise NotImplementedError


class Nginx(Server):
    name = program = "nginx"
    template = NGINX_CONF

    def run(self, path, folder):
        return [servers.find("nginx"), "-p", folder, "-c", path, "-e",
                os.path.join(folder, "error.log")]


class H2o(Server):
    name = program = "h2o"
    template = H2O_CONF

    def run(self, path, folder):
        return [servers.find("h2o"), "-c", path]


class Caddy(Server):
    name = program = "caddy"
    template = CADDY_CONF

    def run(self, path, folder):
        return ["env", f"HOME={folder}", "GOMAXPROCS=1",
                servers.find("caddy"), "run", "--config", path, "--adapter",
                "caddyfile"]


class Sprintd(Server):
    """binary and arguments: of another build, or other options."""

    name = "sprintd"

    def __init__(self, certificate, name=name, binary="", arguments=()):
        super().__init__(certificate)
        self.name = name
        self.binary = binary or servers.Sprintd.binary()
        self.arguments = arguments

    def missing(self):
        if os.access(self.binary, os.X_OK):
            return ""
        return f"{self.name}: no program '{self.binary}' (make)"

    def command(self, net, root, folder):
        return [self.binary, "--workers", "1", "--certificate", self.cert,
                "--certificate-key", self.key, "--listen",
                f"https://0.0.0.0:{network.PORT}", *self.arguments,
                root]


PEERS = (Nginx, H2o, Caddy)
