"""What the report computes of a result's tables, so that a number of the
originals has the same one of ours beside it. Results are kept as they were
measured; tables that are not there, or not as they are today, stay."""

import dataclasses

from .model import Table

ONE, SERIAL = "1 worker", "a session at a time"
SPEED_UPS = {  # the first that was measured is what others are compared with
    SERIAL: ("Speed-up over a server that takes a session at a time",
             "Of the medians of replies per second. The original's figure has "
             "a speed-up, too, and no numbers of it have come down."),
    ONE: ("Speed-up over one worker without a log",
          "Of the medians of replies per second. The original's figure has "
          "this over its serial server, and no numbers of it have come down."),
}
HTTPERF_SESSIONS = 10  # each on a connection of its own


def _at(tables, title):
    """Where a table is by its title's beginning; a StopIteration."""
    return next(at for at, table in enumerate(tables)
                if table.title.startswith(title))


def _by(number, base):
    return f"{number / base:.2f}" if number and base else None


def _with_column(table, behind, name, cells):
    """The same table with one more column."""
    at = table.columns.index(behind) + 1
    return dataclasses.replace(
        table, columns=[*table.columns[:at], name, *table.columns[at:]],
        rows=[[*row[:at], cell, *row[at:]]
              for row, cell in zip(table.rows, cells)])


def _session_length(tables):
    rates = tables[_at(tables, "Replies per second")]
    base, title, note = next(
        (column, *SPEED_UPS[name]) for name in SPEED_UPS
        for column, there in enumerate(rates.columns)
        if there == name and any(row[column] for row in rates.rows))
    speed_up = Table(title, rates.columns,
                     [[row[0], *(_by(rate, row[base]) for rate in row[1:])]
                      for row in rates.rows], note)
    at = _at(tables, "CPU µs per reply") + 1
    return [*tables[:at], speed_up, *tables[at:]]


def _parallel_clients(tables):
    at = _at(tables, "srpt over a link")
    table = tables[at]
    rate = table.columns.index("MB/s")
    first = table.rows[0]
    return [*tables[:at], _with_column(
        table, "MB/s", f"by {first[0]} clients'",
        [_by(row[rate], first[rate]) for row in table.rows]),
            *tables[at + 1:]]


def _file_size(tables):
    """Each size has two rows, the serial server's first."""
    at = _at(tables, "A session at a time")
    table = tables[at]
    what = "duration / requests ms"
    took = table.columns.index(what)
    serial = {row[0].partition(",")[0]: row[took] for row in table.rows[::2]}
    return [*tables[:at], _with_column(
        table, what, "speed-up by it",
        [_by(serial[row[0].partition(",")[0]], row[took])
         for row in table.rows]), *tables[at + 1:]]


# Behind which row of httperf's report: what it says besides, the original's,
# and how that follows from the others.
HTTPERF = (
    ("test-duration s", "connections", "10",
     lambda said: HTTPERF_SESSIONS),
    ("connections a second", "ms a connection", "239.4",
     lambda said: said["test-duration s"] * 1e3 / HTTPERF_SESSIONS),
    ("connect ms", "replies a connection", "100.000",
     lambda said: said["replies"] / HTTPERF_SESSIONS),
    ("requests a second", "ms a request", "2.4",
     lambda said: said["test-duration s"] * 1e3 / said["requests"]),
    ("reply's content, bytes", "reply in all, bytes", "290.0",
     lambda said: said["reply's head, bytes"] + said["reply's content, bytes"]),
    ("replies of 4xx", "replies of 1xx, 3xx, 5xx", "0",
     lambda said: said["replies"] - said["replies of 2xx"]
     - said["replies of 4xx"]),
)


def _kv_threads(tables):
    at = _at(tables, "httperf's own report")
    table = tables[at]
    said = [{row[0]: row[column] for row in table.rows}
            for column in range(2, len(table.columns))]
    rows = list(table.rows)
    for behind, name, then, compute in HTTPERF:
        place = next(at for at, row in enumerate(rows)
                     if row[0] == behind) + 1
        rows.insert(place, [name, then, *map(compute, said)])
    note = (f"{table.note} Of ours these are computed, or were asked for: "
            + "; ".join(name for _behind, name, *_rest in HTTPERF) + ".")
    return [*tables[:at], dataclasses.replace(table, rows=rows, note=note),
            *tables[at + 1:]]


DERIVED = {"session-length": _session_length,
           "parallel-clients": _parallel_clients, "file-size": _file_size,
           "kv-threads": _kv_threads}


def tables(experiment, result):
    """The result's tables, with what follows from them."""
    try:
        return DERIVED[experiment.name](result.tables)
    except (LookupError, StopIteration, TypeError, ValueError,
            ZeroDivisionError):
        return result.tables
