#!/usr/bin/env python3
"""check_grafana.py - whether a dashboard shows what the server exports.

usage: check_grafana.py DASHBOARD METRICS

METRICS: what the server said in Prometheus' text format. Every metric that an
expression asks for is there, with the labels it is asked by; and the dashboard
is what Grafana takes for one: panels of known kinds, none over another, whose
numbers and references are unique.

Each fault is a line on stderr; the status is 1 when there is one.
"""
import collections
import json
import re
import sys

KINDS = {"row", "stat", "timeseries"}
COLUMNS = 24
SCRAPED = {"job", "instance"}  # labels that Prometheus adds
SAMPLE = re.compile(r"^(sprintd_\w+)(\{.*\})? \S+$", re.MULTILINE)
LABEL = re.compile(r'(\w+)(?:=~|!=|=)"')
METRIC = re.compile(r"(sprintd_\w+)\{([^}]*)\}")
GROUPED = re.compile(r"\bby \(([^)]*)\)")
LEGEND = re.compile(r"\{\{(\w+)\}\}")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
PLACE = ("x", "y", "w", "h")


def exported(text):
    """Labels by metric."""
    labels = collections.defaultdict(set)
    for name, inside in SAMPLE.findall(text):
        labels[name] |= SCRAPED | set(LABEL.findall(inside))
    return labels


def expression_faults(target, labels):
    expr = target["expr"]
    asked = METRIC.findall(expr)
    if not asked:
        yield f"asks for nothing of sprintd's: {expr}"
    if expr.count("sprintd_") != len(asked):
        yield f"a metric of any job: {expr}"
    if expr.count("(") != expr.count(")"):
        yield f"parentheses: {expr}"
    groups = set(re.findall(r"\w+", " ".join(GROUPED.findall(expr))))
    for name, inside in asked:
        wanted = set(LABEL.findall(inside)) | groups
        if name not in labels:
            yield f"{name} is not exported"
        elif wanted - labels[name]:
            yield f"{name} has no {', '.join(sorted(wanted - labels[name]))}"
    strangers = set(LEGEND.findall(target["legendFormat"])) - groups
    if strangers:
        yield f"the legend says {', '.join(sorted(strangers))}: {expr}"


def panel_faults(panel, labels):
    if panel["type"] not in KINDS:
        yield f"is a {panel['type']}"
    place = panel["gridPos"]
    if (any(not isinstance(place[side], int) for side in PLACE)
            or place["x"] < 0 or place["x"] + place["w"] > COLUMNS):
        yield f"lies at {place}"
    if panel["type"] == "row":
        return
    targets = panel["targets"]
    if not targets or len({each["refId"] for each in targets}) < len(targets):
        yield "has no targets, or two of a name"
    for target in targets:
        if target["datasource"] != SOURCE:
            yield f"asks {target['datasource']}"
        yield from expression_faults(target, labels)


def covered(place):
    return {(x, y) for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])}


def faults(dashboard, labels):
    if not isinstance(dashboard["schemaVersion"], int):
        yield "schemaVersion"
    variables = [each["name"] for each in dashboard["templating"]["list"]]
    if variables != ["datasource", "job", "instance"]:
        yield f"variables are {variables}"
    seen, taken = set(), set()
    for panel in dashboard["panels"]:
        for fault in panel_faults(panel, labels):
            yield f"{panel['title']}: {fault}"
        if panel["id"] in seen or taken & covered(panel["gridPos"]):
            yield f"{panel['title']}: the number or place of another"
        seen.add(panel["id"])
        taken |= covered(panel["gridPos"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        dashboard = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        labels = exported(file.read())
    found = list(faults(dashboard, labels))
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
