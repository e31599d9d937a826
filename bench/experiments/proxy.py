"""Proxy: ab through it to a toy, and wrk through it to a fast upstream."""

from lab import classic, processes, proxy

from . import proxy_ab, proxy_naive, proxy_reports, versus
from .bench import median
from .model import BARS, Claim, Experiment, Figure, Result, Series, Table

# Each proxy of the originals as its report has it: requests a second, 99 % in
# ms, the longest in s, and how many failed.
ORIGINALS = ((proxy_reports.ORIGINALS[0], "622.31", "1034", "7.447", "7"),
             (proxy_reports.ORIGINALS[1], "649.21", "1017", "15.044", "3"))
ORIGINAL_REQUESTS = 50_000
ALONE = f"{classic.Python.name} alone"
BACKLOG = 5  # of http.server's queue
LARGE_GOAL = 1.05  # nearly all is the kernel's, and the same for both
PACE_GOAL = 0.9    # of another proxy's: http.server takes most of the time
PROXY_TIMEOUT_S = 60  # sprintd's default
AB_COLUMNS = ["before http.server", "a second, under load",
              "a second, in all", "99 % ms", "longest s", "failed", "CPU µs",
              "invalid"]
ROUNDS, SECONDS = 15, 0.25  # of wrk before a fast upstream
LONGEST_S = 1        # then the kernel sends a SYN again


class OneWorker(proxy.Sprintd):
    name = "sprintd, 1 worker"


class SeveralWorkers(proxy.Sprintd):
    """On all CPUs that there are."""

    name = f"sprintd, {classic.WORKERS} workers"
    workers = classic.WORKERS

    def __init__(self, lab):
        super().__init__(lab)
        self.cpus = f"{lab.server_cpu},{lab.client_cpu}"


class PatientHaproxy(proxy.Haproxy):
    """Requests wait for their turn in the proxy, where no time is lost: what
    is left to wait for then tells what the waiting was."""

    name = f"haproxy, {BACKLOG} at once"
    option = f"default-server maxconn {BACKLOG}"


OURS = (OneWorker, SeveralWorkers)
OTHERS = (proxy.Nginx, proxy.Haproxy, PatientHaproxy)

SHORT = {ORIGINALS[0][0]: "orig. 1", ORIGINALS[1][0]: "orig. n",
         ALONE: "alone", OneWorker.name: "ours 1",
         SeveralWorkers.name: f"ours {classic.WORKERS}",
         proxy.Nginx.name: "nginx", proxy.Haproxy.name: "haproxy",
         PatientHaproxy.name: f"haproxy {BACKLOG}"}


def _kinds(bench):
    """What ab is pointed at, by name; and what is missing, with the reason."""
    kinds = {ALONE: None}
    left_out = []
    for kind in (*OURS, *OTHERS):
        reason = kind(bench.lab).missing()
        if reason:
            left_out.append(f"{kind.name} before http.server: {reason}")
        else:
            kinds[kind.name] = kind
    return kinds, left_out


class Row:
    """All turns of ab through one proxy. A run in which a request failed
    counts for that, and for no rate."""

    def __init__(self, name, runs):
        self.name = name
        self.failed = sum(int(max(run.get("failed", 0),
                                  run.get("other_status", 0)))
                          for run in runs)
        self.errors = sum(int(run.get("other_status", 0)) for run in runs)
        self.troubles = [run["trouble"] for run in runs if run["trouble"]]
        self.untold = sum("failed" not in run for run in runs)
        self.longest_s = max((run["longest_ms"] / 1e3 for run in runs
                              if "longest_ms" in run), default=None)
        good = [run for run in runs if not run["trouble"]]
        self.pace = versus.Numbers(name, [
            None if run["trouble"] else run["load_per_second"]
            for run in runs])
        self.per_second = median([run["per_second"] for run in good])
        self.p99_ms = median([run["p99_ms"] for run in good])
        self.cpu_us = median([run["cpu_us"] for run in good])

    def cells(self):
        return [self.name, self.pace.median, self.per_second, self.p99_ms,
                self.longest_s, self.failed, self.cpu_us,
                "; ".join(self.troubles)]


