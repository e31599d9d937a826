"""sprintd's numbers against another's, round by round."""

from lab import rounds

from . import bench, model, paired

ALIKE = 1.03  # where nobody is meant to win: by so much two may differ


class Numbers:
    """One number of one server, round by round; None: that one counts for
    nothing. cell: of which they are what, for those that wrk has measured."""

    def __init__(self, name, values, cell=None, what=""):
        self.name = name
        self.values = values
        self.cell = cell
        self.what = what

    @property
    def median(self):
        return bench.median(self.values)

    @classmethod
    def of_cell(cls, name, cell, what="cpu_us"):
        """what: an attribute of loads.Sample."""
        return cls(name, [getattr(sample, what) for sample in cell.used],
                   cell, what)

    def by(self, other):
        """Ratios, round for round."""
        if self.cell and other.cell:
            return rounds.ratios(self.cell, other.cell, self.what)
        return paired.ratios(self.values, other.values)


def short(value):
    """Three digits that matter."""
    if value is None:
        return "–"
    return (f"{value:,.0f}" if value >= 100 else
            f"{value:.1f}" if value >= 10 else f"{value:.2f}")


def _detail(ours, theirs, unit, ratio):
    return (f"{short(ours.median)} {unit}, {theirs.name} "
            f"{short(theirs.median)}; {ratio}")


def claim(text, ours, theirs, factor=ALIKE, unit="µs"):
    """That ours are at most factor times theirs, the text says of what."""
    found = ours.by(theirs)
    return model.Claim(text, None,
                       _detail(ours, theirs, unit, paired.say(found)),
                       paired.at_most(found, factor))


def claim_pace(text, ours, theirs, factor, unit="a second"):
    """That ours are at least factor times theirs."""
    found = ours.by(theirs)
    return model.Claim(text, None,
                       _detail(ours, theirs, unit, paired.say(found)),
                       paired.at_least(found, factor))


def claim_once(text, ours, theirs, unit):
    """That ours is not above theirs, for what is the same whenever it is
    looked at."""
    return model.Claim(
        text, ours.median <= theirs.median,
        _detail(ours, theirs, unit, f"{ours.median / theirs.median:.2f}"))


def best(candidates, less_is_better=True):
    """None of nobody."""
    choose = min if less_is_better else max
    return choose((each for each in candidates if each.median is not None),
                  key=lambda each: each.median, default=None)


def noise_of(cells, titles):
    """Rows in which others took part; titles: of loads, by name. How far the
    rounds differ stands with what is compared."""
    by_load = {}
    for (load, server), cell in cells.items():
        if not cell.trouble and not cell.is_calm:
            by_load.setdefault(load, []).append(f"{server}: {cell.noise}")
    return [f"{titles[load]}: {', '.join(noises)}"
            for load, noises in by_load.items()]
