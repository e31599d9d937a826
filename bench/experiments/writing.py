"""The report, made of the files of results; nobody writes in it by hand."""

import html
import os
import re
import textwrap

from . import answers, derived, figures, originals, paired, results

HEAD = """\
# Every experiment repeated

<!-- `make lab` makes this file of the results beside it. -->

sprintd descends from five small servers, whose reports asked good questions and
left many of them open. Here they are asked again by one command: with the
standard tools of the field where they can tell, with small programs of its own
where they cannot, and beside what people run today where that is compared.

    make lab                    # all of it, in about {minutes} minutes; goes on
                                # where it was broken off
    make lab EXP={example}  # one
"""
METHOD = """\
## How it is measured

- Server and client run on separate CPUs; where a server has both, the
  experiment says so.
- What is compared takes turns (A B A B) where nothing else is said, as a rule
  behind a warm-up where runs are short and the process is not meant to be a new
  one; shown are medians (of experiment 4 means over the draws), with the
  extremes where they matter.
- A verdict compares round by round, as what slows the machine for a while
  slows both: it falls by the order of the ratios of at least twelve rounds,
  when all verdicts of an experiment together are wrong by chance in less than
  one of twenty such experiments (Holm's correction). What is not judged tells
  how many rounds more it needs, if they came out as the others did: `make lab
  EXP=name ROUNDS=40` buys them with time. Of what wrk asks for in memory (3, 5,
  7, 9, 11, 13, 14) rounds in which others used more than 5 % of the server's
  CPU do not count: in ratios where twelve without are left, in medians where
  two are; of several workers on both CPUs (some of 3, 7 and 9) that finds few.
  "0.93 (0.90 to 0.97)" is the median of ratios and its own 95 % interval. What
  is compared with no other's rounds, or is the same whenever it is looked at,
  is judged as it is, such as whether anything failed, how much memory is taken,
  which of two caches hits more of one list, the longest of many requests (11),
  and medians beside a number that stands in the claim (10, 12). Shares of
  samples (13) are compared over all rounds together, by their standard errors.
- A threshold stands in its claim: "not above" another's, or 3 % more where
  nobody is meant to win, 5 to 10 % and more where the client takes part in it
  or runs differ by as much; others are what would matter, as their claims say.
- CPU time per reply stands beside throughput: user and system time of all
  processes and threads of the server, from the scheduler's own clock.
- Where requests are meant to begin at a given time they begin then, whatever
  became of those before (an open loop), and times count from there: so with
  the small requests beside downloads (2, 15), the narrow link (4, 15), and
  where a table says so. httperf's connections (1, and 12 but for those that
  come one by one) begin so, too, and their times count from their opening. wrk,
  h2load, ab, the sessions of 6, 7 and 8 and the one connection of 15 are closed
  loops, in which each connection asks when it has been answered: such times are
  of a load that waits for the server. To its times wrk adds, for a request that
  takes far longer than others, those of such as would have begun meanwhile.
- Seeds are fixed; so are command lines: those of servers and of the programs
  that put load on them stand with each experiment (`$LAB` is a temporary
  folder, RUN one in it, PORT a free port, PID a number of this run). Where
  Python itself asks, there is no such program; how curl asks (16) stands in
  bench/release.py.
- A run in which a tool reports an error, a wrong length or a failed request is
  no number but a reason, unless failures are what is asked about (4, 11).
- The originals ran on other machines, years ago: compare the shapes of the
  numbers, not the numbers. Theirs are the numbers of their reports.
"""
OLDER = ("The verdicts below are older than this report's rule: each was "
         "judged by itself, and by the rounds that were taken then. The next "
         "run judges all of them anew.")
TABLES_SHOWN = 2   # of an experiment; the others are folded
ROWS_SHOWN = 20    # of a table
CLAIMS_SHOWN = 3   # of a kind, but of losses all
SHORT = 100        # letters of a detail, where claims stand first
NUMBER = re.compile(r"[\d,.]+")
NOISE_DETAIL = re.compile(r" \(noisy: [^()]*\)")


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
    """Or a text that is one: an original's, with the digits that it has."""
    return isinstance(cell, (int, float)) or bool(
        isinstance(cell, str) and NUMBER.fullmatch(cell))


