"""Peers: what a reply costs at sprintd and at what people run today."""

import dataclasses
import time

from lab import idle, loads, machine, processes, proxy, servers, site

from . import judging, peers_latency, versus
from .bench import median
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

OURS = servers.Sprintd.name
FLOOR = servers.Floor.name
HUNDRED, FIVE = "100.bin", "5k.bin"

SIZES = (
    loads.Load("0.1K", "0.1 KiB, 64 connections", 64, HUNDRED, 102),
    loads.Load("1K", "1 KiB, 64 connections", 64),
    loads.Load("5K", "5 KiB, 64 connections", 64, FIVE, 5 * site.KIB),
    loads.Load("64K", "64 KiB, 64 connections", 64, "64k.bin",
               64 * site.KIB),
    loads.Load("1M", "1 MiB, 16 connections", 16, "1m.bin", site.MIB),
    loads.Load("10M", "10 MiB, 4 connections", 4, "10m.bin", 10 * site.MIB),
)
WAYS = (
    loads.Load("new", "1 KiB, a new connection for every request", 64,
               closes=True),
    loads.Load("pipe", "1 KiB, pipelined by 16, 64 connections", 64,
               script=("pipeline", 16)),
    loads.Load("files", "1 KiB, 10,000 files by Zipf's law", 64,
               script=("paths", site.Site.draw)),
)
THOUSAND = loads.Load("1000", "1 KiB, 1,000 connections", 1000)
CROWD = loads.Load("10k", "1 KiB, 10,000 connections", 10_000)
# Short, and many of them. Most of a short one of many connections would be
# their opening.
ROUNDS, SECONDS, THOUSAND_S = 24, 0.2, 0.5
CROWD_ROUNDS, CROWD_S = 12, 1.8
SPARE = idle.SPARE  # descriptors for other things

BEHIND = (
    loads.Load("1K behind", "1 KiB, 64 connections", 64),
    loads.Load("64K behind", "64 KiB, 64 connections", 64, "64k.bin",
               64 * site.KIB),
)

PACE_GOAL = 0.95  # of another's: the client takes part in it
FULL_BUSY = 0.9   # of the CPU; below it the client is what limits
TAIL_GOAL = 2  # times another's p99: rounds of one server differ by as much
MEMORY_S = 0.7    # until it is looked at, under load
KIB = site.KIB


def _available(bench, kinds):
    found, left_out = [], []
    for kind in kinds:
        server = kind(bench.lab)
        reason = server.missing()
        if reason:
            left_out.append(f"{server.name}: {reason}")
        else:
            found.append(server)
    return found, left_out


def _crowd(bench):
    """The load of 10,000 connections, and why it is none here, or ""."""
    if bench.is_quick:
        return dataclasses.replace(CROWD, connections=200,
                                   title="1 KiB, 200 connections"), ""
    allowed = bench.lab.descriptors - SPARE
    with open("/proc/sys/net/ipv4/ip_local_port_range",
              encoding="ascii") as file:
        first, last = map(int, file.read().split())
    for limit, what in ((allowed, "descriptors (ulimit -n)"),
                        (last - first, "ports (ip_local_port_range)")):
        if limit < CROWD.connections:
            return None, (f"{CROWD.title}: only {limit:,} {what} for clients")
    return CROWD, ""


# --- Tables ------------------------------------------------------------------

def _table(title, cells, measured, note=""):
    rows = []
    for load in measured:
        floor = cells.get((load.name, FLOOR))
        for (name, server), cell in cells.items():
            if name != load.name:
                continue
            if cell.trouble:
                rows.append([load.title, server, *[None] * 7, cell.trouble])
                continue
            rows.append([
                load.title, server, cell.cpu_us, *cell.spread,
                cell.cpu_us / floor.cpu_us
                if floor and not floor.trouble else None,
                cell.median("per_second"),
                cell.median("p99_us") / 1e3 or None,  # pipelined: not told
                100 * cell.median("busy"), ""])
    return Table(title, ["load", "server", "CPU µs", "least", "most",
                         "× floor", "a second", "99 % ms", "CPU %",
                         "invalid"], rows, note)


