"""How much do short sessions cost, and a log beside them?"""

import math
import socket

from lab import loads, processes, rounds, servers

from . import closed_loops as loops
from . import paired, serial, verdicts
from .model import Claim, Experiment, Figure, Result, Series, Table

LENGTHS = (1, 2, 5, 10, 100, 1000)
PARALLEL, WORKERS = 8, 8
FILE, FILE_BYTES = "5k.bin", 5 * 1024
LOAD = loads.Load("5k", f"5 KiB, {PARALLEL} in parallel", PARALLEL, FILE,
                  FILE_BYTES)
LOG_COST = 1.15    # times the CPU time, at most
FALL_MAX = 0.95    # by which longer sessions may be slower and yet not slower
TIMEOUT_S = 5

ONE, ONE_LOG = "1 worker", "1 worker, log"
MANY, MANY_LOG = f"{WORKERS} workers", f"{WORKERS} workers, log"
WAYS = (ONE, ONE_LOG, MANY, MANY_LOG)
SERIAL = serial.Serial.name
SERIAL_ROUNDS, SERIAL_SECONDS = 9, 0.3  # some of its longest sessions


def _name(way, length):
    return f"{way}, sessions of {length}"


def _make(bench, lengths):
    """Servers by way and length, and the paths of their logs."""
    made, logs = {}, {}
    for way in WAYS:
        for length in lengths:
            name = _name(way, length)
            log = ()
            if way in (ONE_LOG, MANY_LOG):
                log, logs[name] = loops.log_options(
                    bench, f"session-{len(made)}")
            made[way, length] = bench.sprintd(
                name, f"--max-requests-per-connection={length}", *log,
                workers=1 if way in (ONE, ONE_LOG) else WORKERS,
                both_cpus=True)
    return made, logs


def _measure_serial(bench, lengths):
    """Cells of the original's serial server: in rounds of its own, which are
    few however many are wanted, as no claim needs them."""
    made = []
    for length in lengths:
        server = serial.Serial(bench.lab)
        server.name, server.calls = _name(SERIAL, length), length
        server.cpus = f"{bench.lab.server_cpu},{bench.lab.client_cpu}"
        made.append(server)
    options = bench.options(SERIAL_ROUNDS, SERIAL_SECONDS)
    options.rounds = min(options.rounds, SERIAL_ROUNDS)
    try:
        for server in made:
            _check_session(server, server.calls)
        return rounds.measure(loads.Runner(bench.lab), [LOAD], made, options,
                              bench)
    except (processes.Failure, OSError) as failure:
        lacking = loads.Sample(trouble=str(failure))
        return {(LOAD.name, server.name): rounds.Cell([lacking])
                for server in made}
    finally:
        for server in made:
            server.stop()


def _check_session(server, length):
    """A session must be as long as it is said to be."""
    port = server.instance(FILE).port
    request = f"GET /{FILE} HTTP/1.1\r\nHost: {servers.HOST}\r\n\r\n".encode()
    with socket.create_connection((servers.HOST, port), TIMEOUT_S) as client, \
            client.makefile("rb") as replies:
        for number in range(1, length + 1):
            client.sendall(request)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = replies.readline()
                if not line:
                    raise processes.Failure(
                        f"{server.name}: closed before request {number}")
                head += line
            if len(replies.read(FILE_BYTES)) != FILE_BYTES:
                raise processes.Failure(f"{server.name}: a short reply")
        if b"Connection: close" not in head or replies.read(1):
            raise processes.Failure(f"{server.name}: not closed")


def _sound(cells, way, length):
    cell = cells[LOAD.name, _name(way, length)]
    return None if cell.trouble else cell


def _ratio(cells, what, pair, base):
    """what of a (way, length) by that of another."""
    ours, theirs = _sound(cells, *pair), _sound(cells, *base)
    return ours.median(what) / theirs.median(what) if ours and theirs else None


