"""What cache_bound says: claims, tables, figures, and how to read them."""

import math

from lab import site

from . import paired, verdicts
from .cache_numbers import ROUNDS, compare
from .cache_times import FLOOR, PAGE_CACHE, TMPFS, tenth
from .model import BARS, Claim, Figure, Result, Series, Table

COLD_MARGIN = 1.05  # the disk's own differences are larger than a cache's work
SAME = 0.10         # within which two costs are called alike
# Mean responses: the ladder's step before the cache and with it, and the
# store's.
ORIGINALS = (("original: ladder, mean response, ms", 19660.1, 40208.3),
             ("original: ladder, duration of the test, s", 47.206, 79.54),
             ("original: key-value store, mean response, ms",
              306.591, 299.25))


# --- Claims ------------------------------------------------------------------


def _cost_claim(text, ours, theirs, whose, factor=1.0):
    """ours: versus.Numbers by name, each against theirs."""
    return verdicts.claim(text, {f"{name} to {whose}": compare(cost, theirs)
                                 for name, cost in ours.items()}, factor)


def _cost_claims(numbers, has_tmpfs):
    warm = numbers.warm_cost
    page_cache = warm.get(PAGE_CACHE)
    claims = [_cost_claim(
        f"own cache ({policy}) that holds all: CPU per reply not above that "
        f"of the kernel's page cache alone", {policy: warm.get(policy)},
        page_cache, PAGE_CACHE) for policy in numbers.policies]
    claims.append(_cost_claim(
        "own cache that holds a tenth, any policy: CPU per reply not above "
        "that of the page cache alone",
        {policy: warm.get(tenth(policy)) for policy in numbers.policies},
        page_cache, PAGE_CACHE))
    if has_tmpfs:
        claims.append(_cost_claim(
            "own cache that holds all, any policy: CPU per reply not above "
            "that of files on tmpfs",
            {policy: warm.get(policy) for policy in numbers.policies},
            warm.get(TMPFS), TMPFS))
    if numbers.cold:
        claim = _cost_claim(
            f"first reply from disk: with an own cache CPU within "
            f"{COLD_MARGIN - 1:.0%} of that without (runs from a disk differ "
            f"by as much)",
            {policy: numbers.cold_cost.get(policy)
             for policy in numbers.policies},
            numbers.cold_cost.get(PAGE_CACHE), "no cache", COLD_MARGIN)
        if not numbers.is_cold_proven:
            claim.evidence = None
        claims.append(claim)
    return claims


def _tight(outcome):
    """Rows where not everything fits."""
    return [row for row in outcome.rows if row.share < 1]


def _least_margin(outcome, policy):
    """By how much the policy's hit ratio passes lru's where it does least,
    and at which size of the cache."""
    return min((row.policies[policy] - row.policies["lru"], row.share)
               for row in _tight(outcome))


def _hit_claims(outcomes):
    claims = []
    for policy in list(outcomes[0].rows[0].policies)[1:]:
        margins = [_least_margin(outcome, policy) for outcome in outcomes]
        claims.append(Claim(
            f"{policy} hits at least as often as lru at every size of the "
            f"cache in which not all fits, with scans in between",
            all(margin >= 0 for margin, _share in margins),
            "least ahead by " + ", ".join(
                f"{100 * margin:+.2f} points at {share:.0%} ({what} sizes)"
                for (margin, share), what in zip(margins,
                                                 ("equal", "mixed")))))
    error = max(abs(row.policies["lru"] - row.model)
                for row in outcomes[0].rows)
    above = max(ratio - row.best for outcome in outcomes
                for row in outcome.rows for ratio in row.policies.values())
    nearest = min(row.best - ratio for outcome in outcomes
                  for row in _tight(outcome)
                  for ratio in row.policies.values())
    claims.append(Claim(
        "the server's own count of hits is right: lru's is the model's, room "
        "for all hits every repeat, and no policy passes the bound",
        error <= 1e-3 and above <= 0
        and all(outcome.is_infinite_exact for outcome in outcomes),
        f"lru differs from the model by {100 * error:.3f} points at most; "
        f"where not all fits, the nearest to the bound is {100 * nearest:.2f} "
        f"points below it"))
    return claims


# --- Tables and figures ------------------------------------------------------


