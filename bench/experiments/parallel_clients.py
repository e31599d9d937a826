"""What becomes of a large file when more and more clients want it at once?"""

import http.client
import json
import time

from lab import rounds as lab_rounds
from lab import servers, site
from lab.processes import Failure

from . import closed_loops as loops
from . import old_disk, paired, receiving, verdicts, versus
from .bench import median
from .model import Claim, Experiment, Figure, Result, Series, Table

CLIENTS = (8, 16, 32, 64, 128, 256, 512, 1024)
FILE, FILE_BYTES = "large.bin", 1_000_000
REQUESTS_MIN, QUICK_MIN = 512, 64  # of all clients together
EACH_MIN = 2                       # of each of them
STATUS = "/_sprintd"
STATUS_S = 5
ROUNDS, SECONDS = 18, 375
GIVE_UP = 1.4       # times as long as it ought to take
SLOWEST = 300e6     # bytes a second: who is slower has got stuck
KEPT = 0.5          # of the throughput of 8 clients, at 1,024
FAIR = 0.9          # Jain's index
CLIENT_BYTES_MAX = 16_384
LINK_MBIT = 1000    # of the original, Gigabit Ethernet
LINK_CLIENTS_MAX = 256
LINK_EACH = 10      # requests of a client, as the original's
LINK_S = 40
FULL_LINK = 0.9     # of its rate with all heads: it is in use to its end
SPARE_CPUS = 0.5    # that a server uses which has time left
LESS_ROUNDS, LESS_S = 5, 0.3
SPARE = 100         # descriptors that a server needs for other things

SRPT, FAIR_ORDER, OFF = "srpt", "fair", "srpt, link off"
WAYS = {SRPT: (), FAIR_ORDER: ("--schedule=fair",), OFF: ("--link-rate=off",)}


def _requests(bench, clients):
    return max(bench.pick(REQUESTS_MIN, QUICK_MIN), EACH_MIN * clients)


def _patience(bench, clients):
    """Seconds for a run, and for the tool's start."""
    return 1 + round(_requests(bench, clients) * FILE_BYTES / SLOWEST, 1)


def _held(port):
    """How often a response had to wait, lest the link's queue grows."""
    client = http.client.HTTPConnection(servers.HOST, port, timeout=STATUS_S)
    try:
        client.request("GET", f"{STATUS}/status.json")
        return json.load(client.getresponse())["link"]["held"]
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return None
    finally:
        client.close()


class _Servers:
    """What the servers have told of themselves under the loads."""

    def __init__(self):
        self.grown = {}  # bytes of memory, from before the load
        self.held = {}

    def run(self, bench, server, clients, timeout):
        """One run on a fresh process, which nothing has made larger."""
        server.stop()
        instance = server.instance(FILE)
        warm = loops.h2load(bench, server, FILE, 8, 8, timeout)
        before = loops.peak_bytes(instance.pids)
        run = loops.h2load(bench, server, FILE, _requests(bench, clients),
                           clients, timeout)
        grown = loops.peak_bytes(instance.pids) - before
        key = server.name, clients
        self.grown.setdefault(key, []).append(grown)
        self.held.setdefault(key, []).append(_held(instance.port))
        return warm if warm.trouble else run


def _run_all(bench, counts):
    made = [bench.sprintd(name, f"--status={STATUS}", *options)
            for name, options in WAYS.items()]
    bench.lab.site.put(FILE, FILE_BYTES)
    cells = {(way, count): loops.Runs() for way in WAYS for count in counts}
    told = _Servers()
    end = time.monotonic() + bench.pick(
        GIVE_UP * SECONDS * bench.rounds(ROUNDS) / ROUNDS, 9)
    rounds = loops.turns(bench, made, ROUNDS, SECONDS)
    try:
        for turn, order in rounds:
            for count in counts:
                bench.step(f"round {turn + 1}: {count} clients")
                for server in order:
                    runs = cells[server.name, count]
                    patience = _patience(bench, count)
                    if (time.monotonic() + patience < end
                            and not runs.is_broken):
                        runs.all.append(told.run(bench, server, count,
                                                 patience))
    finally:
        for server in made:
            server.stop()
    return cells, told


def _relative(cells, way, count, counts, what):
    """The median by that of the fewest clients."""
    ours, base = (cells[way, of].median(what) for of in (count, counts[0]))
    return ours / base if ours and base else None


def _wait_share(cells, way, count, counts):
    """The mean response by that of the fewest clients and by how many more
    there are: 1 when nothing is lost by their number."""
    found = _relative(cells, way, count, counts, "mean_ms")
    return found * counts[0] / count if found else None


