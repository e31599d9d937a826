"""The report's first page: each experiment's question in a line, and its answer
in another, made of the numbers in its tables. An answer whose numbers are not
there says so."""

import re

from . import chunk_why, connections_calls, parallel_clients

UNKNOWN = "not measured here"
NARROW = "80 Mbit/s, load 0.9"
WHOLE = "ab -c 50 -n 50,000: "
SCARCE = "Cache and disk against disk alone: GET, 1 worker, memory taken away"
ALIKE = 1.05    # times as much: what passes for no more
LITTLE = 1.1    # times as much: what passes for little more
FULL = 0.9      # of what is asked for: then that is the limit


class Numbers:
    """The tables of one result, asked for by the beginnings of titles."""

    def __init__(self, result):
        self.tables = result.tables
        self.left_out = result.left_out

    def table(self, title):
        return next(table for table in self.tables
                    if table.title.startswith(title))

    def rows(self, title, column):
        """Numbers of a column by their rows' first cells; of those that have
        one."""
        table = self.table(title)
        at = table.columns.index(column)
        return {row[0]: row[at] for row in table.rows if row[at] is not None}

    def cell(self, title, row, column):
        return self.rows(title, column)[row]

    def pairs(self, title, column):
        """The same by the first two cells."""
        table = self.table(title)
        at = table.columns.index(column)
        return {tuple(row[:2]): row[at] for row in table.rows
                if row[at] is not None}


def _ends(told):
    """The interval's of "0.93 (0.90 to 0.97)"; zeros where there is none."""
    found = re.search(r"\(([\d.]+) to ([\d.]+)\)", str(told))
    return tuple(map(float, found.groups())) if found else (0.0, 0.0)


def _low(told):
    return _ends(told)[0]


def _ladder(numbers):
    means = numbers.rows("Responses", "mean ms")
    steps = means["whole files"], means["file cache"]
    ratios = numbers.rows("Responses", "mean, × the step before's")
    told = ", ".join(f"{name} × {ratios[step].partition(' ')[0]}"
                     for name, step in (("chunks", "chunked reads"),
                                        ("five workers", "five workers"),
                                        ("shortest first", "shortest first"),
                                        ("a cache and its way of sending",
                                         "file cache")))
    where = ("" if numbers.left_out else
             ", with disk, memory and link chosen so that every step can show")
    return (f"the mean response goes from {steps[0]:.0f} to {steps[1]:.0f} "
            f"ms{where}: {told}")


def _chunk_size(numbers):
    rates = numbers.rows("4 downloads", "MiB/s")
    costs = numbers.rows("4 downloads", "CPU µs/MiB")
    read = {name: rate for name, rate in rates.items()
            if name.startswith("read")}
    best = max(read, key=read.get)
    text = (f"of reads {best.removeprefix('read ')} moves most "
            f"({read[best]:,.0f} MiB/s "
            f"for {costs[best]:.0f} µs of CPU a MiB); sendfile, which takes "
            f"no buffer, costs {costs['sendfile']:.0f} µs and moves "
            f"{rates['sendfile']:,.0f}")
    if rates["sendfile"] * ALIKE >= read[best]:
        return text
    return text + _why_less(numbers)


def _why_less(numbers):
    """What another client than wrk gets by sendfile."""
    title = chunk_why.TITLE
    try:
        rates = numbers.rows(title, "MiB/s")
    except (StopIteration, LookupError):
        return ""
    large = next(iter(rates)).partition(",")[0]
    got = [rates[f"{large}, {way}, copy"] for way in chunk_why.WAYS]
    size = chunk_why.READ.removeprefix("read ")
    return (f" to wrk, to a client that only receives {got[1]:,.0f} (by "
            f"reads of {size} {got[0]:,.0f})")


def _concurrency(numbers):
    title = "1 KiB, 1,024 connections, on one CPU"
    rates = numbers.rows(title, "replies/s")
    costs = numbers.rows(title, "CPU µs/reply")
    most = max(rates)
    ahead = [count for count, told in
             numbers.rows(title, "replies, × one worker's").items()
             if count > 1 and _low(told) > 1]
    best = max(ahead, key=rates.get) if ahead else 1
    text = (("one worker" if best == 1 else f"{best:,} workers")
            + f" on one CPU: {rates[best]:,.0f} replies/s at {costs[best]:.1f} µs; "
            f"{most:,} workers answer {rates[most]:,.0f} at "
            f"{costs[most]:.1f} µs")
    try:
        cold = numbers.rows("Reads that block", "median ms")
        tail = numbers.rows("Reads that block", "p99 ms")
        told = numbers.rows("Reads that block", "median, × one worker's")
    except (StopIteration, LookupError):
        return text
    less = [count for count in cold if 0 < _ends(told[count])[1] < 1]
    text += (f"; where a tenth is of files on a slow disk the median is "
             f"{cold[1]:.1f} ms with one")
    if not less:
        return f"{text}, and with no other number less for sure"
    best = min(less, key=cold.get)
    return (f"{text} and {cold[best]:.1f} with {best} (the 99th percentile "
            f"{tail[1]:.0f} and {tail[best]:.0f} ms)")


