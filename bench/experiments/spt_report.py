"""What the runs of spt_slow_link say: tables, figures, claims and text."""

from link import ideal, report, serving, summary

from . import bench as benches
from . import paired, verdicts
from .model import LINES, Claim, Figure, Series, Table
from .spt_runs import CLOSE_LOAD, COLUMNS, ORDERS, OVERLOAD, ratios_of

CPU_MAX = 1.1    # of srpt, by fifo's
QUEUES_FROM = 0.9  # the load; below it few wait, except under fifo
LARGE_MAX = 1.1  # the mean of the largest 1 % under srpt, by that under fair
MORE = (("slowdown", "slowdown"), ("CPU µs a reply", "CPU"))


def _claim(study, text, figure, over, loads, limit=1.0):
    """srpt's figure is at most limit × each of the others', at each load."""
    return verdicts.claim(text, {
        f"{load:g}, × {other}": study.ratios(load, figure, other)
        for load in loads for other in over}, limit)


def claims(study):
    loads = [load for load in study.tables if load < 1]
    for other in ORDERS[1:]:
        yield _claim(study, "80 Mbit/s: srpt's mean response is below "
                     f"{other}'s at every load below 1", "all mean", (other,),
                     loads)
    yield _claim(study, "80 Mbit/s, overload: srpt's mean response is below "
                 "fifo's and fair's", "all mean", ORDERS[1:], [OVERLOAD])
    for other in ORDERS[1:]:
        yield _claim(study, "80 Mbit/s: the small files' 99th percentile "
                     f"under srpt is below that under {other} from load "
                     f"{QUEUES_FROM:g} on, overload included"
                     + (" (below it less waits)" if other == "fair" else ""),
                     "small p99", (other,),
                     [load for load in study.tables if load >= QUEUES_FROM])
    yield _claim(study, "80 Mbit/s: the largest 1 % take at most "
                 f"{LARGE_MAX - 1:.0%} longer under srpt than under fair",
                 "large mean", ("fair",), loads, LARGE_MAX)
    if serving.NGINX in study.tables[CLOSE_LOAD].names:
        yield _claim(study, "80 Mbit/s, load 0.9: the mean response under "
                     "srpt is below nginx's", "all mean", (serving.NGINX,),
                     [CLOSE_LOAD])
    load, times_over, table = study.loopback[-1]
    yield verdicts.claim(
        f"loopback, load {load:g} × {times_over}: CPU per reply of srpt at "
        f"most {CPU_MAX:g} × fifo's",
        {"by draw": ratios_of(table, "CPU", "fifo")}, CPU_MAX)
    failed = [f"{run.row.name}, {run.name}: {count} {kind}"
              for run in study.all_runs()
              for kind, count in run.outcomes.items()]
    asked = sum(len(run.asked) for run in study.all_runs()
                if run.name not in ideal.REFERENCES)
    yield Claim("no request of the short draws fails", not failed,
                f"of {asked:,}: " + ("; ".join(failed) or "none"))


def _mark(name):
    return f"{name} (computed)" if name in ideal.REFERENCES else name


def tables(study):
    for table in study.tables.values():
        yield Table(
            f"80 Mbit/s, load {table.row.load:g} (ms)",
            ["server", *(title for title, _name in (*COLUMNS, *MORE))],
            [[_mark(name), *(table.figures[name].get(figure)
                             for _title, figure in (*COLUMNS, *MORE))]
             for name in table.names],
            "slowdown: the mean of response times by what each takes on an "
            "idle link.")
    close = study.tables[CLOSE_LOAD]
    yield Table(
        f"By size class, load {CLOSE_LOAD:g} (ms)",
        ["class", "server", "requests", *report.BY_CLASS],
        [[group, _mark(name), close.figures[name].get(f"{group} n"),
          *(close.figures[name].get(f"{group} {figure}")
            for figure in report.BY_CLASS)]
         for group in summary.CLASSES for name in close.names],
        f"small: below {summary.SMALL_BELOW:,} bytes; large: the largest 1 % "
        "of the requests; medium: between. Requests: of one draw, on average.")
    yield Table(
        "What the largest 1 % pay: their mean (ms)",
        ["load", *ORDERS, *map(_mark, ideal.REFERENCES), "srpt by fair"],
        [[load, *(table.figures[name].get("large mean")
                  for name in (*ORDERS, *ideal.REFERENCES)),
          paired.say(study.ratios(load, "large mean", "fair"))]
         for load, table in study.tables.items()])
    yield Table(
        "Loopback, unlimited: the same arrivals (ms)",
        ["load of 80 Mbit/s", "server", "requests a second",
         *(title for title, _name in COLUMNS), "CPU µs a reply"],
        [[f"{load:g}" if times_over == 1 else f"{load:g} × {times_over}",
          name, len(table.runs[0].asked) / table.runs[0].asked[-1].start,
          *(table.figures[name].get(figure) for _title, figure in COLUMNS),
          table.figures[name].get("CPU")]
         for load, times_over, table in study.loopback
         for name in table.names],
        "× 10: other arrivals, at ten times the rate. Requests a second: of "
        "the first draw; a draw is as long as the bytes that it happens to "
        "ask for make it.")


