"""What is compared is compared within its round, where whatever else the
machine was doing was the same for both; and a verdict falls only where the
rounds leave little doubt, by the order of their ratios alone."""

import dataclasses
import math

from lab import rounds

from .bench import median

DOUBT = 0.05    # that the true median lies outside of an interval
ROUNDS_MIN = rounds.CALM_PAIRS  # a verdict by fewer is none


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


def chance(count, hits):
    """Of at least so many heads when a coin is tossed count times."""
    return sum(math.comb(count, each)
               for each in range(hits, count + 1)) / 2 ** count


@dataclasses.dataclass
class Evidence:
    """What rounds say to a claim. for_it: how likely they would be as much in
    favour of it if it just did not hold; against: the other way round. share:
    of the rounds, on the side that is likelier, where they say it least."""

    rounds: int
    for_it: float
    against: float
    share: float

    @property
    def is_likely(self):
        """Whether they are rather in favour."""
        return self.for_it < self.against

    @property
    def doubt(self):
        """That a verdict by them is wrong: either may be."""
        return min(1.0, 2 * min(self.for_it, self.against))


def _evidence(values, is_good):
    count = len(values)
    good = sum(map(is_good, values))
    return Evidence(count, chance(count, good), chance(count, count - good),
                    max(good, count - good) / count if count else 0.0)


def at_most(values, factor):
    """The Evidence that the median of these ratios is at most the factor."""
    return _evidence(values, lambda value: value <= factor)


def at_least(values, factor):
    """The same for at least the factor."""
    return _evidence(values, lambda value: value >= factor)


def together(each):
    """The Evidence that all of several things hold: the weakest decides in
    favour, and of many that may be against it one may be so by chance. None of
    nothing."""
    each = list(each)
    if not each:
        return None
    found = Evidence(min(one.rounds for one in each),
                     max(one.for_it for one in each),
                     min(1.0, len(each) * min(one.against for one in each)),
                     0.0)
    decides = (max(each, key=lambda one: one.for_it) if found.is_likely else
               min(each, key=lambda one: one.against))
    return dataclasses.replace(found, share=decides.share)


def _verdict(evidence):
    if evidence.rounds < ROUNDS_MIN or evidence.doubt > DOUBT:
        return None
    return evidence.is_likely


def is_at_most(values, factor):
    """Whether the median of these ratios is at most the factor; None: the
    rounds disagree, or there are too few."""
    return _verdict(at_most(values, factor))


def is_at_least(values, factor):
    """The same for at least the factor."""
    return _verdict(at_least(values, factor))


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
