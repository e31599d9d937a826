"""The cache of proxied answers: hits of sprintd, nginx and Varnish, beside sprintd's
own files of the same size.

What is behind is asked once, and says that its answers are good for an hour.
"""

import dataclasses
import os

from . import loads, proxy, servers, site
from .kv import Goal, Group

NGINX_CONF = proxy.NGINX_CONF.replace("""\
    upstream there""", """\
    proxy_cache_path {folder}/cache keys_zone=all:64m max_size=256m;
    upstream there""").replace("""\
            proxy_pass""", """\
            proxy_cache all;
            proxy_pass""")
OWN_FILE = "sprintd, its own file"


class Origin(servers.Sprintd):
    """What is behind: floor.c's date is of long ago."""

    arguments = ("--cache-control=max-age=3600",)

    def __init__(self, lab):
        super().__init__(dataclasses.replace(lab, server_cpu=lab.client_cpu))


class Sprintd(proxy.Sprintd):
    more = ("--proxy-cache=memory",)


class OwnFile(servers.Sprintd):
    name = OWN_FILE
    program = "sprintd"
    upstream = None


class Nginx(proxy.Nginx):
    def command(self, folder, port, file_name):
        config = self.write_config(
            NGINX_CONF, folder, port, kept=proxy.KEPT,
            upstream_port=self.upstream_port(file_name))
        return [servers.find("nginx"), "-p", folder, "-c", config,
                "-e", os.path.join(folder, "error.log")]


class Varnish(proxy.Proxy, servers.Server):
    name = package = "varnish"
    program = "varnishd"

    def version(self):
        return servers.first_match([servers.find("varnishd"), "-V"],
                                   r"varnish-(\d[\d.]*\d)")

    def command(self, folder, port, file_name):
        jail = ("-j", "none") if os.geteuid() == 0 else ()
        return [servers.find("varnishd"), "-F", *jail,
                "-n", os.path.join(folder, "varnish"),
                "-a", f"{servers.HOST}:{port}",
                "-b", f"{servers.HOST}:{self.upstream_port(file_name)}",
                "-s", "malloc,256m", "-p", "listen_depth=4096",
                "-p", "timeout_idle=600"]


SMALL = loads.Load("cache-1k", "a hit of 1 KiB, 64 connections", 64)
LARGE = loads.Load("cache-10m", "a hit of 10 MiB, 4 connections", 4, "10m.bin",
                   10 * site.MIB)
SERVERS = (Sprintd, OwnFile, Nginx, Varnish)

GROUPS = tuple(
    Group(load.title, (load,), SERVERS,
          (Goal("cpu_us", 1.05, OWN_FILE), Goal("cpu_us", 1, "nginx"),
           Goal("cpu_us", 1, "varnish")))
    for load in (SMALL, LARGE))


def measure(lab, options, progress):
    """As proxy.measure()."""
    return proxy.measure_groups(GROUPS, "cache", Origin, lab, options, progress)
