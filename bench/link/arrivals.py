"""Who asks for what, and when: seeded, the same for every server.

A load of 0.9 means that what is asked for in a run takes 0.9 of the link's
time in that run, exactly. Sizes with a heavy tail differ so much from draw to
draw that loads would otherwise differ by several percent between seeds, and
waiting times by far more: so sizes are drawn first, the run is as long as
they make it, and the moments are spread over it evenly and at random, as
those of a Poisson process are once their number is known.
"""

import bisect
import dataclasses
import functools
import math
import os
import random

KIB = 1024
MIB = 1024 * KIB

SIZE_MIN = KIB
SIZE_MAX = 10 * MIB
PARETO_ALPHA = 1.1
# Sizes come from a fixed set, so that a server needs no more files than that:
# each is 3.7 % larger than the one before.
SIZE_COUNT = 256
SIZES = [round(SIZE_MIN * (SIZE_MAX / SIZE_MIN) ** (step / (SIZE_COUNT - 1)))
         for step in range(SIZE_COUNT)]

MEAN_DRAWS = 50_000

# A page and what belongs to it, and now and then something to keep: share of
# the requests, median, spread (sigma of the size's logarithm).
WEB_MIX = (
    ("html", 0.15, 12 * KIB, 1.0),
    ("css", 0.10, 8 * KIB, 1.0),
    ("js", 0.20, 20 * KIB, 1.1),
    ("images", 0.54, 15 * KIB, 1.2),
    ("downloads", 0.01, 1.5 * MIB, 0.8),
)


@dataclasses.dataclass(frozen=True)
class Arrival:
    start: float      # seconds from the begin of the run
    size: int
    source: str = ""  # the client's address; "": whichever
    path: str = ""    # "": the file of that size


def file_name(size):
    return f"{size}.bin"


def _pareto(rng):
    share = 1 - rng.random() * (1 - (SIZE_MIN / SIZE_MAX) ** PARETO_ALPHA)
    return SIZE_MIN / share ** (1 / PARETO_ALPHA)


def _web(rng):
    (_name, _share, median, sigma), = rng.choices(
        WEB_MIX, [share for _name, share, _median, _sigma in WEB_MIX])
    return rng.lognormvariate(math.log(median), sigma)


KINDS = {"pareto": _pareto, "web": _web}


def _nearest(size):
    """The size of the set that is nearest, by ratio."""
    at = bisect.bisect(SIZES, size)
    return min(SIZES[max(0, at - 1):at + 1],
               key=lambda known: abs(math.log(known / size)))


@functools.lru_cache
def _mean_seconds(kind, link):
    """A reply's mean time on the link, by many draws."""
    rng = random.Random(f"mean {kind}")
    return sum(link.seconds(_nearest(KINDS[kind](rng)))
               for _draw in range(MEAN_DRAWS)) / MEAN_DRAWS


def draw(kind, load, seconds, seed, link, sources=()):
    """The arrivals of one run of about that long, by their time."""
    rng = random.Random(f"{kind} {seed}")
    count = max(1, round(load * seconds / _mean_seconds(kind, link)))
    sizes = [_nearest(KINDS[kind](rng)) for _each in range(count)]
    span = sum(map(link.seconds, sizes)) / load
    starts = sorted(rng.random() * span for _each in range(count))
    return [Arrival(start, size, rng.choice(sources) if sources else "")
            for start, size in zip(starts, sizes)]


def save(arrivals, path):
    """Writes them as openloop wants them."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(
            f"{round(arrival.start * 1e6)} {arrival.size} "
            f"{arrival.path or file_name(arrival.size)} "
            f"{arrival.source or '-'}\n"
            for arrival in arrivals)


def make_files(root):
    """One file of each size, all holes: the disk hardly notices. Reading them
    once puts them into memory, where every server finds them."""
    os.makedirs(root)
    for size in SIZES:
        path = os.path.join(root, file_name(size))
        with open(path, "wb") as file:
            file.truncate(size)
        with open(path, "rb") as file:
            while file.read(MIB):
                pass
