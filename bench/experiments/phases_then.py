"""The break-down of the original that was profiled, and ours by its parts.

Its report gives an order and no shares, of functions in user space: operations
of buffers first (write, consume, the size to be read, iterating), then parsing
a response and finishing a request, which counts it.
"""

from .model import Table

KERNEL = "the kernel's part"
PARTS = (  # what theirs names, what it says of it, and which phases are that
    ("buffers: write, consume, size, iterate", "a large amount",
     ("read", "send")),
    ("parsing", "a main consumer", ("parse",)),
    ("finishing a request: statistics, log", "a main consumer", ("log",)),
    ("what theirs does not name", "–",
     ("accept", "lookup", "schedule", "other")),
)


def rows_of(title, shares, cpu_us):
    """Rows of one load. shares: of all samples in percent, by phase and
    whether the kernel had the CPU."""
    user = sum(share for (_phase, is_kernel), share in shares.items()
               if not is_kernel)
    rows = []
    for part, then, phases in PARTS:
        share = sum(shares.get((phase, False), 0) for phase in phases)
        rows.append([title, part, then,
                     100 * share / user if user else None, share,
                     cpu_us * share / 100 if cpu_us else None])
    return [*rows, [title, KERNEL, "not named", None, 100 - user,
                    cpu_us * (100 - user) / 100 if cpu_us else None]]


def table(loads):
    """loads: title, shares, CPU time of each; None: perf could not be
    asked."""
    rows = [row for each in loads for row in rows_of(*each)]
    return Table(
        "By the parts that the original names",
        ["load", "part", "original", "ours, % of user time",
         "ours, % of all", "ours, µs a reply"], rows,
        "By perf's samples. Buffers: what is done in user space while bytes "
        "are read and sent; the copies are the kernel's, of which the "
        "original says nothing. Parsing: of requests; what the original "
        "names is a method parseResponse. No log is written here."
        ) if rows else None


def read(found):
    """Who is first of theirs, and who here. found: a table()."""
    first = found.rows[0][0]
    shares = {row[1]: row[3] for row in found.rows
              if row[0] == first and row[3] is not None}
    if not shares:
        return []
    kernel = next(row[4] for row in found.rows if row[1] == KERNEL)
    told = ", ".join(f"{part} {share:.0f} %" for part, share in shares.items())
    return ["The original names its buffers first, then parsing and finishing "
            f"a request, and gives no shares. Here, {first}, of what is done "
            f"in user space: {told}. All of user space together is "
            f"{100 - kernel:.0f} % of the CPU time. In this load a body "
            "leaves from where it lies in the cache of files, and is written "
            "to no buffer first; a small one behind which the connection ends "
            "is copied behind its head."]
