"""What a store of many keys takes: memory, disk, time for each operation.

The keys come in by `sprintd kv import`, in their order, as an export has them;
they are asked for and put at random.
"""

import os
import shutil
import subprocess
import time

from . import kv, machine, rounds, stores
from .processes import Failure

KEYS_MIN = 10_000
LINES = 10_000  # made at once
IMPORT_S = 600


def sizes(keys_max):
    """10^4 and tenfold up to the most."""
    size = KEYS_MIN
    while size <= keys_max:
        yield size
        size *= 10


def key_loads(keys):
    return tuple(
        kv.KeyLoad(f"{method} of {keys}", f"{method}, {keys:,} keys",
                   kv.CONNECTIONS, method=method, keys=keys)
        for method in ("GET", "PUT"))


def _write_lines(out, keys):
    value = "v" * kv.PUT_BYTES
    for first in range(0, keys, LINES):
        out.write("".join(f'{{"key":"{key:08d}","value":"{value}"}}\n'
                          for key in range(first, min(first + LINES, keys))))


def import_keys(server, keys):
    """Seconds that it took."""
    begin = time.monotonic()
    with subprocess.Popen(
            ["taskset", "-c", str(server.lab.server_cpu), server.binary(),
             "kv", "import", server.data_folder()],
            stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True) as child:
        try:
            _write_lines(child.stdin, keys)
            child.stdin.close()
            child.wait(IMPORT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"importing {keys:,} keys: {error!r}") from error
        finally:
            if child.poll() is None:
                child.kill()
    if child.returncode != 0:
        raise Failure(f"importing {keys:,} keys: status {child.returncode}")
    return time.monotonic() - begin


class Runner(kv.Runner):
    """Looks at the server's memory as long as it runs."""

    def __init__(self, lab, data):
        super().__init__(lab)
        self.data = data
        self.memory_bytes = self.mapped_bytes = 0

    def measure(self, server, load, seconds):
        sample = super().measure(server, load, seconds)
        pids = server.instance("").pids
        self.memory_bytes = machine.memory_bytes(pids)
        self.mapped_bytes = machine.mapped_bytes(pids, self.data)
        return sample


def measure_size(lab, folder, keys, options, progress):
    server = stores.Sprintd(lab)
    server.disk = os.path.join(folder, str(keys))
    progress.step(f"{keys:,} keys: import")
    row = {"keys": keys}
    try:
        row["import_s"] = import_keys(server, keys)
        data = os.path.join(server.data_folder(), "data.mdb")
        row["imported_bytes"] = os.stat(data).st_size
        measured = key_loads(keys)
        runner = Runner(lab, data)
        cells = rounds.measure(runner, measured, [server], options, progress)
        row["memory_bytes"] = runner.memory_bytes
        row["mapped_bytes"] = runner.mapped_bytes
        row["file_bytes"] = os.stat(data).st_size
        row["cells"] = {load.method: cells[load.name, server.name]
                        for load in measured}
    finally:
        server.stop()
        shutil.rmtree(server.disk, ignore_errors=True)
    return row


def samples_wanted(options):
    return sum(1 + 2 * options.rounds for _each in sizes(options.kv_keys))


def measure(lab, folder, options, progress):
    """A row for each size; the last one may only say why it has no more."""
    rows = []
    for keys in sizes(options.kv_keys):
        try:
            rows.append(measure_size(lab, folder, keys, options, progress))
        except Failure as failure:
            return [*rows, {"keys": keys, "trouble": str(failure)}]
    return rows