def _slow_link(numbers):
    try:
        means = {name: numbers.cell("80 Mbit/s, draws of", 0.9, name)
                 for name in ("srpt", "fifo", "fair")}
        where = "at 0.9 of 80 Mbit/s, in draws of 20 s,"
    except (StopIteration, LookupError):
        means = numbers.rows(NARROW, "mean")
        where = "at 0.9 of 80 Mbit/s, in short draws,"
    at = numbers.pairs("Loopback", "mean")
    pays = means["srpt"] < min(means["fifo"], means["fair"])
    return (("where the link is what is scarce: " if pays else
             "here not even where the link is scarce: ")
            + f"{where} the mean is "
            f"{means['srpt']:.1f} ms, first come first served "
            f"{means['fifo']:.1f}, shared fairly {means['fair']:.1f}; over "
            f"loopback, in one short draw, {at['0.9', 'srpt']:.2f}, "
            f"{at['0.9', 'fifo']:.2f} and {at['0.9', 'fair']:.2f}")


def _cache_bound(numbers):
    warm = numbers.rows("What a reply of 1 KiB costs", "warm CPU µs")
    own = [warm[name] for name in ("lru", "gdsf", "sieve") if name in warm]
    memory = (f" and {warm['tmpfs']:.1f} from a disk in memory"
              if "tmpfs" in warm else "")
    return (f"a reply costs {warm['page cache']:.1f} µs of CPU out of the "
            f"kernel's page cache{memory}, {min(own):.1f} to {max(own):.1f} "
            f"out of sprintd's own, and {warm['floor']:.1f} where nothing is "
            "looked up: that is the bound")


def _kv_threads(numbers):
    title = "Response time by threads: durable"
    means = numbers.rows(title, "mean ms")
    server = numbers.rows(title, "mean, server ms")
    few, most = min(means), max(means)
    best = min(means, key=means.get)
    which = (f"{few} is enough on one CPU, as a thread here waits for no "
             "session"
             if means[few] <= ALIKE * means[best] else f"{best} on one CPU")
    return (f"{which}: a durable request takes "
            f"{means[few]:.2f} ms with {few} and {means[most]:.2f} with "
            f"{most}; the client says "
            f"{means[few] - server[few]:.2f} ms more than the server: the "
            "way, and the wait until the client comes round")


def _kv_cache(numbers):
    costs = numbers.pairs("Cache and disk against disk alone: GET", "CPU µs")
    with_it, without = (costs[1, way]
                        for way in ("all, 16 groups", "disk alone"))
    text = (("GETs: a cache changes little where the store is in memory"
             if max(with_it, without) <= LITTLE * min(with_it, without)
             else "GETs: of a store in memory a cache changes what a reply "
             "costs")
            + f" ({with_it:.1f} with it, {without:.1f} µs of CPU without)")
    try:
        scarce = numbers.rows(SCARCE, "mean ms")
        text += (f", and much where its pages are taken away (a mean of "
                 f"{scarce['all, 16 groups']:.2g} and "
                 f"{scarce['disk alone']:.2g} ms)"
                 if scarce["disk alone"] > 2 * scarce["all, 16 groups"]
                 else "")
    except (StopIteration, LookupError):
        pass
    try:
        table = numbers.rows("A store in memory under locks", "4 threads")
        if all(cost <= LITTLE * costs[workers, "all, 16 groups"]
               for (workers, store), cost in costs.items()
               if store == "all, one lock"):
            text += "; one lock of the cache is as good as 16"
        return (f"{text}; without a server 4 threads get "
                f"{table['GET, one lock']:,.0f} a second under one lock of "
                f"the store, {table['GET, 64 groups']:,.0f} under 64, "
                f"{table['GET, without a lock']:,.0f} with none")
    except (StopIteration, LookupError):
        return text


