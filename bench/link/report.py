"""Tables, CSV and JSON."""

import csv
import json
import os

from . import ideal, serving, summary

COLUMNS = (
    ("mean", "all mean"), ("p99", "all p99"), ("small", "small mean"),
    ("small p99", "small p99"), ("medium", "medium mean"),
    ("large", "large mean"), ("large p99", "large p99"),
    ("slowdown", "slowdown"), ("use", "utilisation"), ("CPU µs", "CPU"),
)
BY_NGINX = ("all mean", "small p99", "large mean")
BY_CLASS = ("mean", *(f"p{percent}" for percent in summary.PERCENTILES), "max")
NAME_WIDTH = 16


def short(value):
    """Three digits that matter, grouped."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(figures, name):
    if name not in figures:
        return "–"
    if name == "utilisation":
        return f"{figures[name]:.1%}"
    return short(figures[name])


def _ratios(figures, nginx):
    """How many times less than nginx's."""
    if not nginx or figures is nginx:
        return "–"
    return " ".join(short(nginx[name] / figures[name])
                    if figures.get(name) and name in nginx else "–"
                    for name in BY_NGINX)


class Table:
    """All runs of one row: the mean over the seeds of every figure."""

    def __init__(self, row, runs, link):
        self.row = row
        self.link = link
        self.runs = runs
        self.names = list(dict.fromkeys(run.name for run in runs))
        self.names.sort(key=lambda name: name in ideal.REFERENCES)
        self.over_seeds = {
            name: summary.over_seeds([run.figures for run in runs
                                      if run.name == name])
            for name in self.names}
        self.figures = {
            name: {figure: mean for figure, (mean, _low, _high)
                   in found.items()}
            for name, found in self.over_seeds.items()}

    @property
    def nginx(self):
        return self.figures.get(serving.NGINX)

    def remarks(self):
        """What the reader must know of runs that did not go well."""
        found = []
        for run in self.runs:
            where = f"{run.name}, seed {run.seed}"
            if run.outcomes:
                kinds = ", ".join(f"{kind} {count}" for kind, count
                                  in run.outcomes.items())
                found.append(f"{where}: of {len(run.asked)} requests failed "
                             f"{kinds}")
            if run.noise:
                found.append(f"{where}: noisy, {run.noise}")
        return found

    def lines(self):
        """The table as text."""
        yield f"{self.row.title}  [{self.row.name}]"
        yield "  " + "ms".ljust(NAME_WIDTH) + "".join(
            title.rjust(10) for title, _name in COLUMNS) + \
            "   × nginx: mean, small p99, large"
        for name in self.names:
            figures = self.figures[name]
            yield "  " + name.ljust(NAME_WIDTH) + "".join(
                _cell(figures, figure).rjust(10)
                for _title, figure in COLUMNS) + \
                "   " + _ratios(figures, self.nginx)
        for remark in self.remarks():
            yield f"  {remark}"

    def markdown(self):
        yield f"### {self.row.title}\n"
        yield "| ms | " + " | ".join(title for title, _name in COLUMNS) + " |"
        yield "|---|" + "---:|" * len(COLUMNS)
        for name in self.names:
            yield f"| {name} | " + " | ".join(
                _cell(self.figures[name], figure)
                for _title, figure in COLUMNS) + " |"
        yield ""
        yield "| class | " + " | ".join(
            f"{name} {figure}" for name in self.names
            for figure in BY_CLASS) + " |"
        yield "|---|" + "---:|" * (len(self.names) * len(BY_CLASS))
        for group in summary.CLASSES:
            yield f"| {group} | " + " | ".join(
                _cell(self.figures[name], f"{group} {figure}")
                for name in self.names for figure in BY_CLASS) + " |"
        for remark in self.remarks():
            yield f"\n{remark}"
        yield ""

    def detail_lines(self):
        """Percentiles by class."""
        for group in summary.CLASSES:
            yield "  " + group.ljust(NAME_WIDTH) + "".join(
                figure.rjust(10) for figure in BY_CLASS)
            for name in self.names:
                yield "    " + name.ljust(NAME_WIDTH - 2) + "".join(
                    _cell(self.figures[name], f"{group} {figure}").rjust(10)
                    for figure in BY_CLASS)


def run_line(run):
    """One run, as it is finished."""
    figures = run.figures
    return (f"  {run.row.name} seed {run.seed} {run.name.ljust(NAME_WIDTH)}"
            f"mean {_cell(figures, 'all mean')}  "
            f"small {_cell(figures, 'small mean')} "
            f"p99 {_cell(figures, 'small p99')}  "
            f"medium {_cell(figures, 'medium mean')}  "
            f"large {_cell(figures, 'large mean')}  "
            f"use {_cell(figures, 'utilisation')}"
            f"{'  NOISY' if run.noise else ''}"
            f"{'  ERRORS' if figures.get('errors') else ''}")


def save(folder, tables, facts, commands):
    """Writes CSV, JSON and Markdown into a folder."""
    os.makedirs(folder, exist_ok=True)
    runs = [run for table in tables for run in table.runs]
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    with open(os.path.join(folder, "link.csv"), "w", encoding="utf-8",
              newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "server", "seed", "requests", *names])
        for run in runs:
            writer.writerow([
                run.row.name, run.name, run.seed, len(run.asked),
                *(f"{run.figures[name]:.6g}" if name in run.figures else ""
                  for name in names)])
    with open(os.path.join(folder, "link.json"), "w",
              encoding="utf-8") as file:
        json.dump({
            "facts": facts,
            "rows": [{"name": table.row.name, "title": table.row.title,
                      "runs": [{"server": run.name, "seed": run.seed,
                                "requests": len(run.asked),
                                "noise": run.noise,
                                "failures": run.outcomes,
                                "figures": run.figures}
                               for run in table.runs],
                      "means": table.figures} for table in tables],
            "commands": commands}, file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, "link.md"), "w", encoding="utf-8") as file:
        for table in tables:
            file.writelines(f"{line}\n" for line in table.markdown())
