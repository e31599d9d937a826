"""What is compared is compared within its round, where whatever else the
machine was doing was the same for both; and a verdict falls only where the
rounds leave little doubt, by the order of their ratios alone."""

import math

from lab import rounds

from .bench import median

DOUBT = 0.05    # that the true median lies outside of an interval
ROUNDS_MIN = rounds.CALM_PAIRS  # 5 cannot be so sure: 2 / 2^5 > DOUBT


def ratios(ours, theirs):
    """Round for round; None, or 0 below, is one that counts for nothing."""
    return [mine / other for mine, other in zip(ours, theirs)
            if mine is not None and other]


def interval(values):
    """Where the median lies (binomial distribution of how many are below it);
    from the least to the most where they are too few to tell."""
    ordered = sorted(values)
    count = len(ordered)
    cut, outside = 0, 2 / 2 ** count
    while outside <= DOUBT:
        cut += 1
        outside += 2 * math.comb(count, cut) / 2 ** count
    cut = max(0, cut - 1)
    return ordered[cut], ordered[count - 1 - cut]


def is_at_most(values, factor):
    """Whether the median of these ratios is at most the factor; None: the
    rounds disagree, or there are too few."""
    if len(values) < ROUNDS_MIN:
        return None
    low, high = interval(values)
    return True if high <= factor else False if low > factor else None


def is_at_least(values, factor):
    """The same for at least the factor."""
    if len(values) < ROUNDS_MIN:
        return None
    low, high = interval(values)
    return True if low >= factor else False if high < factor else None


def all_of(verdicts):
    """One that does not hold decides; then one that is not known."""
    verdicts = list(verdicts)
    if False in verdicts:
        return False
    return None if None in verdicts or not verdicts else True


def say(values):
    """As in "0.93 (0.90 to 0.97)"."""
    if not values:
        return "not measured"
    low, high = interval(values)
    return f"{median(values):.2f} ({low:.2f} to {high:.2f})"
