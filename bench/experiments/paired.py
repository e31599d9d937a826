"""Numbers taken in turns: what is compared is compared within its round, where
whatever else the machine was doing was the same for both."""

from . import bench

ROUNDS_MIN = 6  # fewer are no 95 %, and decide nothing


def ratios(ours, theirs):
    """One by the other, round for round."""
    return [one / other for one, other in zip(ours, theirs) if other]


def interval(values):
    """Where the median lies, with 95 % certainty, by their order alone; from
    the least to the most where they are too few for that."""
    ordered = sorted(values)
    reach = 0.98 * len(ordered) ** 0.5
    low = max(0, int(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, int(len(ordered) / 2 + reach))
    return ordered[low], ordered[high]


def is_within(values, factor):
    """Whether the median is at most the factor; None: it may be or not."""
    if len(values) < ROUNDS_MIN:
        return None
    low, high = interval(values)
    return True if high <= factor else False if low > factor else None


def say(values):
    if not values:
        return "not measured"
    low, high = interval(values)
    return f"{bench.median(values):.2f} ({low:.2f} to {high:.2f})"
