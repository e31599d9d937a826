"""Draws that are long enough for queues near full load to become what they
become: how far apart orders are, where spt_runs' many short draws say which is
ahead."""

from link import ideal, rows, serving

from . import spt_runs
from .model import Table

LOADS = (0.9, 0.5, 0.95, 1.2, 0.8)
SECONDS, SEEDS = 20, 1
SERVERS = (*spt_runs.ORDERS, serving.NGINX)
TITLE = "80 Mbit/s, draws of 20 s: mean response (ms)"


def _take(study, load):
    """Means by name, of small files the 99th percentile, and what disturbed
    it."""
    row, = rows.parse(f"local-{load:g}")
    chosen = study.servers(",".join(SERVERS))
    seconds, study.options.seconds = study.options.seconds, SECONDS
    try:
        table = study.take_turns(row, chosen, SEEDS, study.link)
    finally:
        study.options.seconds = seconds
    return ({name: table.figures[name]["all mean"] for name in table.names},
            {name: table.figures[name]["small p99"] for name in table.names},
            [run.noise for run in table.runs
             if run.name not in ideal.REFERENCES and run.noise])


def measure(study):
    """What _take() says by load; nothing of a miniature."""
    loads = study.bench.pick(LOADS, ())
    found = {load: study.bench.part(f"long-{load:g}",
                                    lambda load=load: _take(study, load))
             for load in loads}
    return dict(sorted(found.items()))


def table(found):
    names = (*SERVERS, *ideal.REFERENCES)
    return Table(
        TITLE, ["load", *(f"{name}{' (computed)' * (name in ideal.REFERENCES)}"
                          for name in names),
                "small p99: srpt", "small p99: nginx"],
        [[load, *(means.get(name) for name in names),
          small.get("srpt"), small.get(serving.NGINX)]
         for load, (means, small, _noise) in found.items()],
        f"{SEEDS} draw{'s' * (SEEDS > 1)} of each load, the same arrivals "
        "for all in a row. How "
        "far apart they are differs between draws; which is ahead is judged "
        "by the many short draws below, which end before queues near full "
        "load are as long as they become: there fifo's means are too small, "
        "and ratios to them too mild.")


def read(found):
    if spt_runs.CLOSE_LOAD not in found:
        return []
    means = found[spt_runs.CLOSE_LOAD][0]
    others = ", ".join(
        f"{name} has {means[name] / means['srpt']:.1f} times as much"
        for name in SERVERS[1:] if name in means)
    nearest = means["srpt"] / means["ideal SRPT"]
    draws = "one draw" if SEEDS == 1 else f"{SEEDS} draws"
    return [f"In {draws} of {SECONDS} s, load {spt_runs.CLOSE_LOAD:g} of 80 "
            f"Mbit/s, the mean response under srpt is {means['srpt']:.2f} ms, "
            f"{nearest:.2f} times that of the best order there is; {others}."]
