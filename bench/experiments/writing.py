"""The report, made of the files of results; nobody writes in it by hand."""

import os
import textwrap

from . import figures, results

HEAD = """\
# Every experiment repeated

<!-- `make lab` makes this file of the results beside it. -->

sprintd descends from five student servers, whose reports asked good questions
and left most answers as homework. Here each is answered by one command, with
the standard tools of the field, beside what people run today.

    make lab                    # all of it, in about {minutes} minutes; goes on
                                # where it was broken off
    make lab EXP={example}  # one
"""
METHOD = """\
## How it is measured

- Server and client run on separate CPUs (`taskset`); where a server has both,
  the experiment says so, and gives its CPU time beside what it reached.
- What is compared takes turns (A B A B), each behind a warm-up of its own;
  shown are medians, with the extremes where they matter. A row that others
  using the CPU have disturbed says so, and no conclusion hangs on it.
- CPU time per reply stands beside throughput: user and system time of all
  processes and threads, from the scheduler's own clock.
- Where latency is the question, requests begin when they are meant to begin,
  whatever became of those before (open loop), and times count from there.
- Seeds are fixed; so are all command lines, which stand with each experiment
  (`$LAB` is a temporary folder, PORT a free port).
- A run in which a tool reports an error, a wrong length or a failed request is
  no number but a reason.
- The originals ran on other machines, years ago: compare the shapes of the
  numbers, not the numbers.
"""


def _text(cell):
    """A table's cell."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        if cell == 0 or abs(cell) >= 100:
            return f"{cell:,.0f}"
        return f"{cell:.3g}"
    return str(cell).replace("|", "\\|")


def _is_number(cell):
    return isinstance(cell, (int, float))


def _table(table):
    columns = list(zip(*table.rows))
    rules = ["---:" if any(map(_is_number, column)) else "---"
             for column in columns] or ["---"] * len(table.columns)
    lines = [f"**{table.title}**", "",
             f"| {' | '.join(table.columns)} |", f"|{'|'.join(rules)}|"]
    lines += [f"| {' | '.join(map(_text, row))} |" for row in table.rows]
    return [*lines, *(["", *_wrap(table.note)] if table.note else []), ""]


def _wrap(text, first="", others=""):
    return textwrap.wrap(text, 80, initial_indent=first,
                         subsequent_indent=others, break_long_words=False,
                         break_on_hyphens=False)


def _claim(claim, before=""):
    state = {True: "holds", False: "**does not hold**",
             None: "cannot be judged"}[claim.holds]
    return _wrap(f"{before}{claim.text}: {state} ({claim.detail})",
                 "- ", "  ")


def _title(experiment):
    return f"{experiment.number}. {experiment.title}"


def _anchor(title):
    """As GitHub makes it of a heading."""
    kept = "".join(letter for letter in title.lower()
                   if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _link(experiment):
    title = _title(experiment)
    return f"[{title}](#{_anchor(title)})"


def section(folder, experiment, record, result):
    """What the report says of one experiment, as lines."""
    lines = [f"## {_title(experiment)}", "", *_wrap(experiment.question), "",
             *_wrap(experiment.method), ""]
    if not result:
        return [*lines, *_wrap(f"Not measured: {record['failure']}."), ""]
    for table in result.tables:
        lines += _table(table)
    for figure in result.figures:
        name = f"{figures.name_of(experiment.name, figure)}.svg"
        if os.path.exists(os.path.join(folder, name)):
            title = " ".join(figure.title.split())
            lines += [f"![{title}]({os.path.basename(folder)}/{name})", ""]
    for text in result.reading:
        lines += [*_wrap(text), ""]
    for claim in result.claims:
        lines += _claim(claim)
    for text in result.noise:
        lines += _wrap(f"Noisy: {text}", "- ", "  ")
    for text in result.left_out:
        lines += _wrap(f"Left out: {text}", "- ", "  ")
    return [*lines, "", "<details><summary>Command lines</summary>", "", "```",
            *record["commands"], "```", "</details>", ""]


def _by_experiment(claims):
    """Lines for (experiment, claim) pairs, each experiment named once."""
    lines = []
    last = None
    for experiment, claim in claims:
        if experiment is not last:
            lines.append(f"- {_link(experiment)}")
        last = experiment
        lines += _wrap(f"{claim.text}: {claim.detail}", "  - ", "    ")
    return lines


def _losses(known):
    """What stands first: the claims that do not hold."""
    found = [(experiment, claim) for experiment, _record, result in known
             if result for claim in result.claims if claim.holds is False]
    unsure = [(experiment, claim) for experiment, _record, result in known
              if result for claim in result.claims if claim.holds is None]
    failed = [experiment for experiment, _record, result in known
              if not result]
    lines = ["## Where sprintd loses", ""]
    if found:
        lines += ["These ought to hold, and do not:", "",
                  *_by_experiment(found)]
    else:
        lines += ["Nowhere, in this run."]
    if unsure:
        lines += ["", "These are too noisy to judge, or were not measured:",
                  "", *_by_experiment(unsure)]
    if failed:
        lines += ["", "These could not be measured here:", "",
                  *(f"- {_link(experiment)}" for experiment in failed)]
    return [*lines, ""]


def _overview(known):
    lines = ["| experiment | what ought to hold, holds | seconds |",
             "|---|---:|---:|"]
    for experiment, record, result in known:
        held = ("not measured" if not result else
                f"{sum(claim.holds is True for claim in result.claims)} of "
                f"{len(result.claims)}")
        lines.append(f"| {_link(experiment)} | {held} | "
                     f"{record['seconds']:.0f} |")
    return [*lines, ""]


def _machines(known):
    """Where all of it was measured; by experiment when not in one place."""
    places = {}
    for experiment, record, _result in known:
        machine = record["machine"]
        text = (f"{machine['kernel']}, {machine['cpu']}, {machine['cpus']} "
                f"CPUs, {machine['memory_mib']:,} MiB; "
                + ", ".join(f"{name} {version}" for name, version in
                            record["versions"].items()))
        places.setdefault(text, []).append((experiment, record))
    lines = []
    for text, measured in places.items():
        days = sorted({record["day"] for _experiment, record in measured})
        when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        which = ("" if len(places) == 1 else " Experiments " + ", ".join(
            str(experiment.number) for experiment, _record in measured) + ".")
        lines += [*_wrap(f"Measured {when}: {text}.{which}"), ""]
    if any(record["is_quick"] for _experiment, record, _result in known):
        lines += ["**A miniature: these numbers mean nothing.**", ""]
    return lines


def write(path, folder, experiments):
    """Makes the report of all that was measured so far."""
    known = [(experiment, *results.load(folder, experiment))
             for experiment in experiments]
    missing = [experiment for experiment, record, _result in known
               if not record]
    known = [each for each in known if each[1]]
    seconds = sum(record["seconds"] for _experiment, record, _result in known)
    head = HEAD.format(minutes=max(1, round(seconds / 60)),
                       example="spt-slow-link")
    lines = [*head.splitlines(), "", *_machines(known), *_losses(known),
             *_overview(known)]
    if missing:
        lines += [*_wrap("Not measured yet: " + ", ".join(
            _title(experiment) for experiment in missing) + "."), ""]
    lines += [*METHOD.splitlines(), ""]
    for experiment, record, result in known:
        lines += section(folder, experiment, record, result)
    results.write(path, "\n".join(lines).rstrip() + "\n")