def _ways(numbers):
    names = [PAGE_CACHE, *numbers.policies,
             *map(tenth, numbers.policies), TMPFS, FLOOR]
    return [name for name in names
            if name in numbers.cells or name in numbers.cold]


def _cost_table(numbers):
    rows = []
    for name in _ways(numbers):
        cell = numbers.cells.get(name)
        fetched = numbers.middle(name, "disk_bytes")
        rows.append([
            name, *(numbers.middle(name, what)
                    for what in ("cpu_us", "per_second", "p99_ms")),
            fetched / site.KIB if fetched is not None else None,
            cell.cpu_us if cell else None,
            cell.median("per_second") if cell else None,
            numbers.p99_ms.get(name)])
    return Table(
        "What a reply of 1 KiB costs, by where its file lies",
        ["cache", "cold CPU µs", "cold replies/s", "cold p99 ms",
         "cold disk KiB", "warm CPU µs", "warm replies/s", "warm p99 ms"],
        rows,
        f"“{PAGE_CACHE}”: no cache of sprintd's, so cold is no cache at all. "
        f"Cold: pages evicted, process new, inodes still in memory; the "
        f"policies have nothing to choose yet. p99 from an open loop of "
        f"{numbers.rate:,.0f} requests a second; a warm one without a cold one "
        f"is of {ROUNDS} runs, not in turns. “{FLOOR}” answers all from one "
        f"buffer, without looking anything up.")


def _original_table(numbers):
    rows = [[name, f"{without:g}", f"{with_it:g}", with_it / without]
            for name, without, with_it in ORIGINALS]
    pairs = [("sprintd: CPU µs, all fits", numbers.warm_cost, PAGE_CACHE,
              "sieve"),
             ("sprintd: CPU µs, a tenth fits", numbers.warm_cost, PAGE_CACHE,
              tenth("sieve")),
             ("sprintd: CPU µs, first time, from disk", numbers.cold_cost,
              PAGE_CACHE, "sieve")]
    for text, costs, without, with_it in pairs:
        if without in costs and with_it in costs:
            rows.append([text, costs[without].median, costs[with_it].median,
                         costs[with_it].median / costs[without].median])
    return Table("What a cache made of a reply, then and now",
                 ["", "without", "with", "ratio"], rows,
                 "Other machines, and response times against CPU: only the "
                 "ratios compare. Below 1 the cache pays. sprintd's is by "
                 "sieve.")


def _hit_table(outcome, title, best, note):
    rows = outcome.rows
    return Table(
        title,
        ["cache %", "KiB", *(f"{policy} %" for policy in rows[0].policies),
         f"{best} %", "infinite %"],
        [[100 * row.share, row.room_bytes / site.KIB,
          *(100 * ratio for ratio in row.policies.values()),
          100 * row.best, 100 * row.infinite] for row in rows],
        note)


def _hit_figure(outcome):
    rows = outcome.rows
    series = [Series(policy, [[100 * row.share, 100 * row.policies[policy]]
                              for row in rows]) for policy in rows[0].policies]
    series += [
        Series("optimum", [[100 * row.share, 100 * row.best] for row in rows],
               is_reference=True),
        Series("infinite", [[100 * row.share, 100 * row.infinite]
                            for row in rows], is_reference=True)]
    return Figure("hit-ratio", "Hit ratio by cache size: Zipf and scans",
                  "cache, % of all files", "hits, %", series, log_x=True)


def _cost_figure(numbers):
    def bars(name, costs, key=lambda way: way):
        return Series(name, [[way, costs[key(way)].median,
                              min(costs[key(way)].values),
                              max(costs[key(way)].values)]
                             for way in (PAGE_CACHE, *numbers.policies,
                                         TMPFS, FLOOR)
                             if key(way) in costs])

    series = [bars("cold", numbers.cold_cost),
              bars("a tenth fits", numbers.warm_cost, tenth),
              bars("all in memory", numbers.warm_cost)]
    return Figure("cpu", "CPU per reply by cache", "cache",
                  "CPU µs per reply", [each for each in series if each.points],
                  kind=BARS)


# --- Reading -----------------------------------------------------------------


