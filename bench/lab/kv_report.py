"""Tables of what the key-value store's loads have shown."""

import math

from . import kv, machine, stores
from .report import short

MIB = 1024 * 1024
COLUMNS = ("a second", "CPU µs (min..max)", "per CPU second", "p50 µs",
           "p99 µs")


def _rows(group, cells):
    """A title and a cell of each that was measured."""
    for load in group.loads:
        for kind in group.servers:
            cell = cells.get((load.name, kind.name))
            if cell:
                title = kind.name if len(group.servers) > 1 else load.title
                yield title, cell


def _texts(cell):
    low, high = map(short, cell.spread)
    return (f"{cell.median('per_second'):,.0f}",
            f"{short(cell.cpu_us)} ({low}..{high})",
            f"{1e6 / cell.cpu_us:,.0f}",
            f"{cell.median('p50_us'):,.0f}", f"{cell.median('p99_us'):,.0f}")


def _verdicts(group, cells):
    for goal in group.goals:
        ratio = kv.ratio(group, cells, goal)
        if ratio is None:
            yield f"{goal}: not measured"
        else:
            state = "reached" if goal.is_reached(ratio) else "MISSED"
            yield f"{goal}: {ratio:.2f}, {state}"


def _line(title, texts):
    return (f"  {title:24}{texts[0]:>10}{texts[1]:>26}"
            + "".join(f"{text:>15}" for text in texts[2:]))


def print_group(group, cells, left_out):
    print(f"\n{group.title}\n" + _line("", COLUMNS))
    for title, cell in _rows(group, cells):
        if cell.trouble:
            print(f"  {title:24}  invalid: {cell.trouble}")
        else:
            print(_line(title, _texts(cell))
                  + (f"  noisy: {cell.noise}" if cell.noise else ""))
    for name, reason in left_out.items():
        print(f"  {name:24}  left out: {reason}")
    for verdict in _verdicts(group, cells):
        print(f"  sprintd: {verdict}")


def print_groups(lab, groups):
    told = [kind(lab) for kind in (stores.Redis, stores.Webdis)]
    print(f"\nThe key-value store, in {stores.DISK}, "
          f"{machine.file_system(stores.DISK)}: {kv.CONNECTIONS} connections "
          "[kv]")
    print("  " + ", ".join(f"{server.program} {server.version()}"
                           for server in told if not server.missing()))
    for result in groups:
        print_group(*result)


# --- Sizes ---

def _measured(rows):
    return [row for row in rows if "trouble" not in row]


def growth(rows, method):
    """Of each size but the first: how many times the first one's CPU time an
    operation costs, and how many times a logarithm would allow."""
    rows = _measured(rows)
    first = rows[0]["cells"][method] if rows else None
    for row in rows[1:]:
        cell = row["cells"][method]
        if not (cell.trouble or first.trouble):
            yield (cell.cpu_us / first.cpu_us,
                   math.log(row["keys"]) / math.log(rows[0]["keys"]))


def size_verdict(rows, method):
    found = list(growth(rows, method))
    text = f"{method}, at most logarithmic: "
    if not found:
        return text + "not measured"
    state = ("reached" if all(real <= allowed for real, allowed in found)
             else "MISSED")
    return text + ", ".join(f"{real:.2f} (≤ {allowed:.2f})"
                            for real, allowed in found) + f": {state}"


def _size_texts(row):
    own = row["memory_bytes"] - row["mapped_bytes"]
    yield from (f"{row['keys']:,}", f"{row['import_s']:.1f}",
                f"{row['imported_bytes'] / MIB:,.0f}",
                f"{row['file_bytes'] / MIB:,.0f}", f"{own / MIB:,.1f}",
                f"{row['mapped_bytes'] / MIB:,.0f}")
    for method in ("GET", "PUT"):
        cell = row["cells"][method]
        if cell.trouble:
            yield from ("invalid", "–", "–")
        else:
            yield from (short(cell.cpu_us), f"{cell.median('p50_us'):,.0f}",
                        f"{cell.median('p99_us'):,.0f}")


SIZE_COLUMNS = ("keys", "import s", "file MiB", "later", "memory MiB", "map",
                "GET CPU µs", "p50", "p99", "PUT CPU µs", "p50", "p99")


def print_sizes(rows):
    if not rows:
        return
    print(f"\nKeys with values of {kv.PUT_BYTES} bytes, "
          f"{kv.CONNECTIONS} connections: the file as imported, and after the "
          "PUTs;\nresident memory, and pages of the map besides; µs")
    print("  " + "".join(f"{name:>12}" for name in SIZE_COLUMNS))
    for row in _measured(rows):
        print("  " + "".join(f"{text:>12}" for text in _size_texts(row)))
        for method, cell in row["cells"].items():
            if cell.trouble or cell.noise:
                print(f"  {row['keys']:,} keys, {method}: "
                      f"{cell.trouble or 'noisy: ' + cell.noise}")
    for row in rows[len(_measured(rows)):]:
        print(f"  {row['keys']:,} keys: {row['trouble']}")
    for method in ("GET", "PUT"):
        print(f"  {size_verdict(rows, method)}")


# --- For a README, for programs ---

def print_groups_markdown(groups):
    print("\n| | a second | CPU µs | per CPU second | p50 µs | p99 µs | aim |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for group, cells, _left_out in groups:
        aims = "; ".join(_verdicts(group, cells))
        for title, cell in _rows(group, cells):
            texts = "–" if cell.trouble else " | ".join(_texts(cell))
            print(f"| {group.title}: {title} | {texts} | {aims} |")
            aims = ""


def print_markdown(groups, rows):
    print_groups_markdown(groups)
    print("\n| " + " | ".join(SIZE_COLUMNS) + " |")
    print("|" + "---:|" * len(SIZE_COLUMNS))
    for row in _measured(rows):
        print("| " + " | ".join(_size_texts(row)) + " |")


def as_json(groups, rows):
    return {
        "groups": [{"title": group.title, "left_out": left_out,
                    "verdicts": list(_verdicts(group, cells)),
                    "cells": {f"{load}: {server}": [vars(sample) for sample
                                                    in cell.samples]
                              for (load, server), cell in cells.items()}}
                   for group, cells, left_out in groups],
        "sizes": [{**row, "cells": {method: [vars(sample)
                                             for sample in cell.samples]
                                    for method, cell
                                    in row.get("cells", {}).items()}}
                  for row in rows]}
