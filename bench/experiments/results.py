"""Results in files, and how far a run of all experiments has come.

    FOLDER/NAME.json         all there is: what the report is made of
    FOLDER/NAME.csv          the tables: a line for each of their cells
    FOLDER/NAME-FIGURE.svg   the figures

A run that is broken off goes on where it was: a file lab.json knows what is
done, as long as nothing that is measured has changed.
"""

import contextlib
import csv
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import sys

from lab import servers

from . import figures, model

HOST = re.escape(servers.HOST)
MASKS = (  # what differs from run to run, and what stands for it
    (re.compile(r"/\S*/sprintd-bench-[\w-]+"), "$LAB"),
    (re.compile(rf"({HOST}:|{HOST} |--port[ =]|http\.server |"
                r"/(?:floor|serial|receiver) )\d+"),
     r"\1PORT"),
    (re.compile(r"(/naive_proxy )\d+ \d+"), r"\1PORT PORT"),
    (re.compile(r"(\$LAB/[a-z0-9 ,]+)-\d+-\w+"), r"\1-PORT"),
    (re.compile(r"(/kv-)\d+"), r"\1PORT"),
    (re.compile(r"(sprintd-link-)\d+(-\d+)?"), r"\1PID"),
    (re.compile(r"(\$LAB/)tmp\w{8}\b"), r"\1RUN"),
)
PLAIN = re.compile(r"[\w@%+=:,./$-]+")
RECORD = {"is_quick": bool, "day": str, "machine": dict, "versions": dict,
          "seconds": (int, float), "commands": list}
MACHINE = ("kernel", "cpu", "cpus", "memory_mib")
SOURCES = (".py", ".c", ".h", ".lua")


def write(path, text):
    """All of it or nothing."""
    try:
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.new", path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(f"{path}.new")
        raise


def _write_csv(path, result):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["table", "row", "column", "value"])
        for table in result.tables:
            for row in table.rows:
                out.writerows([table.title, row[0], column, cell]
                              for column, cell in zip(table.columns[1:],
                                                      row[1:]))


def tell_commands(commands, folder):
    """Command lines that mean the same anywhere: each once, without this
    machine's folders and ports."""
    names = {folder: "$LAB", sys.executable: "python3",
             servers.Sprintd.binary(): "build/release/sprintd",
             servers.TOP + "/": ""}
    told = {}
    for argv in commands:
        words = []
        for word in map(str, argv):
            for name, short in names.items():
                word = word.replace(name, short)
            words.append(word if PLAIN.fullmatch(word) else shlex.quote(word))
        told[mask(" ".join(words))] = None
    return list(told)


def mask(line):
    for pattern, instead in MASKS:
        line = pattern.sub(instead, line)
    return line


def _mask_all(value):
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {name: _mask_all(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_mask_all, value))
    return value


def mask_result(result):
    """The same: what a program says when it fails may name folders."""
    return model.from_json(_mask_all(model.as_json(result)))


def _draw(folder, experiment, result):
    """What is made of a result: nobody needs to keep it."""
    _write_csv(os.path.join(folder, f"{experiment.name}.csv"), result)
    figures.draw(folder, experiment.name, result)


def restore(folder, kept, experiments):
    """What is kept of earlier runs and the folder lacks: so that a report is
    whole though only one was measured anew."""
    os.makedirs(folder, exist_ok=True)
    for experiment in experiments:
        name = f"{experiment.name}.json"
        there, here = os.path.join(kept, name), os.path.join(folder, name)
        if not os.path.exists(there) or load(folder, experiment)[1]:
            continue
        shutil.copyfile(there, here)
        result = load(folder, experiment)[1]
        if result:
            _draw(folder, experiment, result)


def keep(folder, kept, experiment):
    """The other way: the result, and those figures that are kept of it."""
    name = experiment.name
    if not load(folder, experiment)[1]:
        return
    shutil.copyfile(os.path.join(folder, f"{name}.json"),
                    os.path.join(kept, f"{name}.json"))
    for old in glob.glob(os.path.join(kept, f"{name}-*.svg")):
        new = os.path.join(folder, os.path.basename(old))
        if os.path.exists(new):
            shutil.copyfile(new, old)


def save(folder, experiment, record, result):
    """record: when and where it was measured, and what was run. result is None
    of an experiment that could not be."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, experiment.name)
    # What all else is made of comes first: where that finds no room, what was
    # there stays.
    write(f"{path}.json", json.dumps(
        {**record, "result": model.as_json(result) if result else None},
        indent=1, ensure_ascii=False) + "\n")
    for old in [*glob.glob(f"{path}-*.svg"), *glob.glob(f"{path}.csv")]:
        if result or old.endswith(".csv"):
            os.remove(old)
    if result:
        _draw(folder, experiment, result)


def load(folder, experiment):
    """The record and the result; (None, None): there is none, or it is not
    as results are today."""
    try:
        with open(os.path.join(folder, f"{experiment.name}.json"),
                  encoding="utf-8") as file:
            record = json.load(file)
        data = record.pop("result")
        if not _is_whole(record, data):
            return None, None
        return record, model.from_json(data) if data else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None, None


def usual_seconds(experiment, record):
    """That it takes by itself, about: more rounds were bought with time."""
    return (experiment.seconds if record.get("rounds_wanted") else
            record["seconds"])


def _is_whole(record, data):
    return (all(isinstance(record[name], kind)
                for name, kind in RECORD.items())
            and all(name in record["machine"] for name in MACHINE)
            and (data is not None or "failure" in record))


class Run:
    """What of a run of all experiments is done."""

    def __init__(self, path, binary, is_quick, rounds):
        self.path = path
        self.mark = {"program": _digest([binary]), "is_quick": is_quick,
                     "rounds": rounds, "source": _digest(_sources())}
        self.done = []

    def resume(self):
        """Goes on with one that was broken off, if it was of the same."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return
        if isinstance(found, dict) and found.get("mark") == self.mark:
            self.done = list(found.get("done") or ())

    def note(self, name):
        self.done.append(name)
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        write(self.path, json.dumps({"mark": self.mark, "done": self.done}))

    def end(self):
        """All is done: the next one begins anew."""
        if os.path.exists(self.path):
            os.remove(self.path)


def _sources():
    """What measures."""
    return sorted(os.path.join(folder, name)
                  for folder, _folders, names in os.walk(servers.BENCH)
                  for name in names if name.endswith(SOURCES))


def _digest(paths):
    digest = hashlib.sha256()
    for path in paths:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()
