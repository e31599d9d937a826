"""The figures of a slow link.

The scripts for gnuplot, with the numbers in them, stay beside the figures.
"""

import os

from lab import plot

from . import ideal, summary

TAIL_POINTS = 60
TAIL_MARKS = 9  # beside each other they would be a thick line
SIZE_LEAST = 8  # requests that a mean is taken of

LOG_BOTH = "set logscale xy"
AS_SIZES = 'set format x "%.0s %cB"'
AS_PERCENT = 'set format y "%g %%"'
BY_LOAD = (
    ("mean", "all mean", "mean response time (ms)"),
    ("small-p99", "small p99", "small files, 99th percentile (ms)"),
    ("large", "large mean", "largest 1 % of files, mean (ms)"),
    ("slowdown", "slowdown", "mean slowdown"),
)


def _title(row, has_load=True):
    """A row's title on two lines."""
    *where, sizes, load = row.title.split(", ")
    return ", ".join(where) + r"\n" + (
        f"{sizes}, {load}" if has_load else sizes)


def _style(name, names):
    if name in ideal.REFERENCES:
        return plot.reference_style(list(ideal.REFERENCES).index(name))
    return plot.line_style([known for known in names if known
                            not in ideal.REFERENCES].index(name))


def _head(curves, settings, **names):
    """What its axes are, before the curves."""
    return plot.head(names=list(curves), tic_height=plot.TEXT,
                     **names) + settings


def _script(head, curves, marks=""):
    """curves: points by name. marks: what plot shall know of them."""
    names = list(curves)
    kind = f"linespoints {marks}"
    lines = [head]
    for at, points in enumerate(curves.values()):
        lines.append(f"$curve{at} << END")
        lines.extend(f"{x:.6g} {y:.6g}" for x, y in points)
        lines.append("END")
    lines.append("plot " + ", \\\n     ".join(
        f'$curve{at} with '
        f'{"lines" if name in ideal.REFERENCES else kind} '
        f'{_style(name, names)} title "{name}"'
        for at, name in enumerate(names)))
    return "\n".join(lines) + "\n"


def _by_load(tables):
    """What happens as the load grows: a figure for each network, kind of
    sizes, and column of BY_LOAD."""
    groups = {}
    for table in tables:
        if not table.row.is_burst:
            groups.setdefault((table.row.net.name, table.row.sizes),
                              []).append(table)
    for (net, sizes), group in groups.items():
        group.sort(key=lambda table: table.row.load)
        names = dict.fromkeys(name for table in group for name in table.names)
        for suffix, figure, label in BY_LOAD if len(group) > 1 else ():
            curves = {name: [(table.row.load, table.figures[name][figure])
                             for table in group
                             if figure in table.figures.get(name, ())]
                      for name in names}
            name = f"{net}-{sizes}-{suffix}"
            loads = [table.row.load for table in group]
            margin = (loads[-1] - loads[0]) / 20 or 0.05
            yield name, _script(_head(
                curves, "set logscale y\n"
                f"set xtics ({', '.join(f'{load:g}' for load in loads)})\n"
                f"set xrange [{loads[0] - margin:g}:{loads[-1] + margin:g}]",
                name=name, title=_title(group[0].row, has_load=False),
                x="load", y=label), curves)


def _by_size(table):
    """Who pays: mean slowdown by size; of the smaller half, of the smaller
    half of the others, and so on, since it is the few large ones that could
    have to pay."""
    curves = {}
    for name in table.names:
        pairs = [(arrival, time) for run in table.runs if run.name == name
                 for arrival, time in zip(run.asked, run.times)
                 if time is not None]
        pairs.sort(key=lambda pair: pair[0].size)
        curves[name] = []
        while pairs:
            half = len(pairs) // 2
            if half < SIZE_LEAST:
                half = len(pairs)
            curves[name] += summary.slowdown_by_size(
                pairs[:half], table.link, table.row.net.round_trips, bins=1)
            del pairs[:half]
    name = f"{table.row.name}-by-size"
    return name, _script(_head(
        curves, f"{LOG_BOTH}\n{AS_SIZES}", name=name,
        title=_title(table.row), x="size",
        y="mean slowdown (× the time alone)"), curves)


def _tail(table):
    """How many wait longer than so long."""
    curves = {}
    for name in table.names:
        times = sorted((time for run in table.runs if run.name == name
                        for time in run.times if time is not None),
                       reverse=True)
        # Equal steps of the share's logarithm, from all down to one request.
        ranks = sorted({round(len(times) ** (1 - step / TAIL_POINTS))
                        for step in range(TAIL_POINTS + 1)} if times else ())
        curves[name] = [(1e3 * times[rank - 1], 100 * rank / len(times))
                        for rank in ranks]
    name = f"{table.row.name}-tail"
    return name, _script(_head(
        curves, f"{LOG_BOTH}\n{AS_PERCENT}", name=name,
        title=_title(table.row), x="response time (ms)",
        y="requests that take longer"), curves, marks=f"pn {TAIL_MARKS}")


def draw(folder, tables):
    """Writes a script for each figure into the folder, and the figures."""
    scripts = dict(_by_load(tables))
    for table in tables:
        scripts.update([_by_size(table), _tail(table)])
    program = plot.gnuplot()
    for name, script in scripts.items():
        with open(os.path.join(folder, f"{name}.gp"), "w",
                  encoding="utf-8") as file:
            file.write(script)
        if program:
            plot.run(program, folder, script)
