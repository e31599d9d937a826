"""How much do workers, and a log, bring or cost by the size of the file?"""

import dataclasses

from . import closed_loops as loops
from . import paired, serial, verdicts
from .bench import median
from .model import Claim, Experiment, Figure, Result, Series, Table

CONNECTIONS, CALLS = 8, 10
PAIR_WORKERS, WORKERS = 2, 8
REQUESTS = CONNECTIONS * CALLS
SIZES = {"5 KB": 5_000, "20 KB": 20_000, "100 KB": 100_000,
         "400 KB": 400_000, "1.2 MB": 1_200_000, "3.3 MB": 3_300_000}
ROUNDS, SECONDS = 64, 192
AUTO_KEEPS = 0.9


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    workers: int = 1
    has_log: bool = False
    both_cpus: bool = True
    link: str = "off"  # loopback is none: what finds out its rate is apart


ONE = Way("1 worker")
ONE_LOG = Way("1 worker, log", has_log=True)
PAIR = Way(f"{PAIR_WORKERS} workers", PAIR_WORKERS)
PAIR_LOG = Way(f"{PAIR_WORKERS} workers, log", PAIR_WORKERS, True)
MANY = Way(f"{WORKERS} workers", WORKERS)
MANY_LOG = Way(f"{WORKERS} workers, log", WORKERS, True)
ONE_AUTO = Way("1 worker, link auto", link="auto")
ONE_OWN = Way("1 worker, 1 CPU", both_cpus=False)
MANY_LOG_OWN = Way(f"{WORKERS} workers, log, 1 CPU", WORKERS, True, False)
WAYS = (ONE, ONE_LOG, PAIR, PAIR_LOG, MANY, MANY_LOG, ONE_AUTO, ONE_OWN,
        MANY_LOG_OWN)


def _base(way):
    """The serial server that a way is compared with."""
    return ONE if way.both_cpus else ONE_OWN


def _make(bench):
    """Servers by their name, and the logs of those that write one."""
    made, logs = [], {}
    for way in WAYS:
        options = (f"--link-rate={way.link}",)
        if way.has_log:
            more, logs[way.name] = loops.log_options(
                bench, f"file-size-{WAYS.index(way)}")
            options += more
        made.append(bench.sprintd(way.name, *options, workers=way.workers,
                                  both_cpus=way.both_cpus))
    return made, logs


def _file(size_name):
    return f"{size_name.replace(' ', '-')}.bin"


def _run_all(bench, made, sizes):
    """Runs by size and way, and how often each server was asked."""
    cells = {(size, way.name): loops.Runs() for size in sizes for way in WAYS}
    asked = dict.fromkeys((way.name for way in WAYS), 0)

    def run(server, size):
        asked[server.name] += REQUESTS
        return loops.h2load(bench, server, _file(size), REQUESTS, CONNECTIONS)

    for size in sizes:
        bench.lab.site.put(_file(size), SIZES[size])
        for server in made:  # the warm-up
            run(server, size)
    rounds = loops.turns(bench, made, ROUNDS, SECONDS)
    for turn, order in rounds:
        bench.step(f"round {turn + 1}")
        for size in sizes:
            for server in order:
                runs = cells[size, server.name]
                if not runs.is_broken:
                    runs.all.append(run(server, size))
    return cells, asked


def _speed_up(cells, size, way):
    """Round for round, by the serial server on the same CPUs."""
    return loops.ratios(cells[size, way.name], cells[size, _base(way).name],
                        "per_second")