def _ab_table(rows, turns, requests, connections):
    return Table(
        f"ab -c {connections} before python3 -m http.server, 1 KiB",
        AB_COLUMNS, [row.cells() for row in rows.values()],
        f"{turns} times {requests:,} requests, failures added up, the longest "
        "of all that ab has told of. Under load: all requests by the time "
        "until ab has ended or, "
        "where it only waits, http.server is idle; both are looked at every "
        f"{proxy_ab.LOOK_S:g} s, and some of these requests may be answered "
        "later. In all: as ab says it, to the end of the longest.")


def _longest_claim(row, what):
    """A first packet that finds no place is sent again after one second: who
    took less than that has not waited for the kernel."""
    return Claim(
        f"ab before http.server, {what}{row.name}: the longest request takes "
        f"less than {LONGEST_S} s, after which the kernel would send a first "
        "packet again", row.longest_s < LONGEST_S and not row.untold,
        f"{row.longest_s:.2f} s; originals 7.447 and 15.044 s")


def _ab_claims(rows):
    ours = [rows[kind.name] for kind in OURS if kind.name in rows]
    told = ", ".join(f"{row.name} {row.failed}" + (
        f" (runs that told nothing: {row.untold})" if row.untold else "")
                     for row in rows.values())
    claims = [Claim(
        f"ab before http.server, {row.name}: no request fails",
        not row.troubles,
        f"failed: {told}; originals 7 and 3"
        + (f" ({'; '.join(row.troubles)})" if row.troubles else ""))
        for row in ours]
    claims += [_longest_claim(row, "") for row in ours
               if row.longest_s is not None]
    for row in ours[:1]:  # the others have one worker, too
        for kind in OTHERS:
            other = rows.get(kind.name)
            if other and not other.troubles:
                claims.append(versus.claim_pace(
                    "ab before http.server: replies a second under load are "
                    f"at least {PACE_GOAL} of {other.name}'s (ab and "
                    "http.server take part in them)",
                    row.pace, other.pace, PACE_GOAL))
    return claims


def _ab_reading(rows, full, requests, connections):
    alone, patient = rows[ALONE], rows.get(PatientHaproxy.name)
    text = []
    has_waited = (alone.longest_s or 0) > LONGEST_S
    if full and has_waited:
        text.append(
            f"The kernel counted {full:,} times that a connection to anyone "
            f"here found a full queue: http.server has a backlog of {BACKLOG}, "
            f"and ab opens {connections} connections at once. Who "
            "does not fit is tried again by the kernel; with nobody between "
            f"it and http.server the slowest of {requests:,} requests took "
            f"{alone.longest_s:.1f} s.")
    if has_waited and patient and patient.longest_s and not patient.failed:
        text.append(
            f"A proxy that asks for no more than {BACKLOG} at once, and lets "
            "the others wait in a queue of its own, has a longest request of "
            f"{patient.longest_s:.2f} s and loses none.")
    untold = [f"{row.name} {row.untold}" for row in rows.values()
              if row.untold]
    if untold:
        text.append("Runs of ab that told nothing (why stands in the table), "
                    "so that nobody knows how many of their requests failed: "
                    f"{', '.join(untold)}.")
    hurt = [row for row in rows.values() if row.failed]
    if not hurt:
        return [*text, "No request failed through any of those that ab asked "
                "in turns, as far as it told."]
    text.append("Requests failed: " + "; ".join(
        f"{row.name} {row.failed}, {row.errors} of them by an answer that is "
        f"an error, the longest of all its requests took "
        f"{row.longest_s or 0:.1f} s"
        for row in hurt) + ".")
    if any(row.errors and (row.longest_s or 0) >= PROXY_TIMEOUT_S
           for row in hurt if row.name in [kind.name for kind in OURS]):
        text.append(
            f"sprintd waits {PROXY_TIMEOUT_S} s for an answer "
            "(--proxy-timeout) and then says 504: a request that the kernel "
            "has not got through to http.server by then is lost, although "
            "that is idle.")
    return text