def _peers(cells, load):
    """Those sprintd is compared with."""
    return {server: cell for (name, server), cell in cells.items()
            if name == load.name and server not in (OURS, FLOOR)
            and not cell.trouble}


def _load_claims(cells, measured, prefix=""):
    """Of each load: CPU per reply, and the pace where the server limits it."""
    claims = []
    for load in measured:
        title = f"{prefix}{load.title}"
        ours = cells.get((load.name, OURS))
        peers = _peers(cells, load)
        if not ours:
            continue
        if ours.trouble:
            claims.append(Claim(f"{title}: every reply is right", False,
                                ours.trouble))
            continue
        if not peers:
            claims.append(Claim(f"{title}: CPU per reply at most "
                                f"{versus.ALIKE} times the best peer's", None,
                                "no peer could be measured"))
            continue
        best = versus.best(versus.Numbers.of_cell(name, cell)
                           for name, cell in peers.items())
        claims.append(versus.claim(
            f"{title}: CPU per reply at most {versus.ALIKE} times the best "
            f"peer's ({best.name})", versus.Numbers.of_cell(OURS, ours), best))
        if ours.median("busy") < FULL_BUSY:
            continue  # the client limits it
        best = versus.best((versus.Numbers.of_cell(name, cell, "per_second")
                            for name, cell in peers.items()), False)
        claims.append(versus.claim_pace(
            f"{title}: replies a second at least {PACE_GOAL} of the best "
            f"peer's ({best.name})",
            versus.Numbers.of_cell(OURS, ours, "per_second"), best,
            PACE_GOAL))
    return claims


# --- Memory ------------------------------------------------------------------

def _under_load(bench, server, load):
    """Bytes of user memory in the middle of a load."""
    runner = loads.Runner(bench.lab)
    runner.prepare(load)
    port = server.instance(load.file_name).port
    child = bench.lab.children.start(runner.command(port, load, MEMORY_S),
                                     bench.lab.client_cpu, runner.log_path)
    try:
        time.sleep(bench.pick(MEMORY_S, 0.1))
        return machine.memory_bytes(server.instance(load.file_name).pids)
    finally:
        bench.lab.children.end(child)


def _memory_row(bench, server, crowd):
    """KiB with nothing to do, for each idle connection bytes, KiB under 64
    connections and under the crowd; each of a fresh process."""
    few = dataclasses.replace(
        bench.lab, descriptors=bench.pick(bench.lab.descriptors, SPARE + 50))
    found = idle.measure(few, server)
    row = [server.name, found["before_bytes"] / KIB,
           found["per_connection"]]
    for load in (SIZES[1], crowd):
        row.append(_under_load(bench, server, load) / KIB if load else None)
        server.stop()
    return row


def _memory(bench, chosen, crowd):
    rows, left_out = [], []
    for server in bench.pick(chosen, chosen[-1:]):
        bench.step(f"memory: {server.name}")
        try:
            rows.append(_memory_row(bench, server, crowd))
        except processes.Failure as failure:
            left_out.append(f"memory of {server.name}: {failure}")
        finally:
            server.stop()
    table = Table("User memory, each of a fresh process",
                  ["server", "idle KiB", "bytes per idle connection",
                   "KiB, 64 connections",
                   f"KiB, {crowd.connections:,} connections" if crowd
                   else "KiB, 10,000 connections"], rows,
                  f"Idle connections: {idle.connections(bench.lab):,}. Under "
                  "load: in the middle of it. What is resident, libraries "
                  "too, of all a server's processes: a page that two of them "
                  "share (nginx has two) counts twice.")
    return table, left_out