def _cells(row):
    """An original's numbers have the digits that its report gives them."""
    is_theirs = str(row[0]).startswith("original")
    return [f"{cell:g}" if is_theirs and isinstance(cell, float)
            and round(cell, 3) == cell else _text(cell) for cell in row]


def _rows(table):
    columns = list(zip(*table.rows))
    rules = ["---:" if any(map(_is_number, column)) else "---"
             for column in columns] or ["---"] * len(table.columns)
    return [f"| {' | '.join(table.columns)} |", f"|{'|'.join(rules)}|",
            *(f"| {' | '.join(_cells(row))} |" for row in table.rows), ""]


def _fold(summary, lines):
    """What is there for who asks: shown when it is clicked at. Blank lines
    let GitHub read what is within as Markdown."""
    return [f"<details><summary>{html.escape(summary, quote=False)}</summary>",
            "", *lines, *([""] if lines and lines[-1] else []),
            "</details>", ""]


def _tables(tables):
    """The first few in sight. A note that many have stands below the first."""
    lines, told = [], set()
    for at, table in enumerate(tables):
        note = table.note if table.note not in told else ""
        told.add(note)
        body = [*_rows(table), *([*_wrap(note), ""] if note else [])]
        if at >= TABLES_SHOWN or len(table.rows) > ROWS_SHOWN:
            lines += _fold(f"Table: {table.title}", body)
        else:
            lines += [f"**{table.title}**", "", *body]
    return lines


def _wrap(text, first="", others=""):
    return textwrap.wrap(text, 80, initial_indent=first,
                         subsequent_indent=others, break_long_words=False,
                         break_on_hyphens=False)


def _detail(claim):
    """What is noisy has a list of its own."""
    return NOISE_DETAIL.sub("", claim.detail)


def _in_short(text):
    """As many of its parts as a line holds, and a mark for the others."""
    if len(text) <= SHORT:
        return text
    ends = [found.start() for found in re.finditer("[;,] ", text)
            if found.start() <= SHORT]
    return text[:ends[-1] if ends else SHORT].rstrip() + " …"


def _count(found, what):
    return f"{len(found)} {what}{'s' * (len(found) != 1)}"


def _list(texts):
    lines = []
    for text in texts:
        lines += _wrap(text, "- ", "  ")
    return [*lines, ""] if lines else []


def _claims(claims):
    """The losses first, and no list of others that is long."""
    lines = []
    for holds, title, shown in ((False, "Does not hold", len(claims)),
                                (None, "Not judged", CLAIMS_SHOWN),
                                (True, "Holds", CLAIMS_SHOWN)):
        found = [f"{claim.text}: {_detail(claim)}"
                 + (f"; needs {claim.needs}" if claim.needs else "")
                 for claim in claims if claim.holds is holds]
        if len(found) > shown:
            lines += _fold(f"{title}: {_count(found, 'claim')}", _list(found))
        elif found:
            lines += [f"{title}:", "", *_list(found)]
    return lines


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


def _answer(experiment, record, result):
    """The first page's, behind the question: what follows is where it is
    from. Where the first of the readings is the answer it is told once."""
    told = answers.answer(experiment, record, result)
    if experiment.name not in answers.ANSWERS or told.startswith(
            answers.UNKNOWN):
        return []
    return [*_wrap(f"**Answer**: {told}."), ""]


def section(folder, experiment, record, result):
    """What the report says of one experiment, as lines."""
    lines = [f"## {_title(experiment)}", "", *_wrap(experiment.question), ""]
    # As it was when that was measured: rounds and seconds may be others now.
    method = _fold("How it is measured",
                   _wrap(record.get("method", experiment.method)))
    if not result:
        return [*lines, *_wrap(f"Not measured: {record['failure']}."), "",
                *method]
    lines += _answer(experiment, record, result)
    if record.get("rounds_min", 0) < paired.ROUNDS_MIN:
        lines += [*_wrap(OLDER), ""]
    lines += _tables(derived.tables(experiment, result))
    for figure in result.figures:
        name = f"{figures.name_of(experiment.name, figure)}.svg"
        if os.path.exists(os.path.join(folder, name)):
            title = " ".join(figure.title.split())
            lines += [f"![{title}]({os.path.basename(folder)}/{name})", ""]
    for text in result.reading:
        lines += [*_wrap(text), ""]
    lines += [*_claims(result.claims), *method]
    if result.noise:
        lines += _fold("Noise: " + _count(result.noise, "remark"),
                       _list(result.noise))
    if result.left_out:
        lines += _fold(f"Left out: {len(result.left_out)}",
                       _list(result.left_out))
    return [*lines, *_fold("Command lines",
                           ["```", *record["commands"], "```"])]


