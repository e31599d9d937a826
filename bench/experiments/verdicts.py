"""Claims that compare ratios of rounds, and notes on rows that were noisy.
Whether they hold is judging's to say, when all of an experiment are known."""

from . import paired
from .model import Claim

NOISES_TOLD = 4


def claim(text, compared, factor=1.0):
    """That none of the ratios is above the factor. compared: those of the
    rounds, by what tells one comparison from the others."""
    told = "; ".join(f"{name}: {paired.say(values)}"
                     for name, values in compared.items())
    return Claim(text, None, f"{told}; up to {factor:.3g} would do" if told
                 else "not measured",
                 paired.together(paired.at_most(values, factor)
                                 for values in compared.values()))


def claim_at_least(text, compared, factor):
    """That none of the ratios is below the factor."""
    told = "; ".join(f"{name}: {paired.say(values)}"
                     for name, values in compared.items())
    return Claim(text, None, f"{told}; {factor:.3g} would do" if told
                 else "not measured",
                 paired.together(paired.at_least(values, factor)
                                 for values in compared.values()))


def noises(rows):
    """One line of all rows that say why they are noisy. rows: (where, why),
    "": it is not."""
    rows = list(rows)
    noisy = [f"{where}: {why}" for where, why in rows if why]
    if not noisy:
        return []
    more = len(noisy) - NOISES_TOLD
    return [f"{len(noisy)} of {len(rows)}: "
            + "; ".join(noisy[:NOISES_TOLD])
            + (f"; and {more} more" if more > 0 else "")]
