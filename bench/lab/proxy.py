"""The reverse proxy: sprintd, nginx and haproxy before the same servers.

The proxy has one CPU and one worker. What it asks, floor.c, shares the other
one with wrk, and keeps its connections, as the proxies do. sprintd does more
than the others are told to: it adds Via, Forwarded and X-Forwarded-*.
"""

import dataclasses
import os

from . import kv, loads, rounds, servers, site
from .kv import Goal, Group

UPLOAD = "upload.bin"
UPLOAD_BYTES = site.MIB
KEPT = 64  # connections to the upstream; more than loads of large bodies have

NGINX_CONF = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
{user}
worker_processes 1;
worker_rlimit_nofile {descriptors};
events {{
    worker_connections {connections};
    multi_accept on;
}}
http {{
    access_log off;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream there {{
        server {host}:{upstream_port};
        keepalive {kept};
        keepalive_requests 1000000000;
        keepalive_timeout 600s;
    }}
    server {{
        listen {host}:{port} deferred backlog=4096;
        location / {{
            proxy_pass http://there;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_request_buffering off;
        }}
    }}
}}
"""

HAPROXY_CONF = """\
global
    nbthread 1
    maxconn {connections_max}
defaults
    mode http
    http-reuse always
    timeout connect 30s
    timeout client 600s
    timeout server 600s
    timeout http-keep-alive 600s
    {option}
listen proxy
    bind {host}:{port} backlog 4096
    server there {host}:{upstream_port}
"""
HAPROXY_CONNECTIONS_MAX = 4096


class Upstream(servers.Floor):
    """What is behind the proxies."""

    def __init__(self, lab):
        super().__init__(dataclasses.replace(lab, server_cpu=lab.client_cpu))

    def command(self, folder, port, file_name):
        self.way = (("memory", UPLOAD_BYTES) if file_name == UPLOAD else ())
        return super().command(folder, port, file_name)


class Proxy:
    """What is told of a server beside servers.Server's: one process for each
    file, as its upstream is one, too."""

    per_file = True
    upstream = None  # what has an instance() with a port

    def upstream_port(self, file_name):
        return self.upstream.instance(file_name).port


class Sprintd(Proxy, servers.Sprintd):
    name = program = "sprintd"
    more = ()  # options

    def command(self, folder, port, file_name):
        self.arguments = (
            *servers.Sprintd.arguments, *self.more,
            f"--proxy-keepalive={KEPT}",
            f"--proxy=/=http://{servers.HOST}:{self.upstream_port(file_name)}")
        return super().command(folder, port, file_name)


class Nginx(Proxy, servers.Nginx):
    name = program = "nginx"

    def command(self, folder, port, file_name):
        config = self.write_config(
            NGINX_CONF, folder, port, kept=KEPT,
            upstream_port=self.upstream_port(file_name))
        return [servers.find("nginx"), "-p", folder, "-c", config,
                "-e", os.path.join(folder, "error.log")]


class Haproxy(Proxy, servers.Server):
    name = program = package = "haproxy"
    option = ""

    def version(self):
        return servers.first_match([servers.find("haproxy"), "-v"],
                                   r"version (\d[\d.]*\d)")

    def command(self, folder, port, file_name):
        return [servers.find("haproxy"), "-db", "-f", self.write_config(
            HAPROXY_CONF, folder, port, option=self.option,
            connections_max=HAPROXY_CONNECTIONS_MAX,
            upstream_port=self.upstream_port(file_name))]


class SplicingHaproxy(Haproxy):
    name = "haproxy, splice"
    option = "option splice-response"


SMALL = loads.Load("proxy-1k", "1 KiB, 64 connections", 64)
LARGE = loads.Load("proxy-10m", "10 MiB, 8 connections", 8, "10m.bin",
                   10 * site.MIB)
POST = loads.Load("proxy-post", "POST of 1 MiB, 8 connections", 8, UPLOAD,
                  script=("post", UPLOAD_BYTES), body_bytes=UPLOAD_BYTES)

GROUPS = (
    Group("1 KiB, 64 keep-alive connections", (SMALL,),
          (Sprintd, Nginx, Haproxy),
          (Goal("cpu_us", 1, "nginx"), Goal("cpu_us", 1, "haproxy"))),
    Group("10 MiB, 8 connections", (LARGE,),
          (Sprintd, Nginx, Haproxy, SplicingHaproxy),
          (Goal("cpu_us", 1.05, "haproxy"),
           Goal("cpu_us", 1.05, SplicingHaproxy.name))),
    Group("POST of 1 MiB, 8 connections", (POST,), (Sprintd, Nginx, Haproxy),
          ()),
)


def made(kinds, lab, upstream):
    """Those of the proxies that can run here; and why others cannot."""
    found, left_out = kv.made(kinds, lab)
    for proxy in found:
        proxy.upstream = upstream
    return found, left_out


@dataclasses.dataclass(frozen=True)
class Configured:
    """What is told of a proxy at the end, beside servers of its name."""

    name: str
    config: str


def measure_groups(groups, title, behind, lab, options, progress):
    """Of each group: cells by load and proxy, and what was left out; and how
    each proxy was configured."""
    results = []
    configured = {}
    for group in groups:
        upstream = behind(lab)
        found, left_out = made(group.servers, lab, upstream)
        cells = {}
        if found:
            cells = rounds.measure(loads.Runner(lab), group.loads, found,
                                   options, progress)
        upstream.stop()
        results.append((group, cells, left_out))
        for proxy in found:
            configured[proxy.name] = Configured(f"{title}: {proxy.name}",
                                                proxy.config)
    return results, list(configured.values())


def measure(lab, options, progress):
    return measure_groups(GROUPS, "proxy", Upstream, lab, options, progress)