def _losses(known):
    """What stands first: claims that do not hold, and how many are open."""
    lost, unsure, failed = [], [], []
    for experiment, _record, result in known:
        claims = result.claims if result else []
        found = [f"{claim.text}: {_in_short(_detail(claim))}"
                 for claim in claims if claim.holds is False]
        if found:
            lost.append(f"- {_link(experiment)}")
            for text in found:
                lost += _wrap(text, "  - ", "    ")
        count = sum(claim.holds is None for claim in claims)
        if count:
            unsure.append(f"{_link(experiment)}: {count} of {len(claims)}")
        if not result:
            failed.append(_link(experiment))
    lines = ["## Where sprintd loses", ""]
    lines += (["These ought to hold, and do not:", "", *lost, ""] if lost else
              ["Nowhere that could be judged, in this run.", ""])
    for title, found in (
            ("Not judged; what it would take stands with the claims:", unsure),
            ("These could not be measured here:", failed)):
        if found:
            lines += [title, "", *(f"- {text}" for text in found), ""]
    return lines


def _overview(known):
    """As many answers as questions."""
    lines = ["## The questions, and the answers in a line", "",
             "Claims: how many of those that ought to hold do, do not "
             "(**lost**), and are not judged.", "",
             "| question | answer | claims |", "|---|---|---|"]
    for experiment, record, result in known:
        lines.append(
            f"| [{experiment.number}](#{_anchor(_title(experiment))}). "
            f"{answers.question(experiment)} | "
            f"{_text(answers.answer(experiment, record, result))} | "
            f"{_counts(result)} |")
    return [*lines, "", "What has come since no original asks for. Other programs "
            "measure more of it:", "", "| question | command | tables |",
            "|---|---|---|",
            *(f"| {question} | `{command}` | {where} |"
              for question, command, where in answers.SINCE), ""]


def _counts(result):
    """Of claims; losses are marked."""
    if not result:
        return "–"
    hold, lost, unsure = (
        sum(claim.holds is holds for claim in result.claims)
        for holds in (True, False, None))
    return (f"{hold} hold" + (f", **{lost} lost**" if lost else "")
            + (f", {unsure} not judged" if unsure else ""))


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
        which = ("" if len(places) == 1 else
                 f" Experiment{'s' * (len(measured) != 1)} " + ", ".join(
                     str(experiment.number)
                     for experiment, _record in measured) + ".")
        lines += [*_wrap(f"Measured {when}: {text}.{which}"), ""]
    return lines


def write(path, folder, experiments):
    """Makes the report of all that was measured so far."""
    known = [(experiment, *results.load(folder, experiment))
             for experiment in experiments]
    missing = [experiment for experiment, record, _result in known
               if not record]
    known = [each for each in known if each[1]]
    # What is kept may be of fewer rounds than a new run takes.
    seconds = sum(record["seconds"] if record["is_quick"] else
                  max(results.usual_seconds(experiment, record),
                      experiment.seconds)
                  for experiment, record, _result in known)
    head = HEAD.format(minutes=max(1, round(seconds / 60)),
                       example="spt-slow-link")
    lines = [*head.splitlines(), ""]
    if any(record["is_quick"] for _experiment, record, _result in known):
        lines += ["**A miniature: these numbers mean nothing.**", ""]
    lines += [*_overview(known), *_losses(known)]
    if missing:
        lines += [*_wrap("Not measured yet: " + ", ".join(
            _title(experiment) for experiment in missing) + "."), ""]
    lines += [*METHOD.splitlines(), "", *_machines(known)]
    lines += originals.lines(
        [(experiment, result) for experiment, _record, result in known],
        {experiment.name: _link(experiment)
         for experiment, _record, _result in known})
    for experiment, record, result in known:
        lines += section(folder, experiment, record, result)
    results.write(path, "\n".join(lines).rstrip() + "\n")