def _grown_per_client(told, way, count):
    found = median(told.grown.get((way, count), []))
    return found / count if found is not None else None


def _table(cells, told, way, counts):
    rows = []
    for count in counts:
        runs = cells[way, count]
        rate = runs.median("bytes_per_second")
        rows.append([
            count, rate and rate / 1e6,
            _relative(cells, way, count, counts, "per_second"),
            runs.median("mean_ms"),
            _wait_share(cells, way, count, counts), runs.median("p99_ms"),
            runs.median("longest_ms"), runs.median("fairness"),
            runs.median("slowest_share"), runs.median("cpu_us"),
            runs.median("busy"),
            None if runs.trouble else _grown_per_client(told, way, count),
            median(told.held.get((way, count), []))])
    return Table(
        f"{way}: {' '.join(WAYS[way]) or 'as it is by default'}",
        ["clients", "MB/s", f"by {counts[0]} clients'", "mean response ms",
         f"by {counts[0]} clients' and by their number", "p99 ms",
         "longest ms", "fairness (Jain)", "slowest by mean client",
         "CPU µs per reply", "CPUs the server used",
         "memory bytes per client",
         "held back, times"], rows,
        "Original: no numbers have come down. Response by number: 1 when "
        "twice the clients wait twice as long. Where the server used less "
        "than its CPU it waited: for the client, or for the link where bytes "
        "were held back.")


def _over_link(bench, counts):
    """A link that all of them fill, as the original's was: is it that, or the
    engine, which keeps the graph flat? A table, or why there is none."""
    rows = []
    try:
        with old_disk.small_sockets(LINK_MBIT):
            server = bench.sprintd("srpt over a link")
            try:
                for count in counts:
                    bench.step(f"{count} clients over {LINK_MBIT} Mbit/s")
                    server.stop()
                    run = loops.h2load(
                        bench, server, FILE,
                        bench.pick(LINK_EACH, 1) * count, count, LINK_S)
                    rows.append([count, *([None] * 4 if run.trouble else [
                        run.bytes_per_second / 1e6, run.mean_ms, run.fairness,
                        run.busy]), run.trouble])
            finally:
                server.stop()
    except (Failure, OSError) as failure:
        return None, f"over a link of {LINK_MBIT} Mbit/s: {failure}"
    return Table(
        f"srpt over a link of {LINK_MBIT:,} Mbit/s, {LINK_EACH} requests of "
        "each client",
        ["clients", "MB/s", "mean response ms", "fairness (Jain)",
         "CPUs the server used", "trouble"], rows,
        "As many requests of each as the original's, which has left no "
        f"numbers; one run of each. The link carries {LINK_MBIT / 8:.0f} MB/s "
        "with all heads, and a socket sends at most "
        f"{old_disk.SOCKET_BYTES // 1024} KB ahead. A rate that stays near that "
        "while the server's CPU "
        "has time left says that the link is the limit, and not the engine."
        ), ""


def _looking_less(bench, counts):
    """h2load looks at every byte, and needs most of its CPU for that: the same
    by a client that lets the kernel drop what has come."""
    binary = receiving.build(bench)
    server = bench.sprintd("srpt, less of a client")
    ways = (receiving.COPY, receiving.DISCARD)
    cells = [(count, how) for count in counts for how in ways]
    found = {cell: [] for cell in cells}
    try:
        for turn in range(bench.pick(LESS_ROUNDS, 1)):
            for count, how in lab_rounds.in_order(cells, turn):
                bench.step(f"{count} clients that {how}")
                found[count, how].append(receiving.take(
                    bench, binary, server, FILE, count,
                    bench.pick(LESS_S, 0.1), how))
    finally:
        server.stop()
    return Table(
        "srpt, a client that looks at less, over loopback",
        ["clients", *(f"{what}{where}" for where in
                      ("", ", bytes dropped")
                      for what in ("MB/s", "CPUs the server used",
                                   "CPUs the client used"))],
        [[count, *(number for how in ways
                   for number in _middles(found[count, how]))]
         for count in counts],
        "bench/receiver.c reads what comes, and does nothing with it; "
        "dropped: the kernel does not even copy it (MSG_TRUNC). Where one of "
        "the two uses its CPU whole, or nearly, it is the limit. "
        f"{LESS_ROUNDS} rounds of {LESS_S:g} s, medians.")


