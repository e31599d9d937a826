#!/usr/bin/env python3
"""check_metrics.py - whether a text is what Prometheus may be given.

usage: check_metrics.py [FILE]    standard input by default

A text that ends with `# EOF` is taken for OpenMetrics 1.0, any other for
Prometheus' text format 0.0.4. The parser here is strict: it also refuses what
both formats only advise against. The reference parser (python3-prometheus-
client) reads it too and must find the same samples; promtool has its say where
it is installed.

Each fault is a line on stderr; the status is 1 when there is one, and else 2
when the reference parser is not installed.
"""
import math
import re
import shutil
import subprocess
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
META = re.compile(rf"# (HELP|TYPE|UNIT) ({NAME}) (.*)")
SAMPLE = re.compile(rf"({NAME})(\{{.*\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|\+Inf")
TYPES = {"counter", "gauge", "histogram", "info"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}
# A base unit has no prefix; these are what is looked for at the end of names.
ODD_UNITS = re.compile(r"_(ms|us|ns|milliseconds|microseconds|nanoseconds|"
                       r"minutes|hours|kb|mb|kilobytes|megabytes|bits|percent)"
                       r"(_|$)")


class Fault(Exception):
    """What is wrong with a line, or with a family."""


def need(condition, what):
    if not condition:
        raise Fault(what)


class Family:
    """The lines that belong to one name."""

    def __init__(self, name):
        self.name = name
        self.type = None
        self.help = None
        self.unit = None
        self.samples = []


def read_labels(text):
    """A list of (name, value) of `{a="b",...}`."""
    labels = []
    at = 1
    while at < len(text) - 1:
        match = LABEL.match(text, at)
        need(match, f"no label at '{text[at:]}'")
        labels.append((match[1], match[2]))
        at = match.end()
        need(text[at] in ",}", f"'{text[at]}' after a label")
        at += text[at] == ","
    need(labels, "empty braces")
    need(text[at - 1] != ",", "a comma after the last label")
    names = [name for name, _ in labels]
    need(len(set(names)) == len(names), "a label twice")
    return labels


def expect_suffix(family, name, is_open):
    """Whether a sample of that name may be in the family."""
    suffix = name.removeprefix(family.name)
    if family.type == "counter":
        wanted = ("_total",) if is_open else ("",)
    elif family.type == "info":
        wanted = ("_info",)
    else:
        wanted = SUFFIXES.get(family.type, ("",))
    need(name.startswith(family.name) and suffix in wanted,
         f"{name} does not belong to the {family.type} {family.name}")


def check_family(family, is_open):
    """What holds for the family as a whole."""
    name = family.name
    need(family.type in TYPES, f"{name}: no type that is known")
    need(family.help, f"{name}: no help")
    need(family.samples, f"{name}: no sample")
    need(is_open or family.type != "info", f"{name}: info in 0.0.4")
    need(not ODD_UNITS.search(name), f"{name}: not a base unit")
    if is_open:
        need(not name.endswith(("_total", "_info")),
             f"{name}: the family's name has a suffix")
        need(family.unit is None or name.endswith("_" + family.unit),
             f"{name}: does not end in its unit")
        need(family.unit or not name.endswith(("_seconds", "_bytes")),
             f"{name}: has a unit and does not say so")
    else:
        need((family.type == "counter") == name.endswith("_total"),
             f"{name}: _total is for counters, and for all of them")
        need(family.unit is None, f"{name}: UNIT in 0.0.4")
    for sample, _, value in family.samples:
        need(family.type == "gauge" or value >= 0, f"{sample}: below 0")
    if family.type == "histogram":
        check_histogram(family)


def check_histogram(family):
    """Each series has ascending buckets up to +Inf, a sum and a count."""
    series = {}
    for name, labels, value in family.samples:
        rest = tuple(label for label in labels if label[0] != "le")
        part = series.setdefault(rest, {"buckets": []})
        if name.endswith("_bucket"):
            bounds = [text for label, text in labels if label == "le"]
            need(len(bounds) == 1, f"{name}: a bucket without le")
            part["buckets"].append((float(bounds[0]), value))
        else:
            need(rest == tuple(labels), f"{name}: le is for buckets")
            part[name.removeprefix(family.name)] = value
    for rest, part in series.items():
        where = f"{family.name}{dict(rest)}"
        bounds = [bound for bound, _ in part["buckets"]]
        counts = [count for _, count in part["buckets"]]
        need(len(bounds) > 1, f"{where}: no buckets")
        need(all(a < b for a, b in zip(bounds, bounds[1:])),
             f"{where}: bounds that do not ascend")
        need(all(a <= b for a, b in zip(counts, counts[1:])),
             f"{where}: buckets that are not cumulative")
        need(math.isinf(bounds[-1]), f"{where}: no +Inf")
        need("_sum" in part and "_count" in part, f"{where}: no sum or count")
        need(counts[-1] == part["_count"], f"{where}: +Inf is not the count")
        need(part["_count"] or part["_sum"] == 0, f"{where}: a sum of nothing")


