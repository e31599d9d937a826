"""What `--quick` looks at: that every part still works, not how fast.

Times here are not judged, but for what no machine can be: faster than ideal.
"""

import os
import tempfile

from lab import processes, servers

from . import arrivals, figures, ideal, network, report, wire

ROWS = "local-0.9,local-web-1.2,remote-0.9,mixed-0.7"
SECONDS = 0.6
WAIT_S = 5
# The link's rate is itself measured, and a burst may pass in the beginning.
FASTER_THAN_IDEAL = 0.9


def prepare(options):
    """Turns options into those of a miniature, unless they say otherwise."""
    options.rows = options.rows or ROWS
    options.servers = options.servers or (
        "nginx,srpt" if servers.find("nginx") else "srpt")
    options.seeds = options.seeds or 1
    options.seconds = options.seconds or SECONDS
    options.wait = options.wait or WAIT_S


def _expect(condition, what):
    if not condition:
        raise processes.Failure(f"check: {what}")


def check_references():
    """Cases that can be reckoned by hand."""
    # Alone for half a second, then both at half the rate: the first is done
    # at 1.5 s, when the second still needs half a second.
    _expect(ideal.processor_sharing([(0.0, 1.0), (0.5, 1.0)]) == [1.5, 2.0],
            "two jobs by processor sharing")
    _expect(ideal.srpt([(0.0, 2.0), (0.5, 1.0)]) == [3.0, 1.5],
            "a shorter job passes a longer one")
    _expect(ideal.srpt([(0.0, 2.0), (1.5, 1.0)]) == [2.0, 3.0],
            "a job that has less left is not passed")
    _expect(ideal.srpt([(0.0, 1.0), (5.0, 1.0)]) == [1.0, 6.0],
            "nobody waits for an idle link")
    link = wire.Link()
    asked = arrivals.draw("pareto", 0.9, 20, 1, link)
    _expect(asked == arrivals.draw("pareto", 0.9, 20, 1, link),
            "a seed gives the same arrivals again")
    work = sum(link.seconds(arrival.size) for arrival in asked)
    shared, shortest = (
        ideal.responses(discipline, asked, link, {}) for discipline in
        (ideal.processor_sharing, ideal.srpt))
    _expect(sum(shortest) <= sum(shared), "SRPT's mean is the least")
    # Both keep the link busy at the same times, so they end together.
    ends = [max(arrival.start + time for arrival, time in zip(asked, times))
            for times in (shared, shortest)]
    _expect(abs(ends[0] - ends[1]) < 1e-6 and ends[0] >= work,
            "both references do all the work")


def check_tables(tables):
    """What came out of the runs."""
    for table in tables:
        for run in table.runs:
            where = f"{table.row.name}, {run.name}"
            _expect(run.asked and len(run.asked) == len(run.times),
                    f"{where}: a time for every request")
            _expect(not run.figures.get("errors"),
                    f"{where}: {run.figures.get('errors')} requests failed")
        least = table.figures["ideal SRPT"]["all mean"]
        for name in table.names:
            _expect(table.figures[name]["all mean"] >=
                    FASTER_THAN_IDEAL * least,
                    f"{table.row.name}: {name} is faster than possible")
    with tempfile.TemporaryDirectory() as folder:
        report.save(folder, tables, {}, [])
        figures.draw(folder, tables)
        made = os.listdir(folder)
    _expect({"link.csv", "link.json", "link.md"} <= set(made), "reports")
    _expect(any(name.endswith(".gp") for name in made), "figures")
    _expect(not network.ours(), "all namespaces are gone")
