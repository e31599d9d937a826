"""Which function begins which phase of sprintd's own sampling: read from its
source, where profile_enter() says so, lest this forgets what is renamed."""

import collections
import glob
import os
import re

from lab import servers

DEFINITION = re.compile(r"^(?!static const)[a-z_][\w \t*]*?\b(\w+)\(", re.A)
ENTERS = re.compile(r"(enum stats_phase before = )?"
                    r"profile_enter\(STATS_PHASE_([A-Z]+)\)")
# Functions of which only a part is of the phase: who is called in that part.
CALLED = {"h1_answer_ahead": "parse", "link_tick": "schedule",
          "conn_close": "other"}


def _functions(path):
    """(name, phase or None) of each function that the file defines."""
    name, phase = None, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = DEFINITION.match(line)
            if found and not line.rstrip().endswith(";"):
                if name:
                    yield name, phase
                name, phase = found.group(1), None
            enters = ENTERS.search(line)
            if enters and enters.group(1) and name:
                phase = enters.group(2).lower()
    if name:
        yield name, phase


def begins():
    """Phases by function. Names that stand for several things are none: the
    function that called them tells the phase then."""
    found = collections.defaultdict(set)
    for path in glob.glob(os.path.join(servers.TOP, "src", "**", "*.c"),
                          recursive=True):
        for name, phase in _functions(path):
            found[name].add(phase)
    return {**{name: phases.pop() for name, phases in found.items()
               if len(phases) == 1 and None not in phases}, **CALLED}
