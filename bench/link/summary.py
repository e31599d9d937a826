"""Figures by size class, over one run and over several seeds."""

import statistics

from . import client, ideal, wire

SMALL_BELOW = 10_000
LARGE_SHARE = 0.01
PERCENTILES = (50, 95, 99)
CLASSES = ("all", "small", "medium", "large")
MS = 1000


def percentile(ordered, percent):
    """Of a sorted list: the least value that so many percent do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def classify(sizes):
    """The class of each size: the largest hundredth is large, all that have
    the size where it begins included."""
    large_from = sorted(sizes)[-max(1, round(len(sizes) * LARGE_SHARE))]
    return ["large" if size >= large_from else
            "small" if size < SMALL_BELOW else "medium" for size in sizes]


def _busy_seconds(spans):
    """How long at least one of the (begin, end) lasted."""
    total = 0.0
    until = float("-inf")
    for begin, end in sorted(spans):
        if end > until:
            total += end - max(begin, until)
            until = end
    return total


def summarize(asked, times, link, round_trips):
    """Figures of one run. times: each arrival's response time in seconds, or
    None when there was no proper response."""
    done = [(arrival, time) for arrival, time in zip(asked, times)
            if time is not None]
    by_class = {name: [] for name in CLASSES}
    classes = classify([arrival.size for arrival in asked])
    for name, time in zip(classes, times):
        if time is not None:
            by_class[name].append(time * MS)
            by_class["all"].append(time * MS)
    found = {}
    for name, group in by_class.items():
        group.sort()
        found[f"{name} n"] = len(group)
        if group:
            found[f"{name} mean"] = statistics.fmean(group)
            found[f"{name} max"] = group[-1]
            for percent in PERCENTILES:
                found[f"{name} p{percent}"] = percentile(group, percent)
    if done:
        found["slowdown"] = statistics.fmean(
            time / ideal.alone(arrival, link, round_trips)
            for arrival, time in done)
        # The frames with something in them that came while somebody was
        # waiting, by what the link could have carried in that time. (Frames
        # that end a connection come when nobody waits for them.)
        found["utilisation"] = sum(
            wire.data_bytes(arrival.size) for arrival, _time in done) / (
                link.rate * _busy_seconds([
                    (arrival.start, arrival.start + time)
                    for arrival, time in done]))
    return found


def of_results(asked, results, link, round_trips):
    """Figures of a server's run."""
    times = [result.done if result.outcome == client.OK else None
             for result in results]
    found = summarize(asked, times, link, round_trips)
    found["errors"] = sum(time is None for time in times)
    found["late p99"] = MS * percentile(
        sorted(result.late for result in results), 99)
    firsts = [result.first * MS for result in results
              if result.outcome == client.OK]
    if firsts:
        found["first byte mean"] = statistics.fmean(firsts)
    return found


def slowdown_by_size(pairs, link, round_trips, bins=20):
    """(mean size, mean slowdown) of equally many requests each, by size, from
    pairs of an arrival and its response time."""
    ordered = sorted((arrival.size,
                      time / ideal.alone(arrival, link, round_trips))
                     for arrival, time in pairs)
    cuts = [len(ordered) * at // bins for at in range(bins + 1)]
    return [tuple(statistics.fmean(column)
                  for column in zip(*ordered[low:high]))
            for low, high in zip(cuts, cuts[1:]) if low < high]


def over_seeds(runs):
    """The mean of each figure over several runs, and its extremes."""
    names = {name: None for run in runs for name in run}
    found = {}
    for name in names:
        values = [run[name] for run in runs if name in run]
        found[name] = (statistics.fmean(values), min(values), max(values))
    return found
