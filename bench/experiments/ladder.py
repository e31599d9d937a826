"""Blocking I/O ladder."""

import contextlib
import dataclasses
import random

from lab import machine, processes, rounds, tools

from . import bench, ladder_load, model, old_disk, paired, verdicts

RATE = 500
ROUNDS = 20
FAILED_MAX = 0.25  # of a step's runs, which are told and count for nothing
NOISY = 0.5      # of the median: spread of a step's means
NOTHING = 1.1    # times as much CPU time: what passes for no more
TIMEOUT_S = 60
RECEIVE_BUFFER = 65_536
CHUNK = "32K"
WHOLE = "1G"  # larger than any file

BYTES_TEXT = f"{old_disk.BYTES_PER_SECOND / 1e6:.0f} MB"
CHUNKED = ("--send-method=read", f"--chunk-size={CHUNK}")
# By what lies in the sockets no order is kept: the server is told the link.
HELD_BACK = f"--link-rate={old_disk.LINK_MBIT}M"
SHORTEST = ("--schedule=srpt", HELD_BACK)
CONTROL = "(fifo, held back)"
UNCACHED = "(no cache, auto)"
CHOSEN = (
    "Disk, memory and link were chosen until every step of the ladder fell: "
    "it says what a step can be worth, not what it is worth elsewhere. Trials "
    "before, of which no results are kept, had × 0.71 to 1.47 by chunked reads "
    "with round robin instead of fifo, × 0.85 to 0.93 by five workers with "
    "large files asked for twice, and × 0.77 to 1.02 with larger small files. "
    "Links of 200, 300 and 400 Mbit/s and disks of 16 to 40 MB/s were tried, "
    "too.")
RESETS = (
    "Of the connections that were reset in earlier runs two were traced: the "
    "kernel had reset both, and not the server. The request and the "
    "acknowledgement of its opening came within some µs, by two CPUs; the "
    "kernel acknowledged the one and answered the other by a reset, before "
    "the server had said anything. In a trial with the same requests, disk "
    "and link nginx had 2 of 60,000 reset.")


@dataclasses.dataclass(frozen=True)
class Original:
    """A row of the first report's table: one run on one machine."""
    seconds: str  # the whole test; both with the digits that it gives
    mean_text: str  # ms of a response

    @property
    def mean_ms(self):
        return float(self.mean_text)


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    workers: int
    arguments: tuple
    original: Original = None
    is_rung: bool = True


STEPS = (
    Step("whole files", 1,
         ("--send-method=read", f"--chunk-size={WHOLE}", "--schedule=fifo",
          "--cache-size=0"), Original("823.545", "352412.1")),
    Step("chunked reads", 1,
         (*CHUNKED, "--schedule=fifo", "--cache-size=0"),
         Original("131.198", "70074.4")),
    Step("five workers", 5,
         (*CHUNKED, "--schedule=fifo", "--cache-size=0"),
         Original("48.079", "20828.4")),
    Step("shortest first", 5,
         (*CHUNKED, *SHORTEST, "--cache-size=0"),
         Original("47.206", "19660.1")),
    Step("file cache", 5, (f"--chunk-size={CHUNK}", *SHORTEST),
         Original("79.54", "40208.3")),
    # Beside the ladder: how much of shortest first is the order, and how much
    # that bytes are held back; how much of the last step is the way of sending.
    Step(CONTROL, 5,
         (*CHUNKED, "--schedule=fifo", HELD_BACK, "--cache-size=0"),
         is_rung=False),
    Step(UNCACHED, 5,
         (f"--chunk-size={CHUNK}", *SHORTEST, "--cache-size=0"),
         is_rung=False),
)
RUNGS = tuple(step for step in STEPS if step.is_rung)


@dataclasses.dataclass
class Sample:
    mean_ms: float
    median_ms: float
    longest_ms: float
    cpu_us: float
    seconds: float
    times_run: float  # its threads were given a CPU, per reply
    trouble: str


def _trouble(said, count):
    faults = [tools.say_errors(said)] if said["errors"] else []
    if said["ok"] != count:
        faults.append(f"{said['ok']:.0f} of {count:,} replies were good")
    return ", ".join(faults)


