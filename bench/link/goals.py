"""What sprintd must reach beside nginx and the references."""

from . import serving, summary

PS, SRPT = "ideal PS", "ideal SRPT"
USE_MIN = 0.99
WORKERS_MAX = 1.15
BURST_P99_MAX = 3


def _by_nginx(figure, factor):
    """The figure is at most nginx's divided by the factor."""
    return (f"{figure} ≥ {factor:g} × better than nginx",
            lambda ours, all_: all_[serving.NGINX][figure] / ours[figure],
            lambda value: value >= factor)


def _below(figure, name, factor=1.0):
    times = "" if factor == 1 else f"{factor:g} × "
    return (f"{figure} ≤ {times}{name}",
            lambda ours, all_: ours[figure] / all_[name][figure],
            lambda value: value <= factor)


_LARGE = _below("large mean", serving.NGINX)
GOALS = {
    "local-0.5": (_by_nginx("all mean", 4), _by_nginx("small p99", 10),
                  _LARGE),
    "local-0.9": (_by_nginx("all mean", 9), _below("all mean", PS),
                  _below("all mean", SRPT, 1.9), _by_nginx("small p99", 18),
                  _LARGE, _below("large mean", PS)),
    "remote-0.9": (_by_nginx("all mean", 2.2), _by_nginx("small p99", 10),
                   _LARGE),
    "mixed-0.9": tuple(_below(f"{name} mean", serving.NGINX)
                       for name in summary.CLASSES),
}
WITH_RATE = {"remote-0.9": (_by_nginx("all mean", 2.4),
                            _by_nginx("small p99", 12), _LARGE)}
USE = (f"use ≥ {USE_MIN} × nginx",
       lambda ours, all_: (ours["utilisation"] /
                           all_[serving.NGINX]["utilisation"]),
       lambda value: value >= USE_MIN)


def _same_with_one_worker(server, servers):
    """The server that differs by having one worker only, or None."""
    def rest(flags):
        at = flags.index("--workers")
        return flags[:at] + flags[at + 2:], flags[at + 1]
    if "--workers" not in server.flags or rest(server.flags)[1] == "1":
        return None
    for other in servers:
        if "--workers" in other.flags and rest(other.flags) == (
                rest(server.flags)[0], "1"):
            return other.name
    return None


def _goals_of(server, table, tables, servers):
    name = table.row.name
    with_rate = ("--link-rate" in server.flags and
                 "auto" not in server.flags)
    yield from (WITH_RATE if with_rate else {}).get(name, GOALS.get(name, ()))
    yield USE
    one = _same_with_one_worker(server, servers)
    if one:
        yield _below("all mean", one, WORKERS_MAX)
    if name == "local-1.2":
        at_09 = [other.figures.get(server.name) for other in tables
                 if other.row.name == "local-0.9"]
        if at_09 and at_09[0]:
            yield (f"small p99 ≤ {BURST_P99_MAX} × that at 0.9",
                   lambda ours, _all: ours["small p99"] /
                   at_09[0]["small p99"],
                   lambda value: value <= BURST_P99_MAX)


def lines(table, tables, servers):
    """A line for each of sprintd's servers: what is reached, what is not."""
    for server in servers:
        ours = table.figures.get(server.name)
        if not ours or server.name == serving.NGINX:
            continue
        verdicts = []
        for text, ratio, is_reached in _goals_of(server, table, tables,
                                                 servers):
            try:
                value = ratio(ours, table.figures)
            except (KeyError, ZeroDivisionError):
                continue  # nginx, or one worker, was not measured
            state = "reached" if is_reached(value) else "MISSED"
            verdicts.append(f"{text}: {value:.2f} {state}")
        if verdicts:
            yield f"  {server.name}: " + "; ".join(verdicts)