def _tables(cells, lengths):
    def table(title, what, ways, note=""):
        return Table(title, ["requests per connection", *ways],
                     [[length, *(cell.median(what) if cell else None
                                 for way in ways
                                 for cell in [_sound(cells, way, length)])]
                      for length in lengths], note)

    return [
        table("Replies per second", "per_second", (*WAYS, SERIAL),
              "Original: no numbers have come down; with a log it did not "
              "perform well, and it says that this was as each request had to "
              f"wait for the one logger. {SERIAL.capitalize()}: as its serial "
              "server, in rounds of its own."),
        table("CPU µs per reply, all threads, the log's too", "cpu_us",
              (*WAYS, SERIAL)),
        table("p99 of the response, µs", "p99_us", WAYS),
    ]


def _figures(cells, lengths):
    def lines(what):
        return [Series(way, [[length, cell.median(what)] for length in lengths
                             for cell in [_sound(cells, way, length)] if cell])
                for way in (*WAYS, SERIAL)]

    return [Figure(name, title, "requests per connection", unit, lines(what),
                   log_x=True, log_y=what == "cpu_us")
            for name, title, unit, what in (
                ("rate", "Replies per second by session length", "replies/s",
                 "per_second"),
                ("cost", "CPU time by session length", "µs per reply",
                 "cpu_us"))]


def _by_round(cells, what, pair, base):
    """what of a (way, length) by that of another, round for round."""
    ours, theirs = _sound(cells, *pair), _sound(cells, *base)
    return rounds.ratios(ours, theirs, what) if ours and theirs else []


def _claim_log(cells, lengths):
    """Of one worker; the CPU time of the writing thread is in it."""
    found = {length: _by_round(cells, "cpu_us", (ONE_LOG, length),
                               (ONE, length)) for length in lengths}
    return verdicts.claim(
        f"with one worker a log takes at most {LOG_COST - 1:.0%} more CPU time "
        "per reply, however long sessions are (runs as short differ by as "
        "much)", found, LOG_COST)


def _claim_serial(cells, lengths):
    found = {length: _by_round(cells, "per_second", (MANY_LOG, length),
                               (ONE, length)) for length in lengths}
    return verdicts.claim_at_least(
        f"{WORKERS} workers with a log answer at no less than "
        f"{loops.EQUAL:.0%} of the rate of one worker without, however long "
        "sessions are (the client takes part in it)", found, loops.EQUAL)


def _claim_rises(cells, lengths):
    found = {f"{shorter} to {longer}": _by_round(
        cells, "per_second", (ONE, longer), (ONE, shorter))
             for longer, shorter in zip(lengths[1:], lengths)}
    return verdicts.claim_at_least(
        "one worker is not slower when sessions are longer, by more than "
        f"{1 - FALL_MAX:.0%} (runs differ by as much)", found, FALL_MAX)


def _claim_lines(cells, logs):
    """wrk does not count what it had asked for when it was stopped."""
    told = {}
    for name, path in logs.items():
        replies = sum(sample.replies
                      for sample in cells[LOAD.name, name].samples)
        told[name] = loops.count_lines(path), int(replies)
    lacking = [f"{name}: {lines:,} of {replies:,}"
               for name, (lines, replies) in told.items() if lines < replies]
    return Claim("no log has fewer lines than wrk counted replies",
                 not lacking,
                 "; ".join(lacking) or "lines, those of warm-ups too: "
                 f"{sum(lines for lines, _replies in told.values()):,}; "
                 "counted: "
                 f"{sum(replies for _lines, replies in told.values()):,}")


def _split(cells, lengths, way):
    """(µs of a request, µs of a connection) of the cost, where a reply's is
    request + connection / length: from the shortest and the longest."""
    short, long = (_sound(cells, way, length)
                   for length in (lengths[0], lengths[-1]))
    if not short or not long:
        return None
    connection = (short.cpu_us - long.cpu_us) \
        / (1 / lengths[0] - 1 / lengths[-1])
    return long.cpu_us - connection / lengths[-1], connection


def _misses(cells, lengths, way):
    """How far sessions between the shortest and the longest are from what
    these two say."""
    request, connection = _split(cells, lengths, way)
    apart = [cell.cpu_us / (request + connection / length) - 1
             for length in lengths[1:-1]
             for cell in [_sound(cells, way, length)] if cell]
    most = max(apart, key=abs, default=0)
    return (" That is by the shortest and the longest sessions: those "
            f"between take up to {abs(most):.0%} "
            f"{'more' if most > 0 else 'less'}." if abs(most) > 0.05 else "")