def _file_size(numbers):
    costs = {way: numbers.rows("CPU µs per reply", way)
             for way in ("1 worker", "8 workers", "1 worker, log")}
    small, large = list(costs["1 worker"])[0], list(costs["1 worker"])[-1]
    told = [(f"{size}, {way}", _low(ratio)) for way in
            numbers.table("Speed-up").columns[1:] if "worker" in way
            and not way.startswith("1 ")
            for size, ratio in numbers.rows("Speed-up", way).items()]
    faster = [what for what, low in told if low > 1]
    which = (f"of {len(told)} comparisons {len(faster)} "
             f"{'is' if len(faster) == 1 else 'are'} above one worker's rate "
             f"by 0.5 % or more with the whole 95 % interval "
             f"({'; '.join(faster)}), where chance alone would make it at "
             f"most {len(told) / 40:.2g} on average"
             if faster else
             "here from none (the client has its part of the two CPUs)")
    return (f"{which}; of CPU time a reply of {small} costs "
            f"{costs['1 worker'][small]:.0f} µs with one, "
            f"{costs['8 workers'][small]:.0f} with 8 "
            f"({costs['1 worker, log'][small]:.0f} with one and a log); of "
            f"{large} {costs['1 worker'][large]:.0f} and "
            f"{costs['8 workers'][large]:.0f}")


def _session_length(numbers):
    costs = numbers.rows("CPU µs per reply", "1 worker")
    logged = numbers.rows("CPU µs per reply", "1 worker, log")
    most = max(costs)
    return (f"with one worker a reply takes {costs[1]:.1f} µs of CPU time "
            f"alone on its connection, {costs[most]:.1f} among {most:,}; with "
            f"a log {logged[1]:.1f} and {logged[most]:.1f}")


def _parallel(numbers):
    rates = numbers.rows("srpt: ", "MB/s")
    few, most = min(rates), max(rates)
    text = (f"together {most:,} get {rates[most] / rates[few]:.0%} of the "
            f"{rates[few]:,.0f} MB/s of {few} over loopback")
    try:
        wide = numbers.rows("srpt over a link", "MB/s")
        used = numbers.rows("srpt over a link", "CPUs the server used")
        last = max(wide)
        text += (f"; over 1 Gbit/s {last:,} get {wide[last]:,.0f} MB/s and "
                 f"the server uses {used[last]:.2f} CPUs")
        if not parallel_clients.is_full(min(wide.values()),
                                        max(used.values())):
            return text
        return (f"{text}: the limit is the link, not the engine (whether the "
                "original's was, its program alone could tell)")
    except (StopIteration, LookupError):
        return text


def _proxy(numbers):
    whole = numbers.rows(WHOLE, "longest s")
    text = ("the upstream's queue is short (a backlog of five): a first packet "
            "that finds no place is sent again by a kernel as old as theirs "
            "after 1, 3, 7 and 15 s, which their times fit; a connection whose "
            "third packet finds none may be reset in the end, as theirs may "
            "have been; ")
    try:
        failed = numbers.rows("ab -c 50 -n 50,000 where", "failed")
        text += f"a naive proxy loses {failed['a naive proxy']:,} of 50,000, "
    except (StopIteration, LookupError):
        pass
    ours = sum(failed for who, failed in numbers.rows(WHOLE, "failed").items()
               if who.startswith("sprintd"))
    return (text + f"sprintd {ours:,.0f}, and sprintd's longest takes "
            f"{whole['sprintd, 1 worker']:.2f} s with one worker, "
            f"{whole['sprintd, 4 workers']:.2f} with four")


def _connections(numbers):
    rates = numbers.rows("Replies per second", "1 worker, 1 CPU")
    best = max(rates, key=rates.get)
    costs = numbers.rows("CPU µs per reply", "1 worker, 1 CPU")
    few, many = "1000 x 1", "1000 x 50"
    alone = [rates[f"100 x {calls}, one by one"] for calls in (1, 50)]
    text = ("with one worker few calls a connection cost CPU time "
            f"({costs[few]:.1f} µs a reply of one call each, "
            f"{costs[many]:.1f} of 50) and, where connections follow one "
            f"another, throughput ({alone[0]:,.0f} replies/s, "
            f"{alone[1]:,.0f} of 50)")
    if rates[few] < FULL * connections_calls.AT_ONCE:
        text += (f"; all at once {rates[few]:,.0f} replies/s, "
                 f"{rates[many]:,.0f} of 50")
    text += f"; most come with {best}, {rates[best]:,.0f}/s"
    try:
        linked = numbers.rows("1,000 connections, begun",
                              "replies/s over 80 Mbit/s").values()
    except (StopIteration, LookupError, ValueError):
        return text
    told = " to ".join(dict.fromkeys(
        f"{choose(linked):,.0f}" for choose in (min, max))) if linked else ""
    return text + (f"; over 80 Mbit/s 5 to 25 workers get {told}, theirs "
                   "4,687.7 down to 3,794.9, which a link does not explain"
                   if told else "")


