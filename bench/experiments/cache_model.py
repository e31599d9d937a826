"""Lists of requests, and what a cache could make of them at best.

All is computed from the list alone, so that the hits a server counts have
something to stand beside. Requests are indexes of files.
"""

import collections
import heapq
import itertools
import random

from lab import site

# Of all files' number: a burst of visitors, and then so many by a crawler. It
# asks for more than a small cache holds, all of which is asked for only once
# in a long time: least recently used is then what all others want.
VISITORS_SHARE = 0.4
CRAWLER_SHARE = 0.1


def draw(files, total, seed):
    """Visitors ask by Zipf's law; between their bursts a crawler walks over
    all files in their order, and goes on where it was."""
    rng = random.Random(seed)
    ranked = list(range(files))
    rng.shuffle(ranked)
    weights = list(itertools.accumulate(
        1 / rank ** site.ZIPF_EXPONENT for rank in range(1, files + 1)))
    walk = itertools.cycle(range(files))
    asked = []
    while len(asked) < total:
        asked += rng.choices(ranked, cum_weights=weights,
                             k=round(VISITORS_SHARE * files))
        asked += itertools.islice(walk, round(CRAWLER_SHARE * files))
    return asked[:total]


def _next_uses(asked):
    """Of each request: when its file is asked for again."""
    never = len(asked)
    uses = [never] * len(asked)
    last = {}
    for now, file in enumerate(asked):
        if file in last:
            uses[last[file]] = now
        last[file] = now
    return uses


def optimum(asked, room):
    """Belady's: hits of a cache of so many files of equal size that knows the
    future. Who is asked for last of all goes, be it the newcomer."""
    uses = _next_uses(asked)
    kept = {}  # file: its next use
    queue = []
    hits = 0
    for now, file in enumerate(asked):
        hits += file in kept
        kept[file] = uses[now]
        heapq.heappush(queue, (-uses[now], file))
        if len(kept) > room:
            when, victim = heapq.heappop(queue)
            while kept.get(victim) != -when:  # was used since
                when, victim = heapq.heappop(queue)
            del kept[victim]
    return hits


def least_recently_used(asked, room):
    """Hits of that policy: what a server that counts well must come to."""
    kept = collections.OrderedDict()
    hits = 0
    for file in asked:
        hits += file in kept
        kept[file] = None
        kept.move_to_end(file)
        if len(kept) > room:
            kept.popitem(last=False)
    return hits


def infinite(asked):
    """Hits of a cache that holds all: whatever was asked for before."""
    return len(asked) - len(set(asked))


def bound(asked, sizes, room_bytes):
    """More hits than this no cache of so many bytes can have, whatever the
    files' sizes: to be hit, a file lies in it from one request to the next,
    and bytes times time are limited. The cheapest come first, as if they
    never stood in each other's way (Berger, Beckmann, Harchol-Balter:
    "Practical Bounds on Optimal Caching with Variable Object Sizes", 2018).
    """
    last = {}
    costs = []
    for now, file in enumerate(asked):
        if file in last:
            costs.append((now - last[file]) * sizes[file])
        last[file] = now
    room = room_bytes * len(asked)
    hits = 0
    for cost in sorted(costs):
        room -= cost
        if room < 0:
            break
        hits += 1
    return hits