def _tables(cells, sizes):
    columns = ["file", *(way.name for way in WAYS)]

    def rows(what):
        return [[size, *(cells[size, way.name].median(what) for way in WAYS)]
                for size in sizes]

    compared = [way for way in WAYS if way is not _base(way)]
    count = min(len(runs.all) for runs in cells.values())
    speed_ups = [[size, *(paired.say(found) if found else None
                          for way in compared
                          for found in [_speed_up(cells, size, way)])]
                 for size in sizes]
    return [
        Table("Speed-up over one worker without a log on the same CPUs: "
              "median (its 95 % interval)",
              ["file", *(way.name for way in compared)], speed_ups,
              f"{count} rounds, {REQUESTS} requests each. Original: no "
              "numbers have come down; for small files many brought nothing, "
              "and with a log they were slower than the serial server, for "
              "large ones both were faster. Ways without \"1 CPU\" share the "
              "client's."),
        Table("Mean response, ms", columns, rows("mean_ms")),
        Table("CPU µs per reply, all threads, the log's too", columns,
              rows("cpu_us")),
        Table("How often a thread was given a CPU, per reply", columns,
              rows("times_run")),
    ]


def _figures(cells, sizes):
    def line(way, point):
        points = [[SIZES[size] / 1000, *found] for size in sizes
                  for found in [point(size, way)] if found]
        return Series(way.name, points)

    def speed_up(size, way):
        found = _speed_up(cells, size, way)
        return (median(found), *paired.interval(found)) if found else None

    def response(size, way):
        found = cells[size, way.name].median("mean_ms")
        return (found,) if found else None

    ends = [[SIZES[size] / 1000, 1] for size in (sizes[0], sizes[-1])]
    return [
        Figure("speed-up", "Speed-up by file size", "file, KB",
               "by one worker without a log",
               [*(line(way, speed_up)
                  for way in (PAIR_LOG, MANY, MANY_LOG, ONE_AUTO,
                              MANY_LOG_OWN)),
                Series("1 worker", ends, is_reference=True)], log_x=True),
        Figure("response", "Mean response by file size", "file, KB", "ms",
               [line(way, response) for way in (ONE, ONE_LOG, MANY, MANY_LOG)],
               log_x=True, log_y=True),
    ]


def _claim_not_below(cells, sizes, way, where):
    found = {size: _speed_up(cells, size, way) for size in sizes}
    return verdicts.claim_at_least(
        f"{way.workers} workers with a log serve files of every size at no "
        f"less than {loops.EQUAL:.0%} of the rate of one worker without a "
        f"log, {where}", found, loops.EQUAL)


def _claim_log(cells, sizes):
    found = {size: loops.ratios(cells[size, MANY_LOG.name],
                                cells[size, MANY.name], "per_second")
             for size in sizes}
    return verdicts.claim_at_least(
        f"{WORKERS} workers serve files of every size with a log at no less "
        f"than {loops.EQUAL:.0%} of their rate without", found, loops.EQUAL)


def _claim_link(cells, sizes):
    found = {size: _speed_up(cells, size, ONE_AUTO) for size in sizes}
    return verdicts.claim_at_least(
        "over loopback --link-rate=auto, the default, which holds nothing back "
        f"there, costs at most {1 - AUTO_KEEPS:.0%} of the throughput", found,
        AUTO_KEEPS)


def _claims(cells, sizes, logs, asked):
    measured = REQUESTS * sum(len(runs.all) for runs in cells.values())
    lines = {name: loops.count_lines(path) for name, path in logs.items()}
    return [
        _claim_log(cells, sizes),
        _claim_not_below(cells, sizes, PAIR_LOG, "both on both CPUs"),
        _claim_not_below(cells, sizes, MANY_LOG, "both on both CPUs"),
        _claim_not_below(cells, sizes, MANY_LOG_OWN, "both on one CPU"),
        _claim_link(cells, sizes),
        loops.claim_sound(
            "no request fails, whatever the file's size", cells,
            f"{measured:,} requests, each body complete"),
        Claim("the log has a line for every reply",
              all(lines[name] == asked[name] for name in lines),
              ", ".join(f"{name}: {lines[name]:,} of {asked[name]:,}"
                        for name in lines)),
    ]


