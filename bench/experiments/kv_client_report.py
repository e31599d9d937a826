"""What httperf itself reports of ten sessions with the key-value store, beside
what it reported of the original's: as many requests of each kind, the sessions
one after the other, as its report shows that they were."""

import os
import random
import re
import shutil
import statistics

from lab import filled, kv, processes, sessions, tools

from .model import Table

ASKED = {"GET": 803, "POST": 105, "DELETE": 92}  # of the original
THREADS = 4
CALLS = 100  # of a session
BODY = "v" * 200
TIMES = 5  # medians of so many
RUN_S = 30
THERE, MISSING = "every key there", "no key there, as theirs"

# What httperf calls it, the original's, and where it stands in its report.
SAID = (
    ("requests", "1000", r"^Total: .* requests (\d+)"),
    ("replies", "1000", r"^Total: .* replies (\d+)"),
    ("test-duration s", "2.394", r"test-duration ([\d.]+)"),
    ("connections a second", "4.2", r"^Connection rate: ([\d.]+)"),
    ("concurrent connections, at most", "2", r"<=(\d+) concurrent"),
    ("connection time, min ms", "230.2", r"^Connection time .*min ([\d.]+)"),
    ("connection time, avg ms", "239.4", r"^Connection time .*avg ([\d.]+)"),
    ("connection time, max ms", "270.8", r"^Connection time .*max ([\d.]+)"),
    ("connection time, median ms", "235.5",
     r"^Connection time .*median ([\d.]+)"),
    ("connection time, stddev ms", "12.0",
     r"^Connection time .*stddev ([\d.]+)"),
    ("connect ms", "0.2", r"^Connection time .*connect ([\d.]+)"),
    ("requests a second", "417.8", r"^Request rate: ([\d.]+)"),
    ("request's size, bytes", "303.0", r"^Request size .*: ([\d.]+)"),
    ("response ms", "0.8", r"^Reply time .*response ([\d.]+)"),
    ("transfer ms", "0.0", r"^Reply time .*transfer ([\d.]+)"),
    ("reply's head, bytes", "62.0", r"^Reply size .*header ([\d.]+)"),
    ("reply's content, bytes", "228.0", r"^Reply size .*content ([\d.]+)"),
    ("replies of 2xx", "197", r"2xx=(\d+)"),
    ("replies of 4xx", "803", r"4xx=(\d+)"),
    ("CPU of the client, user s", "0.56", r"^CPU time .*: user ([\d.]+)"),
    ("CPU of the client, system s", "1.65",
     r"^CPU time .*: user [\d.]+ system ([\d.]+)"),
    ("CPU of the client, user %", "23.3", r"^CPU time .*\(user ([\d.]+)%"),
    ("CPU of the client, system %", "69.1",
     r"^CPU time .*\(user [\d.]+% system ([\d.]+)%"),
    ("CPU of the client, %", "92.4", r"^CPU time .*total ([\d.]+)%"),
    ("Net I/O, KB/s", "242.7", r"^Net I/O: ([\d.]+)"),
    ("errors", "0", r"^Errors: total (\d+)"),
    ("sessions a second", "4.18", r"^Session rate .* avg ([\d.]+)"),
)
# Of the server's own report, and how ours follows from its log.
BY_SERVER = (
    ("by the server: mean request time ms", "25.2494", statistics.fmean),
    ("by the server: sum of all ms", "25249.4", sum),
    ("by the server: longest ms", "62.493", max),
    ("by the server: least ms", "0.17", min),
    ("by the server: median ms", "24.0075", statistics.median),
)


def _lines(rng, are_there):
    """A session list for --wsesslog: CALLS requests, an empty line."""
    kinds = [kind for kind, count in ASKED.items() for _each in range(count)]
    rng.shuffle(kinds)
    lines = []
    for session in range(sessions.SESSIONS):
        fresh = 0  # keys below it are deleted
        for kind in kinds[session * CALLS:][:CALLS]:
            path = f"{sessions.PREFIX}/s{session}/{fresh:04d}"
            if kind == "POST":
                path = f"{sessions.PREFIX}/?prefix=s{session}/"
            elif kind == "DELETE":
                fresh += 1
            else:
                name = rng.randrange(fresh, sessions.KEYS)
                path = (f"{sessions.PREFIX}/s{session}/{name:04d}" if are_there
                        else f"{sessions.PREFIX}/none/{name:04d}")
            lines.append(f"{path} method={kind}"
                         + (f" contents='{BODY}'" if kind == "POST" else ""))
        lines.append("")
    return "\n".join(lines) + "\n"