def _memory_claims(table):
    rows = {row[0]: row for row in table.rows}
    claims = []
    for at, unit in ((1, "KiB"), (2, "bytes"), (3, "KiB"), (4, "KiB")):
        peers = [versus.Numbers(name, [row[at]])
                 for name, row in rows.items()
                 if name not in (OURS, FLOOR) and row[at] is not None]
        if OURS in rows and peers and rows[OURS][at] is not None:
            best = versus.best(peers)
            claims.append(versus.claim_once(
                f"memory, {table.columns[at]}: not above the best peer's "
                f"({best.name})",
                versus.Numbers(OURS, [rows[OURS][at]]), best, unit))
    return claims


# --- The tail ----------------------------------------------------------------

def _tail_claims(tails):
    claims = []
    for tail in tails:
        ours = tail.numbers.get(OURS)
        peers = [numbers for name, numbers in tail.numbers.items()
                 if name not in (OURS, FLOOR)]
        if OURS in tail.troubles:
            claims.append(Claim(f"{tail.title}: every request is answered",
                                False, tail.troubles[OURS]))
        elif ours and (best := versus.best(peers)):
            claims.append(versus.claim(
                f"{tail.title}: the 99th percentile at most {TAIL_GOAL} times "
                f"the best peer's ({best.name}; rounds of one server differ by "
                "as much)", ours, best, TAIL_GOAL, "ms"))
    return claims


# --- Figures and words -------------------------------------------------------

def _bars(name, title, cells, measured):
    chosen = list(dict.fromkeys(server for _load, server in cells))
    series = []
    for server in chosen:
        points = []
        for load in measured:
            floor, cell = (cells.get((load.name, who))
                           for who in (FLOOR, server))
            if server != FLOOR and floor and cell \
                    and not (floor.trouble or cell.trouble):
                points.append([load.name, cell.cpu_us / floor.cpu_us])
        if points:
            series.append(Series(server, points))
    return Figure(name, title, "", "× the kernel's floor", series, BARS)


def _tail_figure(tails):
    points = {}
    for tail in tails:
        for server, numbers in tail.numbers.items():
            if numbers.median is not None:
                points.setdefault(server, []).append(
                    [tail.name, numbers.median])
    return Figure("tail", "99th percentile, open loop", "", "ms",
                  [Series(server, found, server == FLOOR)
                   for server, found in points.items()], BARS)


def _figures(cells, tails):
    everything = (*WAYS, THOUSAND, CROWD)
    made = [_bars("cpu-size", "CPU per reply by size", cells, SIZES),
            _bars("cpu-way", "CPU per reply of 1 KiB", cells, everything),
            _tail_figure(tails)]
    return [figure for figure in made if figure.series]


def _reading(cells, claims):
    decided = [claim for claim in claims if claim.holds is not None]
    lost = [claim for claim in decided if not claim.holds]
    text = [f"Of {len(claims)} claims against the best peer of each row "
            f"{len(decided) - len(lost)} hold, {len(lost)} do not, and "
            f"{len(claims) - len(decided)} cannot be judged."]
    above = {}
    for (load, server), cell in cells.items():
        floor = cells.get((load, FLOOR))
        if server != FLOOR and floor and not (cell.trouble or floor.trouble):
            above.setdefault(server, []).append(cell.cpu_us / floor.cpu_us)
    if above:
        text.append(
            "CPU per reply relative to the kernel's floor, the median of all "
            "rows and the worst: "
            + ", ".join(f"{server} {median(ratios):.2f} and "
                        f"{max(ratios):.2f}"
                        for server, ratios in above.items())
            + ". Below 1 a row is noisy, or a server does it in another way "
            "than floor.c, as one that answers several pipelined requests by "
            "one write.")
    limited = sorted({load for (load, server), cell in cells.items()
                      if server == OURS and not cell.trouble
                      and cell.median("busy") < FULL_BUSY})
    if limited:
        text.append(
            f"sprintd's CPU is busy less than {FULL_BUSY:.0%} of the time in "
            "the rows " + ", ".join(limited) + ": something else limits "
            "its pace there, and only CPU per reply compares.")
    return text


# --- The measurement ---------------------------------------------------------

