"""The originals, in their own order: each table, figure and question of their
reports, and where the report has ours beside it, or why it cannot."""

import dataclasses

from . import derived
from .answers import Numbers

PER_GBIT = 125.0  # MB/s
SERIAL = "A session at a time"
ONE_CPU = "1 KiB, 1,024 connections, on one CPU"


@dataclasses.dataclass
class Asked:
    """One thing of an original's. where: experiments' names, each with the
    beginnings of its tables' titles; note: what else there is to say, a text,
    or what makes one of Numbers by experiments' names."""

    what: str
    where: dict
    note: object = ""


def _loopback(known):
    """The most that a client got which reads and does no more."""
    most = max(known["parallel-clients"].rows(
        "srpt, a client that looks at less", "MB/s").values())
    return ("theirs about 20 Gbit/s by iPerf; here a client that only reads "
            f"gets {most / PER_GBIT:.0f} Gbit/s at most in that table")


def _crowd(known):
    told = known["concurrency"].rows(ONE_CPU, "replies, × one worker's")
    most = max(told)
    return (f"here {most:,} workers get {told[most]} times the replies of "
            "one; one for each connection would be 1,024 of them")


def _skew(known):
    title = "10 sessions, 1,000 requests"
    means, medians = (known["kv-threads"].rows(title, f"sprintd: {what} ms")
                      for what in ("mean", "median"))
    above = sum(means[threads] > medians[threads] for threads in means)
    return (f"of ours {above} of {len(means)} means are above the median: the "
            "few durable writes take long, the many reads do not")


def _sizes(known):
    numbers = known["file-size"]
    of_one, of_serial = (numbers.table(title).rows
                         for title in ("Speed-up", SERIAL))
    return (f"over one worker at {len(of_one)} sizes; over a server that takes "
            f"a session to its end, as theirs, at {len(of_serial) // 2}, and "
            "without a log")


def _lengths(known):
    title = known["session-length"].table("Speed-up").title
    over = "over a server that takes a session to its end"
    return (f"{over}, as theirs"
            if title == derived.SPEED_UPS[derived.SERIAL][0] else
            f"over one worker; not {over}")


