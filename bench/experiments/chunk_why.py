"""What sendfile, which does not move most over loopback, costs either side:
bench/receiver.c takes the same files once as any client does and once without
copying them, and tells what that costs and in how many packets they came."""

from lab import rounds, site

from . import receiving
from .bench import median
from .model import Table
from .receiving import COPY, DISCARD

READ, SENDFILE = "read 512KB", "sendfile"
WAYS = {READ: ("--send-method=read", "--chunk-size=512K"),
        SENDFILE: ("--send-method=sendfile",)}
FEW, FEW_BYTES = "few.bin", site.MIB  # that stay in the CPU's cache
TITLE = "What sendfile and reads cost either side, and their packets"
CONNECTIONS = 4
ROUNDS, SECONDS, QUICK_SECONDS = 12, 0.4, 0.1


def take(bench, large):
    """Samples by file's name, way, and whether the client copies. large: the
    name of a file that the CPU's caches do not hold."""
    binary = receiving.build(bench)
    seconds = bench.pick(SECONDS, QUICK_SECONDS)
    bench.lab.site.put(FEW, FEW_BYTES)
    made = {way: bench.sprintd(way, *arguments)
            for way, arguments in WAYS.items()}
    cells = [(name, way, how) for name in (large, FEW) for way in WAYS
             for how in (COPY, DISCARD)]
    found = {cell: [] for cell in cells}
    try:
        for turn in range(bench.rounds(ROUNDS)):
            for name, way, how in rounds.in_order(cells, turn):
                bench.step(f"why, round {turn + 1}: {way}, {how}")
                found[name, way, how].append(receiving.take(
                    bench, binary, made[way], name, CONNECTIONS, seconds,
                    how))
    finally:
        for server in made.values():
            server.stop()
    return found


def _middle(samples, what):
    return median(getattr(sample, what) for sample in samples)


def table(found, titles):
    """titles: of the files, by name."""
    return Table(
        TITLE,
        ["file, way, what the client does", "MiB/s", "server's CPU µs/MiB",
         "client's CPU µs/MiB", "bytes a packet", "bytes a read"],
        [[f"{titles[name]}, {way}, {how}",
          *(_middle(samples, what) for what in
            ("mib_per_second", "server_us", "client_us", "packet_bytes",
             "read_bytes"))]
         for (name, way, how), samples in found.items()],
        "Discard: the client's kernel drops the body without copying it.")


def _copy_us(found, name, way):
    """What a MiB costs the client to copy, as the table tells it."""
    whole, without = (_middle(found[name, way, how], "client_us")
                      for how in (COPY, DISCARD))
    return whole - without


def _client_us(found, name, way):
    return _middle(found[name, way, COPY], "client_us")


def _tell_client(found, large):
    """What a MiB costs the client, and of it the copy."""
    told = []
    for name in (large, FEW):
        costs = [_client_us(found, name, way) for way in WAYS]
        copies = [_copy_us(found, name, way) for way in WAYS]
        told += [*costs, *copies]
    return ("A MiB of the large file takes the client {:.0f} µs of CPU by "
            "reads and {:.0f} by sendfile, of them {:.0f} and {:.0f} to copy "
            "it; one of the file of {} MiB {:.0f} and {:.0f}, of them {:.0f} "
            "and {:.0f} (copying: by what the medians of copying and "
            "discarding differ). ".format(
                *told[:4], FEW_BYTES // site.MIB, *told[4:]))


def _tell_dearer(found, large):
    """By how much more the client pays for what sendfile hands over."""
    more, copy = (cost(found, large, SENDFILE) - cost(found, large, READ)
                  for cost in (_client_us, _copy_us))
    if more <= 0:
        return ""
    return (f"So a MiB of the large file is dearer to the client by sendfile "
            f"by {more:.0f} µs, of which copying makes {copy:.0f}; what makes "
            "the rest is not shown here. ")


def _tell_server(found, large):
    """What it costs the server, where the client copies and where it does
    not."""
    costs, less = [], []
    for name in (large, FEW):
        pairs = [[_middle(found[name, way, how], "server_us")
                  for way in (SENDFILE, READ)] for how in (COPY, DISCARD)]
        costs.append("{:.0f} µs/MiB after {:.0f} by reads ({:.0f} after {:.0f} "
                     "where the client drops it)".format(*pairs[0], *pairs[1]))
        less.append({sent < read for sent, read in pairs})
    ways = ["less" if each == {True} else "more" if each == {False} else
            "now less and now more" for each in less]
    return (f"The server's own CPU time is {costs[0]}, of the file of "
            f"{FEW_BYTES // site.MIB} MiB {costs[1]}: by sendfile {ways[0]} of "
            f"the large file, {ways[1]} of the other.")


def read(found, large):
    packets = {way: _middle(found[large, way, COPY], "packet_bytes")
               for way in WAYS}
    return ["By a client that only receives (bench/receiver.c) a packet of "
            f"the large file has {packets[READ] / 1e3:.0f} kB by reads and "
            f"{packets[SENDFILE] / 1e3:.0f} by sendfile. "
            + _tell_client(found, large) + _tell_dearer(found, large)
            + _tell_server(found, large)]