def _static_cells(bench, chosen, crowd):
    cells = {}
    for load, turns, seconds in (
            *((load, ROUNDS, SECONDS) for load in bench.pick(
                (*SIZES, *WAYS), (SIZES[1], WAYS[1]))),
            *bench.pick(((THOUSAND, ROUNDS, THOUSAND_S),), ()),
            *([(crowd, CROWD_ROUNDS, CROWD_S)] if crowd else [])):
        cells.update(bench.part(
            load.name, lambda load=load, turns=turns, seconds=seconds:
            bench.measure([load], chosen, turns, seconds)))
    return cells


def _proxied(bench):
    """haproxy is no server of files: it stands beside sprintd's proxy."""
    upstream = proxy.Upstream(bench.lab)
    found, missing = proxy.made((proxy.Sprintd, proxy.Haproxy), bench.lab,
                                upstream)
    try:
        cells = bench.measure(bench.pick(BEHIND, BEHIND[:1]), found, ROUNDS,
                              SECONDS)
    finally:
        upstream.stop()
    return cells, [f"{name}: {reason}" for name, reason in missing.items()]


def _titles(measured, prefix=""):
    return {load.name: f"{prefix}{load.title}" for load in measured}


def measure(bench):
    chosen, left_out = _available(
        bench, bench.pick(servers.SERVERS, (servers.Floor, servers.Nginx,
                                            servers.Sprintd)))
    crowd, reason = _crowd(bench)
    cells = _static_cells(bench, chosen, crowd)
    tails = peers_latency.measure(bench, chosen, cells)
    memory, memory_left_out = bench.part(
        "memory", lambda: _memory(bench, chosen, crowd))
    proxied, proxy_left_out = bench.part("proxied", lambda: _proxied(bench))
    everything = (*SIZES, *WAYS, THOUSAND, crowd or CROWD)
    claims = [*_load_claims(cells, everything), *_tail_claims(tails),
              *_memory_claims(memory),
              *_load_claims(proxied, BEHIND, "as a proxy, ")]
    judging.settle(claims)
    return Result(
        tables=[
            _table("Files, keep-alive", cells, SIZES,
                   "CPU µs per reply, least and most of what counts. CPU %: "
                   "of the server's; where it is not full something else "
                   "limits, such as the client. 99 % is of a closed "
                   "loop, which asks less when it has to wait; the tables of "
                   "an open loop stand below. –: wrk told none."),
            _table("Connections, pipelining, many files", cells,
                   (*WAYS, THOUSAND, crowd or CROWD)),
            *(tail.table() for tail in tails), memory,
            _table("As a proxy before floor.c", proxied, BEHIND,
                   "floor.c shares the client's CPU; sprintd adds Via, "
                   "Forwarded and X-Forwarded-*.")],
        figures=_figures(cells, tails), claims=claims,
        reading=_reading(cells, claims),
        noise=[*versus.noise_of(cells, _titles(everything)),
               *(text for tail in tails for text in tail.noise()),
               *versus.noise_of(proxied, _titles(BEHIND, "as a proxy, "))],
        left_out=list(filter(None, [*left_out, reason, *memory_left_out,
                                    *proxy_left_out])))


EXPERIMENT = Experiment(
    14, "peers", "Peers",
    "What does a reply cost here, at nginx, lighttpd and h2o (files), at "
    "haproxy (a proxy), and at the kernel's floor?",
    "wrk in turns on one server after the other, each with one worker on a "
    "CPU of its own and set up as who knows it would (no log, descriptors "
    "cached): sizes, new connections, 1,000 and 10,000 connections, "
    "pipelining, 10,000 files. floor.c only waits, reads and sends. The "
    "99th percentile is from an open loop at a fixed rate, "
    f"{peers_latency.SHARE:.0%} of what the slowest can do and "
    f"{peers_latency.RATE_MAX:,} a second at most, counted from when each "
    "request was meant to begin, the first tenth of a run aside.",
    1200, measure)
