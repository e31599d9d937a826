"""When does shortest-first pay? The machinery is that of bench/link."""

from lab import processes
from link import network

from . import spt_long, spt_report, spt_runs
from .model import Experiment, Result


def run(bench):
    trouble = network.trouble()
    if trouble:
        raise processes.Failure(f"no narrow link here: {trouble}")
    processes.raise_descriptor_limit()
    study = spt_runs.Study(bench)
    study.measure_shaped()
    study.measure_loopback()
    found = spt_long.measure(study)
    return Result(
        tables=[*([spt_long.table(found)] if found else []),
                *spt_report.tables(study)],
        figures=list(spt_report.figures(study)),
        claims=list(spt_report.claims(study)),
        reading=[*spt_long.read(found), spt_report.narrow_reading(study),
                 spt_report.large_reading(study),
                 spt_report.loopback_reading(study)],
        noise=spt_report.noises(study),
        left_out=list(dict.fromkeys(study.left_out)))


EXPERIMENT = Experiment(
    4, "spt-slow-link", "When does shortest-first pay?",
    "The original built shortest processing time first, and over loopback it "
    "made little difference (a mean of 19,660.1 ms after 20,828.4). When does "
    "it?",
    "Poisson arrivals that do not wait for replies (open loop; times count "
    "from the intended start), sizes by a bounded Pareto law (1 KiB to 10 "
    "MiB, mean 6.6 KiB), a new connection for each. The same arrivals for "
    "srpt, fifo and fair, at 0.9 and in long draws for nginx as well, in "
    "turns: through 80 Mbit/s (HTB on the server's "
    f"interface, in a network namespace) at {len(spt_runs.LOADS)} loads, one "
    "of them more than the link carries; and over loopback, unlimited. Ideal "
    "sharing and ideal SRPT are computed for the same arrivals. "
    f"{spt_runs.SEEDS} draws of {spt_runs.SECONDS:g} s for each load, and one "
    "of three of them over loopback (as many of what is ten times as much, "
    f"{spt_runs.FAST_SHARE:g} times as long); numbers are means over the "
    f"draws, ratios are of each draw. Draws of {spt_long.SECONDS} s of "
    f"{len(spt_long.LOADS)} loads, {min(spt_long.LOADS.values())} of each and "
    f"{spt_long.LOADS[spt_runs.CLOSE_LOAD]} of {spt_runs.CLOSE_LOAD:g}, say "
    "how far apart the orders are; `make bench-link` takes more of them. One "
    "worker, on a CPU of its own; both programs at real-time priority.",
    1450, run)
