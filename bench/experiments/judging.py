"""Verdicts on the claims of one experiment, all at once.

Where many claims are judged, one of them is soon wrong by chance. Holm's
correction keeps the doubt of all together below paired.DOUBT: the surest claim
is judged as strictly as if each of them had to share that doubt, the next one
as if one fewer had to, and so on; the first that fails ends it.
"""

from . import paired

ROUNDS_MAX = 1_000  # more are not bought: the two are as good as alike


def rounds_needed(evidence, doubt):
    """How many rounds it would take, if further ones came out as those do that
    there are; None: more than ROUNDS_MAX."""
    for count in range(max(paired.ROUNDS_MIN, evidence.rounds + 1),
                       ROUNDS_MAX + 1):
        hits = round(evidence.share * count)
        if 2 * paired.chance(count, hits) <= doubt:
            return count
    return None


def _open(claim, doubt):
    needed = rounds_needed(claim.evidence, doubt)
    claim.holds = None
    more = needed and needed - claim.evidence.rounds
    claim.needs = (f"{more:,} more round{'s' * (more != 1)}" if needed
                   else f"more than {ROUNDS_MAX:,} rounds")


def settle(claims):
    """Sets what holds of the claims that have evidence; the others know it by
    themselves."""
    left = sorted((claim for claim in claims if claim.evidence),
                  key=lambda claim: claim.evidence.doubt)
    is_over = False
    for at, claim in enumerate(left):
        doubt = paired.DOUBT / (len(left) - at)
        claim.needs = ""
        is_over = is_over or claim.evidence.doubt > doubt
        if is_over or claim.evidence.rounds < paired.ROUNDS_MIN:
            _open(claim, doubt)
        else:
            claim.holds = claim.evidence.is_likely