def _middles(samples):
    """MB/s, the server's CPUs, the client's."""
    rate, *cpus = (median(getattr(sample, what) for sample in samples)
                   for what in ("mib_per_second", "server_cpus",
                                "client_cpus"))
    return [rate * site.MIB / 1e6, *cpus]


def _figures(cells, counts):
    def lines(of, reference=None):
        made = [Series(way, [[count, found] for count in counts
                             for found in [of(way, count)] if found])
                for way in WAYS]
        return [*made, Series(*reference, is_reference=True)] \
            if reference else made

    base = median([cells[way, counts[0]].median("mean_ms") for way in WAYS])
    ideal = ("in proportion", [[count, base * count / counts[0]]
                               for count in counts]) if base else None
    return [
        Figure("throughput", "Throughput by parallel clients", "clients",
               f"by {counts[0]} clients'",
               lines(lambda way, count: _relative(cells, way, count, counts,
                                                  "per_second")), log_x=True),
        Figure("response", "Mean response by parallel clients", "clients",
               "ms", lines(lambda way, count: cells[way, count].median(
                   "mean_ms"), ideal), log_x=True, log_y=True),
    ]


def _claim(text, cells, counts, of, is_good, way=SRPT):
    """One that must hold at every number of clients."""
    found = {count: of(count) for count in counts}
    bad = [count for count, number in found.items()
           if number is None or not is_good(number)]
    is_noisy = any(cells[way, count].trouble or cells[way, count].is_noisy
                   for count in bad)
    return Claim(text, None if is_noisy else not bad,
                 ", ".join(f"{count:,}: {versus.short(number)}"
                           if number is not None else
                           f"{count:,}: not measured"
                           for count, number in found.items()))


def _claims(cells, told, counts):
    runs = sum(len(found.all) for found in cells.values())
    return [
        loops.claim_sound("no download fails or gets stuck, up to "
                          f"{counts[-1]:,} parallel clients", cells,
                          f"{runs} runs, each body complete"),
        verdicts.claim_at_least(
            f"{counts[-1]:,} parallel clients of a 1 MB file get at least "
            f"{KEPT:.0%} of the throughput of {counts[0]} (half of it: "
            "opening so many connections is in it)",
            {f"{counts[-1]:,}": loops.ratios(
                cells[SRPT, counts[-1]], cells[SRPT, counts[0]],
                "per_second")}, KEPT),
        _claim("over loopback equal clients are served equally: Jain's index "
               f"is {FAIR} or more (1: all alike)", cells, counts,
               lambda count: cells[SRPT, count].median("fairness"),
               lambda number: number >= FAIR),
        _claim(f"a parallel download takes at most {CLIENT_BYTES_MAX:,} "
               "bytes of the process's memory (a buffer and what is known of a "
               "connection), where whole files would take 1 MB",
               cells, counts[-1:],
               lambda count: _grown_per_client(told, SRPT, count),
               lambda number: number <= CLIENT_BYTES_MAX),
    ]


def _read_link(cells, told, counts):
    """Whether finding out the link's rate is what is slow."""
    better = {count: found for count in counts
              for found in [loops.ratios(cells[OFF, count], cells[SRPT, count],
                                         "per_second")]
              if found and paired.interval(found)[0] > 1.25
              and median(told.held.get((SRPT, count), []))}
    stuck = [count for count in counts if told.held.get((SRPT, count))
             and cells[SRPT, count].trouble and not cells[OFF, count].trouble]
    if not better and not stuck:
        return []
    held = {count: median(told.held[SRPT, count]) or 0
            for count in [*better, *stuck]}
    return ["What is slow is finding out the link's rate, where there is no "
            "narrow link. With --link-rate=off "
            + ", ".join([*(f"{count:,} clients get {median(found):.1f} times "
                           "as much" for count, found in better.items()),
                         *([f"{stuck[0]:,} to {stuck[-1]:,} clients get all "
                            "in time"] if stuck else [])])
            + "; without it responses were held back "
            + ", ".join(f"{times:,.0f} times ({count:,} clients)"
                        for count, times in held.items()) + "."]


def is_full(least_mb, cpus):
    """Whether it is the link that keeps the graph flat: that is in use to its
    end, and the server is not."""
    return least_mb >= FULL_LINK * LINK_MBIT / 8 and cpus < SPARE_CPUS