def _run(lab_bench, server, load, folder):
    """One run of a process that has served nothing yet."""
    count = len(load.sizes)
    try:
        instance = server.instance("")
        if folder:
            old_disk.join(folder, instance.pids)
        before = machine.cpu_ns(instance.pids)
        runs = machine.times_run(instance.pids)
        with old_disk.Forgetful(load.small, load.large):
            said = tools.httperf(
                lab_bench.lab, instance.port, count, f"--wlog=n,{load.log}",
                f"--recv-buffer={RECEIVE_BUFFER}", rate=RATE,
                timeout_s=TIMEOUT_S, timeout=2 * TIMEOUT_S)
        spent = machine.cpu_ns(instance.pids) - before
        runs = machine.times_run(instance.pids) - runs
        return Sample(said["connection_ms"], said["connection_median_ms"],
                      said["connection_max_ms"], spent / 1e3 / count,
                      said["seconds"], runs / count, _trouble(said, count))
    except (processes.Failure, OSError) as failure:
        return Sample(0, 0, 0, 0, 0, 0, str(failure))
    finally:
        server.stop()


def _samples(lab_bench, load, folder):
    """Lists of samples by step, taken in turns."""
    made = {step.name: lab_bench.sprintd(step.name, *step.arguments,
                                         workers=step.workers)
            for step in STEPS}
    found = {step.name: [] for step in STEPS}

    def take(turn):
        for step in rounds.in_order(STEPS, turn):
            lab_bench.step(f"round {turn + 1}: {step.name}")
            yield step.name, _run(lab_bench, made[step.name], load, folder)

    for turn in range(lab_bench.rounds(ROUNDS)):
        taken = lab_bench.part(f"round-{turn}",
                               lambda turn=turn: list(take(turn)))
        for name, sample in taken:
            found[name].append(sample)
    return found


def _failures(samples):
    """Of the runs that count for nothing: how many, and the first one's
    reason."""
    reasons = [sample.trouble for sample in samples if sample.trouble]
    return (f"{len(reasons)} of {len(samples)} runs: {reasons[0]}" if reasons
            else "")


def _trouble_of(samples):
    """Why a step has no numbers: more than a few of its runs failed."""
    failed = sum(bool(sample.trouble) for sample in samples)
    return _failures(samples) if failed > FAILED_MAX * len(samples) else ""


def _good(samples):
    return [sample for sample in samples if not sample.trouble]


def _means(samples):
    """Round by round; None: it failed."""
    return [None if sample.trouble else sample.mean_ms for sample in samples]


def _row(step, found):
    samples = found[step.name]
    before = _before(step)
    originals = [None, None, None]
    if step.original:
        originals = [step.original.mean_text, step.original.seconds,
                     step.original.mean_ms / before.original.mean_ms
                     if before else None]
    trouble = _trouble_of(samples)
    if trouble:
        return [step.name, *[None] * 7, *originals, trouble]
    means = [sample.mean_ms for sample in _good(samples)]
    return [step.name,
            *(round(bench.median(getattr(sample, what)
                                 for sample in _good(samples)), 1)
              for what in ("mean_ms", "median_ms", "longest_ms")),
            f"{min(means):,.0f} to {max(means):,.0f}",
            round(bench.median(s.cpu_us for s in _good(samples))),
            round(bench.median(s.seconds for s in _good(samples)), 2),
            paired.say(_ratios(before, step, found)) if before else None,
            *originals, _failures(samples)]


def _before(step):
    """The rung below, or None."""
    at = RUNGS.index(step) if step.is_rung else 0
    return RUNGS[at - 1] if at else None


