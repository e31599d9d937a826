"""sprintd's numbers against another's: which are less, and whether noise alone
could have decided it."""

from lab import rounds

from . import bench, model


class Numbers:
    """One number of one server, measured several times."""

    def __init__(self, name, values, noise=""):
        self.name = name
        self.values = values
        self.noise = noise
        if not noise and bench.spread(values) > rounds.NOISY_SPREAD:
            self.noise = f"spread {bench.spread(values):.0%}"

    @property
    def median(self):
        return bench.median(self.values)

    @classmethod
    def of_cell(cls, name, cell, what="cpu_us"):
        """what: an attribute of loads.Sample."""
        disturbed = "" if cell.is_calm else cell.noise
        return cls(name, [getattr(sample, what) for sample in cell.used],
                   disturbed)


def is_within(less, more, factor):
    """Whether one is at most factor times the other; None when they are noisy
    and, but for a little, their samples say one thing as well as the other."""
    if less.noise or more.noise:
        margin = 1 + rounds.NOISY_SPREAD
        least = min(less.values) / max(more.values) / margin
        most = max(less.values) / min(more.values) * margin
        if least <= factor < most:
            return None
    return less.median <= factor * more.median


def short(value):
    """Three digits that matter."""
    if value is None:
        return "–"
    return (f"{value:,.0f}" if value >= 100 else
            f"{value:.1f}" if value >= 10 else f"{value:.2f}")


def claim(text, ours, theirs, factor=1.0, unit="µs", less_is_better=True):
    """That ours is not worse than theirs by more than the factor."""
    pair = (ours, theirs) if less_is_better else (theirs, ours)
    noise = "; ".join(f"{each.name}: {each.noise}" for each in (ours, theirs)
                      if each.noise)
    ratio = (f", {ours.median / theirs.median:.2f}" if theirs.median else "")
    return model.Claim(
        text, is_within(*pair, factor),
        f"{ours.name} {short(ours.median)} {unit}, {theirs.name} "
        f"{short(theirs.median)} {unit}{ratio}"
        + (f" (noisy: {noise})" if noise else ""))


def best(candidates, less_is_better=True):
    """None of nobody."""
    choose = min if less_is_better else max
    return choose(candidates, key=lambda each: each.median, default=None)


def noise_of(cells, titles):
    """What is too noisy for small differences; titles: of loads, by name."""
    by_load = {}
    for (load, server), cell in cells.items():
        if not cell.trouble and cell.noise:
            by_load.setdefault(load, []).append(f"{server}: {cell.noise}")
    return [f"{titles[load]}: {', '.join(noises)}"
            for load, noises in by_load.items()]