def _read_limit(over_link, less):
    """What the limit is: link, client, or engine."""
    texts = []
    rows = [row for row in over_link.rows if row[1]] if over_link else []
    if rows:
        least, most = (choose(row[1] for row in rows) for choose in (min, max))
        cpus = max(row[4] for row in rows)
        texts.append(
            f"Is it the link or the engine? Over {LINK_MBIT:,} Mbit/s (the "
            "original has \"Gigabyte Ethernet\", by which Gigabit will be "
            f"meant) {rows[0][0]} to {rows[-1][0]} clients of "
            f"{LINK_EACH} requests each get "
            + " to ".join(dict.fromkeys((f"{least:.0f}", f"{most:.0f}")))
            + f" MB/s of the {LINK_MBIT / 8:.0f} that it carries, and the "
            f"server uses "
            f"{cpus:.2f} of a CPU at most"
            + (": here it is the link. Whether it was theirs, their program "
               "alone could tell." if is_full(least, cpus) else
               ": that is not the link alone."))
    first, last = less.rows[0], less.rows[-1]
    texts.append(
        f"Over loopback, where no link is narrow, {last[0]:,} clients get "
        f"{last[4]:,.0f} MB/s of a server that uses {last[5]:.2f} of a CPU "
        f"when bytes are dropped ({first[0]}: {first[4]:,.0f} MB/s, "
        f"{first[5]:.2f}); the client uses {last[6]:.2f} of its own.")
    return texts


def _reading(cells, told, counts):
    texts = []
    for way in WAYS:
        kept = {count: _relative(cells, way, count, counts, "per_second")
                for count in counts[1:]}
        kept = {count: share for count, share in kept.items() if share}
        if not kept:
            continue
        worst = min(kept, key=kept.get)
        last = max(kept)
        texts.append(
            f"{way}: {last:,} clients get {kept[last]:.0%} of the throughput "
            f"of {counts[0]}, the least is {kept[worst]:.0%} at {worst:,}; "
            f"the mean response of {last:,} is "
            f"{_relative(cells, way, last, counts, 'mean_ms'):.1f} times that "
            f"of {counts[0]} at {last / counts[0]:.0f} times the clients.")
    texts += _read_link(cells, told, counts)
    return [*texts, *_read_orders(cells, counts)]


def _read_orders(cells, counts):
    """Fair sharing beside srpt, with the fewest clients and the most."""
    few, most = (
        fair / srpt if fair and srpt else None for count in
        (counts[0], counts[-1]) for fair, srpt in
        [[cells[way, count].median("mean_ms") for way in (FAIR_ORDER, SRPT)]])
    if not few or not most:
        return []
    return [f"The mean response of fair sharing is {few:.2f} times srpt's with "
            f"{counts[0]} clients, and {most:.2f} times with "
            f"{counts[-1]:,}."]


def measure(bench):
    counts = bench.pick(CLIENTS, (8, 64))
    # The server and h2load need a descriptor for each client.
    most = bench.lab.descriptors - SPARE
    able = [count for count in counts if count <= most]
    if len(able) < 2:
        raise Failure(f"{bench.lab.descriptors} descriptors are too few")
    cells, told = bench.part("grid", lambda: _run_all(bench, able))
    less = bench.part("less", lambda: _looking_less(bench, able))
    over_link, trouble = bench.part("link", lambda: _over_link(bench, [
        count for count in able if count <= LINK_CLIENTS_MAX]))
    return Result(
        tables=[*([over_link] if over_link else []), less,
                *(_table(cells, told, way, able) for way in WAYS)],
        figures=_figures(cells, able), claims=_claims(cells, told, able),
        reading=[*_read_limit(over_link, less),
                 *_reading(cells, told, able)], noise=loops.noises(cells),
        left_out=[*loops.troubles(cells), *([trouble] if trouble else []),
                  *(f"{count} clients: too few descriptors"
                    for count in counts if count not in able)])


EXPERIMENT = Experiment(
    10, "parallel-clients", "Parallel clients",
    "What do 8 to 1,024 parallel clients of a large file get, relative to 8? "
    "The original's curve went flat for hundreds: by the link, or by the "
    "engine?",
    f"h2load: so many clients ask for a file of 1 MB again and again, "
    f"{REQUESTS_MIN} times in all, or each of them {EACH_MIN} times where that "
    "is more. One worker on its own CPU, a fresh process for each of these "
    "runs; in the order of shortest first, of fair sharing, and with "
    "--link-rate=off. Fairness is Jain's index of the clients' "
    "rates (1: all are equal), memory the growth of the process's peak. "
    "Whether a link or the engine is the limit is asked over one of "
    f"{LINK_MBIT:,} Mbit/s, and whether the client is, by one that looks at "
    "less (bench/receiver.c).",
    265, measure)