def _curve(study, name, figure):
    points = []
    for load, table in study.tables.items():
        found = table.over_seeds[name].get(figure)
        if found and load < 1:
            points.append([load, *found])
    return Series(name, points, is_reference=name in ideal.REFERENCES)


def figures(study):
    for suffix, figure, title in (
            ("mean", "all mean", "Mean response by load, 80 Mbit/s"),
            ("large", "large mean", "The largest 1 % by load, 80 Mbit/s")):
        yield Figure(suffix, title, "load", "mean response (ms)",
                     [_curve(study, name, figure)
                      for name in (*ORDERS, *ideal.REFERENCES)],
                     LINES, log_y=True)


def _gains_text(study, over):
    """Mean response of srpt by another's, and where that is less for sure."""
    ratios = {load: study.ratios(load, "all mean", over)
              for load in study.tables if load < 1}
    medians = [benches.median(found) for found in ratios.values() if found]
    span = (f"{min(medians):.2f} to {max(medians):.2f}" if medians
            else "not measured")
    wins = [load for load, found in ratios.items()
            if paired.is_at_most(found, 1)]
    where = ("at every load below 1" if len(wins) == len(ratios) else
             "at load " + ", ".join(f"{load:g}" for load in wins)
             if wins else "at no load for sure")
    return f"against {over} {where} (× {span})"


def narrow_reading(study):
    here = study.tables[CLOSE_LOAD].figures
    texts = "; ".join(_gains_text(study, over) for over in ORDERS[1:])
    nearest = here["srpt"]["all mean"] / here["ideal SRPT"]["all mean"]
    shared = here["srpt"]["all mean"] / here["ideal PS"]["all mean"]
    return ("In the short draws on the narrow link, by mean response, srpt "
            f"pays {texts}. At load {CLOSE_LOAD:g} its mean is there "
            f"{nearest:.2f} × that of the best order there is, computed for a "
            f"link without a byte in any queue, and {shared:.2f} × that of an "
            "ideally shared link.")


def large_reading(study):
    ratios = {load: study.ratios(load, "large mean", "fair")
              for load in study.tables}
    medians = [benches.median(found) for found in ratios.values() if found]
    span = (f"{min(medians):.2f} to {max(medians):.2f}" if medians
            else "not measured")
    decided = {load: paired.is_at_most(found, 1)
               for load, found in ratios.items()}
    pays = [f"{load:g}" for load, holds in decided.items() if holds is False]
    text = (f"they pay at load {', '.join(pays)}" if pays else
            "they pay nothing at any load" if all(decided.values()) else
            "that they pay is neither certain nor excluded")
    by_fifo = study.ratios(CLOSE_LOAD, "large mean", "fifo")
    return ("What the largest 1 % pay, as a share of their mean under fair: "
            f"{span}, by load; so against fair {text}. By their mean under "
            f"fifo, which goes by arrival, it is {paired.say(by_fifo)} at "
            f"load {CLOSE_LOAD:g}.")


def loopback_reading(study):
    here = benches.median(
        ratio for _load, _over, table in study.loopback
        for ratio in ratios_of(table, "all mean", "fifo"))
    there = benches.median(study.ratios(CLOSE_LOAD, "all mean", "fifo"))
    text = ("Over loopback requests take "
            + ", ".join(f"{table.figures['srpt']['all mean']:.2f} ms at "
                        f"{load:g}" + (f" × {over}" if over > 1 else "")
                        for load, over, table in study.loopback)
            + f" on average under srpt. By fifo's mean that is {here:.2f} in "
            "the median of all these draws, most of them of the last; on the "
            f"link, at load {CLOSE_LOAD:g}, it is {there:.2g}. ")
    return text + (
        "So the order pays here where the link is scarce."
        if 2 * there < here else
        "So the order gains hardly more on the link than without one.")


def noises(study):
    return verdicts.noises(
        (f"{run.row.name}, {run.name}, draw {run.seed}", run.noise)
        for run in study.all_runs() if run.name not in ideal.REFERENCES)
