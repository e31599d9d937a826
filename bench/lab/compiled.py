"""Programs in C: compiled when first needed, and run to their end."""

import os
import subprocess

from . import servers
from .processes import Failure

COMPILE_S = 60


def build(binary, *sources, libraries=()):
    """Compiles the sources, unless that is done; returns the binary's path."""
    if os.path.exists(binary):
        return binary
    compiler = servers.Floor.compiler
    if not servers.find(compiler[0]):
        raise Failure(f"there is no compiler '{compiler[0]}'")
    done = subprocess.run(
        [*compiler, "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", binary, *sources,
         *libraries],
        capture_output=True, text=True, timeout=COMPILE_S, check=False)
    if done.returncode:
        raise Failure(f"{os.path.basename(sources[0])}: {done.stderr.strip()}")
    return binary


def run(lab, command, seconds, log_path):
    """Runs it on the client's CPU for so long at most; a Failure when that was
    not its end, or no good one."""
    child = lab.children.start(command, lab.client_cpu, log_path)
    try:
        status = child.wait(seconds)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        lab.children.end(child)
    if status != 0:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            raise Failure(f"the client: {log.read().strip() or 'has no end'}")