def _fast(bench):
    """Cells of the groups, with who could not be measured."""
    groups, left_out = [], []
    for group in proxy.GROUPS:
        upstream = proxy.Upstream(bench.lab)
        found, missing = proxy.made(
            bench.pick(group.servers, group.servers[:2]), bench.lab, upstream)
        left_out += [f"{name}: {reason}" for name, reason in missing.items()]
        try:
            groups.append((group, bench.measure(group.loads, found, ROUNDS,
                                                SECONDS)))
        finally:
            upstream.stop()
    return groups, list(dict.fromkeys(left_out))


def _fast_table(groups):
    rows = []
    for group, cells in groups:
        for (_load, name), cell in cells.items():
            if cell.trouble:
                rows.append([group.title, name, *[None] * 4, cell.trouble])
                continue
            rows.append([group.title, name, cell.cpu_us, *cell.spread,
                         cell.median("per_second"), ""])
    return Table(
        "wrk before floor.c, a server that does next to nothing",
        ["load", "proxy", "CPU µs", "least", "most", "a second", "invalid"],
        rows, "One worker on one CPU; wrk and what is behind the proxy share "
        "the other one. CPU µs per reply are the proxy's. nginx buffers "
        "replies, as it does by default.")


def _fast_claims(groups):
    claims = []
    for group, cells in groups:
        load = group.loads[0]
        ours = cells.get((load.name, proxy.Sprintd.name))
        if not ours:
            continue
        if ours.trouble:
            claims.append(Claim(f"proxy, {group.title}: every reply is right",
                                False, ours.trouble))
            continue
        factor = LARGE_GOAL if load.is_large else versus.ALIKE
        for (_load, name), cell in cells.items():
            if name == proxy.Sprintd.name or cell.trouble:
                continue
            claims.append(versus.claim(
                f"proxy, {group.title}: CPU per reply at most {factor} times "
                f"{name}'s",
                versus.Numbers.of_cell("sprintd", ours),
                versus.Numbers.of_cell(name, cell), factor))
    return claims


def _fast_ratios(groups):
    """(group's title, name, CPU relative to sprintd)."""
    found = []
    for group, cells in groups:
        load = group.loads[0]
        ours = cells.get((load.name, proxy.Sprintd.name))
        if ours and not ours.trouble:
            found += [(group.title, name, cell.cpu_us / ours.cpu_us)
                      for (_load, name), cell in cells.items()
                      if not cell.trouble]
    return found


def _figures(rows, ratios):
    waits = [[SHORT[name], float(longest)]
             for name, _rate, _p99, longest, _failed in ORIGINALS]
    ours = [[SHORT[row.name], row.longest_s] for row in rows.values()
            if row.longest_s is not None]
    names = list(dict.fromkeys(name for _title, name, _ratio in ratios))
    short = {group.title: title for group, title in zip(
        proxy.GROUPS, ("1 KiB", "10 MiB", "POST"))}
    return [
        Figure("longest", "The longest request that ab tells of", "", "seconds",
               [Series("original", waits, True), Series("measured", ours)],
               BARS, log_y=True),
        Figure("cpu", "CPU per reply, sprintd = 1", "load", "× sprintd",
               [Series(name, [[short[title], ratio]
                              for title, whose, ratio in ratios
                              if whose == name], name == proxy.Sprintd.name)
                for name in names], BARS),
    ]


def _fast_reading(ratios):
    by_title = {}
    for title, name, ratio in ratios:
        if name != proxy.Sprintd.name:
            by_title.setdefault(title, []).append(f"{name} {ratio:.2f}")
    if not by_title:
        return []
    return ["Before an upstream that costs next to nothing, the CPU time per "
            "reply of others relative to sprintd's is: "
            + "; ".join(f"{title}: {', '.join(others)}"
                        for title, others in by_title.items())
            + ". sprintd's requests to the upstream carry Via, Forwarded and "
            "X-Forwarded-*, which the others were not told to add."]


def _ab(bench):
    """Rows by name, and tables, claims, readings of them."""
    kinds, left_out = _kinds(bench)
    bench.lab.site.put(classic.PAGE, classic.site.KIB)
    turns, requests = bench.rounds(12), bench.pick(1500, 100)
    # Few enough in the miniature for nobody to wait.
    connections = bench.pick(classic.CONNECTIONS, 4)
    before = proxy_ab.overflows()
    runs = proxy_ab.measure(bench, kinds, turns, requests, connections)
    full = proxy_ab.overflows() - before
    rows = {name: Row(name, found) for name, found in runs.items()}
    return rows, Result(
        tables=[_ab_table(rows, turns, requests, connections),
                proxy_reports.of_turns(
                    runs, f"{turns} times {requests:,} requests")],
        claims=_ab_claims(rows), left_out=left_out,
        reading=_ab_reading(rows, full, turns * requests, connections))