def _read_tmpfs(page_cache, tmpfs):
    found = compare(tmpfs, page_cache)
    low, high = paired.interval(found) if found else (0, math.inf)
    text = (f" From a disk in memory (tmpfs) it is {tmpfs.median:.1f} µs, "
            f"{paired.say(found)} times as much")
    if 1 - SAME <= low and high <= 1 + SAME:
        return f"{text}: the bytes are in memory either way."
    if low <= 1 <= high:
        return f"{text}; that is too noisy to tell the two apart."
    return f"{text}; of the two only the file system differs."


def _read_costs(numbers):
    warm = numbers.warm_cost
    own = [warm[policy] for policy in numbers.policies if policy in warm]
    page_cache = warm.get(PAGE_CACHE)
    if not own or not page_cache:
        return "Too little could be measured to say what a cache saves."
    dearest = max(cost.median for cost in own)
    cheapest = min(cost.median for cost in own)
    text = ""
    if numbers.is_cold_proven and PAGE_CACHE in numbers.cold_cost:
        cold = numbers.cold_cost[PAGE_CACHE].median
        text += (f"Without any cache, from disk, a reply takes {cold:.1f} µs "
                 f"of CPU, {cold / page_cache.median:.1f} times as much as "
                 f"from the kernel's page cache. ")
    text += (f"From the page cache it takes {page_cache.median:.1f} µs, from "
             f"sprintd's own {cheapest:.1f} to {dearest:.1f} µs, by policy.")
    if TMPFS in warm:
        text += _read_tmpfs(page_cache, warm[TMPFS])
    floor = warm.get(FLOOR)
    if floor and page_cache.median > floor.median:
        saved = ((page_cache.median - dearest)
                 / (page_cache.median - floor.median))
        text += (f" The upper bound is the floor, {floor.median:.1f} µs, "
                 f"which looks nothing up: ")
        text += ("the dearest policy's cache is as good as that."
                 if saved >= 1 else
                 f"of what could be saved at all, the dearest policy's cache "
                 f"saves {saved:.0%}." if saved > 0 else
                 "the dearest policy's cache saves nothing of that.")
    return text


def _read_hits(outcome, what, best):
    """How near to the bound, where not everything fits."""
    tight = _tight(outcome)
    reach = {policy: sum(row.policies[policy] / row.best for row in tight)
             / len(tight) for policy in tight[0].policies}
    order = sorted(reach, key=reach.get, reverse=True)
    first = tight[0]
    return (f"Files of {what}: of the hits that {best} has, on average over "
            f"the sizes of the cache below that of all files, "
            + ", ".join(f"{policy} gets {reach[policy]:.0%}"
                        for policy in order)
            + f". With room for {first.share:.0%} the hit ratios are "
            + ", ".join(f"{first.policies[policy]:.1%}" for policy in order)
            + f", against {first.best:.1%} at best; a cache without limits, "
            f"which misses only what is new, has {first.infinite:.1%}.")


# --- All of it ---------------------------------------------------------------


def result(numbers, outcomes, has_tmpfs, left_out):
    """Everything together."""
    equal, mixed = outcomes
    failed = Claim("no request fails, cold or warm", not numbers.troubles,
                   "; ".join(numbers.troubles) or "none did")
    return Result(
        tables=[
            _cost_table(numbers), _original_table(numbers),
            _hit_table(equal, "Hit ratio by cache size, files of equal size",
                       "optimum",
                       f"{len(equal.trace.asked):,} requests to "
                       f"{len(equal.trace.names):,} files, from an empty "
                       f"cache. Optimum: Belady's, who knows the future."),
            _hit_table(mixed, "The same, files of 256 bytes to 16 KB", "bound",
                       f"{len(mixed.trace.asked):,} requests to "
                       f"{len(mixed.trace.names):,} files. No cache hits more "
                       "often than the bound; whether one can hit as often is "
                       "not known.")],
        figures=[_hit_figure(equal), _cost_figure(numbers)],
        claims=[*_cost_claims(numbers, has_tmpfs), *_hit_claims(outcomes),
                failed],
        reading=[_read_costs(numbers),
                 _read_hits(equal, "equal size", "Belady's optimum") + " "
                 + _read_hits(mixed, "mixed sizes", "the bound")],
        noise=[f"warm, {name}: {cell.noise}"
               for name, cell in numbers.cells.items() if not cell.is_calm],
        left_out=left_out)
