"""Draws that are long enough for queues near full load to become what they
become: how far apart orders are, where spt_runs' many short draws say which is
ahead."""

from link import ideal, rows, serving

from . import spt_runs
from .model import Table

LOADS = {0.9: 3, 0.5: 2, 0.95: 2, 1.2: 2, 0.8: 2}  # and how many draws
SECONDS = 20
SERVERS = (*spt_runs.ORDERS, serving.NGINX)
TITLE = "80 Mbit/s, draws of 20 s: mean response (ms)"


def _span(values):
    return (f"{min(values):.1f} to {max(values):.1f} times" if values
            else "an unknown number of times")


def _take(study, load):
    """Means by name, of small files the 99th percentile, how many times srpt's
    mean others have in each draw, and what disturbed it."""
    row, = rows.parse(f"local-{load:g}")
    chosen = study.servers(",".join(SERVERS))
    seconds, study.options.seconds = study.options.seconds, SECONDS
    try:
        table = study.take_turns(row, chosen, LOADS[load], study.link)
    finally:
        study.options.seconds = seconds
    return ({name: table.figures[name]["all mean"] for name in table.names},
            {name: table.figures[name]["small p99"] for name in table.names},
            {name: [1 / ratio for ratio in
                    spt_runs.ratios_of(table, "all mean", name)]
             for name in table.names},
            [run.noise for run in table.runs
             if run.name not in ideal.REFERENCES and run.noise])


def measure(study):
    """What _take() says by load; nothing of a miniature."""
    loads = study.bench.pick(tuple(LOADS), ())
    found = {load: study.bench.part(f"long-{load:g}",
                                    lambda load=load: _take(study, load))
             for load in loads}
    return dict(sorted(found.items()))


def table(found):
    names = (*SERVERS, *ideal.REFERENCES)
    others = ", ".join(f"{load:g}" for load in found
                       if load not in spt_runs.LOADS)
    return Table(
        TITLE, ["load", "draws", *(f"{name}{' (computed)' * (name in ideal.REFERENCES)}"
                          for name in names),
                "small p99: srpt", "small p99: nginx"],
        [[load, LOADS[load], *(means.get(name) for name in names),
          small.get("srpt"), small.get(serving.NGINX)]
         for load, (means, small, _ratios, _noise) in found.items()],
        "Means over the draws, the same arrivals for all in a row. How far "
        "apart they are differs between draws; which is ahead is judged by "
        f"the many short draws below (there are none at {others}), which end "
        "before queues near full load are as long as they become: there "
        "fifo's means are too small, and ratios to them too mild.")


def read(found):
    if spt_runs.CLOSE_LOAD not in found:
        return []
    means, _small, ratios, _noise = found[spt_runs.CLOSE_LOAD]
    others = ", ".join(f"{name} has {_span(ratios[name])} as much"
                       for name in SERVERS[1:] if name in ratios)
    nearest = means["srpt"] / means["ideal SRPT"]
    return [f"In {LOADS[spt_runs.CLOSE_LOAD]} draws of {SECONDS} s, load "
            f"{spt_runs.CLOSE_LOAD:g} of 80 Mbit/s, the mean response under "
            f"srpt is {means['srpt']:.2f} ms on average, {nearest:.2f} times "
            f"that of the best order there is; by draw, {others}."]