def _table(found, sizes):
    return model.Table(
        f"Responses to a log of {len(sizes):,} requests",
        ["step", "mean ms", "median ms", "longest ms", "means of rounds",
         "CPU µs/reply", "duration s", "mean, × the step before's",
         "original: mean ms", "original: duration s", "original: × before",
         "trouble"],
        [_row(step, found) for step in STEPS],
        f"{sum(sizes) / 1e6:,.0f} MB in all; the largest file has "
        f"{max(sizes) / 1e6:,.1f} MB, half of the replies no more than "
        f"{bench.median(sizes) / 1e3:.1f} KB. The original ran on another "
        "machine with other files: compare the ratios of steps. Its columns "
        "are the duration of a test and the mean response in it. Below the "
        f"ladder: {CONTROL} is five workers with the link's rate; {UNCACHED} "
        "is the file cache without its cache.")


def _figure(found):
    """All of them as shares of the first step, as the machines differ."""
    def relative(values):
        return [[step.name, value / values[0]]
                for step, value in zip(RUNGS, values)]

    ours = [bench.median(_means(found[step.name])) for step in RUNGS]
    return model.Figure(
        "steps", "Mean response, relative to whole files", "step",
        "share of the first", [
            model.Series("sprintd", relative(ours)),
            model.Series("original",
                         relative([s.original.mean_ms for s in RUNGS]),
                         True)],
        kind=model.BARS, log_y=True)


def _ratios(before, after, found):
    """What a step made of the mean response, of each round."""
    return paired.ratios(*(_means(found[step.name])
                           for step in (after, before)))


def _claim(before, after, found, is_slow_disk):
    text = f"{after.name}: a mean response below that of {before.name}"
    trouble = _trouble_of(found[before.name]) or _trouble_of(found[after.name])
    if trouble:
        return model.Claim(text, None, trouble)
    old, new = (bench.median(_means(found[step.name]))
                for step in (before, after))
    claim = verdicts.claim(text, {f"{new:,.0f} after {old:,.0f} ms":
                                  _ratios(before, after, found)})
    if not is_slow_disk:
        return dataclasses.replace(
            claim, evidence=None,
            detail=f"{claim.detail}; neither disk nor sockets were scarce")
    return claim


def _claim_order(found, is_slow_disk):
    """What is left of shortest first when bytes are held back for both."""
    steps = {step.name: step for step in STEPS}
    return _claim(steps[CONTROL], steps["shortest first"], found, is_slow_disk)


def _has_resets(found):
    return any(tools.HTTPERF_ERRORS["reset"] in sample.trouble
               for samples in found.values() for sample in samples)


def _claim_sound(found):
    failed = [f"{name}: {_failures(samples)}"
              for name, samples in found.items() if _failures(samples)]
    return model.Claim(
        "no request fails at any step", not failed,
        "; ".join(failed)
        or f"{sum(map(len, found.values()))} runs without an error")


def _read_order(found):
    """Order and held-back bytes are two things: each by itself."""
    steps = {name: found[name]
             for name in ("five workers", CONTROL, "shortest first")}
    cpu, runs = (
        ", ".join(f"{name} {bench.median(map(of, _good(samples))):,.3g}"
                  for name, samples in steps.items())
        for of in (lambda sample: sample.cpu_us,
                   lambda sample: sample.times_run))
    held, order = (
        paired.ratios(_means(steps[after]), _means(steps[before]))
        for before, after in (("five workers", CONTROL),
                              (CONTROL, "shortest first")))
    text = ("Of the step to shortest first, holding bytes back makes × "
            f"{paired.say(held)} of the mean, the order × {paired.say(order)}. "
            f"CPU µs per reply: {cpu}; how often a thread was given a CPU for "
            f"it: {runs}.")
    dear, chosen = (bench.median(sample.cpu_us for sample in _good(steps[name]))
                    for name in (CONTROL, "shortest first"))
    if chosen > NOTHING * dear:
        return text
    return (f"{text} What is held back is looked at again every half "
            "millisecond; which reply goes then costs next to nothing.")