def _noise(values):
    """What is said of a ratio that may be none."""
    low, high = paired.interval(values)
    return " (no more than noise makes)" if low <= 1 <= high else ""


def _cost_of(cells, size, way, base):
    found = loops.ratios(cells[size, way.name], cells[size, base.name],
                         "cpu_us")
    if not found:
        return "an unknown share"
    return f"{median(found) - 1:+.0%}{_noise(found)}"


def _read_size(cells, size):
    many, log = (_speed_up(cells, size, way) for way in (MANY, ONE_LOG))
    if not many or not log:
        return []
    return [
        f"Files of {size}: {WORKERS} workers answer {paired.say(many)} times "
        f"as many requests a second as one does{_noise(many)}, and take "
        f"{_cost_of(cells, size, MANY, ONE)} CPU time per reply. One worker "
        f"with a log answers {paired.say(log)} times as many as without"
        f"{_noise(log)}, and takes {_cost_of(cells, size, ONE_LOG, ONE)}."]


def _read_switches(cells, size):
    """Why many workers cost more than one."""
    found = {way: cells[size, way.name].median("times_run")
             for way in (ONE, PAIR, MANY)}
    if not all(found.values()):
        return []
    text = (f"Files of {size}: per reply a thread is given a CPU "
            + ", ".join(f"{times:.2f} times with {way.name}"
                        for way, times in found.items()) + ".")
    if found[ONE] < found[MANY]:
        text += (f" The accepting thread's included, that is once for "
                 f"{1 / found[ONE]:.1f} replies with 1 worker, and for "
                 f"{1 / found[MANY]:.1f} with {WORKERS}.")
    return [text]


def _read_link(cells, sizes):
    """Whether the default of --link-rate costs anything."""
    found = {size: _speed_up(cells, size, ONE_AUTO) for size in sizes}
    slow = [f"{size} {1 / median(values):.1f} times" for size, values
            in found.items() if values and paired.interval(values)[1] < 0.8]
    if not slow:
        return []
    return ["All but one have --link-rate=off. The one with the default is "
            f"slower: {', '.join(slow)}."]


def _reading(cells, sizes):
    return [*_read_size(cells, sizes[0]), *_read_size(cells, sizes[-1]),
            *_read_switches(cells, sizes[0]), *_read_link(cells, sizes)]


def measure(bench):
    sizes = bench.pick(list(SIZES), ["5 KB", "400 KB"])
    made, logs = _make(bench)
    try:
        cells, asked = _run_all(bench, made, sizes)
    finally:
        for server in made:
            server.stop()  # and its log is complete
    session_at_a_time = serial.table(
        bench, {size: SIZES[size] for size in sizes}, _file)
    return Result(tables=[*_tables(cells, sizes), session_at_a_time],
                  figures=_figures(cells, sizes),
                  claims=_claims(cells, sizes, logs, asked),
                  reading=[*serial.read(session_at_a_time),
                           *_reading(cells, sizes)], noise=loops.noises(cells),
                  left_out=loops.troubles(cells))


EXPERIMENT = Experiment(
    8, "file-size", "File size",
    "How do one worker, many, and many with a log compare from 5 KB to "
    "3.3 MB? With small files the original's logging version was slower than "
    "its serial one.",
    f"h2load: {CONNECTIONS} connections of {CALLS} requests. That takes "
    "milliseconds, so each is run dozens of times in turns, and speed-ups are "
    "medians of ratios within a round. The client has one of two CPUs: "
    "workers that may use both share it with the client. So CPU time per "
    "reply stands beside, and the claim is made on one CPU too; it leaves 5 "
    "%, as the client takes part in a rate. Logs are complete "
    "(--log-overflow=wait). All have --link-rate=off, but for one with the "
    "default, which holds nothing back over loopback, either. "
    "The original's serial server took a session to its end before the next: "
    "bench/serial.c does that, beside one worker as it is by default, timed "
    "at the client request by request.",
    165, measure)
