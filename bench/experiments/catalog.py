"""All experiments, in the order of the report."""

import importlib
import os

from lab import processes

NAMES = (
    "ladder", "chunk_size", "concurrency", "spt_slow_link", "cache_bound",
    "kv_threads", "kv_cache", "file_size", "session_length",
    "parallel_clients", "proxy", "connections_calls", "where_time_goes",
    "peers",
)
# What no original asked. Each is measured when it is named, and is part of all and
# of the report as soon as a result of it is kept.
MORE = ("compression", "release")
KEPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "results")


def _load(name):
    return importlib.import_module(f".{name}", __package__).EXPERIMENT


def all_known(folder=KEPT):
    """Every experiment whose module is there; of those that were asked besides
    the ones that have a result in the folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    besides = [name for name in MORE if os.path.exists(
        os.path.join(folder, f"{name.replace('_', '-')}.json"))]
    return [_load(name) for name in (*NAMES, *besides)
            if os.path.exists(os.path.join(here, f"{name}.py"))]


def chosen(names):
    """Those of the names, each once; all of them when there are none."""
    known = [name.replace("_", "-") for name in (*NAMES, *MORE)]
    names = list(dict.fromkeys(name.replace("_", "-") for name in names))
    strangers = set(names) - set(known)
    if strangers:
        raise processes.Failure(
            f"no such experiment: {', '.join(sorted(strangers))} (there are: "
            f"{', '.join(known)})")
    return ([_load(name.replace("-", "_")) for name in names]
            or all_known())