def _ask(bench, template, disk, are_there, turn):
    """Texts by row: httperf's own, and of the server's log."""
    store = os.path.join(disk, f"report-{are_there:d}-{turn}")
    shutil.copytree(template, store)
    log = os.path.join(bench.lab.site.folder, "wsess.log")
    with open(log, "w", encoding="ascii") as file:
        file.write(_lines(random.Random(f"{bench.seed} {turn}"), are_there))
    server = bench.sprintd("sessions by httperf",
                           f"--kv={sessions.PREFIX}={store}",
                           f"--log-format={sessions.LOG_FORMAT}",
                           workers=THREADS, log_file="access.log")
    try:
        instance = server.instance("")
        output = tools.run(bench.lab, [
            "httperf", "--server", "127.0.0.1", "--port", instance.port,
            f"--wsesslog={sessions.SESSIONS},0,{log}", "--timeout", 5], RUN_S)
        path = os.path.join(instance.folder, "access.log")
    finally:
        server.stop()  # and its log is complete
    with open(path, encoding="ascii") as file:
        took_ms = [int(line.split()[-1]) / 1e3 for line in file]
    told = {name: float(found.group(1)) for name, _then, pattern in SAID
            for found in [re.search(pattern, output, re.MULTILINE)] if found}
    return {**told, **{name: of(took_ms) for name, _then, of in BY_SERVER}}


def _check(told, are_there):
    """That it asked for what the original's did, and was answered."""
    wanted = 1_000 if are_there else ASKED["POST"] + ASKED["DELETE"]
    if (told["requests"], told["replies"], told["errors"]) != (1e3, 1e3, 0) \
            or told["replies of 2xx"] != wanted:
        raise processes.Failure(
            f"httperf: {told['replies']:.0f} replies, "
            f"{told['replies of 2xx']:.0f} of them 2xx, not {wanted:,}")


def measure(bench):
    """A Table."""
    tools.need("httperf", "httperf")
    template = filled.fill(bench.lab, "report-store", sessions.keys())
    found = {}
    with kv.disk() as disk:
        for title, are_there in ((MISSING, False), (THERE, True)):
            turns = []
            for turn in range(bench.pick(TIMES, 1)):
                bench.step(f"httperf's report: {title}, {turn + 1}")
                turns.append(_ask(bench, template, disk, are_there, turn))
                _check(turns[-1], are_there)
            found[title] = turns
    rows = [[name, then, *(statistics.median(told[name] for told in turns)
                           for turns in found.values())]
            for name, then, _how in (*SAID, *BY_SERVER)]
    by_call = statistics.median(
        told["connection time, avg ms"] / CALLS for told in found[THERE])
    response = statistics.median(told["response ms"] for told in found[THERE])
    return Table(
        f"httperf's own report, {THREADS} threads: sessions of {CALLS} "
        "requests, one after the other",
        ["what it says", "original", *(f"sprintd: {title}" for title in found)],
        rows,
        f"httperf --wsesslog={sessions.SESSIONS},0: 803 GET, 105 POST of a "
        "value, which gets a key of its own, and 92 DELETE, durable; medians "
        f"of {TIMES} runs, those of one column before the other's. From one "
        f"call to the next pass {by_call:.1f} ms here ({THERE}), of which the "
        f"response is {response:.1f}: the rest is httperf's own, as 1.6 of "
        "the original's 2.4 ms are. The original's: ten connections of "
        "239.4 ms on average in 2.394 s, so one at a time; its client says "
        "0.8 ms a response, its server 25.2 ms of the same requests, and in "
        "all more than ten times as much as the test lasted. So its "
        "server's figures cannot be times that clients waited, whatever they "
        "are of.")
