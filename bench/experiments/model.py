"""What an experiment is, and what comes out of one.

All of it is data that goes to JSON and comes back: the report is made of
files, so that one experiment can be repeated and the others stay.
"""

import dataclasses
import typing

from .paired import Evidence

LINES, BARS = "lines", "bars"


@dataclasses.dataclass
class Table:
    """Rows of numbers and texts. None: was not measured."""

    title: str
    columns: list  # texts, with the unit: "mean ms"
    rows: list     # lists, as long as columns
    note: str = ""


@dataclasses.dataclass
class Series:
    """One line, or one bar in each category."""

    name: str
    points: list  # [x, y], or [x, y, least, most]; of bars x is a category
    is_reference: bool = False  # an original's, or computed: grey


@dataclasses.dataclass
class Figure:
    name: str   # of the file, behind the experiment's
    title: str
    x: str      # what the axis shows, with the unit
    y: str
    series: list
    kind: str = LINES
    log_x: bool = False
    log_y: bool = False


@dataclasses.dataclass
class Claim:
    """What ought to hold, and whether it does. Those that sprintd loses stand
    first in the report, so they say all that is needed by themselves."""

    text: str    # "the mean response falls at every step of the ladder"
    holds: typing.Optional[bool]  # None: too noisy to judge, or not measured
    detail: str  # the numbers that decide it
    evidence: typing.Optional[Evidence] = None  # of rounds; judging decides
    needs: str = ""  # to be judged: "12 more rounds"


@dataclasses.dataclass
class Result:
    """reading: what the numbers say, paragraphs made from them, never known
    beforehand. noise: what was too noisy to judge. left_out: what could not be
    measured here, and why."""

    tables: list = dataclasses.field(default_factory=list)
    figures: list = dataclasses.field(default_factory=list)
    claims: list = dataclasses.field(default_factory=list)
    reading: list = dataclasses.field(default_factory=list)
    noise: list = dataclasses.field(default_factory=list)
    left_out: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """measure(bench) returns a Result; it raises processes.Failure when it
    cannot be done here, and says why."""

    number: int
    name: str      # of files, and of `make lab EXP=name`
    title: str
    question: str  # the original's, in a sentence or two
    method: str    # how it is answered: load, what is compared, what is fixed
    seconds: float  # that it takes, about, when it has never been measured
    measure: typing.Callable


def as_json(result):
    return dataclasses.asdict(result)


def _claim(data):
    found = data.get("evidence")
    return Claim(**{**data, "evidence": found and Evidence(**found)})


def from_json(data):
    """The Result that as_json() was given."""
    return Result(
        tables=[Table(**table) for table in data["tables"]],
        figures=[Figure(**{**figure, "series": [
            Series(**series) for series in figure["series"]]})
            for figure in data["figures"]],
        claims=[_claim(claim) for claim in data["claims"]],
        reading=data["reading"], noise=data["noise"],
        left_out=data["left_out"])