ORIGINALS = (
    ("1. How to build a high performance web server (zhtta, in Rust)", (
        Asked("Duration and average response of five versions, in four "
              "tables, each a row longer than the one before",
              {"ladder": ["Responses"]}),
        Asked("Which buffer size is the best: 1 KB to 512 MB?",
              {"chunk-size": ["4 downloads"]}),
        Asked("Which of Rust's calls is better, and why is the one for whole "
              "files so slow?", {"chunk-size": ["4 downloads"]},
              "answered there, of calls that Rust no longer has, so they "
              "cannot be asked here; what a whole file in memory costs is the "
              "row of 512 MB"),
        Asked("The higher the concurrency, the better? Its server of one task "
              "beats one of unlimited concurrency.",
              {"concurrency": [ONE_CPU]}, _crowd),
        Asked("Which level is the best: 1 to 1,024?",
              {"concurrency": [ONE_CPU, "64 KiB", "Reads that block"]}),
        Asked("Why did shortest first make little difference, and when does "
              "it make one? A loopback of 80 Mbit/s is proposed.",
              {"spt-slow-link": ["80 Mbit/s, draws", "Loopback"]}),
        Asked("The bandwidth of the loopback interface",
              {"parallel-clients": ["srpt, a client that looks at less"]},
              _loopback),
        Asked("Caching by the kernel, on a disk in memory, in the server: for "
              "and against", {"cache-bound": ["What a reply", "Hit ratio"]},
              "what each costs, and what the server's own hits by the rule "
              "that it drops files by; that other programs change what the "
              "kernel keeps, and that a disk in memory takes root, is not "
              "measured"),
        Asked("Why did the cache make it worse?",
              {"cache-bound": ["What a cache made"], "ladder": ["Responses"]},
              "answered there: it blocked those who answer; here each worker "
              "has one of its own"),
        Asked("What is the upper bound of caching in memory?",
              {"cache-bound": ["What a reply"]}),
        Asked("What else can be a bottleneck: long critical sections, tasks "
              "that wait for I/O, busy waiting?",
              {"kv-cache": ["A store in memory"],
               "concurrency": ["Reads that block"]},
              "busy waiting is not measured: sprintd never waits so"))),
    ("2. Server thread pool design (a key-value store)", (
        Asked("A thread stays with a connection to its end, and others may "
              "wait unfairly.", {"file-size": [SERIAL]},
              "that is of a server of one thread; a worker of sprintd's has "
              "any number of connections"),
        Asked("One mutex, or groups of keys with a lock each (to be tested)? "
              "A single lock around all was hardly slower.",
              {"kv-cache": ["A store in memory",
                            "Cache and disk against disk alone: GET"]}),
        Asked("Request times with a cache and a store on disk, and with the "
              "store alone", {"kv-cache": ["The original's comparison"]}),
        Asked("Request times by threads, 1 to 18",
              {"kv-threads": ["10 sessions"]}),
        Asked("Means above medians: a positive skew",
              {"kv-threads": ["10 sessions"]}, _skew),
        Asked("Why does the client see more time than the server?",
              {"kv-threads": ["Where a request's mean time goes: durable"]}),
        Asked("The client's report, by httperf, of 4 threads",
              {"kv-threads": ["httperf's own report"]}),
        Asked("The server's report of the same",
              {"kv-threads": ["10 sessions", "httperf's own report"]},
              "its numbers are the row of 4 threads; ours of the same load "
              "end httperf's report"))),
    ("3. SCOOP web server (in Eiffel); its figures have not come down", (
        Asked("Figure: the architecture of its server", {},
              "a drawing, which measures nothing"),
        Asked("Figure: speed-up by file size, without and with a log",
              {"file-size": ["Speed-up", SERIAL]}, _sizes),
        Asked("Figure: response time by file size, as the duration of a test "
              "by its requests", {"file-size": ["Mean response", SERIAL]}),
        Asked("One session after the other: responses from milliseconds to "
              "seconds, and for ever behind one without an end",
              {"file-size": [SERIAL]}),
        Asked("Figure: speed-up by session length, without and with a log",
              {"session-length": ["Speed-up", "Replies per second"]},
              _lengths),
        Asked("Figure: parallel connections, relative to eight",
              {"parallel-clients": ["srpt over a link", "srpt: "]}),
        Asked("Is it the link that keeps that flat, or the engine of SCOOP?",
              {"parallel-clients": ["srpt over a link"]},
              "here the link; whether it was theirs could be told by their "
              "program alone"),
        Asked("How SCOOP treats separate calls, and objects that are passed",
              {}, "of a language and its engine: nothing of it can be asked "
              "of a server in C"))),
    ("4. Toy proxy (in Rust)", (
        Asked("The machine, by uname and lscpu", {},
              "ours stands above this, with the versions of most programs"),
        Asked("ab's report, with one thread and with several",
              {"proxy": ["ab's report of these", "ab -c 50 -n 50,000: "]}),
        Asked("Its Connection Times",
              {"proxy": ["ab's Connection Times of these"]}),
        Asked("7 and 3 requests failed, and the longest took 7.4 and 15 s.",
              {"proxy": ["ab -c 50 before", "A naive proxy: how long conn",
                         "A naive proxy: how long the reply"]}))),
    ("5. Lab 4", (
        Asked("Where the time goes, by a profiler",
              {"where-time-goes": ["By the parts"]}),
        Asked("Is Net I/O the limit? Four rows of 1,000 connections, by "
              "workers", {"connections-calls": ["1,000 connections, begun"]}),
        Asked("Many connections of few requests lower the throughput, few of "
              "many are not favourable, either.",
              {"connections-calls": ["Replies per second"]}),
        Asked("Eight rows of few and many connections for 1,000 calls",
              {"connections-calls": ["1,000 calls by connections"]}))))


def _titles(known, name, beginnings):
    """Of tables that are there; all of one experiment."""
    numbers = known.get(name)
    found = [next((table.title for table in numbers.tables
                   if table.title.startswith(begin)), None)
             for begin in beginnings] if numbers else []
    return list(filter(None, found))


def _note(asked, known):
    """What needs numbers that are not there is not said."""
    if isinstance(asked.note, str):
        return asked.note
    try:
        return asked.note(known)
    except (LookupError, StopIteration, TypeError, ValueError):
        return ""


def _where(asked, known, links):
    parts = []
    for name, beginnings in asked.where.items():
        titles = _titles(known, name, beginnings)
        parts.append(f"{links.get(name, name)}: "
                     + ("; ".join(titles) or "not measured here"))
    return "<br>".join(parts) or "–"


def lines(found, links):
    """A table for each original. found: (experiment, result) of all; links: to
    their sections, by name."""
    known = {experiment.name: Numbers(dataclasses.replace(
        result, tables=derived.tables(experiment, result)))
             for experiment, result in found if result}
    text = ["## The originals, one by one", "",
            "Each table, figure and question of theirs, in their order, and "
            "the tables", "below that have ours beside it.", ""]
    for title, asked in ORIGINALS:
        text += [f"**{title}**", "", "| of theirs | ours | |", "|---|---|---|"]
        text += [f"| {each.what} | {_where(each, known, links)} | "
                 f"{_note(each, known)} |" for each in asked]
        text.append("")
    return text