class Reader:
    """The text, line by line."""

    def __init__(self, is_open):
        self.is_open = is_open
        self.families = {}
        self.present = None
        self.seen = set()

    def take_meta(self, keyword, name, text):
        if not self.present or self.present.name != name:
            need(name not in self.families, f"{name} comes again")
            self.present = self.families[name] = Family(name)
        key = keyword.lower()
        need(getattr(self.present, key) is None, f"{keyword} twice")
        need(not self.present.samples, f"{keyword} after a sample")
        setattr(self.present, key, text)

    def take_sample(self, name, labels_text, value):
        family = self.present
        need(family and family.type, f"{name} without a TYPE before")
        labels = read_labels(labels_text) if labels_text else []
        expect_suffix(family, name, self.is_open)
        need(NUMBER.fullmatch(value), f"{name}: no number: {value}")
        need(not math.isinf(float(value)), f"{name}: infinite")
        series = (name, tuple(sorted(labels)))
        need(series not in self.seen, f"{name}: the same labels twice")
        self.seen.add(series)
        need(family.type == "histogram" or "le" not in dict(labels),
             f"{name}: le is for histograms")
        family.samples.append((name, labels, float(value)))

    def take(self, line):
        meta = META.fullmatch(line)
        sample = SAMPLE.fullmatch(line)
        need(meta or sample, f"not a line of this format: {line!r}")
        if meta:
            self.take_meta(*meta.groups())
        else:
            self.take_sample(*sample.groups())


def find_faults(text, reader):
    """What the parser here has against the text."""
    if not text.endswith("\n"):
        yield "the last line has no end"
    lines = text.split("\n")[:-1]
    if reader.is_open:
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            reader.take(line)
        except Fault as fault:
            yield f"line {number}: {fault}"
    if not reader.families:
        yield "there is nothing in it"
    for family in reader.families.values():
        try:
            check_family(family, reader.is_open)
        except Fault as fault:
            yield str(fault)


def import_client(is_open):
    """The reference parser of the format; None: it is not installed."""
    try:
        if is_open:
            from prometheus_client.openmetrics import parser
        else:
            from prometheus_client import parser
    except ImportError:
        return None
    return parser


def ask_client(text, parser, reader):
    """What the reference parser has against it, or reads otherwise."""
    try:
        families = list(parser.text_string_to_metric_families(text))
    except ValueError as error:
        yield f"prometheus_client: {error}"
        return
    theirs = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
              for family in families for sample in family.samples}
    ours = {(name, tuple(sorted(labels))): value
            for family in reader.families.values()
            for name, labels, value in family.samples}
    for series in sorted(ours.keys() | theirs.keys()):
        if ours.get(series) != theirs.get(series):
            yield (f"prometheus_client: {series} is {theirs.get(series)}, "
                   f"not {ours.get(series)}")
    types = {family.name: family.type for family in families}
    for family in reader.families.values():
        name = family.name
        if not reader.is_open and family.type == "counter":
            name = name.removesuffix("_total")
        if types.get(name) != family.type:
            yield (f"prometheus_client: {name} is a {types.get(name)}, not a "
                   f"{family.type}")


def ask_promtool(text):
    """What promtool has against it, if it is installed; it knows 0.0.4."""
    promtool = shutil.which("promtool")
    if not promtool or text.endswith("# EOF\n"):
        return
    done = subprocess.run([promtool, "check", "metrics"], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        for line in (done.stdout + done.stderr).splitlines():
            yield f"promtool: {line}"


def main():
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8", newline="") as file:
            text = file.read()
    else:
        text = sys.stdin.buffer.read().decode("utf-8")
    reader = Reader(text.endswith("# EOF\n"))
    parser = import_client(reader.is_open)
    faults = [*find_faults(text, reader), *ask_promtool(text)]
    if parser:
        faults += ask_client(text, parser, reader)
    else:
        print("prometheus_client is not installed", file=sys.stderr)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0 if parser else 2


if __name__ == "__main__":
    sys.exit(main())