def _phases(numbers):
    shares = numbers.rows("1 KiB, keep-alive: CPU by phase", "server %")
    cost, kernel = (numbers.cell("The loads", "1 KiB, keep-alive", column)
                    for column in ("CPU µs a reply", "kernel %"))
    return (f"of {cost:.1f} µs a small reply {shares['send']:.0f} % go to "
            f"sending, {shares['read']:.0f} % to reading, "
            f"{shares['parse']:.0f} % to parsing, {shares['log']:.0f} % to "
            f"finishing it (no log is written); {kernel:.0f} % are the "
            "kernel's")


def _peers(numbers):
    costs = numbers.pairs("Files, keep-alive", "CPU µs")
    row = "1 KiB, 64 connections"
    return ("CPU for a reply of 1 KiB over 64 connections: " + ", ".join(
        f"{who} {costs[row, who]:.1f} µs" for who in
        ("floor", "sprintd", "lighttpd", "h2o", "nginx")
        if (row, who) in costs))


ANSWERS = {
    "ladder": ("What are chunks, workers, the order and a cache worth, one "
               "after the other?", _ladder),
    "chunk-size": ("Which chunk size is the best?", _chunk_size),
    "concurrency": ("Which number of workers is the best?", _concurrency),
    "spt-slow-link": ("When does shortest first pay?", _slow_link),
    "cache-bound": ("What is the upper bound of caching?", _cache_bound),
    "kv-threads": ("How many threads are best, and why does the client see "
                   "more time than the server?", _kv_threads),
    "kv-cache": ("Do a cache before the store, and a lock for each group of "
                 "keys, pay?", _kv_cache),
    "file-size": ("From which file size on do many workers pay, and what does "
                  "a log cost?", _file_size),
    "session-length": ("What do long sessions cost, with a log?",
                       _session_length),
    "parallel-clients": ("What do more and more clients get: is it the link "
                         "or the engine?", _parallel),
    "proxy": ("Why did requests through a proxy fail, and take 7 and 15 s?",
              _proxy),
    "connections-calls": ("Many connections of few calls, or few of many?",
                          _connections),
    "where-time-goes": ("Where does the time go?", _phases),
    "peers": ("What does a reply cost at others?", _peers),
}


# What has come since and no original asked: the question, what measures it, and
# where its tables stand.
SINCE = (
    ("What does encryption cost a reply, a handshake, an idle connection?",
     "make bench-tls", "docs/benchmarks.md, TLS"),
    ("What does HTTP/2 cost a reply?", "make bench-http2",
     "docs/http2.md, Cost"),
    ("What does a reader gain by HTTP/2 on a slow link?", "make bench-reader",
     "docs/http2.md, What a reader of a page sees"),
    ("What do others notice of a client that abuses it?", "make bench-abuse",
     "docs/http2.md, Limits"),
    ("When is a whole page there, and when can it be seen?",
     "make bench-pages", "docs/scheduling.md, A page is one thing"),
    ("What does a compressed reply out of the cache cost?",
     "python3 bench/compressed_cost.py", "docs/benchmarks.md, Compression"),
    ("What does a hit of the cache of proxied answers cost?",
     "make bench ARGS='--loads cache'", "docs/cache.md"),
)


def question(experiment):
    """Its own where none is asked here: the originals' thirteen, and what a
    reply costs at others, are."""
    known = ANSWERS.get(experiment.name)
    return known[0] if known else experiment.title


def answer(experiment, record, result):
    """A line; what it is made of may be missing, as of a miniature."""
    if not result:
        return f"{UNKNOWN}: {record['failure']}"
    if experiment.name not in ANSWERS:
        return "".join(result.reading[:1]).partition(". ")[0].removesuffix(".")
    try:
        return ANSWERS[experiment.name][1](Numbers(result))
    except (LookupError, StopIteration, TypeError, ValueError):
        return f"{UNKNOWN}: see there"