def _whole(bench):
    """As many requests as the originals had, through sprintd only: the others
    and http.server alone may wait for minutes at the end of each run."""
    requests = bench.pick(ORIGINAL_REQUESTS, 200)
    connections = bench.pick(classic.CONNECTIONS, 4)
    runs = proxy_ab.measure(bench, {kind.name: kind for kind in OURS}, 1,
                            requests, connections)
    rows = [Row(name, found) for name, found in runs.items()]
    return Result(
        tables=[Table(
            f"ab -c {connections} -n {requests:,}: the originals', and "
            "sprintd", AB_COLUMNS,
            [*([name, None, rate, p99, longest, failed, None, ""]
               for name, rate, p99, longest, failed in ORIGINALS),
             *(row.cells() for row in rows)],
            "The originals' document has 658 bytes, the one here 1 KiB. "
            "http.server has had a thread for each connection since Python "
            "3.7; whether theirs had is not told."),
                *proxy_reports.tables(
                    {name: run for name, (run,) in runs.items()},
                    f"these {requests:,} requests")],
        claims=[*(_longest_claim(row, f"{requests:,} requests, ")
                  for row in rows if row.longest_s is not None),
                *(Claim(f"ab before http.server, {requests:,} requests, "
                        f"{row.name}: no request fails", not row.troubles,
                        f"failed: {row.failed}"
                        + "".join(f"; {text}" for text in row.troubles))
                  for row in rows)])


def measure(bench):
    try:
        rows, result = _ab(bench)
        whole = _whole(bench)
        naive = proxy_naive.measure(
            bench, ORIGINAL_REQUESTS, bench.pick(classic.CONNECTIONS, 4))
        # The originals' numbers are among the first that are seen.
        result.tables[1:1] = whole.tables
        result.tables += naive.tables
        result.claims += whole.claims + naive.claims
        # Whose the waiting is comes first: it was asked.
        result.reading = [*naive.reading, *result.reading]
        result.left_out += naive.left_out
    except processes.Failure as failure:
        rows, result = {}, Result(left_out=[f"ab: {failure}"])
    groups, left_out = _fast(bench)
    ratios = _fast_ratios(groups)
    titles = {load.name: f"proxy, {load.title}" for group in proxy.GROUPS
              for load in group.loads}
    result.tables.append(_fast_table(groups))
    result.claims += _fast_claims(groups)
    result.reading += _fast_reading(ratios)
    result.figures = _figures(rows, ratios)
    result.left_out += left_out
    for _group, cells in groups:
        result.noise += versus.noise_of(cells, titles)
    return result


EXPERIMENT = Experiment(
    11, "proxy", "Proxy",
    "A proxy before `python3 -m http.server`: with one thread it answered "
    "622.31 requests a second, 7 of 50,000 failed, and the longest took 7.447 "
    "s; with several 649.21, 3 and 15.044 s. Whose are the failures and the "
    "waiting?",
    "ab with 50 connections, a new one for each request, through sprintd with "
    "its default options, with one worker and with several (on both CPUs; "
    "http.server shares ab's), through nginx and haproxy (also with no more "
    "at once than http.server has room for), and to http.server alone; in "
    "turns, each before an http.server of its own; "
    "and as many requests as the originals had through sprintd. "
    "bench/naive_proxy.c does what theirs seem to have done: as many "
    "connections upstream as it has clients; it tells of each request how "
    "often the kernel had to send its packets again, on a loopback where that "
    "is after 1, 3, 7 and 15 s, as on the originals' kernel. A run begins "
    "when the one before it has ended, or only waits for the kernel to try "
    "again. Then wrk before a fast upstream, in turns: CPU per reply of 1 KiB "
    "and 10 MiB, and per POST of 1 MiB.",
    520.0, measure)