def _read(found, sizes):
    def mean(name):
        return bench.median(_means(found[name]))

    parts = []
    for before, after in zip(RUNGS, RUNGS[1:]):
        theirs = after.original.mean_ms / before.original.mean_ms
        parts.append(f"{after.name} × "
                     f"{paired.say(_ratios(before, after, found))}, original "
                     f"× {theirs:.2f}")
    text = [
        f"What each step made of the mean response: {'; '.join(parts)}. From "
        f"the first to the last {mean(RUNGS[0].name):,.0f} to "
        f"{mean(RUNGS[-1].name):,.0f} ms."]
    first, last = (bench.median(s.seconds for s in _good(found[step.name]))
                   for step in (RUNGS[0], RUNGS[-1]))
    offered = len(sizes) / RATE
    text.append(
        f"The requests came within {offered:g} s; whole files took "
        f"{first:.1f} s for them, the file cache {last:.1f} s.")
    text.append(_read_order(found))
    plain, cached = mean(UNCACHED), mean("file cache")
    text.append(
        "The last step also leaves it to the server how to send. That alone, "
        f"without a cache, has a mean of {plain:,.0f} ms "
        f"(shortest first with reads: {mean('shortest first'):,.0f}); with "
        f"the cache it is {cached:,.0f}.")
    return text


def measure(lab_bench):
    rng = random.Random(lab_bench.seed)
    tools.need("httperf", "httperf")
    load = ladder_load.make(lab_bench, rng)
    result = model.Result()
    with contextlib.ExitStack() as stack:
        folder = None
        try:
            folder = stack.enter_context(
                old_disk.group(lab_bench.lab.site.root))
            stack.enter_context(old_disk.small_sockets())
        except (processes.Failure, OSError) as failure:
            folder = None
            result.left_out.append(f"the circumstances of the originals: "
                                   f"{failure}; what was measured are this "
                                   "machine's own")
        found = _samples(lab_bench, load, folder)
    result.tables.append(_table(found, load.sizes))
    result.claims = [_claim(before, after, found, folder)
                     for before, after in zip(RUNGS, RUNGS[1:])]
    result.claims += [_claim_order(found, folder), _claim_sound(found)]
    if not any(map(_trouble_of, found.values())):
        result.figures.append(_figure(found))
        result.reading = [*_read(found, load.sizes),
                          *([CHOSEN] if folder else []),
                          *([RESETS] if _has_resets(found) else [])]
    spreads = {name: bench.spread([s.mean_ms for s in _good(samples)])
               for name, samples in found.items() if not _trouble_of(samples)}
    result.noise = verdicts.noises(
        (name, f"the rounds' means differ by {spread:.0%}"
         if spread > NOISY else "") for name, spread in spreads.items())
    return result


EXPERIMENT = model.Experiment(
    1, "ladder", "Blocking I/O ladder",
    "One worker that reads whole files, then chunks, five workers, shortest "
    "first, a file cache: what is each step worth, when reading a file means "
    "waiting?",
    f"httperf --rate {RATE} --num-conns {ladder_load.CONNECTIONS:,}, an open "
    "loop, over a log of small files (half a KiB to 16 KiB, "
    f"{ladder_load.SMALL} of them, again and again) and {ladder_load.LARGE} "
    "large ones (a quarter to 4 MiB, each once). Disk, memory and sockets are "
    "made scarce, which is chosen here, as those of the originals are not "
    f"known: a control group gives the server {BYTES_TEXT} and "
    f"{old_disk.READS_PER_SECOND} reads a second of the disk; no file is in "
    "memory when a run begins, and the page cache forgets the small ones "
    f"every {old_disk.FORGET_S * 1e3:.0f} ms; a socket takes up to "
    f"{old_disk.SOCKET_BYTES // 1024} KiB at once, over "
    f"{old_disk.LINK_MBIT} Mbit/s with an MTU of {old_disk.FRAME_BYTES:,} "
    "bytes. All workers share one CPU. (Experiment 2 asks for chunks where "
    "files are in memory, 3 for workers.) A step's options: --send-method "
    "read, "
    f"--schedule fifo, --cache-size 0 and chunks of 1 GiB; chunks of {CHUNK}; "
    "--workers 5; --schedule srpt and the link's rate, as what lies in the "
    "sockets of five workers has no order; the cache as it comes, with the "
    "way of sending that it is made for. A new process for each run, the "
    f"steps in turns, {ROUNDS} rounds, medians; ratios are of each round. "
    "Response: from opening a connection to closing it, which httperf calls "
    "connection time.",
    255, measure)
