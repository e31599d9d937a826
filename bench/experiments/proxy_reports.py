"""What ab prints of its requests, beside what the originals' ab printed."""

from .bench import median
from .model import Table

ORIGINALS = ("original, single-thread", "original, multi-threads")
# As ab calls it, theirs, and where that is found of ours.
SAID = (("Server Software", "SimpleHTTP/0.6", "SimpleHTTP/0.6", "software"),
        ("Document Length, bytes", "658", "658", "length"),
        ("Time taken for tests, s", "80.346", "77.017", "seconds"),
        ("Complete requests", "50000", "50000", "complete"),
        ("Failed requests", "7", "3", "failed"),
        ("failed: Connect", "0", "0", "failed_connect"),
        ("failed: Receive", "0", "0", "failed_receive"),
        ("failed: Length", "7", "3", "failed_length"),
        ("failed: Exceptions", "0", "0", "failed_exceptions"),
        ("Non-2xx responses", "7", "3", "other_status"),
        ("Total transferred, bytes", "40594960", "40597840", "transferred"),
        ("HTML transferred, bytes", "32895394", "32898026", "html"),
        ("Requests per second", "622.31", "649.21", "per_second"),
        ("Time per request, ms", "80.346", "77.017", "mean_ms"),
        ("Time per request, across all, ms", "1.607", "1.540", "mean_all_ms"),
        ("Transfer rate, Kbytes/s", "493.41", "514.77", "kib_per_second"),
        ("50 %, ms", "15", "10", "median_ms"),
        ("66 %, ms", "17", "11", "p66_ms"),
        ("75 %, ms", "19", "13", "p75_ms"),
        ("80 %, ms", "20", "14", "p80_ms"),
        ("90 %, ms", "25", "17", "p90_ms"),
        ("95 %, ms", "224", "207", "p95_ms"),
        ("98 %, ms", "1018", "1010", "p98_ms"),
        ("99 %, ms", "1034", "1017", "p99_ms"),
        ("100 %, ms", "7447", "15044", "longest_ms"))
# Its Connection Times (ms), of each of the originals.
TIMES = (("Connect", (("0", "0", "0.1", "0", "6"),
                      ("0", "0", "0.1", "0", "4"))),
         ("Processing", (("5", "79", "338.6", "15", "7447"),
                         ("2", "71", "398.4", "9", "15044"))),
         ("Waiting", (("5", "78", "338.6", "14", "7433"),
                      ("2", "71", "398.4", "9", "15043"))),
         ("Total", (("5", "79", "338.6", "15", "7447"),
                    ("2", "71", "398.5", "10", "15044"))))
COLUMNS = ["Connection Times (ms)", "before http.server", "min", "mean",
           "+/-sd", "median", "max"]
KEYS = ("min", "mean", "sd", "median", "max")  # behind a part's name
TOLD = ("Connect: until the connection to the proxy is open; Processing: from "
        "there to the end of the answer; Waiting: from the request to the "
        "first byte of the answer. ")


def _times_of(run, part):
    return [run.get(f"{part.lower()}_{key}_ms") for key in KEYS]


def tables(runs, which):
    """All that ab says of one run of each name, and which runs these are."""
    said = Table(
        f"ab's report of {which}", ["ab says", *ORIGINALS, *runs],
        [[what, *then, *(run.get(key) for run in runs.values())]
         for what, *then, key in SAID],
        "One run of each. Time per request: the mean; across all: divided by "
        "how many are under way at once. So many in a hundred requests took "
        "no longer.")
    times = Table(
        f"ab's Connection Times of {which}", COLUMNS,
        [[part, name, *numbers] for part, theirs in TIMES
         for name, numbers in (
             *zip(ORIGINALS, theirs),
             *((name, _times_of(run, part)) for name, run in runs.items()))],
        f"{TOLD}Of the same one run of each.")
    return [said, times]


def _over_turns(runs, part):
    """Medians of the runs in which nothing failed, and the longest of all that
    ab has told of."""
    good = [_times_of(run, part) for run in runs if not run["trouble"]]
    longest = [run[f"{part.lower()}_max_ms"] for run in runs
               if f"{part.lower()}_max_ms" in run]
    return [*(median(column) for column in list(zip(*good))[:-1]
              or [[]] * (len(KEYS) - 1)), max(longest, default=None)]


def of_turns(runs, which):
    """The same times of many short runs. runs: lists by name."""
    return Table(
        f"ab's Connection Times of {which}", COLUMNS,
        [[part, name, *_over_turns(found, part)] for part, _theirs in TIMES
         for name, found in runs.items()],
        f"{TOLD}Medians over the turns in which no request failed; max: the "
        "longest of all turns that ab has told of.")