def _doubt(cells, lengths):
    """Where the rounds do not tell a log from none, of the sessions that
    _split() looks at."""
    found = [_by_round(cells, "cpu_us", (ONE_LOG, length), (ONE, length))
             for length in (lengths[0], lengths[-1])]
    if not all(low <= 1 <= high for low, high in
               map(paired.interval, filter(None, found))):
        return ""
    return (" That is by the shortest and the longest sessions, of which the "
            "rounds do not tell a log from none.")


def _read_serial(cells, lengths):
    told = [f"in sessions of {length:,} one worker gives {one:.2f} times its "
            f"replies, and {WORKERS} with a log {many:.2f} times"
            for length in (lengths[0], lengths[-1])
            for one, many in [[_ratio(cells, "per_second", (way, length),
                                      (SERIAL, length))
                               for way in (ONE, MANY_LOG)]] if one and many]
    return ["Compared with a server that takes a session at a time, as the "
            f"original's serial one did: {'; '.join(told)}."] if told else []


def _reading(cells, lengths):
    texts = _read_serial(cells, lengths)
    parts = {way: _split(cells, lengths, way) for way in (ONE, ONE_LOG)}
    if parts[ONE] and min(parts[ONE]) > 0:
        request, connection = parts[ONE]
        texts.append(
            f"Taken apart, one worker needs {request:.1f} µs of CPU time for "
            f"a request and {connection:.1f} µs for a connection, "
            f"{connection / request:.1f} times as much. By that, from "
            f"{math.ceil(10 * connection / request)} requests per connection "
            "on it is less than a tenth of what the requests take."
            + _misses(cells, lengths, ONE))
    if parts[ONE] and parts[ONE_LOG]:
        request, connection = (log - none for log, none
                               in zip(parts[ONE_LOG], parts[ONE]))
        texts.append(
            f"With a log a request takes {request:+.2f} µs and a connection "
            f"{connection:+.2f} µs (a line is written for each request, and "
            f"none for a connection).{_doubt(cells, lengths)}")
    many = _ratio(cells, "cpu_us", (MANY, lengths[0]), (ONE, lengths[0]))
    if many and many > 1.05:
        texts.append(
            f"In sessions of {lengths[0]}, {WORKERS} workers take "
            f"{many:.2f} times the CPU time per reply that one takes.")
    return texts


def measure(bench):
    lengths = bench.pick(LENGTHS, (1, 100))
    made, logs = _make(bench, lengths)
    bench.lab.site.put(FILE, FILE_BYTES)
    try:
        for (_way, length), server in made.items():
            _check_session(server, length)
        cells = bench.measure([LOAD], list(made.values()), full_rounds=15,
                              full_seconds=0.15)
    finally:
        for server in made.values():
            server.stop()
    cells.update(_measure_serial(bench, lengths))
    return Result(
        tables=_tables(cells, lengths), figures=_figures(cells, lengths),
        claims=[_claim_log(cells, lengths), _claim_serial(cells, lengths),
                _claim_rises(cells, lengths), _claim_lines(cells, logs)],
        reading=_reading(cells, lengths), noise=[
            f"{name}: {cell.noise}" for (_load, name), cell in cells.items()
            if not (cell.trouble or cell.is_calm)],
        left_out=[f"{name}: {cell.trouble}"
                  for (_load, name), cell in cells.items() if cell.trouble])


EXPERIMENT = Experiment(
    9, "session-length", "Session length",
    "What do sessions of 1 to 1,000 requests cost on a file of 5 KiB, 8 in "
    "parallel, with and without a log?",
    f"wrk keeps {PARALLEL} connections; the server ends each after so many "
    "requests (--max-requests-per-connection, which is checked before), and "
    "wrk opens the next one. Logs are complete (--log-overflow=wait), and "
    "the thread that writes them counts in the CPU time. All may use both "
    "CPUs, of which the client has one. The original's serial server took a "
    "session to its end before the next: bench/serial.c does that, ends each "
    "after as many requests, and looks at nothing of what is asked. It is "
    f"measured behind the others, in {SERIAL_ROUNDS} rounds of "
    f"{SERIAL_SECONDS:g} s.",
    120, measure)
